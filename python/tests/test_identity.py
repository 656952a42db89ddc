"""Which runs of a journal an experiment finds when its Python code changes."""
import os
import subprocess
import sys
import types

import numpy as np
import pytest

import tarry
from tarry._identity import identity_of

POLICY = """
import functools
import math
import numpy as np
import tarry
import helpers

LIMIT = 3
TABLE = {"a": [1, 2.5], "b": {True, "x", None}}


def second(t):
    return t + 1


def first(t):
    return second(t) % LIMIT


@functools.lru_cache()
def cached(t):
    return t * 2


def made(width):
    def inner(t, by=5):
        return t + width
    return inner


class Base(tarry.PolicyBase):
    margin = 0.5

    def lower(self, t):
        return t - 1


class Mine(Base):
    def __init__(self, width=2, *, arms=(0, 1)):
        self.width, self.arms = width, np.array(arms)
        self.inner = made(7)
        self.key = lambda x: x + 1
        self.rng = np.random.default_rng(3)

    def choose(self, t):
        \"\"\"No matter.\"\"\"
        from helpers import late
        return int(first(t) + cached(t) + self.lower(t) + helpers.pick(t)
                   + TABLE["a"][0] + math.floor(late(t))) % len(self.arms)

    @property
    def size(self):
        return 4

    @staticmethod
    def still(t):
        return 9


def policy():
    return Mine()
"""
HELPERS = """
WIDTH = 8


def pick(t):
    return t + WIDTH


def late(t):
    return t * 10


def unused(t):
    return 11
"""


def load(monkeypatch, policy=POLICY, helpers=HELPERS):
    """The policy of these texts, as of modules of their own."""
    for name, text in (("helpers", helpers), ("mine", policy)):
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(text, "/nowhere/%s.py" % name, "exec"), vars(module))
    return sys.modules["mine"].policy()


@pytest.mark.parametrize("old, new", [
    ("return t + 1", "return t + 2"), ("LIMIT = 3", "LIMIT = 4"),
    ("return t * 2", "return t * 3"), ("return t + width", "return t - width"),
    ("made(7)", "made(8)"), ("by=5", "by=6"), ("margin = 0.5", "margin = 1"),
    ("return t - 1", "return t - 2"), ("width=2", "width=3"),
    ("width=2", "width=2.0"), ("arms=(0, 1)", "arms=(0, 2)"),
    ("x + 1", "x + 2"), ("default_rng(3)", "default_rng(4)"),
    ("2.5]", "2.6]"), ('"x", None', '"y", None'), ("return 4", "return 5"),
    ("return 9", "return 8"), ("class Mine(Base)", "class Mine(Base, dict)"),
    ("math.floor", "math.ceil"), ("WIDTH = 8", "WIDTH = 9"),
    ("return t + WIDTH", "return t - WIDTH"),
    ("return t * 10", "return t * 11"), ("floor(late(t))", "floor(t)")])
def test_identity_changes_with_whatever_decides_a_choice(old, new,
                                                         monkeypatch):
    before = identity_of(load(monkeypatch))
    assert old in POLICY or old in HELPERS
    after = identity_of(load(monkeypatch, POLICY.replace(old, new),
                             HELPERS.replace(old, new)))
    assert before != after


@pytest.mark.parametrize("old, new", [
    ("", ""), ("return t + 1", "return t + 1  # a comment"),
    ("LIMIT = 3", "LIMIT = 3\nOTHER = 5"), ("return 11", "return 12"),
    ("\n\nLIMIT", "\n\n\n\nLIMIT")])
def test_identity_stays_where_nothing_changes_that_is_used(old, new,
                                                           monkeypatch):
    before = identity_of(load(monkeypatch))
    assert before == identity_of(load(
        monkeypatch, POLICY.replace(old, new) if old else POLICY,
        HELPERS.replace(old, new) if old else HELPERS))


def test_identity_is_the_same_in_every_process(tmp_path):
    (tmp_path / "mine.py").write_text(POLICY)
    (tmp_path / "helpers.py").write_text(HELPERS)
    command = [sys.executable, "-c", "import mine, tarry._identity as i\n"
               "print(i.identity_of(mine.policy()))"]
    path = os.pathsep.join([str(tmp_path)] + sys.path)
    assert len({subprocess.check_output(command, env=dict(
        os.environ, PYTHONPATH=path, PYTHONHASHSEED=seed))
        for seed in ("1", "2", "3")}) == 1


def test_an_edited_policy_of_the_same_name_is_played_again(tmp_path):
    def play(body, **more):
        space = {"tarry": tarry, "__name__": "__main__"}
        exec("class Mine(tarry.PolicyBase):\n"
             "    def choose(self, t):\n"
             "        return " + body, space)
        return tarry.run(space["Mine"], horizon=500, runs=2, **more)[0].mean
    journal = tmp_path / "journal"
    for body in ("t % 3", "0", "t % 3"):
        assert play(body, journal=journal) == play(body)
    assert journal.read_bytes().count(b'"trial"') == 4


def test_an_edited_law_of_the_same_name_is_drawn_again(tmp_path):
    def play(rounds, **more):
        def law(round, arm, loss, rng):
            return rounds
        return tarry.run("lints", delay=law, horizon=500, runs=2,
                         **more)[0].regret.tolist()
    journal = tmp_path / "journal"
    for rounds in (3, 300, 3):
        assert play(rounds, journal=journal) == play(rounds)
    assert journal.read_bytes().count(b'"trial"') == 4


class Logs(tarry.PolicyBase):
    def __init__(self, log):
        self.log = log

    def __deepcopy__(self, memo):
        return self

    def choose(self, t):
        return 0


def test_what_cannot_be_read_asks_for_a_version(tmp_path):
    journal = tmp_path / "journal"
    with open(tmp_path / "log", "w") as log:
        def play(**more):
            return tarry.run(Logs(log), horizon=50, runs=1, **more)
        with pytest.raises(tarry.BadArgument, match=r"Logs\.log is a _io\."
                           r"TextIOWrapper.*give version="):
            play(journal=journal)
        assert not journal.exists()
        play()
        play(processes=2)
        for version, trials in (("1", 1), ("1", 1), ("2", 2)):
            play(journal=journal, version=version)
            assert journal.read_bytes().count(b'"trial"') == trials


@pytest.mark.parametrize("thing", [
    lambda: (i for i in ()), lambda: np.frompyfunc(lambda x: x, 1, 1),
    lambda: memoryview(b"x"), lambda: __import__("threading").Lock()])
def test_objects_without_a_readable_state_are_refused(thing):
    with pytest.raises(tarry.BadArgument, match="give version="):
        identity_of(Logs(thing()))


def test_circles_end(monkeypatch):
    one, other = Logs(1), Logs(2)
    one.log, other.log = other, one
    assert identity_of(one) == identity_of(other)
    other.more = 3
    assert identity_of(one) != identity_of(other)


def test_a_cell_runs_twice_and_a_sweep_grows(tmp_path):
    """While the first result lives."""
    def play(policies, worlds, runs, processes):
        r = tarry.run([Logs(i) for i in range(policies)],
                      worlds=[{"delay": "none", "name": "none"},
                              {"name": "late"}][:worlds], horizon=50,
                      runs=runs, journal=journal, processes=processes)
        return r, journal.read_bytes().count(b'"trial"')
    for processes in (1, 2):
        journal = tmp_path / str(processes)
        first, trials = play(1, 1, 2, processes)
        assert trials == 2
        again, trials = play(1, 1, 2, processes)
        assert trials == 2 and (first[0].curves == again[0].curves).all()
        assert play(2, 1, 2, processes)[1] == 4
        assert play(2, 2, 2, processes)[1] == 8
        assert play(2, 2, 3, processes)[1] == 12
        assert play(1, 2, 2, processes)[1] == 12


class Asks(tarry.PolicyBase):
    """Of its own journal, while it is in use."""

    def __init__(self, journal):
        self.journal = journal

    def choose(self, t):
        for processes in (1, 2):
            with pytest.raises(tarry.BadArgument,
                               match="is writing this journal; wait"):
                tarry.run("uniform", horizon=9, runs=2, journal=self.journal,
                          processes=processes)
        return 0


@pytest.mark.parametrize("processes", [1, 2])
def test_a_journal_in_use_is_refused(processes, tmp_path):
    tarry.run(Asks(str(tmp_path / "journal")), horizon=2, runs=1,
              journal=tmp_path / "journal", processes=processes)
