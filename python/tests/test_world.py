"""Worlds and experiments: what runs are told, what laws may answer, which
settings are whose."""
import copy
import functools
import json
import math
import os
import pickle
import select
import sys
import threading
import types

import numpy as np
import pytest
import tarry

ARMS = np.random.default_rng(4).normal(size=(5, 3)) / 4


class Law(tarry.DelayBase):
    """Answers what it is given."""

    def __init__(self, value, depends="loss"):
        self._value, self.depends = value, depends

    def draw(self, round, arm, loss, rng):
        return self._value


class Laws(Law):
    """For a block, all arms at once."""

    def draw_many(self, rounds, losses, rng):
        if callable(self._value):
            return self._value(rounds, losses)
        return np.full((len(rounds), 5), self._value)


class LawsByArms(Law):
    def draw_many(self, rounds, arms, losses, rng):
        return np.full((len(rounds), len(arms)), self._value)


def delays(law, rounds=20):
    """Of the first plays in a world of five arms; nan: never."""
    return tarry.World(delay=law, arms=ARMS, theta=np.zeros(3)).sample(
        rounds).delay


DELAYS = [(0, 0), (-0.0, 0), (0.999, 0), (1, 1), (2.9, 2), (np.float32(3), 3),
          (np.int64(4), 4), (np.uint8(5), 5), (True, 1), (150, 150),
          (math.inf, None), (1e300, None), (2.0**63, None)]


@pytest.mark.parametrize("value, told", DELAYS + [(None, None)])
def test_a_delay_is_cut_to_whole_rounds(value, told):
    for kind in [Law] if value is None else [Law, Laws, LawsByArms]:
        law = kind(value)
        seen = delays(law)
        assert np.isnan(seen).all() if told is None else (seen == told).all()


@pytest.mark.parametrize("value", [math.nan, -1, -1e-9, -math.inf, "x",
                                   np.float64("nan"), np.int64(-3), 1j])
def test_what_is_no_delay_is_refused_by_every_hook(value):
    for law in (Law(value), Laws(value), LawsByArms(value)):
        with pytest.raises((ValueError, TypeError)):
            delays(law)
        with pytest.raises((ValueError, TypeError)):
            tarry.run("uniform", delay=law, horizon=50, runs=2, threads=2)


def test_blocks_may_have_any_type_that_holds_their_delays():
    for kind in "bool int8 uint8 int32 int64 uint64 float16 float32 float64 " \
                ">f8 >i4".split():
        for value in (0, 1):
            assert (delays(Laws(np.array(value, kind))) == value).all()
    # (rounds, arms), (rounds,), (rounds, 1), a number, and in other orders
    def of_round(rounds, losses):
        return (rounds % 7)[:, None] + np.zeros((1, 5))
    expected = np.arange(1, 21) % 7
    for answer in (of_round, lambda r, x: (r % 7), lambda r, x: r[:, None] % 7,
                   lambda r, x: np.asfortranarray(of_round(r, x)),
                   lambda r, x: of_round(r, x)[::-1][::-1],
                   lambda r, x: (r % 7).tolist()):
        assert (delays(Laws(answer)) == expected).all()
    assert (delays(Laws(lambda r, x: 6)) == 6).all()
    # each arm its own: arms are played in turn
    assert (delays(Laws(lambda r, x: np.arange(5) + 0 * x)) ==
            np.arange(20) % 5).all()
    for bad in (lambda r, x: np.zeros((len(r), 4)), lambda r, x: np.zeros(3),
                lambda r, x: np.zeros((2, len(r), 5)), lambda r, x: None,
                lambda r, x: ["a"] * len(r)):
        with pytest.raises((ValueError, TypeError)):
            delays(Laws(bad))


def test_a_law_is_told_round_arm_and_loss_of_each_play():
    told = {}

    class Told(tarry.DelayBase):
        def draw(self, round, arm, loss, rng):
            told[round] = (arm, loss)
            return 0
    s = tarry.World(delay=Told(), arms=ARMS, theta=np.zeros(3)).sample(40)
    assert [told[t + 1] for t in range(40)] == list(zip(s.arm, s.loss))
    assert len(set(s.loss)) > 1

    class Block(tarry.DelayBase):
        def draw_many(self, numbers, some, losses, rng):  # found by their count
            for i, round in enumerate(numbers):
                for j, arm in enumerate(some):
                    if (round - 1) % 5 == arm:
                        told[round] = (arm, losses[i, j])
            return np.zeros(losses.shape)
    told.clear()
    again = tarry.World(delay=Block(), arms=ARMS, theta=np.zeros(3)).sample(40)
    assert (again.loss == s.loss).all()
    assert [told[t + 1] for t in range(40)] == list(zip(s.arm, s.loss))


def test_laws_draw_from_their_own_streams_one_by_one_and_in_blocks():
    class One(tarry.DelayBase):
        def draw(self, round, arm, loss, rng):
            a, b = rng.uniform(0, 90), rng.uniform(0, 90)
            assert a == tarry.Random(3, 0, round, 32).uniform(0, 90)
            assert b == tarry.Random(3, 0, round, 33).uniform(0, 90)
            return a + b

    class Many(tarry.DelayBase):
        def draw_many(self, rounds, losses, rng):
            drawn = rng.uniform(0, 90) + rng.uniform(0, 90)
            assert drawn.shape == (len(rounds),)
            return drawn
    one, many = (tarry.World(delay=law).sample(50, seed=3).delay
                 for law in (One(), Many()))
    assert (one == many).all() and len(set(one)) > 20


def test_draws_of_rows_take_the_next_stream_too():
    r = tarry.Random(5, count=4)
    rows = [r.uniform() for _ in range(3)]
    for i, row in enumerate(rows):
        assert (row == tarry.Random(5, stream=32 + i, count=4).uniform()).all()
    assert repr(r) == "Random(seed=5, run=0, round=0, stream=35, count=4)"
    for name, keys in [
            ("uniform", dict(low=2, high=3)), ("poisson", dict(mean=4)),
            ("normal", dict(mean=2, deviation=3)), ("geometric", dict(p=0.25)),
            ("lognormal", dict(mu=2, sigma=3)), ("exponential", dict(mean=4)),
            *((law, dict(shape=2, scale=3)) for law in
              ("weibull", "pareto", "lomax"))]:
        assert getattr(tarry.Random(5), name)(**keys) == \
            getattr(tarry.Random(5), name)(*keys.values())


# ---- what runs are told ----------------------------------------------------


class Noting(tarry.PolicyBase):
    """Keeps what it is told, in a list that no two runs may share."""
    problems = []

    def __init__(self):
        self._inner = {"rounds": []}

    def start(self, problem):
        super().start(problem)
        assert self._inner == {"rounds": []}
        Noting.problems.append(problem)

    def choose(self, round):
        self._inner["rounds"].append(round)
        assert self._inner["rounds"] == list(range(1, round + 1))
        return 0


class NotingLaw(tarry.DelayBase):
    problems = []

    def __init__(self):
        self._inner = {"rounds": []}

    def start(self, problem):
        assert self._inner == {"rounds": []}
        NotingLaw.problems.append(problem)

    def draw(self, round, arm, loss, rng):
        self._inner["rounds"].append(round)
        assert self._inner["rounds"] == list(range(1, round + 1))
        return 0


@pytest.mark.parametrize("threads, processes", [(1, 1), (2, 1), (1, 2)])
def test_every_run_begins_with_a_whole_copy(threads, processes):
    policy, law = Noting(), NotingLaw()
    for _ in range(2):
        r = tarry.run(policy, delay=law, horizon=40, runs=4, threads=threads,
                      processes=processes)
        assert r[0].runs.tolist() == [0, 1, 2, 3]
    assert policy._inner == law._inner == {"rounds": []}


@pytest.mark.parametrize("instance", ["sphere", "basis:arms=6"])
def test_runs_are_told_the_world_that_look_shows(instance):
    world = tarry.World(instance, delay=NotingLaw())
    Noting.problems.clear()
    NotingLaw.problems.clear()
    tarry.run(Noting(), worlds=world, horizon=40, runs=3, seed=2**60 + 1)
    assert sorted(p.run for p in Noting.problems) == [0, 1, 2]
    laws = [p for p in NotingLaw.problems if p.seed > 0]  # 0: just tried
    assert {p.run for p in laws} == {0, 1, 2}
    assert {p.horizon for p in Noting.problems} == {40}
    for p in Noting.problems + laws:
        view = world.look(2**60 + 1, p.run)
        assert (p.arms == view.arms).all() and not p.arms.flags.writeable
        assert (p.n_arms, p.dim) == view.arms.shape
        assert p.seed == 2**60 + 1
        assert repr(p) == "<Problem: %d arms in %d dimensions, horizon %d, " \
            "run %d>" % (*view.arms.shape, p.horizon, p.run)
        for stream in (0, 15):
            assert p.random(7, stream).normal() == tarry.Random(
                2**60 + 1, p.run, 7, stream).normal()
    if instance == "sphere":
        assert (world.look(1, 0).means != world.look(1, 1).means).any()
        assert (world.look(1, 0).means != world.look(2, 0).means).any()


class Answers(tarry.PolicyBase):
    def __init__(self, arm=0, bound=None):
        self._arm, self._bound = arm, bound

    def choose(self, round):
        return self._arm

    def certify(self):
        return self._bound


def test_arms_of_ones_own_policies_are_numbers_of_arms():
    for arm in (4, np.int64(4), np.uint8(4), True):
        r = tarry.run(Answers(arm), arms=ARMS, theta=[0, 0, 0], horizon=20,
                      runs=1)
        assert len(r[0].regret) == 1
    for arm in (5, -1, 2**64, -2**64):
        with pytest.raises(ValueError, match="Answers: arm .* of 5 chosen in "
                           "round 1$"):
            tarry.run(Answers(arm), arms=ARMS, theta=[0, 0, 0], horizon=20,
                      runs=1)
    for arm in (None, 1.0, "1", [1]):
        with pytest.raises(TypeError):
            tarry.run(Answers(arm), arms=ARMS, theta=[0, 0, 0], horizon=20,
                      runs=1)
    for bound in ((0,), (0, 1, 2), 5, (5, 0.5), (-1, 0.5), (0, "x"),
                  (0.5, 0.5), "ab"):
        with pytest.raises((TypeError, ValueError)):
            tarry.run(Answers(0, bound), arms=ARMS, theta=[0, 0, 0],
                      horizon=20, runs=1)


def test_up_to_64_policies_may_be_ones_own():
    def play(count):
        return tarry.run({"p%d" % i: Answers(i % 5) for i in range(count)},
                         arms=ARMS, theta=[0.5, 0, 0], horizon=5, runs=1)
    r = play(64)
    gaps = ARMS[:, 0] * 0.5 - (ARMS[:, 0] * 0.5).min()
    for i in range(64):
        assert r["p%d" % i].regret[0] == pytest.approx(5 * gaps[i % 5])
    with pytest.raises(tarry.BadArgument, match="too many policies"):
        play(65)


# ---- worlds ----------------------------------------------------------------


def test_a_sample_plays_all_arms_in_turn():
    for n in (1, 3, 100):
        s = tarry.World("basis:arms=%d" % max(n, 2)).sample(250)
        assert s.arm.tolist() == [t % max(n, 2) for t in range(250)]
    means = np.linspace(-0.9, 0.9, 5)
    s = tarry.World(arms=5, means=means, loss="none", delay="none").sample(10)
    assert np.allclose(s.loss, means[np.arange(10) % 5])
    far = tarry.World(delay="constant:rounds=89").sample(10)
    assert (far.delay == 89).all()  # within ten times as many rounds
    one, two, same = (tarry.World().sample(50, seed=k) for k in (1, 2, 1))
    assert (one.delay != two.delay).any()
    assert all(np.array_equal(a, b, equal_nan=True)
               for a, b in zip(one, same))


TABLE = [[0, 0.5, 3.9], [1, -0.5, 40], [2, 0.25, math.inf], [0, 1, math.nan],
         [2, -1, 0]]


def test_tables_of_all_kinds_are_one_world():
    pandas = pytest.importorskip("pandas")
    arm, loss, delay = map(list, zip(*TABLE))
    array = np.array(TABLE)
    worlds = [tarry.World(table=table) for table in (
        TABLE, array, np.asfortranarray(array), (arm, loss, delay),
        tuple(array.T), np.repeat(array, 2, 0)[::2],
        pandas.DataFrame(array[:, ::-1], columns=["delay", "loss", "arm"]),
        np.array([tuple(row) for row in TABLE],
                 [("arm", "i4"), ("loss", "f8"), ("delay", "f4")]),
        pandas.DataFrame({"arm": np.array(arm, np.uint8), "x": 1,
                          "delay": delay, "loss": loss}))]
    assert worlds[0].look().means.tolist() == [0.75, -0.5, -0.375]
    samples = [world.sample(300) for world in worlds]
    for s in samples:
        for a, b in zip(samples[0], s):
            assert np.array_equal(a, b, equal_nan=True)
    seen = {(arm, loss, delay) for arm, loss, delay in zip(*samples[0])
            if not math.isnan(delay)}
    assert seen == {(0, 0.5, 3), (1, -0.5, 40), (2, -1, 0)}
    wide = tarry.World(table=TABLE, arms=np.array([[1.], [2.], [3.]]))
    assert wide.look().arms.tolist() == [[1], [2], [3]]


@pytest.mark.parametrize("table", [
    [[0, 0.5]], [[0, 0.5, 1, 1]], [], [[-1, 0.5, 1]], [[0.5, 0.5, 1]],
    [[math.nan, 0.5, 1]], [[0, math.nan, 1]], [[0, 1.5, 1]], [[0, 0.5, -1]],
    [[2.0**60, 0.5, 1]], ([0, 1], [0.5, 0.5], [1]), ([0], [0.5, 0.5], [1, 1]),
    ([0, 1], [0.5], [1, 1]), ([0, 1], [0.5, 1], [1, 2, 3]), ([0], [1]),
    [[1, 0.5, 1]]])
def test_tables_that_make_no_sense_are_refused(table):
    with pytest.raises(tarry.BadArgument):
        tarry.World(table=table)


@pytest.mark.parametrize("parts", [
    dict(theta=[1, 2]), dict(theta=[1, 2, 3, 4]), dict(means=[0] * 4),
    dict(means=[0] * 6), dict(means=[0] * 5, theta=[0] * 3), dict(),
    dict(means=[0, 0, 0, 0, 1.5]), dict(means=[0, 0, 0, 0, math.nan])])
def test_lengths_and_values_of_arrays_are_looked_at(parts):
    with pytest.raises(ValueError):
        tarry.World(arms=ARMS, **parts)


def test_worlds_are_remade_with_all_their_parts():
    for parts in (dict(instance="basis:arms=7", loss="uniform",
                       delay="constant:rounds=3", name="n"),
                  dict(arms=ARMS, theta=[0.5, 0, 0.25], loss="none"),
                  dict(arms=ARMS, means=[0, 0.5, 0, 0, 1]),
                  dict(table=TABLE), dict(table=TABLE, arms=np.eye(3)),
                  dict(instance=(ARMS, [0, 0.5, 0])), dict(delay=Law(7))):
        world = tarry.World(**parts)
        sample, view = world.sample(60), world.look(3, 2)
        for twin in (pickle.loads(pickle.dumps(world)), copy.copy(world),
                     copy.deepcopy(world)):
            assert repr(twin) == repr(world) and twin.name == world.name
            for a, b in zip(sample, twin.sample(60)):
                assert np.array_equal(a, b, equal_nan=True)
            for a, b in zip(view, twin.look(3, 2)):
                assert np.array_equal(a, b)


# ---- experiments -----------------------------------------------------------


def test_a_worlds_own_settings_stand_above_the_shared_ones():
    e = tarry.Experiment("uniform", instance="basis:arms=4", loss="uniform",
                         delay="constant:rounds=9", worlds=[
                             {"name": "a"}, {"name": "b", "delay": "none"},
                             {"name": "c", "loss": "none"},
                             {"name": "d", "instance": "basis:arms=3"},
                             tarry.World(name="e")])
    told = [(c["name"], c["instance"], c["loss"], c["delay"])
            for c in e.config()["worlds"]]
    b, u, d = "basis:arms=4", "uniform", "constant:rounds=9"
    assert told == [("a", b, u, d), ("b", b, u, "none"), ("c", b, "none", d),
                    ("d", "basis:arms=3", u, d),
                    ("e", "sphere", "rademacher", "exponential:mean=100")]
    r = e.__class__("uniform", worlds=e.worlds, horizon=50, runs=2).run()
    assert r.worlds == list("abcde")
    assert [r[w, 0].sigma_max.max() for w in "ab"] == [9, 0]
    arrays = tarry.Experiment("uniform", arms=np.eye(2), means=[0, 0.5],
                              worlds=[{}, {"means": [0.25, 0]},
                                      {"arms": np.eye(3), "means": [1, 0, 0]}])
    assert [w.look().means.tolist() for w in arrays.worlds] == \
        [[0, 0.5], [0.25, 0], [1, 0, 0]]
    for bad in ([{"zonk": 1}], ["a"], [None]):
        with pytest.raises(tarry.BadArgument, match="worlds"):
            tarry.Experiment("uniform", worlds=bad)


CONFIG = {"instance": "basis:arms=4", "loss": "uniform",
          "delay": "constant:rounds=9", "policy": ["lints", "greedy"],
          "horizon": 120, "runs": 3, "seed": 2**53 + 1, "points": 5}


def test_every_key_of_a_file_is_read_and_written(tmp_path):
    path = tmp_path / "e.json"
    path.write_text("\n " + json.dumps(CONFIG))
    for source in (CONFIG, json.dumps(CONFIG), " " + json.dumps(CONFIG), path,
                   str(path), {"config": CONFIG}, json.dumps(CONFIG).encode(),
                   dict(CONFIG, seed=str(2**53 + 1))):
        e = tarry.Experiment.from_json(source)
        assert e.config() == CONFIG and json.loads(e.to_json()) == CONFIG
    r = e.run()
    assert json.loads(r.to_json())["config"] == CONFIG == r.config
    assert r[0].curves.shape == (3, len(r.grid)) and r.grid[-1] == 120
    assert len(r.grid) <= 5 and (r[0].sigma_max == 9).all()
    assert e.to_json(tmp_path / "f.json") == (tmp_path / "f.json").read_text()
    worlds = dict(CONFIG, worlds=[{"name": "x", "delay": "none"}, {}])
    again = tarry.Experiment.from_json(tarry.Experiment.from_json(
        worlds).to_json())
    assert [w.name for w in again.worlds] == ["x", None]
    assert [w.config()["loss"] for w in again.worlds] == ["uniform"] * 2
    assert tarry.Experiment.from_json({}).config() == dict(
        instance="sphere", loss="rademacher", delay="exponential:mean=100",
        policy=["phased-stochastic", "phased-adversarial",
                "phased-loss-dependent", "phased-mab"], horizon=1e5, runs=10,
        seed=1, points=100)


def test_files_that_make_no_sense_are_named(tmp_path):
    path = tmp_path / "e.json"
    for text, why in (("{", "e.json: "), ("[]", "e.json: not a JSON object"),
                      ('{"zonk": 1}', "unknown key 'zonk'"),
                      ('{"config": {"a": 1}}', "unknown key 'a'")):
        path.write_text(text)
        with pytest.raises(tarry.BadInput, match=why):
            tarry.Experiment.from_json(path)
    with pytest.raises(tarry.BadInput, match="the text: "):
        tarry.Experiment.from_json("{")
    with pytest.raises(FileNotFoundError):
        tarry.Experiment.from_json("nowhere.json")


def test_policies_may_be_given_in_many_ways():
    class Mine(tarry.PolicyBase):
        def choose(self, round):
            return 0

    class Duck:
        def __init__(self):
            self.width, self._hidden, self.big = 2, 3, [4]

        def choose(self, round):
            return 0

        def observe(self, round, arm, loss):
            pass

    def names(policies):
        """Of instances with equal settings the second ends in #2."""
        r = tarry.run(policies, horizon=20, runs=1)
        assert r.config["policy"] == r.policies
        return r.policies
    assert names("lints") == names(["lints"]) == names(("lints",)) == ["lints"]
    assert names(Mine) == names(Mine()) == names([Mine]) == ["Mine"]
    assert names({"x": Mine, "y": Mine()}) == ["x", "y"]
    assert names({1: Mine}) == ["1"]
    assert names([Duck(), "lints"]) == ["Duck:width=2", "lints"]
    assert names(p for p in ("greedy", "lints")) == ["greedy", "lints"]
    named = Mine()
    named.name = "called"
    assert names([named, Duck]) == ["called", "Duck:width=2"]
    assert names([Mine(), Mine, Duck(), Mine()]) == [
        "Mine", "Mine#2", "Duck:width=2", "Mine#3"]


# ---- several processes -----------------------------------------------------


class Fails(tarry.PolicyBase):
    """In run 3, if the last one was told to; notes which runs it has begun.
    A journal does not see what it was told."""

    def __init__(self, how, notes):
        self._notes, self.name = str(notes), "Fails"
        globals()["FAILING"] = how

    def start(self, problem):
        super().start(problem)
        with open(self._notes, "a") as file:
            file.write("%d\n" % problem.run)

    def choose(self, round):
        how = globals()["FAILING"]
        if self.problem.run == 3 and round == 5 and how is not None:
            how()
        return round % self.problem.n_arms


class Local(Exception):
    """That cannot be sent to another process."""

    def __init__(self, a, b):
        super().__init__("%s and %s" % (a, b))


def raises(error):
    def fail():
        raise error
    return fail


FAILURES = [(lambda: raises(LookupError("mine")), LookupError, "mine"),
            (lambda: raises(Local(1, 2)), tarry.Error, "Local: 1 and 2"),
            (lambda: lambda: os.kill(os.getpid(), 9), tarry.Error, "code -9"),
            (lambda: lambda: os._exit(0), tarry.Error, "code 0")]


@pytest.mark.parametrize("how, kind, text", FAILURES)
def test_what_had_finished_before_a_failure_is_not_played_again(
        how, kind, text, tmp_path):
    journal, notes = tmp_path / "journal", tmp_path / "notes"

    def play(how, **more):
        if notes.exists():
            notes.unlink()
        return tarry.run(Fails(how, notes), horizon=30, runs=6,
                         **dict(dict(processes=2, journal=journal), **more))
    with pytest.raises(kind, match=text):
        play(how())
    first = sorted(map(int, notes.read_text().split()))
    assert {0, 1, 2, 3, 4} <= set(first) and first.count(3) == 1
    r = play(None)
    again = sorted(map(int, notes.read_text().split()))
    assert 3 in again and not set(again) & {0, 1, 2, 4}
    whole = play(None, processes=1, journal=None)
    assert (r[0].curves == whole[0].curves).all()
    assert play(None, processes=1)[0].runs.tolist() == list(range(6))
    assert not notes.exists()  # all was in the journal


def test_what_had_finished_before_ctrl_c_is_not_played_again(tmp_path,
                                                             monkeypatch):
    from tarry import _processes
    journal, notes = tmp_path / "journal", tmp_path / "notes"
    wait = _processes._wait

    def stop(children, lines):
        wait(children, lines)
        raise KeyboardInterrupt
    with monkeypatch.context() as patch:
        patch.setattr(_processes, "_wait", stop)
        with pytest.raises(KeyboardInterrupt):
            tarry.run(Fails(None, notes), horizon=30, runs=4, processes=2,
                      journal=journal)
    notes.unlink()
    r = tarry.run(Fails(None, notes), horizon=30, runs=4, processes=2,
                  journal=journal)
    assert not notes.exists() and r[0].runs.tolist() == [0, 1, 2, 3]


def test_processes_end_with_the_one_that_waits_for_them(monkeypatch):
    """Whoever was interrupted alone leaves nobody behind."""
    (waits, never), (told, tell) = os.pipe(), os.pipe()

    class Waits(tarry.PolicyBase):
        def choose(self, round):
            os.write(tell, b"begun ")
            select.select([waits], [], [], 20)
            os.write(tell, b"went on")
            os._exit(1)

    def stop(children, lines):
        assert os.read(told, 6) == b"begun "
        raise KeyboardInterrupt
    monkeypatch.setattr("tarry._processes._wait", stop)
    with pytest.raises(KeyboardInterrupt):
        tarry.run(Waits(), horizon=30, runs=2, processes=2)
    os.close(tell)
    assert b"went on" not in os.read(told, 99)
    for end in (waits, never, told):
        os.close(end)


def test_journals_are_joined_by_whole_lines(tmp_path):
    from tarry._processes import _join
    texts = [b"head\na\nb\n", b"head\nc\nhal", b"", b"head\na\nd\n"]
    paths = []
    for i, text in enumerate(texts):
        paths.append(str(tmp_path / str(i)))
        (tmp_path / str(i)).write_bytes(text)
    assert _join(paths) == b"head\na\nb\nc\nd\n"


def test_more_processes_than_runs_do_no_harm(tmp_path):
    r = tarry.run(Fails(None, tmp_path / "notes"), horizon=30, runs=2,
                  processes=5)
    assert r[0].runs.tolist() == [0, 1]
    runs = (tmp_path / "notes").read_text().split()
    assert sorted(runs) == ["0", "1"]
    assert not os.path.exists("0")


@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize("run", range(4))
def test_a_failure_in_any_process_is_raised(run, processes):
    """Also one that would not happen to the process that waits."""
    me = os.getpid()

    class Broken(tarry.PolicyBase):
        def choose(self, round):
            return {}["mine"] if self.problem.run == run and (
                processes == 1 or os.getpid() != me) else 0
    with pytest.raises(KeyError, match="mine"):
        tarry.run(Broken(), horizon=20, runs=4, processes=processes)


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_of_many_failures_the_first_is_raised(processes):
    class Broken(tarry.PolicyBase):
        def choose(self, round):
            raise KeyError("run %d" % self.problem.run)
    with pytest.raises(KeyError, match="run 0"):
        tarry.run(Broken(), horizon=20, runs=4, processes=processes)


# ---- waiting ---------------------------------------------------------------


class Handle:
    """An experiment that ends after so many looks at it, or when cancelled."""

    def __init__(self, looks, error=None):
        self.looks, self.error, self.seen = looks, error, []
        self.done, self.cancelled = threading.Event(), False

    def run(self):
        assert self.done.wait(60)
        self.seen.append("end")

    def share(self):
        self.seen.append("look")
        if self.error is not None:
            raise self.error
        if self.seen.count("look") == self.looks:
            self.done.set()
        return self.seen.count("look") / self.looks

    def cancel(self):
        self.cancelled = True
        self.done.set()


class Bar:
    """In place of tqdm's."""
    made = []

    def __init__(self, total, **unused):
        self.total, self.n, self.closed = total, 0, False
        Bar.made.append(self)

    def update(self, more):
        self.n += more

    def close(self):
        self.closed = True


@pytest.mark.parametrize("progress, watched, shown", [
    (True, False, True), (None, True, True), (None, False, False),
    (False, True, False)])
def test_a_bar_is_shown_to_those_who_watch(monkeypatch, progress, watched,
                                           shown):
    from tarry import _lab
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(
        tqdm=Bar))
    monkeypatch.setattr(_lab, "_is_watched", lambda: watched)
    Bar.made.clear()
    _lab._watch(Handle(2), progress)
    assert len(Bar.made) == shown
    for bar in Bar.made:
        assert bar.n == pytest.approx(bar.total) and bar.closed


def test_who_is_interrupted_cancels_and_waits_for_the_end(monkeypatch):
    from tarry import _lab
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(
        tqdm=Bar))
    Bar.made.clear()
    handle = Handle(2, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        _lab._watch(handle, True)
    assert handle.cancelled and handle.seen == ["look", "end"]
    assert [bar.closed for bar in Bar.made] == [True]


def test_python_code_is_called_in_one_thread_unless_one_says_so(monkeypatch):
    asked, real = [], tarry.Experiment._open

    def open_it(self, identities, threads, *rest):
        asked.append(threads)
        return real(self, identities, threads, *rest)
    monkeypatch.setattr(tarry.Experiment, "_open", open_it)
    for policy, delay, threads, told in [
            ("uniform", None, None, 0), (Answers(), None, None, 1),
            ("uniform", Law(3), None, 1), (Answers(), None, 2, 2),
            ("uniform", None, 1, 1)]:
        tarry.run(policy, delay=delay, threads=threads, horizon=10, runs=1)
        assert asked.pop() == told


# ---- what is not as it must be ---------------------------------------------


def test_what_is_not_written_is_named():
    class Nothing(tarry.PolicyBase):
        pass

    class Never(tarry.DelayBase):
        pass
    with pytest.raises(NotImplementedError, match="^Nothing: no choose$"):
        tarry.run(Nothing(), horizon=9)
    with pytest.raises(NotImplementedError, match="^Never: neither draw nor"):
        tarry.run("uniform", delay=Never(), horizon=9)


class Half:
    def choose(self, round):
        return 0


@pytest.mark.parametrize("make, text", [
    (lambda: tarry.World(delay=Law(3, "chance")), "depends.*'chance'"),
    (lambda: tarry.World(delay=Law(3, None)), "depends.*'None'"),
    (lambda: tarry.World(delay=5), "delay: neither .* nor a law: 5"),
    (lambda: tarry.World(loss=5), "loss: not a description: 5"),
    (lambda: tarry.World(5), "instance: not a description: 5"),
    (lambda: tarry.World((ARMS,)), "instance: .*arms, theta"),
    (lambda: tarry.World((ARMS, np.zeros(3), 1)), "instance: .*arms, theta"),
    (lambda: tarry.World((ARMS, np.zeros(3)), arms=ARMS), "instance: .*theta"),
    (lambda: tarry.World((ARMS, np.zeros(3)), theta=[0] * 3), "instance: "),
    (lambda: tarry.World(table=[[2.0**53, 0, 0]], arms=2), "whole number"),
    (lambda: tarry.World(table=[[math.inf, 0, 0]], arms=2), "whole number"),
    (lambda: tarry.World(table=[[0.5, 0, 0]], arms=2), "whole number"),
    (lambda: tarry.World(table=[[0, 0, -1e-9]], arms=2), "delay is below 0"),
    (lambda: tarry.run(Half(), horizon=9), "neither names nor policies"),
    (lambda: tarry.run([Half()], horizon=9), "nor with choose and observe"),
    (lambda: tarry.run(tarry.Policy("lints", ARMS, horizon=9)), "nor with "),
    (lambda: tarry.run({"a": Half()}, horizon=9), "nor with choose and"),
    (lambda: tarry.run({"a": "lints"}, horizon=9), "'a': only policies of")])
def test_what_cannot_be_a_world_or_a_policy_is_named(make, text):
    with pytest.raises(tarry.BadArgument, match=text):
        make()


def test_functions_are_called_by_their_names():
    def late(round, arm, loss, rng):
        return 3
    assert tarry.World(delay=late).config()["delay"] == "late"
    partial = functools.partial(late)
    assert tarry.World(delay=partial).config()["delay"] == "function"
    assert (delays(late) == 3).all() and (delays(partial) == 3).all()


def test_a_law_may_be_a_class_and_an_instance_a_pair():
    class Three(tarry.DelayBase):
        def draw(self, round, arm, loss, rng):
            return 3
    assert (delays(Three) == 3).all() and (delays(Three()) == 3).all()
    pair = tarry.World((ARMS, np.zeros(3)))
    assert pair.look().arms.tolist() == ARMS.tolist()
    assert pair.config() == tarry.World(arms=ARMS, theta=[0] * 3).config()


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("notebook", [False, True])
def test_terminals_and_notebooks_are_watched(monkeypatch, terminal, notebook):
    from tarry import _lab
    monkeypatch.setattr(sys, "stderr", types.SimpleNamespace(
        isatty=lambda: terminal, write=sys.stderr.write,
        flush=sys.stderr.flush))
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", types)
    assert _lab._is_watched() is (terminal or notebook)


def test_without_tqdm_no_bar_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    from tarry import _lab
    handle = Handle(2)
    _lab._watch(handle, True)
    assert handle.seen == ["look", "look", "end"]


def test_an_experiment_that_runs_is_left_alone():
    handle = tarry._tarry.Experiment(20, 1, 1, 5, 1, None, 0, 1)
    asked = [lambda: handle.add_policy("lints"), handle.run, handle.json,
             lambda: handle.add_world(tarry.World()._handle()),
             lambda: handle.add_own("x", None, Asks, False),
             lambda: handle.summary(0, 0), lambda: handle.outcome(0, 0, 0)]

    class Asks:
        def __init__(self, *problem):
            pass

        def choose(self, round):
            for ask in asked:
                with pytest.raises(tarry.BadArgument, match="is running"):
                    ask()
            return 0

        def observe(self, round, arm, loss):
            pass
    handle.add_world(tarry.World()._handle())
    handle.add_own("asks", None, Asks, False)
    assert handle.run() is False and handle.sizes() == (1, 1)
    assert handle.outcome(0, 0, 0) is not None


def test_what_was_cancelled_has_no_outcome():
    handle = tarry._tarry.Experiment(20, 2, 1, 5, 1, None, 0, 1)
    handle.add_world(tarry.World()._handle())
    handle.add_policy("uniform")
    handle.cancel()
    assert handle.run() is True
    assert [handle.outcome(0, 0, run) for run in range(2)] == [None] * 2


@pytest.mark.parametrize("world", [0, 1, 2])
def test_what_a_law_of_any_world_raises_comes_through(world):
    class Law(tarry.DelayBase):
        def draw(self, round, arm, loss, rng):
            raise KeyError("mine")
    worlds = [{"name": name} for name in "abc"]
    worlds[world]["delay"] = Law()
    with pytest.raises(KeyError, match="mine"):
        tarry.run("uniform", worlds=worlds, horizon=9, runs=2)


@pytest.mark.parametrize("fine", [0, 1])
def test_what_a_law_raises_at_its_start_comes_through(fine):
    begun = []

    class Law(tarry.DelayBase):
        def start(self, problem):
            begun.append(problem.run)
            if len(begun) > fine:
                raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        world = tarry.World(delay=Law())
        assert fine == 1
        world.look(run=3)
    assert begun == [0, 3][:fine + 1]
