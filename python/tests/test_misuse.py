"""A thousand wrong calls: an exception each, never a crash."""
import random

import numpy as np
import pytest
import tarry

JUNK = [None, "x", "", b"\0", object(), [], {}, -1, 2.5, float("nan"),
        float("inf"), 10**30, -10**30, [[1, "a"]], [[[1.0]]], np.array(["a"]),
        lambda: 0, type, (1, 2, 3), 1j, np.empty((0, 3)), {"a": 1}]


NAMES = [None, *(x for x in JUNK if isinstance(x, str))]  # without features


def junk(rng, fine=()):
    """Something that is none of what is fine."""
    while True:
        value = rng.choice(JUNK)
        if not any(value is f for f in fine) and not (
                isinstance(value, (int, float, str, tuple, dict)) and
                any(type(f) is type(value) and f == value for f in fine)):
            return value


class Bad(tarry.PolicyBase):
    def __init__(self, what, value):
        self.what, self.value = what, value

    def choose(self, round):
        return self.value if self.what == "choose" else 0

    def observe(self, round, arm, loss):
        if self.what == "observe":
            raise RuntimeError


class BadDelay(tarry.DelayBase):
    def __init__(self, value):
        self._value = value

    def draw(self, round, arm, loss, rng):
        return self._value


class BadDelays(BadDelay):
    def draw_many(self, rounds, losses, rng):
        return self._value


def small(**more):
    return tarry.run("uniform", **dict(dict(horizon=100, runs=1), **more))


def calls(rng):
    """One wrong call of each kind."""
    p = tarry.Policy("lints", np.tri(3), horizon=100)  # arms with features
    ids, _ = p.choose_many(5)
    c = p.choose(id="mine")
    r = small()
    state = p.to_bytes()
    cut = rng.randrange(1, len(state))
    blank = tarry.Policy.__new__(tarry.Policy)
    j = lambda *fine: junk(rng, fine)
    return [
        lambda: tarry.design(j()), lambda: tarry.design(np.eye(3), rule=j()),
        lambda: tarry.design(np.eye(3), tol=j(2.5, float("inf"))),
        lambda: tarry.design(np.eye(3), max_support=j()),
        lambda: tarry.design(np.eye(3), warm=[j()]),
        lambda: tarry.design(np.eye(3), threads=j()),
        lambda: tarry.read_arms(j()),
        lambda: tarry.Policy(j(), np.eye(3), horizon=10),
        lambda: tarry.Policy("lints", j(), horizon=10),
        lambda: tarry.Policy("lints", np.eye(3), horizon=j()),
        lambda: tarry.Policy("lints", np.eye(3), horizon=10, seed=j()),
        lambda: tarry.Policy("lints", np.eye(3), horizon=10, run=j()),
        lambda: tarry.Policy("lints", np.eye(3), horizon=10, range=j()),
        lambda: tarry.Policy("lints", np.eye(3), horizon=10,
                             names=j(None, (1, 2, 3))),
        lambda: tarry.Policy("lints", np.eye(3), horizon=10, v=j(None, 2.5)),
        lambda: p.__init__("lints", np.eye(3), horizon=10),
        lambda: p.choose(j(None, "x")), lambda: p.choose(1, 2),
        lambda: p.choose(idd="x"), lambda: p.choose_many(j()),
        lambda: p.observe(j(), 0.5), lambda: p.observe(1, j(-1)),
        lambda: p.observe(1), lambda: p.observe(loss=1),
        lambda: p.observe(id=1, los=1), lambda: p.observe(1, loss=2, id=3),
        lambda: p.observe_many(j([]), [0.5]),
        lambda: p.observe_many(ids, j()),
        lambda: p.observe_many([j()], [0.5]),
        lambda: p.observe_many(ids, np.full(4, 0.5)),
        lambda: p.cancel(j()), lambda: p.expire(j()),
        lambda: p.admit(j(*NAMES)), lambda: p.admit("new", j(None)),
        lambda: p.withdraw(j()), lambda: p.withdraw(3),
        lambda: tarry.Policy("lints", np.eye(3), confidence=j(None)),
        lambda: c[j(-1)], lambda: tarry.Choice(1, j(10**30)),
        lambda: tarry.Choice(1), lambda: p.choose_many_with_probability(j()),
        lambda: p._make(1), lambda: p._restore(j()),
        lambda: p._choose_many(j(), j(), j()),
        lambda: p._choose_many(np.empty(3, np.uint64), np.empty(2, np.uint64),
                               np.empty(3)),
        lambda: p._observe_many(j(), j(), j()),
        lambda: p._add_id(j("x", ""), 1, 1, 0.5),
        lambda: p._set_reports(j(b"\0")),
        lambda: p.save(j("x")), lambda: tarry.Policy.restore(j()),
        lambda: tarry.Policy.from_bytes(j()),
        lambda: tarry.Policy.from_bytes(state[:cut]),
        lambda: blank.choose(), lambda: blank.observe(1, 1),
        lambda: blank.status(), lambda: blank.to_bytes(),
        lambda: blank.choose_many(1), lambda: blank._snapshot(),
        lambda: tarry.describe(j()),
        lambda: tarry.Random(j()), lambda: tarry.Random(1, stream=10**9),
        lambda: tarry.Random(1).exponential(), lambda: tarry.Random(),
        lambda: tarry.Random(1, count=1 << 39).uniform(),
        lambda: tarry.World(j(None)), lambda: tarry.World(loss=j(None)),
        lambda: tarry.World(delay=j(None, JUNK[16], type)),
        lambda: tarry.World(arms=np.eye(2)),
        lambda: tarry.World(arms=np.eye(2), theta=j()),
        lambda: tarry.World(arms=np.eye(2), means=j()),
        lambda: tarry.World(arms=np.eye(2), theta=[0.5, 2]),
        lambda: tarry.World(table=j(None)),
        lambda: tarry.World(table=[[0, 2, 1]]),
        lambda: tarry.World(arms=np.eye(2), table=[[0, 0.5, 1]]),
        lambda: tarry.World(arms=np.eye(2), table=[[7, 0.5, 1], [0, 0, 0]]),
        lambda: tarry.World("sphere", arms=np.eye(2), theta=[0, 0]),
        lambda: tarry.World().look(seed=j()),
        lambda: tarry.run(j(None, type)), lambda: tarry.run([j()]),
        lambda: tarry.run({"a": "lints"}), lambda: tarry.run(p),
        lambda: small(horizon=j()), lambda: small(runs=j()),
        lambda: small(seed=j()), lambda: small(points=j()),
        lambda: small(threads=j(None)), lambda: small(processes=j()),
        lambda: small(journal=j(None, "x")), lambda: small(worlds=j(None)),
        lambda: small(worlds=[j()]), lambda: small(zonk=1),
        lambda: tarry.run([tarry.PolicyBase()]),
        lambda: tarry.run(Bad("choose", j()), horizon=100, runs=1),
        lambda: tarry.run(Bad("observe", 0), horizon=100, runs=1,
                          delay="none"),
        lambda: tarry.run(["lints", "lints"], horizon=100, runs=1),
        lambda: small(delay=BadDelay(j(None, 2.5, float("inf"), 10**30))),
        lambda: small(delay=BadDelays(j(2.5, float("inf")))),
        lambda: small(delay=tarry.DelayBase()),
        lambda: tarry.Experiment.from_json(j({})),
        lambda: tarry.Experiment.from_json({"zonk": 1}),
        lambda: r[j(-1)], lambda: r[0, 1, 2],
        lambda: r.table(j()), lambda: r.plot(j()),
        lambda: r.difference(j(-1), 0),
        lambda: tarry._tarry.Experiment(100, 1, 1, 10, 1, None, 0, 1
                                        ).add_world(j()),
        lambda: tarry._tarry.Experiment(100, 1, 1, 10, 1, None, 0, 1
                                        ).summary(0, 0),
        lambda: tarry._tarry.Experiment(100, 1, 1, 10, 1, None, 0, 1).run(),
        lambda: tarry._tarry.Experiment(100, 1, 1, 10, 1, None, 7, 5),
        lambda: tarry._tarry.Experiment(100, 1, 1, 10, 1, None, 0, 1).json(),
        lambda: tarry._tarry.World(j(), j(), j(), j(), j(), j()),
        lambda: tarry.Client(j()), lambda: tarry.bound(delay=j(None)),
    ]


def test_what_is_wrong_with_a_choice_is_named():
    for arguments in (dict(arm=-1), dict(arm=0, round=-1)):
        with pytest.raises(tarry.BadArgument, match="^%s: " % list(
                arguments)[-1]):
            tarry.Choice("x", **arguments)


def test_errors_are_one_line():
    p = tarry.Policy("uniform", 3, confidence=0.9)
    for f, wrong in ((p.choose_many, np.eye(3)), (tarry.examine, np.eye(3)),
                     (p.withdraw, "a\nb")):
        with pytest.raises(tarry.Error) as error:
            f(wrong)
        assert "\n" not in str(error.value)


def mask(values, *missing):
    """The same numbers, some of them (by place) masked."""
    array = np.ma.masked_array(values)
    for place in missing:
        array[place] = np.ma.masked
    return array


class Draws(tarry.DelayBase):
    def __init__(self, *missing):
        self._missing = missing

    def draw_many(self, rounds, arms, losses, rng):
        return mask(np.ones(losses.shape), *self._missing)


RECORDS = [(0, 0.5, 1.0), (1, 0.25, 2.0)]
MASKED = [  # what is named, what takes it, a value of it, where it is masked
    ("losses", lambda p, x: p.observe_many([1, 2], x), [0.5, -0.5], 1),
    ("ids", lambda p, x: p.observe_many(x, [0.5, 0.5]), [1, 2], 1),
    ("ids", lambda p, x: p.observe_many(x, [0.5, 0.5]), [1.0, 2.0], 0),
    ("ids", lambda p, x: p.observe_many(x, [0.5, 0.5]), ["mine", "own"], 1),
    ("features", lambda p, x: p.admit(x), [1.0, 2, 3], 2),
    ("arms", lambda p, x: tarry.Policy("lints", x, horizon=9), np.eye(3),
     (0, 1)),
    ("arms", lambda p, x: tarry.Policy("lints", list(x), horizon=9),
     np.eye(3), (0, 1)),
    ("arms", lambda p, x: tarry.Policy("lints", tuple(x), horizon=9),
     np.eye(3), (2, 0)),
    ("arms", lambda p, x: tarry.design(x), np.eye(3), (2, 2)),
    ("warm", lambda p, x: tarry.design(np.eye(3), warm=x), [0, 1], 0),
    ("arms", lambda p, x: tarry.World(arms=x, means=[0, 0]), np.eye(2),
     (1, 0)),
    ("means", lambda p, x: tarry.World(arms=2, means=x), [0.5, 0], 0),
    ("theta", lambda p, x: tarry.World(arms=2, theta=x), [0.5, 0], 1),
    ("table", lambda p, x: tarry.World(table=x), RECORDS, (1, 2)),
    ("table", lambda p, x: tarry.World(table=tuple(x.T)), RECORDS, (0, 1)),
    ("table", lambda p, x: tarry.World(table=x), np.array(
        RECORDS, [("arm", int), ("loss", float), ("delay", float)]), 1),
    ("delays", lambda p, x: small(delay=Draws(*x.mask.nonzero()[0])), [1, 2],
     1),
    ("arms", lambda p, x: tarry.bound(arms=x, theta=[0.5, 0]), np.eye(2),
     (0, 0)),
    ("theta", lambda p, x: tarry.bound(arms=2, theta=x), [0.5, 0], 0)]


@pytest.mark.parametrize("what, take, values, place", MASKED)
def test_masked_values_are_missing_ones(what, take, values, place):
    """What stands beneath a mask is not read; where nothing is masked, the
    array is as good as any."""
    p = tarry.Policy("lints", np.eye(3), confidence=0.9)
    p.choose_many(2), p.choose("mine"), p.choose("own")
    with pytest.raises(tarry.BadArgument, match="^%s: masked" % what):
        take(p, mask(values, place))
    assert p.status()["pending"] == 4
    take(p, mask(values))


def test_a_thousand_wrong_calls_raise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    accepted, made, seed = [], 0, 0
    while made < 1000:
        rng = random.Random(seed)
        for number, call in enumerate(calls(rng)):
            made += 1
            try:
                answer = call()
            except Exception:
                continue
            accepted.append((seed, number, answer))
        seed += 1
    assert not accepted, accepted
