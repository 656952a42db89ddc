"""The binding, field by field: programs go as in `tarry pipe`, choices are
sequences, draws have addresses."""
import inspect
import itertools
import json
import math
import operator
import pickle
import random
import subprocess

import numpy as np
import pytest
import tarry

FEATURES = np.random.default_rng(7).normal(size=(9, 3)) / 3
NAMES = ["n%d" % k for k in range(9)]


# ---- random programs, there and here ---------------------------------------


def lines_of(rng, count):
    """What may be asked of a policy of five arms that begins anew."""
    rounds, own, arms = 0, 0, 5
    for t in range(count):
        some = rng.randint(1, rounds + 1)
        kind = rng.randrange(20)
        if kind < 8:
            rounds += 1
            yield ("choose",)
        elif kind == 8:
            rounds += 1
            own += 1
            yield "choose", "own-%d" % own
        elif kind == 9 and own > 0:
            yield "choose", "own-%d" % rng.randint(1, own)
        elif kind < 15:
            yield "observe", some, rng.choice([0, 0.25, 1.5, 2, 3, 3.5])
        elif kind == 15 and own > 0:
            yield "observe", "own-%d" % rng.randint(1, own), 1.0
        elif kind == 16:
            yield "cancel", some
        elif kind == 17:
            yield "expire", some
        elif kind == 18 and arms < 9 and rng.random() < 0.3:
            yield ("admit", NAMES[arms]) + tuple(FEATURES[arms])
            arms += 1
        elif kind == 19 and rng.random() < 0.3:
            yield "withdraw", NAMES[rng.randrange(arms)]
    yield ("pending",)
    yield ("status",)


def words(line):
    if line[0] == "choose" and len(line) > 1:
        return "choose --id " + line[1]
    return " ".join(x if isinstance(x, str) else repr(float(x))
                    if isinstance(x, float) else str(x) for x in line)


def refused(call, *args):
    try:
        return call(*args)
    except tarry.Error:
        return "error"


def here(p, own, line):
    """The answer of a policy, as the pipe would print it."""
    what, rest = line[0], line[1:]
    if what == "choose":
        c = p.choose(*rest)
        assert c.name == p.names[c.arm] and c.round >= 1
        assert c.repeated == (bool(rest) and rest[0] in own.values())
        if rest:
            own.setdefault(c.round, rest[0])
        return "%s %s" % (c.id, c.name)
    if what == "admit":
        answer = refused(p.admit, rest[0], rest[1:])
        return "error" if answer == "error" else "ok"
    if what == "pending":
        waiting, last = p.pending(), p.status()["round"]
        for w in waiting:
            assert w.rounds == last - (p.choose(w.id).round if isinstance(
                w.id, str) else w.id) and p.names[w.arm] == w.name
        return "\n".join(["%s %s" % (w.id, w.name) for w in waiting] +
                         ["ok %d" % len(waiting)])
    id = own.get(rest[0], rest[0]) if what != "withdraw" else rest[0]
    before = p.status()["expired"]
    answer = refused(getattr(p, what), id, *rest[1:])
    if what == "expire" and p.status()["expired"] == before:
        return "error"  # once more is harmless here, and said there
    return answer if answer is not None else "ok"


def as_told(s, names):
    """A status with names in place of numbers."""
    told = dict(s, active=[names[k] for k in s["active"]],
                best=None if s["best"] is None else names[s["best"]],
                plan=[dict(e, arm=names[e["arm"]]) for e in s["plan"]],
                estimates=[dict(e, arm=names[e["arm"]])
                           for e in s["estimates"]],
                arms=[names[k] for k in s["available"]],
                range=list(s["range"]), exploit=names[s["exploit"]],
                objective="maximize" if s["maximize"] else "minimize")
    return told


@pytest.mark.parametrize("policy", [
    "recommended", "lints", "ucb-delayed", "se-delayed",
    "phased-stochastic:constants=tight,width=0.1",
    "phased-mab:constants=tight,width=0.05"])
def test_programs_go_as_in_the_pipe(policy, tmp_path):
    with open(tmp_path / "arms.csv", "w") as file:
        for k in range(5):
            file.write(",".join([NAMES[k]] + [repr(float(x))
                                              for x in FEATURES[k]]) + "\n")
    program = list(lines_of(random.Random(policy), 600))
    p = tarry.Policy(policy, FEATURES[:5], horizon=5000, range=(0, 3),
                     maximize=True, seed=11, names=NAMES[:5])
    own = {}
    ours = [here(p, own, line) for line in program[:-1]]
    # a round with an id of its own has no other there
    round_of = {id: round for round, id in own.items()}
    text = "".join(
        words(line if line[0] not in ("observe", "cancel", "expire")
              else (line[0], own.get(line[1], line[1])) + line[2:]) + "\n"
        for line in program)
    done = subprocess.run(
        [tarry.program(), "pipe", "--policy", policy, "--arms",
         str(tmp_path / "arms.csv"), "--horizon", "5000", "--range", "0,3",
         "--maximize", "--seed", "11"],
        input=text, stdout=subprocess.PIPE, text=True)
    theirs = done.stdout.splitlines()
    status = json.loads(theirs.pop())
    flat = "\n".join(ours).split("\n")
    said = ["error" if line.startswith("error")
            else " ".join(line.split()[:2]) for line in theirs]  # without ages
    assert len(round_of) > 3 and "error" in said
    assert said == flat
    told = as_told(p.status(), p.names)
    keys = set(status) - {"paused", "dependence", "silence"}
    assert len(keys) >= 24
    for key in keys:
        if key == "certificate":
            assert told[key] == pytest.approx(status[key], abs=1e-12)
        else:
            assert told[key] == status[key], key
    s = p.status()
    assert s["n_arms"] == len(p.names) == len(p.arms) and s["dim"] == 3
    assert s["seed"] == 11
    assert (p.arms == FEATURES[:s["n_arms"]]).all()


# ---- choices ---------------------------------------------------------------


def test_a_choice_is_a_sequence_of_three():
    c = tarry.Choice("x", 4, 0.25, "red", 7, True)
    parts = ("x", 4, 0.25)
    assert tuple(c) == parts and len(c) == 3
    for i in range(-3, 3):
        assert c[i] == parts[i]
    for i in (-5, -4, 3, 4, 10**30):
        with pytest.raises(IndexError):
            c[i]
    with pytest.raises(TypeError):
        c["id"]
    for start, stop, step in itertools.product(
            [None, -4, -1, 0, 1, 3], [None, -2, 0, 2, 5], [None, -2, -1, 1, 2]):
        assert c[start:stop:step] == parts[start:stop:step]
    with pytest.raises(ValueError):
        c[::0]


def test_a_choice_has_all_that_it_was_made_of():
    c = tarry.Choice("x", 4, 0.25, "red", 7, True)
    assert (c.id, c.arm, c.probability, c.name, c.round, c.repeated) == \
        ("x", 4, 0.25, "red", 7, True)
    assert repr(c) == "Choice(id='x', arm=4, name='red')"
    d = tarry.Choice(id=3, arm=1)
    assert (d.id, d.arm, d.name, d.round, d.repeated) == \
        (3, 1, None, 0, False)
    assert math.isnan(d.probability) and repr(d) == "Choice(id=3, arm=1)"
    e = pickle.loads(pickle.dumps(c))
    assert (e.id, e.arm, e.probability, e.name, e.round, e.repeated) == \
        ("x", 4, 0.25, "red", 7, True)
    for bad in [dict(id=1), dict(arm=1), dict(id=1, arm=-1),
                dict(id=1, arm="1"), dict(id=1, arm=1, round=-1),
                dict(id=1, arm=1, round="1"), dict(id=1, arm=1, more=1),
                dict(id=1, arm=1, probability="x")]:
        with pytest.raises((TypeError, ValueError)):
            tarry.Choice(**bad)


def test_choices_are_the_same_by_id_and_arm():
    c = tarry.Choice("x", 4, 0.25, "red", 7, True)
    for other, same in [(tarry.Choice("x", 4), True),
                        (tarry.Choice("x", 5, 0.25, "red", 7, True), False),
                        (tarry.Choice("y", 4, 0.25, "red", 7, True), False),
                        (("x", 4, 0.25), False), ("x", False)]:
        assert (c == other) is same and (c != other) is not same
    assert hash(c) == hash(tarry.Choice("x", 5)) == hash("x")
    assert len({c, tarry.Choice("x", 4)}) == 1
    with pytest.raises(TypeError):
        c < tarry.Choice("x", 5)


@pytest.mark.parametrize("call", [
    lambda p: p.choose("a", "b"), lambda p: p.choose(name="a"),
    lambda p: p.choose("a", id="a"), lambda p: p.choose(""),
    lambda p: p.choose(7), lambda p: p.observe(1), lambda p: p.observe(),
    lambda p: p.observe(1, 0, 0), lambda p: p.observe(1, id=1),
    lambda p: p.observe(1, los=0), lambda p: p.observe(id=1, lost=1),
    lambda p: p.observe(1, "0"), lambda p: p.observe(1.0, 0),
    lambda p: p.observe(None, 0)])
def test_calls_have_one_form(call):
    p = tarry.Policy("uniform", 3, horizon=10)
    p.choose()
    with pytest.raises(TypeError):
        call(p)
    assert p.status()["round"] == p.status()["pending"] == 1


def test_names_of_arguments_may_be_given():
    p = tarry.Policy("uniform", 3, horizon=10)
    p.choose_many(4)
    assert p.observe(id=1, loss=0.5) == "ok"
    assert p.observe(loss=0.5, id=2) == "ok"
    assert p.observe(3, loss=0.5) == "ok"
    assert p.observe(np.uint8(4), np.float32(0.5)) == "ok"
    assert p.observe(loss=0.5, id=1) == "duplicate"
    assert p.choose(id="a").round == 5 and p.choose(None).round == 6


# ---- draws -----------------------------------------------------------------

DRAWS = [("uniform", ()), ("uniform", (-2, 5)), ("normal", ()),
         ("normal", (1, 3)), ("lognormal", (0.5, 0.25)), ("weibull", (2, 3)),
         ("pareto", (3, 2)), ("lomax", (3, 2)), ("exponential", (4,)),
         ("geometric", (0.25,)), ("poisson", (6,))]
MEANS = [0.5, 1.5, 0, 1, math.exp(0.5 + 0.25**2 / 2), 3 * math.gamma(1.5), 3, 1,
         4, 3, 6]


@pytest.mark.parametrize("name, args", DRAWS)
def test_a_draw_is_a_function_of_its_address(name, args):
    one = getattr(tarry.Random(5, 2, 100, 40), name)(*args)
    assert isinstance(one, float)
    row = getattr(tarry.Random(5, 2, 100, 40, count=7), name)(*args)
    assert row.shape == (7,) and row[0] == one
    for i in range(7):
        assert row[i] == getattr(tarry.Random(5, 2, 100 + i, 40), name)(*args)
    for other in [(6, 2, 100, 40), (5, 3, 100, 40), (5, 2, 101, 40),
                  (5, 2, 100, 41)]:
        many = getattr(tarry.Random(*other, count=50), name)(*args)
        same = getattr(tarry.Random(5, 2, 100, 40, count=50), name)(*args)
        assert (many != same).any()


def test_every_draw_takes_the_next_stream():
    r = tarry.Random(5)
    assert repr(r) == "Random(seed=5, run=0, round=0, stream=32, count=0)"
    for i, (name, args) in enumerate(DRAWS):
        assert getattr(r, name)(*args) == \
            getattr(tarry.Random(5, stream=32 + i), name)(*args)
    assert repr(r).endswith("stream=43, count=0)")


@pytest.mark.parametrize("draw, mean", zip(DRAWS, MEANS))
def test_draws_have_the_mean_of_their_law(draw, mean):
    name, args = draw
    x = getattr(tarry.Random(9, count=20000), name)(*args)
    assert abs(x.mean() - mean) < 4 * x.std() / math.sqrt(len(x))


def test_limits_of_addresses_and_laws():
    tarry.Random(2**64 - 1, 2**32 - 1, 2**64 - 1, 2**16 - 1).uniform()
    for bad in [dict(seed=2**64), dict(seed=-1), dict(seed=1, run=2**32),
                dict(seed=1, round=2**64), dict(seed=1, stream=2**16),
                dict(seed=1, count=2**40 + 1), dict(seed="1"), dict()]:
        with pytest.raises((TypeError, ValueError, OverflowError)):
            tarry.Random(**bad)
    r = tarry.Random(1)
    for name, good, bad in [("geometric", [1], [-0.1, 1.1]),
                            ("poisson", [0, 1e9], [-0.1, 1.1e9])]:
        for x in good:
            assert not math.isnan(getattr(r, name)(x))
        for x in bad:
            assert math.isnan(getattr(r, name)(x))


# ---- what all calls share --------------------------------------------------


def test_policies_are_those_of_the_program():
    done = subprocess.run([tarry.program(), "list", "--json"],
                          stdout=subprocess.PIPE)
    names = [p["name"] for p in json.loads(done.stdout)["policies"]]
    assert set(names) >= set(tarry.policies()) and \
        set(names) - set(tarry.policies()) <= {"oracle"}
    assert len(tarry.policies()) == len(set(tarry.policies())) > 20


@pytest.mark.parametrize("seed, told", [
    (0, 0), (7, 7), (7.0, 7), (2**53, 2**53), (2.0**60, 2**60),
    (2**64 - 1, 2**64 - 1), (np.uint64(9), 9), (np.int8(3), 3),
    (np.float64(5), 5), (True, 1), (-1, None), (0.5, None), (-1.0, None),
    (2.0**63, None), (2**64, None), (float("nan"), None),
    (float("inf"), None), ("7", None), (None, None), ([7], None)])
def test_a_count_is_whole_or_refused(seed, told):
    if told is None:
        with pytest.raises((TypeError, ValueError)):
            tarry.Policy("uniform", 3, horizon=10, seed=seed)
    else:
        p = tarry.Policy("uniform", 3, horizon=10, seed=seed)
        assert p.status()["seed"] == told


def test_arrays_have_one_type_rank_and_order():
    p = tarry.Policy("uniform", 3, horizon=100)
    u8, f8 = np.zeros(4, np.uint64), np.zeros(4)
    for rounds, arms, probabilities in [
            (f8, u8, None), (u8, f8, None), (u8, u8, u8),
            (u8.astype(np.uint32), u8, None), (u8.astype(np.int64), u8, None),
            (u8.reshape(2, 2), u8, None), (u8[::2], u8[:2], None),
            (u8, u8, f8.reshape(4, 1)), (u8, u8, f8.astype(np.float32)),
            (u8[:3], u8, None), (u8, u8, f8[:3]), (u8.tobytes(), u8, None),
            ([1, 2], u8, None), (np.array(1, np.uint64), u8, None)]:
        with pytest.raises((TypeError, ValueError, BufferError)):
            p._choose_many(rounds, arms, probabilities)
    fixed = u8.copy()
    fixed.flags.writeable = False
    with pytest.raises((TypeError, ValueError, BufferError)):
        p._choose_many(fixed, u8, None)
    assert p.status()["round"] == 0
    assert p._choose_many(u8, u8.copy(), f8) == 4
    assert u8.tolist() == [1, 2, 3, 4] and (f8 == 1 / 3).all()


# ---- arguments -------------------------------------------------------------


PROMISED = """
AsyncClient(*arguments, **named)
Client(url='http://127.0.0.1:8377', token=None, *, timeout=10, retries=5, \
pause=0.1, spool=None)
Client.cancel(self, id)
Client.create(self, name, arms=None, *, policy=None, range=None, \
objective=None, horizon=None, confidence=None, seed=None, expire_after=None, \
dim=None, beyond_horizon=None, intercept=None, floor=None, control=None, \
cap=None, default_outcome=None)
Client.decide(self, name, id=None, *, arms=None)
Client.decide_many(self, name, count, id=None)
Client.pending(self, name, limit=None)
Client.report(self, id, loss=None, *, reward=None)
Client.report_many(self, outcomes, *, rewards=False)
DelayBase.draw(self, round, arm, loss, rng)
Experiment(policies=None, *, worlds=None, instance=None, loss=None, \
delay=None, arms=None, theta=None, means=None, table=None, horizon=100000.0, \
runs=10, seed=1, points=100, report=None, default_outcome=None)
Experiment.run(self, *, threads=None, processes=1, journal=None, \
version=None, progress=None)
Experiment.to_json(self, path=None)
Policy(policy, arms, horizon=None, *, confidence=None, range=(-1, 1), \
maximize=False, seed=1, run=0, names=None, beyond_horizon=False, \
intercept='auto', default_outcome=None, **settings)
Policy.admit(self, name, features=None)
Policy.apply_default(self, id, /)
Policy.choose(self, /, id=None)
Policy.choose_many(self, count)
Policy.observe(self, /, id, loss)
Policy.observe_many(self, ids, losses)
Policy.pending(self, limit=None)
Policy.save(self, path, *, plain=False)
PolicyBase.observe(self, round, arm, loss)
Problem.random(self, round, stream=0)
Results.difference(self, one, other, world=0)
Results.differences(self, one, other, world=0)
Results.plot(self, kind='regret', **options)
Results.table(self, format='text')
World(instance=None, loss=None, delay=None, *, arms=None, theta=None, \
means=None, table=None, name=None, report=None, default_outcome=None)
World.look(self, seed=1, run=0)
World.sample(self, rounds=10000, seed=1)
_plot.plot(results, kind='regret', *, ax=None, world=None, policies=None, \
log=False, labels=None, title=None, width=5.0, height=3.2, path=None)
_plot.plot_delays(sample, *, ax=None, log=False, title=None, width=5.0, \
height=3.2, path=None)
bound(policy='phased-stochastic', *, instance=None, arms=None, theta=None, \
loss=None, delay=None, horizon=1000000.0, seed=1)
design(arms, rule='near', tol=0.001, *, rank_tol=1e-11, max_support=0, \
warm=(), threads=0, progress=None)
examine(log, arms=None, *, range=None, maximize=False, name=None, now=None, \
strict=False, max_refused=None, horizon=None, runs=None, target=None, \
export_world=None, page=None, seed=1, threads=None)
paper(rows=None, out='tarry-paper', *, full=False, seed=1, threads=0)
run(policies=None, *, worlds=None, instance=None, loss=None, delay=None, \
arms=None, theta=None, means=None, table=None, horizon=100000.0, runs=10, \
seed=1, points=100, threads=None, processes=1, journal=None, version=None, \
progress=None, report=None, default_outcome=None)
""".replace("\\\n", "").split("\n")[1:-1]


@pytest.mark.parametrize("line", PROMISED)
def test_arguments_have_the_names_order_and_defaults_promised(line):
    import tarry._plot
    name, rest = line.split("(", 1)
    found = inspect.signature(operator.attrgetter(name)(tarry))
    assert str(found.replace(
        return_annotation=found.empty,
        parameters=[p.replace(annotation=p.empty)
                    for p in found.parameters.values()])) == "(" + rest


def test_an_experiment_has_the_defaults_of_the_program():
    def config(*given):
        done = subprocess.run([tarry.program(), "run", "--json", *given],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)["config"]
    told, ours = config("--horizon=50"), tarry.Experiment(horizon=50).config()
    assert {key: told[key] for key in ours} == ours
    told = config("--policy=uniform", "--runs=1")
    assert told["horizon"] == tarry.Experiment().horizon


POLICY = tarry.Policy("uniform", 3, horizon=100)
LIMITS = [  # what is counted, by whom, and the most it may be
    ("count", POLICY.choose_many, 2**39),
    ("count", POLICY.choose_many_with_probability, 2**39),
    ("limit", POLICY.pending, 2**63),
    ("rounds", tarry.World().sample, 2**39),
    ("seed", tarry.World().look, 2**64 - 1),
    ("run", lambda n: tarry.World().look(run=n), 2**32 - 1),
    ("max_support", lambda n: tarry.design(np.eye(2), max_support=n), 2**40),
    ("threads", lambda n: tarry.design(np.eye(2), threads=n), 1024),
    ("threads", lambda n: tarry.run("uniform", threads=n), 1024),
    ("processes", lambda n: tarry.run("uniform", processes=n), 1024)]


@pytest.mark.parametrize("what, ask, most", LIMITS)
def test_what_is_counted_has_a_limit(what, ask, most):
    for wrong in (most + 1, 2 * most + 2, 2.0**70, -1, 0.5, "7", None,
                  math.nan, [1]):
        if wrong is None and what in ("limit", "threads"):
            continue  # all, as many as fit
        with pytest.raises(tarry.BadArgument) as error:
            ask(wrong)
        assert str(error.value) == "%s: not a whole number from 0 to %d: " \
            "'%s'" % (what, most, wrong)
    if what in ("limit", "seed", "run", "max_support"):
        ask(most)
