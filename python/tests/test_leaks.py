"""Calls, right and wrong, made again and again: what they took is given back."""
import contextlib
import ctypes
import gc
import os
import pickle
import random
import sys

import numpy as np
import pytest
import tarry

sys.path.insert(0, os.path.dirname(__file__))
from test_misuse import calls, small  # noqa: E402

pytestmark = pytest.mark.skipif(
    os.environ.get("PYTHONMALLOC") == "malloc",
    reason="sanitizers look for leaks themselves")


class _Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
        "fsmblks", "uordblks", "fordblks", "keepcost")]


def taken():
    """Blocks of Python's, and bytes of the C library's."""
    gc.collect()
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = _Memory
    memory = library.mallinfo2()
    return sys.getallocatedblocks(), memory.uordblks + memory.hblkhd


def life():
    p = tarry.Policy("phased-mab", np.eye(3), horizon=500, names=list("abc"))
    for i in range(20):
        c = p.choose(id="t%d" % i)
        c.probability, c.arm, repr(c)
        p.choose(id="t%d" % i)
        p.observe("t%d" % i, 0.5)
        p.observe("t%d" % i, 0.5)
    ids, _ = p.choose_many(30)
    p.observe_many(ids[:20], np.full(20, 0.25))
    p.choose_many_with_probability(5)
    p.cancel(int(ids[25]))
    p.expire(int(ids[26]))
    p.status(), p.pending(), p.certificate(), repr(p)
    tarry.Policy.from_bytes(p.to_bytes()).choose()


class Own(tarry.PolicyBase):
    def start(self, problem):
        self.rng = problem.random(1)

    def choose(self, round):
        return round % 2

    def certify(self):
        return 0, 0.5


class Late(tarry.DelayBase):
    def draw(self, round, arm, loss, rng):
        return rng.geometric(0.5)


def arms_that_come():
    p = tarry.Policy("uniform", np.eye(3), confidence=0.9)
    for i in range(10):
        p.admit("arm-%d" % i, [1, 0, i])
        p.admit([1, 1, i])
        with contextlib.suppress(tarry.Error):
            p.admit("arm-%d" % i, [1, 0, i])
        with contextlib.suppress(tarry.Error):
            p.admit("never-%d" % i, [1, 0, float("nan")])
    p.withdraw("arm-3")
    p.names, p.arms


def files():
    p = tarry.Policy("uniform", np.eye(30), confidence=0.9)
    p.save("state")
    p.save("plain", plain=True)
    tarry.Policy.restore("state"), tarry.Policy.restore("plain")
    with open("arms.csv", "w") as file:
        file.write("a,1,2\nb,3,4\n")
    tarry.read_arms("arms.csv")
    for bad in ("nowhere", ".", "arms.csv"):
        with contextlib.suppress(tarry.Error, OSError):
            tarry.Policy.restore(bad)
        with contextlib.suppress(tarry.Error, OSError):
            p.save(bad + "/no")
        with contextlib.suppress(tarry.Error, OSError):
            tarry.read_arms(bad + "/no")


def choices():
    c = tarry.Policy("lints", np.eye(3), horizon=9).choose()
    tuple(c), c[::-1], hash(c), c == c, c.name, c.round, c.repeated
    pickle.loads(pickle.dumps(c))
    p = pickle.loads(pickle.dumps(tarry.Policy("uniform", 3, horizon=9)))
    p.itself = p.choose(id="a")
    with contextlib.suppress(tarry.HorizonReached):
        for i in range(20):
            p.choose(id="text %d" % i)


class Blocks(tarry.DelayBase):
    def draw_many(self, rounds, arms, losses, rng):
        return np.zeros(losses.shape) + rng.uniform(0, 9)[:, None]


class Fails(Own):
    def choose(self, round):
        return 1 // (9 - round)


def fails():
    with contextlib.suppress(ZeroDivisionError):
        tarry.run(Fails(), horizon=50, runs=2)


def ids():
    p = tarry.Policy("uniform", 3, horizon=2000)
    for id in p.choose_many(1000)[0][300:]:  # Python keeps small numbers
        p.observe(id, 0.5)
    p.cancel(np.uint16(300))
    for id in (1.5, None, np.float32(2)):
        with contextlib.suppress(TypeError):
            p.observe(id, 0.5)


GOOD = {
    "ids": ids,
    "admit": arms_that_come,
    "files": files,
    "choice": choices,
    "blocks": lambda: small(delay=Blocks()),
    "fails": fails,
    "table": lambda: tarry.World(table=[[0, 0.5, 1], [1, 0.25, 2]]).look(),
    "progress": lambda: tarry.design(np.eye(3), progress=lambda *x: None),
    "results": lambda: pickle.dumps(small()),
    "policy": life,
    "run": small,
    "own": lambda: tarry.run(Own(), horizon=50, runs=2),
    "late": lambda: small(worlds=[tarry.World("basis", delay=Late())]),
    "json": lambda: tarry.Experiment("uniform", horizon=9).to_json(),
    "design": lambda: tarry.design(np.random.default_rng(1).normal(
        size=(20, 3)), warm=np.arange(5)),
    "random": lambda: tarry.Random(1, count=9).normal(),
    "look": lambda: tarry.World().look(),
    "describe": lambda: tarry.describe("lints"),
}


def growth(call, times):
    """By how much memory has grown, per call."""
    before = taken()
    for _ in range(times):
        call()
    return [(b - a) / times for a, b in zip(before, taken())]


def expect_no_leak(call, times, name):
    """What is kept for later use is kept once: growth comes to an end."""
    for _ in range(20):
        blocks, size = growth(call, times)
        if blocks < 0.8 and size < 50:
            return
    pytest.fail("%s: %.1f objects and %.0f bytes stay of each" % (
        name, blocks, size))


@pytest.mark.parametrize("name", GOOD)
def test_nothing_is_kept(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expect_no_leak(GOOD[name], 50, name)


def test_nothing_is_kept_of_what_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, call in enumerate(calls(random.Random(2385))):
        def refused():
            with contextlib.suppress(Exception):
                call()
        expect_no_leak(refused, 40, "wrong call %d" % number)
