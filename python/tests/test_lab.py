"""The laboratory: the numbers of the program, and things of one's own."""
import copy
import json
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tarry
from ctrl_c import printed_when_stopped
from house import House

SANITIZED = bool(os.environ.get("TARRY_SANITIZE"))


def program(*arguments):
    done = subprocess.run([tarry.program(), "run", "--json", *arguments],
                          stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def without_time(result):
    """Results as JSON, but for what differs from call to call."""
    for world in result.get("worlds", [result]):
        for policy in world["policies"]:
            policy.pop("rounds_per_second", None)
    return result


# ---- the same numbers ------------------------------------------------------


@pytest.mark.parametrize("delay", ["exponential:mean=50", "low-late:late=300",
                                   "hold-rarest:sigma=100"])
def test_the_same_seed_gives_the_numbers_of_the_program(delay):
    names = ["recommended", "lints", "phased-loss-dependent:constants=tight"]
    theirs = program("--horizon", "2000", "--runs", "3", "--seed", "5",
                     "--delay", delay,
                     *[x for name in names for x in ("--policy", name)])
    r = tarry.run(names, horizon=2000, runs=3, seed=5, delay=delay)
    assert without_time(json.loads(r.to_json())) == without_time(theirs)
    for policy, ours in zip(theirs["policies"], r):
        assert policy["regret"]["runs"] == ours.regret.tolist()
        assert [x[0] for x in policy["curve"]] == ours.grid.tolist()
        assert np.allclose([x[1] for x in policy["curve"]],
                           ours.curves.mean(0), rtol=1e-12)
        assert policy["regret"]["mean"] == ours.mean
        assert policy["regret"]["ci95"] == ours.ci95
        assert policy["sigma_max"] == ours.sigma_max.max()


def test_a_file_of_the_program_runs_here_and_there(tmp_path):
    config = {"policy": ["lints", "uniform"], "horizon": 500, "runs": 2,
              "worlds": [{"name": "a", "delay": "none"},
                         {"name": "b", "delay": "low-late:late=50"}]}
    path = tmp_path / "e.json"
    path.write_text(json.dumps(config))
    r = tarry.Experiment.from_json(path).run()
    theirs = program(str(path))
    assert without_time(json.loads(r.to_json())) == without_time(theirs)
    assert r.worlds == ["a", "b"] and len(r) == 4
    assert r["b", "lints"].world == "b"
    again = tmp_path / "again.json"
    tarry.Experiment.from_json(path).to_json(again)
    assert without_time(program(str(again))) == without_time(theirs)
    from_result = tarry.Experiment.from_json(r.to_json()).run()
    assert (from_result["a", 0].regret == r["a", 0].regret).all()


@pytest.mark.parametrize("seed", [2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_results_tell_every_seed(seed):
    r = tarry.run("lints", horizon=50, runs=1, seed=seed)
    assert int(json.loads(r.to_json())["config"]["seed"]) == seed
    again = tarry.Experiment.from_json(r.to_json()).run()
    assert (again["lints"].regret == r["lints"].regret).all()


@pytest.mark.parametrize("name", [n for n in tarry.policies()
                                  if n != "recommended"])
def test_a_policy_played_by_python_is_the_same_to_the_last_bit(name):
    check_twins(name, "exponential:mean=60", 1500)


# Losses that come together, also from far (several turns of the wheel).
@pytest.mark.parametrize("delay", ["exponential:mean=900", "uniform:high=9000",
                                   "two-point:low=0,high=500,never=0.1",
                                   "low-late:law=exponential,late=400",
                                   "hold-all:sigma=300"])
@pytest.mark.parametrize("name", [
    "lints", "linucb", "phased-stochastic:constants=tight,guide=lints",
    "phased-loss-dependent:constants=tight,guide=foresight"])
def test_losses_that_come_together_are_counted_in_order_of_play(name, delay):
    check_twins(name, delay, 9000 if delay.startswith("uniform") else 2000)


def test_the_recommended_policy_is_the_same_where_losses_make_delays():
    check_twins("recommended", "low-late:law=exponential,late=400", 2000)


def check_twins(name, delay, horizon):
    r = tarry.run([name, House(name)], horizon=horizon, runs=2, seed=11,
                  loss="uniform", delay=delay, instance="sphere:scale=0.5")
    assert (r[0].regret == r[1].regret).all()
    assert (r[0].curves == r[1].curves).all()


class Uniform(tarry.PolicyBase):
    """Draws arms from problem.random, as tarry.Random does anywhere."""

    def choose(self, round):
        u = self.problem.random(round).uniform()
        assert u == tarry.Random(self.problem.seed, self.problem.run, round,
                                 0).uniform()
        return int(u * self.problem.n_arms)


def test_processes_and_threads_change_nothing(tmp_path):
    def play(**how):
        return tarry.run([Uniform(), House("lints"), "lints"], horizon=800,
                         runs=5, delay=Late(), **how)
    one = play()
    journal = tmp_path / "journal"
    for other in (play(threads=2), play(processes=2),
                  play(processes=3, journal=journal), play(journal=journal)):
        for a, b in zip(one, other):
            assert a.name == b.name and (a.regret == b.regret).all()
            assert (a.curves == b.curves).all()
    assert journal.stat().st_size > 0


def test_what_is_refused_leaves_no_journal_of_processes(tmp_path):
    with pytest.raises(tarry.Error):
        tarry.run(Uniform(), horizon=1, runs=2, processes=2,
                  journal=tmp_path / "new")
    assert os.listdir(tmp_path) == []


def test_the_journal_of_processes_is_replaced_as_a_whole(tmp_path):
    journal, old = tmp_path / "journal", tmp_path / "old"
    tarry.run(Uniform(), horizon=100, runs=2, processes=2, journal=journal)
    before = journal.read_bytes()
    os.link(journal, old)
    tarry.run(Uniform(), horizon=100, runs=2, processes=2, journal=journal)
    assert old.read_bytes() == before
    assert old.stat().st_ino != journal.stat().st_ino


# ---- delays of one's own ---------------------------------------------------


class Late(tarry.DelayBase):
    def draw(self, round, arm, loss, rng):
        return rng.exponential(100) if loss < 0 else None if arm == 3 else 0


class Fixed(tarry.DelayBase):
    def draw(self, round, arm, loss, rng):
        return 300 if loss < 0 else 0


class FixedMany(tarry.DelayBase):
    def draw_many(self, rounds, losses, rng):
        return np.where(losses < 0, 300, 0)


class ByArm(tarry.DelayBase):
    depends = "arm"

    def start(self, problem):
        self._n = problem.n_arms

    def draw_many(self, rounds, losses, rng):
        assert losses is None
        return rng.uniform()[:, None] * np.arange(self._n)


class ByArmSome(ByArm):
    def draw_many(self, rounds, arms, losses, rng):
        assert losses is None
        return rng.uniform()[:, None] * arms


class FixedSome(tarry.DelayBase):
    asked = 0

    def draw_many(self, rounds, arms, losses, rng):
        assert losses.shape == (len(rounds), len(arms))
        FixedSome.asked += losses.size
        return np.where(losses < 0, 300, 0)


class ByArmOne(ByArm):
    draw_many = None

    def draw(self, round, arm, loss, rng):
        return rng.uniform() * arm


class Plain(tarry.DelayBase):
    depends = "nothing"

    def draw_many(self, rounds, losses, rng):
        return rng.exponential(100)


class Short(Plain):
    """A delay for each round, of arms that could each have their own."""
    depends = "arm"


class ShortSome(Short):
    def draw_many(self, rounds, arms, losses, rng):
        return rng.exponential(100)


@pytest.mark.parametrize("arms", [1, 2, 100, 255, 256, 257])
def test_a_delay_for_each_round_is_that_of_all_arms(arms):
    """Also where there are as many arms as rounds in a block."""
    r = [tarry.run("ucb-delayed", arms=arms, means=np.linspace(-0.5, 0.5, arms),
                   delay=d, horizon=1000, runs=2)
         for d in (Plain(), Short(), ShortSome())]
    for other in r[1:]:
        assert (r[0][0].curves == other[0].curves).all()
        assert (r[0][0].sigma_mean == other[0].sigma_mean).all()


def test_laws_one_by_one_and_in_blocks_are_the_same_world():
    names = ["lints", "phased-loss-dependent:constants=tight"]
    r = [tarry.run(names, delay=d, horizon=3000, runs=2) for d in
         (Fixed(), FixedMany(), "low-late:late=300", FixedSome(), ByArm(),
          ByArmOne(), ByArmSome())]
    for p in range(2):
        for i in range(1, 7):
            same = r[0 if i < 4 else 4][p]
            assert (same.curves == r[i][p].curves).all()
    assert (r[0][0].curves != r[4][0].curves).any()


def test_a_law_is_asked_only_for_arms_that_are_played():
    class First(tarry.PolicyBase):
        def choose(self, round):
            return 7
    FixedSome.asked = 0
    tarry.run(First, delay=FixedSome(), horizon=2000, runs=1)
    assert FixedSome.asked <= 2000 + 256
    r = tarry.run("uniform", delay=FixedSome(), horizon=2000, runs=2)
    theirs = tarry.run("uniform", delay=Fixed(), horizon=2000, runs=2)
    assert (r[0].sigma_mean == theirs[0].sigma_mean).all()


def test_a_law_of_chance_has_the_mean_it_says():
    r = tarry.run("uniform", delay=Plain(), horizon=20000, runs=2)
    # sigma is the mean delay: exponential with mean 100, cut to whole rounds;
    # its error over 40000 rounds is about 0.5, and sigma grows from 0
    assert abs(r[0].sigma_mean.mean() - 99.5) < 5 * 0.8


def test_laws_tell_models_and_functions_are_laws():
    assert tarry.World(delay=Plain()).look().model == "stochastic"
    assert tarry.World(delay=ByArm()).look().model == "stochastic by arm"
    assert tarry.World(delay=Late()).look().model == "loss-dependent"
    r = tarry.run("uniform", delay=lambda round, arm, loss, rng: 5,
                  horizon=100, runs=1)
    assert r[0].sigma_max.tolist() == [5]


# ---- worlds of one's own ---------------------------------------------------


def test_worlds_from_arrays():
    arms = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
    w = tarry.World(arms=arms, theta=[0.5, -0.5], loss="none", delay="none")
    view = w.look()
    assert np.allclose(view.means, [0.5, -0.5, -0.1]) and view.best == 1
    r = tarry.run("greedy", instance=w, horizon=500, runs=1)
    assert 0 < r[0].regret[0] < 10
    same = tarry.run("greedy", instance=(arms, [0.5, -0.5]), loss="none",
                     delay="none", horizon=500, runs=1)
    assert (same[0].regret == r[0].regret).all()
    means = tarry.run("greedy", arms=3, means=[0.5, -0.5, -0.1], loss="none",
                      delay="none", horizon=500, runs=1)
    assert means[0].regret[0] > 0


def test_a_table_of_outcomes():
    table = np.array([[0, 1, 3], [0, 0, np.nan], [1, -1, 10], [1, -0.5, 2]])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table, columns=["arm", "loss", "delay"])
    r = [tarry.run("lints", table=t, horizon=2000, runs=2) for t in
         (table, table.tolist(), tuple(table.T), frame)]
    assert all((x[0].curves == r[0][0].curves).all() for x in r)
    view = tarry.World(table=table).look()
    assert view.means.tolist() == [0.5, -0.75]
    assert r[0][0].lost.min() > 0  # half of arm 0's outcomes never come
    assert r[0][0].regret.mean() < 200  # of 2500


def test_a_sample_shows_the_law_of_the_delays(tmp_path):
    s = tarry.World(delay="low-late:late=200").sample(2000)
    assert set(s.delay[s.loss < 0]) == {200} and set(s.delay[s.loss > 0]) == {0}
    assert (s.arm[:101] == np.arange(101) % 100).all()
    never = tarry.World(delay="constant:rounds=3,never=0.5").sample(2000)
    share = np.isnan(never.delay).mean()
    assert abs(share - 0.5) < 4 * (0.25 / 2000) ** 0.5  # 4 standard errors
    pytest.importorskip("matplotlib")
    s.plot(path=tmp_path / "delays.pdf", title="T")
    assert (tmp_path / "delays.pdf").stat().st_size > 1000


# ---- policies of one's own -------------------------------------------------


class Leaky(tarry.PolicyBase):
    """Would fail if runs shared its state."""

    def __init__(self):
        self._seen = []

    def start(self, problem):
        assert not self._seen
        self._n = problem.n_arms

    def choose(self, round):
        self._seen.append(round)
        return round % self._n

    def certify(self):
        return 3, 0.25


def test_runs_do_not_share_state_and_certificates_are_asked_for():
    r = tarry.run(Leaky(), horizon=300, runs=3, threads=2)
    assert r.policies == ["Leaky"]
    assert (r[0].certificates == 0.25).all()
    assert np.isnan(tarry.run(Uniform(), horizon=100, runs=1)[0]
                    .certificates).all()


begun, raised, ended = (threading.Event() for _ in range(3))


class RaisesInTheFirstRun(tarry.DelayBase):
    def start(self, problem):
        self.bad = (problem.seed, problem.run) == (5, 0)

    def draw(self, round, arm, loss, rng):
        if self.bad:
            assert begun.wait(60)
            raised.set()
            raise LookupError("mine")
        return 3


class Waits(tarry.PolicyBase):
    """The other run of the first experiment ends after the second one, which
    goes on when an exception has been raised in the first."""

    def choose(self, round):
        if self.problem.seed == 6:
            assert raised.wait(60)
            time.sleep(0.05)
        elif self.problem.run == 1:
            begun.set()
            assert ended.wait(60)
        return 0


def test_experiments_at_once_in_one_world_have_their_own_exceptions():
    world = tarry.World(delay=RaisesInTheFirstRun())
    came = {}

    def play(seed):
        try:
            came[seed] = tarry.run(Waits(), worlds=world, horizon=5, runs=2,
                                   seed=seed, threads=2).policies
        except LookupError as error:
            came[seed] = error.args
        if seed == 6:
            ended.set()

    threads = [threading.Thread(target=play, args=(seed,)) for seed in (5, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert came == {5: ("mine",), 6: ["Waits"]}


def test_an_exception_comes_through_with_its_traceback():
    class Broken(tarry.PolicyBase):
        def choose(self, round):
            if round == 77:
                return {}["nothing"]
            return 0
    with pytest.raises(KeyError, match="nothing") as error:
        tarry.run([Broken(), "lints"], runs=2)
    assert any(entry.name == "choose" for entry in error.traceback)
    with pytest.raises(KeyError, match="nothing"):
        tarry.run([Broken(), "lints"], runs=2, processes=2)


def test_settings_of_ones_own_are_in_the_name():
    r = tarry.run([House("lints"), House("greedy")], horizon=100, runs=1)
    assert r.policies == ["House:policy=lints", "House:policy=greedy"]
    r = tarry.run({"mine": House("lints")}, horizon=100, runs=1)
    assert r.policies == ["mine"]


# ---- results ---------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    return tarry.run(["lints", "uniform", "phased-stochastic:constants=tight"],
                     horizon=3000, runs=4)


def test_results_by_name_number_and_short_name(result):
    assert result["lints"] is result[0]
    assert result["phased-stochastic"] is result[2] is result[-1]
    assert result["lints"].regret.shape == (4,)
    assert result.curves["lints"].shape == (4, len(result.grid))
    assert (result["lints"].curves[:, -1] == result["lints"].regret).all()


def test_differences_are_paired(result):
    d = result.difference("uniform", "lints")
    pairs = result["uniform"].regret - result["lints"].regret
    assert abs(d.mean - pairs.mean()) < 1e-9
    assert d.ci95 > 0 and result.difference("lints", "lints") == (0, 0)


def test_differences_are_of_runs_that_both_have_finished():
    r = tarry.run(["lints", "uniform", "linucb"], horizon=300, runs=5)
    whole = {p.name: p.regret for p in r}
    finished = {"lints": [0, 2, 3, 4], "uniform": [1, 2, 4], "linucb": [0]}
    for name, runs in finished.items():
        r[name].runs, r[name].regret = np.array(runs), whole[name][runs]
    for a in finished:
        for b in finished:
            both = sorted(set(finished[a]) & set(finished[b]))
            assert r.differences(a, b).tolist() == \
                (whole[a][both] - whole[b][both]).tolist()


def test_tables(result):
    assert "above the best" in repr(result) and "best" in repr(result)
    assert result.table("markdown").count("\n") == 4
    assert r"\toprule" in result.table("latex")
    assert "<table>" in result._repr_html_()


def test_what_a_table_could_misread_is_escaped():
    class Odd(tarry.PolicyBase):
        name = r"$a&b%c_d#e{f}g~h^i\j|k<l$"

        def choose(self, round):
            return 0
    r = tarry.run(Odd(), horizon=10, runs=2)
    assert r"\$a\&b\%c\_d\#e\{f\}g\textasciitilde{}h\textasciicircum{}i" \
        r"\textbackslash{}j|k<l\$ & $" in r.table("latex")
    assert r"\|k<l$ |" in r.table("markdown")
    assert "j|k&lt;l$</td>" in r.table("html")


def test_rows_are_the_figures_of_the_json(result):
    theirs = json.loads(result.to_json())["policies"]
    for ours, row, r in zip(theirs, result.rows(), result):
        assert (row["policy"], row["runs"], row["sigma_max"]) == \
            (ours["name"], 4, ours["sigma_max"])
        for key, value in (
                ("regret", ours["regret"]["mean"]),
                ("ci95", ours["regret"]["ci95"]),
                ("phases", ours["phases"]), ("active", ours["active"]),
                ("best_kept", ours["best_kept"]),
                ("rounds_per_second", ours["rounds_per_second"])):
            assert row[key] == pytest.approx(value, rel=1e-4), key
        assert row["above_best"] == pytest.approx(
            r.mean - min(other.mean for other in result), abs=1e-9)


def test_a_single_run_has_no_interval():
    r = tarry.run(["lints", "uniform"], horizon=100, runs=1)
    assert np.isnan(r["lints"].ci95)
    assert np.isnan(r.difference("lints", "uniform").ci95)
    for format in ("text", "markdown", "latex", "html"):
        assert "nan" not in r.table(format)


def test_frames(result):
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert len(frame) == 12 and frame.regret[0] == result[0].regret[0]
    assert set(frame.policy) == set(result.policies)
    assert len(result.curves_to_pandas()) == 12 * len(result.grid)


def test_figures(result, tmp_path):
    pytest.importorskip("matplotlib")
    for kind in ("regret", "certificate", "outstanding"):
        path = tmp_path / (kind + ".pdf")
        ax = result.plot(kind, path=path, log=kind == "regret",
                         labels={"lints": "Thompson"}, title="T", width=3.3)
        assert path.stat().st_size > 1000
        assert ax.figure.get_size_inches()[0] == 3.3
    ax = result.plot(policies=["lints"], labels={"lints": "Thompson"})
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["Thompson"]


def test_worlds_and_experiments_pickle_and_copy():
    e = tarry.Experiment(["lints", Uniform()], delay=Late(), horizon=200,
                         arms=np.eye(4), means=[0.1, 0.2, 0.3, -0.4], runs=2)
    r = e.run()
    for twin in (pickle.loads(pickle.dumps(e)), copy.deepcopy(e)):
        assert (twin.run()["lints"].curves == r["lints"].curves).all()
        assert repr(twin) == repr(e)


def test_what_is_ones_own_is_not_lost_on_the_way_to_the_program(tmp_path):
    for parts in (dict(arms=np.eye(2), theta=[0.1, 0.2]),
                  dict(table=[[0, 0.5, 3], [1, -0.5, 4]])):
        e = tarry.Experiment("lints", horizon=100, runs=1, **parts)
        e.to_json(tmp_path / "e.json")
        done = subprocess.run([tarry.program(), "run", tmp_path / "e.json"],
                              stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and "arrays" in done.stderr
        config = json.loads(e.run().to_json())["config"]
        for key in ("instance", "loss", "delay"):
            assert config[key] == json.loads(e.to_json())[key]


def test_results_pickle(result):
    twin = pickle.loads(pickle.dumps(result))
    assert (twin["lints"].curves == result["lints"].curves).all()
    assert twin.to_json() == result.to_json()


# ---- waiting ---------------------------------------------------------------


CTRL_C = """
import tarry, sys
class Slow(tarry.PolicyBase):
    def choose(self, round):
        return 0
print("ready", flush=True)
try:
    tarry.run(%s, horizon=1e9, runs=4, processes=%d)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("policy, processes", [
    ("'lints'", 1), ("Slow()", 1), ("Slow()", 2)])
def test_ctrl_c_stops_an_experiment(policy, processes):
    script = CTRL_C % (policy, processes)
    assert printed_when_stopped(script, 1) == "stopped\n"


def test_a_process_that_is_killed_is_told_with_its_code():
    class Killed(tarry.PolicyBase):
        def choose(self, round):
            os.kill(os.getpid(), 9)
    with pytest.raises(tarry.Error, match="code -9$"):
        tarry.run(Killed(), horizon=100, runs=2, processes=2)


END = """
import threading
import tarry
class Slow(tarry.PolicyBase):
    def choose(self, round):
        begun.set()
        return 0
class Law(tarry.DelayBase):
    def draw(self, round, arm, loss, rng):
        begun.set()
        return 0
begun = threading.Event()
threading.Thread(daemon=True, target=lambda: tarry.run(
    %s, horizon=1e9, runs=2, threads=%d, delay=%s)).start()
begun.wait()
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("policy, delay", [
    ("Slow()", "'none'"), ("'uniform'", "Law()")])
def test_python_ends_in_the_middle_of_an_experiment(policy, delay, threads):
    if SANITIZED and threads > 1:
        pytest.skip("the sanitizer loses track of threads that Python ends")
    done = subprocess.run([sys.executable, "-c",
                           END % (policy, threads, delay)], text=True,
                          stderr=subprocess.PIPE, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_object_that_outlives_the_script_may_run_an_experiment():
    script = """
import tarry
class Last:
    def __del__(self):
        r = tarry.run("uniform", horizon=100, runs=1)
        print(len(r["uniform"].regret))
last = Last()
last.itself = last"""
    done = subprocess.run([sys.executable, "-c", script], text=True,
                          stdout=subprocess.PIPE, timeout=120)
    assert (done.returncode, done.stdout) == (0, "1\n")


def test_other_threads_run_meanwhile():
    import threading
    ticks = []

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.005)
    done = threading.Event()
    thread = threading.Thread(target=tick)
    thread.start()
    most = 0  # in one call; on a busy machine the thread may be late
    for _ in range(100):
        before = len(ticks)
        tarry.run("linucb", horizon=2e5, runs=2, threads=1)
        most = max(most, len(ticks) - before)
        if most > 5:
            break
    done.set()
    thread.join()
    assert most > 5


@pytest.mark.skipif(SANITIZED, reason="tqdm and ASan need no meeting")
def test_progress_is_shown_when_asked_for(capsys):
    pytest.importorskip("tqdm")
    tarry.run("linucb", horizon=3e5, runs=4, threads=1, progress=True)
    assert "%" in capsys.readouterr().err


# ---- outcomes that are never reported --------------------------------------


def test_reports_and_defaults_are_those_of_the_program():
    world = dict(instance="basis:arms=3", delay="high-late:late=300",
                 report="only-low", default_outcome="1/50r")
    r = tarry.run(["recommended", "lints"], horizon=2000, runs=3, seed=5,
                  **world)
    options = [x for key, value in world.items()
               for x in ("--" + key.replace("_", "-"), value)]
    told = json.loads(subprocess.run(
        [tarry.program(), "run", "--policy", "recommended", "--policy", "lints",
         "--horizon", "2000", "--runs", "3", "--seed", "5", "--json"]
        + options, check=True, capture_output=True).stdout)
    assert [p["regret"]["mean"] for p in told["policies"]] == [
        r[name].mean for name in ("recommended", "lints")]
    again = tarry.Experiment.from_json(told)
    assert again.config()["report"] == "only-low"
    assert again.config()["default_outcome"] == "1/50r"


def test_worlds_may_differ_in_reports():
    r = tarry.run(["lints"], horizon=2000, runs=2, worlds=[
        dict(name="all", delay="none"),
        dict(name="silent", delay="none", report="only-low"),
        dict(name="told", delay="none", report="only-low",
             default_outcome="1/0")])
    regret = [r[name, "lints"].mean for name in ("all", "silent", "told")]
    assert regret[0] == regret[2] != regret[1]


def test_own_policy_takes_final_defaults_only():
    class Probe:
        seen = []

        def choose(self, round):
            return 0

        def observe(self, round, arm, loss):
            self.seen.append(loss)

    with pytest.raises(tarry.BadArgument, match="Probe cannot take"):
        tarry.run(Probe(), horizon=50, runs=1, default_outcome="1/5r")
    probe = Probe()
    tarry.run(probe, horizon=50, runs=1, delay="none", report="only-low",
              default_outcome="1/5r/final", instance="basis:arms=2",
              threads=1)
    assert set(probe.seen) == {-1, 1}


def test_bad_reports_are_refused():
    with pytest.raises(tarry.BadInput, match="no report 'some'"):
        tarry.World(report="some")
    with pytest.raises(tarry.Error, match="no clock"):
        tarry.run("lints", horizon=50, runs=1, default_outcome="1/5d")
