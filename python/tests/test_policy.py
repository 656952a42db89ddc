"""Policies: choose, observe, ids, batches, saving."""
import copy
import errno
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tarry
from ctrl_c import printed_when_stopped

ARMS = np.random.default_rng(2385).normal(size=(20, 4)) / 5
OWN = [name for name in tarry.policies() if name != "oracle"]


def make(policy="lints", **more):
    given = dict(horizon=10000, seed=7)
    given.update(more)
    return tarry.Policy(policy, ARMS, **given)


def play(p, rounds, every=3):
    """Choices; every so many-th loss never comes."""
    arms = []
    for t in range(rounds):
        c = p.choose()
        arms.append(c.arm)
        if t % every:
            p.observe(c.id, float(np.cos(c.arm + t) / 2))
    return arms


@pytest.mark.parametrize("name", OWN)
def test_twins_of_all_kinds_repeat_every_choice(name, tmp_path):
    p, same = make(name), make(name)
    assert play(p, 500) == play(same, 500)
    p.save(tmp_path / "state")
    p.save(tmp_path / "plain", plain=True)
    twins = [copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p)),
             tarry.Policy.from_bytes(p.to_bytes()),
             tarry.Policy.restore(tmp_path / "state"),
             tarry.Policy.restore(str(tmp_path / "plain"))]
    future = play(p, 300)
    for twin in twins:
        assert play(twin, 300) == future


class Labelled(tarry.Policy):
    """Somebody's own, with more to it than a policy has."""


def test_what_a_class_of_ones_own_holds_goes_along():
    p = Labelled("lints", ARMS, horizon=1000)
    p.label = {"shop": 7}
    p.choose(id="order-17")
    for twin in (copy.copy(p), copy.deepcopy(p),
                 pickle.loads(pickle.dumps(p))):
        assert type(twin) is Labelled and twin.label == {"shop": 7}
        assert twin.choose(id="order-17").repeated


def test_the_program_goes_on_with_a_plain_state(tmp_path):
    p = make()
    play(p, 100)
    p.save(tmp_path / "plain", plain=True)
    np.save(tmp_path / "arms.npy", ARMS)
    done = subprocess.run(
        [tarry.program(), "pipe", "--restore", str(tmp_path / "plain")],
        input="choose\nchoose\n", stdout=subprocess.PIPE, text=True)
    theirs = [line.split() for line in done.stdout.splitlines()]
    ours = [p.choose() for _ in range(2)]
    assert [[str(c.id), str(c.arm)] for c in ours] == theirs


def test_status_is_that_of_the_pipe(tmp_path):
    np.save(tmp_path / "arms.npy", ARMS)
    done = subprocess.run(
        [tarry.program(), "pipe", "--policy", "phased-stochastic", "--arms",
         str(tmp_path / "arms.npy"), "--horizon", "10000", "--seed", "7"],
        input="choose\nchoose\nobserve 1 0.5\nstatus\n",
        stdout=subprocess.PIPE, text=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    p = make("phased-stochastic")
    p.choose(), p.choose(), p.observe(1, 0.5)
    ours = p.status()
    for key in ("policy", "round", "phase", "epsilon", "active", "pending",
                "plan", "best"):
        assert ours[key] == theirs[key], key


def test_a_choice_has_fields_and_unpacks():
    c = make().choose()
    id, arm = c[:2]
    assert (id, arm) == (c.id, c.arm) == (1, c.arm) and len(c) == 3
    assert c.round == 1 and not c.repeated and c.name is None
    assert pickle.loads(pickle.dumps(c))[:2] == c[:2]


def test_rewards_in_a_range_are_mapped():
    p = tarry.Policy("lints", 3, horizon=3000, range=(0, 10), maximize=True)
    for _ in range(2999):
        c = p.choose()
        p.observe(c.id, 8.0 if c.arm == 2 else 2.0)
    assert p.status()["best"] == 2
    p.choose()
    with pytest.raises(tarry.BadLoss, match="'10.5'"):
        p.observe(3000, 10.5)


def test_every_error_has_its_class_and_text():
    p = make(horizon=3)
    for _ in range(3):
        p.choose()
    with pytest.raises(tarry.HorizonReached, match="the horizon is reached"):
        p.choose()
    with pytest.raises(tarry.UnknownRound,
                       match="no such round has been chosen: '9'"):
        p.observe(9, 0)
    assert p.observe(2, 0.25) == "ok"
    assert p.observe(2, 0.25) == "duplicate"
    with pytest.raises(tarry.ReportedTwice,
                       match="this round has been reported already: '2'"):
        p.observe(2, 0.5)
    with pytest.raises(tarry.BadLoss,
                       match="the loss is not a number in range: 'nan'"):
        p.observe(1, float("nan"))
    with pytest.raises(tarry.BadArgument, match="no setting 'zonk'"):
        make(zonk=1)
    assert issubclass(tarry.BadLoss, tarry.Error)
    assert issubclass(tarry.BadLoss, ValueError)


@pytest.mark.parametrize("names, why", [
    (["a", "b"], "names: 2 for 3 arms"), (list("abcd"), "names: 4 for 3 arms"),
    (["a", "b", "a"], "names: some name twice"),
    ([1, "1", 2], "names: some name twice")])
def test_names_that_do_not_tell_arms_apart_are_refused(names, why):
    with pytest.raises(tarry.BadArgument, match=why):
        tarry.Policy("lints", np.eye(3), confidence=0.99, names=names)


def test_settings_are_keywords():
    tight = make("phased-stochastic", constants="tight", guide="lints",
                 guide_share=19)
    same = make("phased-stochastic:constants=tight,guide=lints,guide_share=19")
    assert play(tight, 300) == play(same, 300)
    assert tight.certificate() is not None
    assert make("lints").certificate() is None


def test_a_file_keeps_its_mode_and_a_link_its_place(tmp_path):
    p, state = make(), tmp_path / "state"
    p.save(state)
    state_by_program = tmp_path / "plain"
    p.save(state_by_program, plain=True)
    assert state.stat().st_mode == state_by_program.stat().st_mode
    state.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(state)
    p.choose()
    p.save(link)
    assert link.is_symlink() and state.stat().st_mode & 0o777 == 0o640
    assert tarry.Policy.restore(state).status()["round"] == 1
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("write", [
    lambda path: make().save(path), lambda path: make().save(path, plain=True),
    tarry.Experiment(["uniform"], horizon=9).to_json])
def test_a_file_is_replaced_as_a_whole(tmp_path, write):
    """Who has the old one open, or under another name, keeps it."""
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_text("old")
    os.link(path, other)
    write(path)
    assert other.read_text() == "old" != path.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_files_are_read_and_written_as_the_program_does(tmp_path):
    p, pipe = make(), tmp_path / "pipe"
    os.mkfifo(pipe)
    came = []
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()))
    reader.start()
    p.save(pipe)  # what is no file stays, and is written to
    reader.join()
    assert came == [p.to_bytes()] and pipe.is_fifo()
    with pytest.raises(FileNotFoundError, match="nowhere") as error:
        p.save(tmp_path / "nowhere" / "state")
    assert error.value.errno == errno.ENOENT
    with pytest.raises(FileNotFoundError, match="nowhere"):
        tarry.Policy.restore(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        tarry.Policy.restore(tmp_path)
    with pytest.raises(tarry.BadInput, match="/dev/zero: more than"):
        tarry.Policy.restore("/dev/zero")
    with pytest.raises(tarry.BadInput, match="/dev/zero: more than"):
        tarry.Experiment.from_json("/dev/zero")


def test_a_number_is_no_path(tmp_path):
    with open(tmp_path / "other", "w+b") as file:
        with pytest.raises(TypeError):
            tarry.Policy.restore(file.fileno())
        file.write(b"still open")


def test_texts_as_ids_are_idempotent_and_survive(tmp_path):
    p = make()
    c = p.choose(id="order-17")
    assert c.id == "order-17" and c.round == 1
    again = p.choose("order-17")
    assert again.repeated and again[:2] == c[:2]
    p.choose("order-18")
    p.save(tmp_path / "state")
    p = tarry.Policy.restore(tmp_path / "state")
    assert p.choose("order-17").repeated
    assert p.observe("order-17", 0.5) == "ok"
    assert p.observe("order-17", 0.5) == "duplicate"
    p = pickle.loads(pickle.dumps(p))
    assert p.observe("order-17", 0.5) == "duplicate"
    assert p.observe_many(["order-18"], [0.5]).tolist() == ["ok"]
    with pytest.raises(tarry.UnknownRound, match="'nobody'"):
        p.observe("nobody", 0.5)


def test_batches_are_the_same_as_one_by_one():
    p, q = make(), make()
    ids, arms = p.choose_many(50)
    assert ids.tolist() == list(range(1, 51))
    assert [q.choose().arm for _ in range(50)] == arms.tolist()
    losses = np.linspace(-1, 1, 50).astype(np.float32)
    assert (p.observe_many(ids, losses) == "ok").all()
    for id, loss in zip(ids, losses):
        q.observe(id, loss)
    assert p.choose_many(20)[1].tolist() == q.choose_many(20)[1].tolist()


def test_a_batch_takes_in_what_it_can_and_names_the_first_refusal():
    p = make()
    ids, _ = p.choose_many(4)
    p.observe(1, 0.5)
    with pytest.raises(tarry.BadLoss, match=r"'7.0' \(and 2 more of 6\)") as e:
        p.observe_many([1, 2, 3, 4, 99, 1], [0.5, 7, 0.5, 0.5, 0, 0.6])
    assert e.value.results.tolist() == [
        "duplicate", "invalid", "ok", "ok", "unknown", "conflict"]
    assert p.status()["pending"] == 1


def test_one_refusal_alone_has_results_too():
    p = make()
    p.choose_many(2)
    with pytest.raises(tarry.BadLoss, match="'7.0'$") as e:
        p.observe_many([1, 2], [7, 0.5])
    assert e.value.results.tolist() == ["invalid", "ok"]
    with pytest.raises(tarry.BadLoss, match=r"'8.0' \(and 1 more of 2\)$"):
        p.observe_many([1, 9], [8, 0.5])


def test_a_million_losses_are_remembered():
    p = make("uniform", horizon=10**7)
    p.choose_many(2**20)
    assert p.observe_many([1, 1 + 2**19], [0.5, 0]).tolist() == ["ok", "ok"]
    assert set(p.observe_many([1, 1 + 2**19], [0.5, 0])) == {"duplicate"}


def test_a_batch_ends_at_the_horizon():
    p = make(horizon=10)
    assert len(p.choose_many(15)[0]) == 10
    with pytest.raises(tarry.HorizonReached):
        p.choose_many(1)


def test_a_batch_of_millions_ends_at_the_horizon_too():
    p = tarry.Policy("uniform", 3, horizon=2**20 + 3)
    p.choose_many(2)
    assert len(p.choose_many(2**21)[0]) == 2**20 + 1
    with pytest.raises(tarry.HorizonReached):
        p.choose_many(2**21)


def test_reports_older_than_memory_are_refused_not_taken_twice():
    p = tarry.Policy("uniform", 2, horizon=3e6)
    n = (1 << 20) + 5
    ids, _ = p.choose_many(n)
    p.observe_many(ids, np.full(n, 0.25))
    assert p.observe(n, 0.25) == "duplicate"
    with pytest.raises(tarry.ReportedTwice):
        p.observe(1, 0.25)


def test_an_old_report_does_not_take_the_place_of_a_new_one():
    """They share a place in memory."""
    p = tarry.Policy("uniform", 2, horizon=3e6)
    n = 1 << 20
    p.choose_many(n + 5)
    assert p.observe(n + 5, 0.25) == "ok"
    assert p.observe(5, 0.5) == "ok"
    assert p.observe(n + 5, 0.25) == "duplicate"
    with pytest.raises(tarry.ReportedTwice):
        p.observe(n + 5, 0.5)
    assert p.observe(n, 0.75) == "ok" and p.observe(n, 0.75) == "duplicate"


def test_a_damaged_state_is_refused(tmp_path):
    p = make()
    play(p, 50)
    data = p.to_bytes()
    for at in range(0, len(data), max(1, len(data) // 60)):
        bad = data[:at] + bytes([data[at] ^ 64]) + data[at + 1:]
        with pytest.raises(tarry.BadState):
            tarry.Policy.from_bytes(bad)
        with pytest.raises(tarry.BadState):
            tarry.Policy.from_bytes(data[:at])
    (tmp_path / "state").write_bytes(data[:-1])
    with pytest.raises(tarry.BadState, match=str(tmp_path / "state")):
        tarry.Policy.restore(tmp_path / "state")


def test_save_leaves_no_file_behind_if_it_fails(tmp_path):
    p = make()
    with pytest.raises(OSError):
        p.save(tmp_path / "nowhere" / "state")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        p.save(tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]


def together(*work):
    """Runs functions in threads; raises what one of them raises."""
    failed = []

    def run(f):
        try:
            f()
        except BaseException as error:
            failed.append(error)
    threads = [threading.Thread(target=run, args=(f,)) for f in work]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    sys.setswitchinterval(usual)
    if failed:
        raise failed[0]


def test_arms_that_threads_admit_keep_their_names():
    p = tarry.Policy("uniform", np.eye(2), horizon=1000)

    def admit(k):
        for i in range(150):
            p.admit("%d/%d" % (k, i), [k, i])
    together(*(lambda k=k: admit(k) for k in range(4)))
    assert len(p.names) == len(p.arms) == 602
    for name, features in list(zip(p.names, p.arms))[2:]:
        assert name == "%d/%d" % tuple(features)
    with pytest.raises(tarry.BadArgument):
        p.admit("3/7", [1, 1])


def test_what_is_saved_is_of_one_moment():
    """Also while other threads choose, and admit arms."""
    p = make("uniform", horizon=10**7)
    done = threading.Event()

    def choose():
        for i in range(5000):
            p.choose(id="mine-%d" % i)
            time.sleep(0)
            if done.is_set():
                break

    def admit():
        for i in range(200):
            p.admit("new-%d" % i, ARMS[0])

    def save():
        try:
            for _ in range(60):
                twin = tarry.Policy.from_bytes(p.to_bytes())
                last = max((line[0] for line in twin._ids().values()),
                           default=0)
                assert twin.status()["round"] == last
                assert len(twin.names or twin.arms) == len(twin.arms)
        finally:
            done.set()
    together(choose, admit, save)


@pytest.mark.skipif(
    bool(os.environ.get("TARRY_SANITIZE")),
    reason="a sanitizer's allocator may hang in a fork beside threads")
def test_a_policy_in_use_by_a_thread_does_not_hang_in_a_forked_process():
    p = make("uniform", horizon=10**9)
    done = threading.Event()

    def use():
        while not done.is_set():
            p.choose_many(2000)
    thread = threading.Thread(target=use)
    thread.start()
    try:
        for _ in range(30):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                try:
                    p.choose()
                except tarry.BadState:
                    pass
                finally:
                    os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()


@pytest.mark.skipif(
    bool(os.environ.get("TARRY_SANITIZE")),
    reason="a sanitizer's allocator may hang in a fork beside threads")
@pytest.mark.parametrize("before", [0, 1, 10])
def test_threads_of_a_forked_process_may_share_a_policy_too(before):
    """One that no thread was using when the process was forked."""
    p = make("lints", horizon=10**9)
    p.choose_many(before)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        began, refused = threading.Barrier(3), []

        def use():
            began.wait()
            try:
                for _ in range(5):
                    p.choose_many(5000)
            except tarry.Error as error:
                refused.append(error)
        threads = [threading.Thread(target=use) for _ in range(3)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if not refused and p.status()["round"] == before + 75000:
                os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_finalizer_may_ask_the_policy_that_is_being_asked():
    """Garbage is collected wherever objects are made."""
    done = subprocess.run([sys.executable, "-c", """
import gc, numpy as np, tarry
p = tarry.Policy("uniform", np.eye(3), horizon=10**6)
class Garbage:
    count = 0
    def __init__(self):
        self.me = self
    def __del__(self):
        Garbage.count += 1
        p.choose(id="end-%d" % Garbage.count)
for i in range(20000):
    Garbage()
    p.choose(id="mine-%d" % i)
    if i % 100 == 0:
        p.status()
assert Garbage.count > 1000
assert p.status()["round"] == 20000 + Garbage.count
p, Garbage.count = tarry.Policy("uniform", np.eye(3), confidence=0.9), 0
gc.set_threshold(1)
for i in range(30):
    for call in (p.to_bytes, p.status, p.pending, p.certificate, p._snapshot,
                 lambda: p.admit("arm-%d" % i, [1, 0, 0]), p.choose):
        Garbage()
        call()
assert p.status()["round"] == 30 + Garbage.count > 200
"""], env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(
        tarry.__file__))), timeout=100, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_threads_may_share_a_policy():
    p = make(horizon=1e6)
    seen, errors = [], []

    def work():
        try:
            for _ in range(20):
                ids, _ = p.choose_many(3000)
                p.observe_many(ids, np.zeros(3000))
                seen.append(ids)
                seen.append([p.choose().id])
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    ids = np.concatenate(seen)
    assert len(np.unique(ids)) == len(ids) == p.status()["round"]


CTRL_C = """
import tarry, numpy as np, sys
arms = np.random.default_rng(1).normal(size=(2000, 40)) / 40
p = tarry.Policy("linucb", arms, horizon=1e9)
print("ready", flush=True)
try:
    while True:
        ids, _ = p.choose_many(100000)
        p.observe_many(ids, np.zeros(len(ids)))
except KeyboardInterrupt:
    print("stopped", p.status()["round"] > 0)
"""


def test_ctrl_c_stops_a_batch():
    assert printed_when_stopped(CTRL_C, 0.5) == "stopped True\n"


def test_it_shows_itself():
    p = make()
    p.choose()
    assert "round 1 of 10000, 1 pending" in repr(p)
    assert "<table>" in p._repr_html_()
    assert (p.arms == ARMS).all() and not p.arms.flags.writeable


# ---- live ------------------------------------------------------------------


def test_probabilities_are_asked_for_only_when_needed():
    p = make("uniform")
    c = p.choose()
    assert c.probability == 1 / 20 and c[2] == c.probability
    late = p.choose()
    p.choose()
    assert np.isnan(late.probability)  # the policy has gone on
    assert make("linucb").choose().probability == 1
    ids, arms, probabilities = p.choose_many_with_probability(5)
    assert (probabilities == 1 / 20).all()
    named = p.choose(id="a")
    assert named.probability == 1 / 20
    p.choose()
    assert p.choose(id="a").probability == 1 / 20
    lints = make("lints")
    play(lints, 200)
    assert 0 < lints.choose().probability <= 1


def test_a_confidence_in_place_of_a_horizon():
    p = tarry.Policy("recommended", ARMS, confidence=0.99, range=(-2, 2),
                     maximize=True, seed=1)
    play(p, 300)
    assert p.status()["confidence"] == 0.99 and p.status()["horizon"] == 0
    assert "round 300," in repr(p) and p.certificate() is not None
    with pytest.raises(tarry.BadArgument, match="horizon, confidence"):
        tarry.Policy("lints", ARMS)
    with pytest.raises(tarry.BadArgument, match="confidence"):
        tarry.Policy("lints", ARMS, confidence=1.5)
    for horizon in (None, 100):
        with pytest.raises(tarry.BadArgument, match="confidence.*: 0$"):
            tarry.Policy("lints", ARMS, horizon, confidence=0)


def test_choices_are_cancelled_and_expire():
    p = make("phased-loss-dependent", constants="tight")
    ids, _ = p.choose_many(4)
    p.cancel(ids[0])
    p.expire(2)
    p.expire(2)
    status = p.status()
    assert status["cancelled"] == 1 and status["expired"] == 1
    assert p.observe(2, 0.5) == "late"  # it came after all
    assert p.observe(2, 0.5) == "duplicate"
    with pytest.raises(tarry.ReportedTwice):
        p.observe(1, 0.5)
    with pytest.raises(tarry.UnknownRound, match="'77'"):
        p.cancel(77)
    with pytest.raises(tarry.UnknownRound, match="'x'"):
        p.expire("x")
    p.choose(id="mine")
    p.cancel("mine")
    assert p.status()["cancelled"] == 2


def test_arms_come_and_go_by_name():
    p = tarry.Policy("lints", np.eye(3), confidence=0.95,
                     names=["a", "b", "c"])
    assert p.admit("d", [0.5, 0.5, 0]) == 3
    assert p.names == ("a", "b", "c", "d") and p.arms.shape == (4, 3)
    p.withdraw("a")
    p.withdraw(1)
    assert p.status()["available"] == [2, 3]
    assert set(p.choose_many(50)[1].tolist()) <= {2, 3}
    twin = pickle.loads(pickle.dumps(p))
    assert twin.names == p.names
    assert twin.choose_many(50)[1].tolist() == p.choose_many(50)[1].tolist()
    with pytest.raises(tarry.NoSuchArm, match="'a'"):
        p.withdraw("a")
    with pytest.raises(tarry.NoSuchArm):
        p.withdraw("nobody")
    with pytest.raises(tarry.BadArgument, match="an arm of the name: 'd'"):
        p.admit("d", [1, 1, 1])
    with pytest.raises(tarry.BadArgument, match="as many features"):
        p.admit([1, 1])
    with pytest.raises(tarry.NotFinite):
        p.admit([1, 1, float("inf")])


def test_the_order_of_reports_between_choices_does_not_matter():
    p, q = make("phased-stochastic:constants=tight,guide=lints"), \
        make("phased-stochastic:constants=tight,guide=lints")
    for _ in range(20):
        ids, arms = p.choose_many(100)
        q.choose_many(100)
        losses = np.cos(arms + ids) / 2
        p.observe_many(ids, losses)
        order = np.argsort(losses)
        q.observe_many(ids[order], losses[order])
    assert p.choose_many(100)[1].tolist() == q.choose_many(100)[1].tolist()


def test_a_choice_does_not_keep_its_policy_alive_for_ever():
    import gc
    import weakref

    class Mine(tarry.Policy):
        pass
    p = Mine("uniform", 3, horizon=10)
    p.last = p.choose()
    gone = weakref.ref(p)
    del p
    gc.collect()
    assert gone() is None


def test_pending_lists_the_oldest_by_their_ids():
    p = tarry.Policy("uniform", [[1, 0], [0, 1]], names=["a", "b"],
                     confidence=0.99)
    made = [p.choose(id="own%dx" % t) if t % 4 == 0 else p.choose()
            for t in range(1, 41)]
    for c in made[1::2]:
        p.observe(c.id, 0.25)
    p.cancel(made[0].id), p.expire(made[2].id)
    left = [c for c in made[4::2]]
    assert [(w.id, w.arm, w.name) for w in p.pending()] == \
        [(c.id, c.arm, c.name) for c in left]
    assert [w.rounds for w in p.pending(3)] == [35, 33, 31]
    assert p.pending(0) == [] and len(p.pending(10**6)) == len(left)
    p.observe_many([c.id for c in left], [0] * len(left))
    assert p.pending() == []
    for bad in (-1, 1.5, "x"):
        with pytest.raises(tarry.BadArgument):
            p.pending(bad)


def test_decisions_with_features_of_their_own_are_refused_clearly():
    p = tarry.Policy("lints", [[1, 0], [0, 1]], confidence=0.99)
    with pytest.raises(tarry.BadArgument, match="not there yet"):
        p.choose_in([[1, 0], [0, 1]])
    assert p.choose().id == 1


def test_lambda_has_another_name_in_python():
    arms = np.eye(3)
    p = tarry.Policy("linucb", arms, horizon=100, lambda_=2.5)
    assert "lambda=2.5" in p.status()["description"]
    with pytest.raises(tarry.BadArgument, match="lambda"):
        tarry.Policy("linucb", arms, horizon=100, lambda_=-1)


# ---- what must not get lost ------------------------------------------------


def twins_of(p, path):
    """Copies by all ways there are."""
    p.save(path)
    return [copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p)),
            type(p).from_bytes(p.to_bytes()), type(p).restore(path)]


def test_ids_are_restored_with_all_that_is_known_of_them(tmp_path):
    p = make("lints", names=["arm-%d" % k for k in range(20)])
    play(p, 100)
    made = {id: p.choose(id=id) for id in ("a\nb", "\u00e9", "7", "x" * 999)}
    asked = p.choose(id="asked")
    known = {"asked": (asked.round, asked.arm, asked.probability)}
    assert 0 < asked.probability < 1
    p.choose()
    p.observe("7", 0.25)
    for twin in twins_of(p, tmp_path / "state"):
        assert twin.names == p.names and (twin.arms == p.arms).all()
        for id, c in made.items():
            again = twin.choose(id=id)
            assert (again.id, again.round, again.arm, again.name) == \
                (id, c.round, c.arm, c.name) and again.repeated
            assert np.isnan(again.probability)
        for id, line in known.items():
            again = twin.choose(id=id)
            assert (again.round, again.arm, again.probability) == line
        assert twin.pending() == p.pending() and twin.status() == p.status()
        assert twin.observe("7", 0.25) == "duplicate"
        with pytest.raises(tarry.ReportedTwice):
            twin.observe("7", 0.5)


def test_reports_are_restored_to_the_last_bit(tmp_path):
    p = tarry.Policy("uniform", 3, horizon=10**4, range=(-1, 1))
    ids, _ = p.choose_many(5000)
    losses = np.random.default_rng(5).uniform(-1, 1, 5000)
    losses[:4] = [-0.0, 1 / 3, 5e-324, np.nextafter(1, 0)]
    p.observe_many(ids, losses)
    for twin in twins_of(p, tmp_path / "state"):
        assert (twin.observe_many(ids, losses) == "duplicate").all()
        with pytest.raises(tarry.ReportedTwice):
            twin.observe(2, np.nextafter(1 / 3, 1))


def test_twins_are_of_the_same_class_and_go_their_own_way(tmp_path):
    p = Labelled("uniform", 3, horizon=1000, names=list("abc"))
    p.label, p.itself = {"shop": 7}, p
    p.choose(id="first")
    for twin in twins_of(p, tmp_path / "state"):
        assert type(twin) is Labelled
        twin.choose(id="second")
        twin.observe("first", 0.5)
        twin.admit("d", [0, 0, 1])
        assert p.status()["round"] == 1 and len(p._ids()) == 1
        assert p.names == ("a", "b", "c") and len(p.pending()) == 1
    shallow, deep = copy.copy(p), copy.deepcopy(p)
    assert shallow.label is p.label and shallow.itself is p
    assert deep.label == p.label and deep.label is not p.label
    assert deep.itself is deep


def test_a_probability_that_was_asked_for_stays():
    for p in (make("uniform"), make("lints")):
        play(p, 100)
        c, named = p.choose(), None
        told = c.probability
        assert 0 < told <= 1
        named, again = p.choose(id="mine"), p.choose("mine")
        known = named.probability
        p.choose()
        assert np.isnan(again.probability)  # asked for too late
        assert (c.probability, c[2], tuple(c)[2]) == (told,) * 3
        assert (named.probability, p.choose("mine").probability) == \
            (known, known)
        assert pickle.loads(pickle.dumps(c)).probability == told


@pytest.mark.parametrize("choose", [
    lambda p: p.choose(), lambda p: p.choose(id="another"),
    lambda p: p.choose_many(1), lambda p: p.choose_many(50),
    lambda p: p.choose_many_with_probability(1)])
@pytest.mark.parametrize("name", ["uniform", "lints"])
def test_a_probability_is_gone_after_a_choice_of_any_kind(name, choose):
    for id in (None, "mine"):
        p = make(name)
        play(p, 20)
        c = p.choose(id)
        choose(p)
        assert np.isnan(c.probability)


def test_probabilities_of_a_batch_are_those_of_one_by_one():
    """Also behind the first 32, after which others may choose."""
    p, q = make("lints"), make("lints")
    assert play(p, 60) == play(q, 60)
    ids, arms, probabilities = p.choose_many_with_probability(70)
    for id, arm, probability in zip(ids, arms, probabilities):
        c = q.choose()
        assert (c.id, c.arm, c.probability) == (id, arm, probability)


# ---- ids and arrays of all kinds -------------------------------------------


def ids_of_all_kinds(ids):
    """The same whole numbers in other types, orders and places."""
    for kind in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 " \
                "float64 >i8 >u4 object".split():
        yield np.array(ids, kind)
    for kind in (np.int64, np.uint64, np.int32, np.float64):
        spread = np.zeros(3 * len(ids), kind)
        spread[::3] = ids
        yield spread[::3]
        yield np.array(ids[::-1], kind)[::-1]
        yield np.array([ids, ids], kind, order="F")[0]
    yield ids
    yield tuple(ids)
    yield [np.int64(id) for id in ids]
    yield range(ids[0], ids[-1] + 1)


def test_ids_may_be_whole_numbers_of_any_type_and_stride():
    ids = list(range(3, 60))
    losses = np.cos(ids)
    kinds = list(ids_of_all_kinds(ids))
    assert len(kinds) > 25
    for kind in kinds:
        p = make("uniform")
        p.choose_many(60)
        assert (p.observe_many(kind, losses) == "ok").all()
        for id, loss in zip(ids, losses):
            assert p.observe(id, loss) == "duplicate"
        assert [w.id for w in p.pending()] == [1, 2, 60]


def test_losses_may_be_numbers_of_any_type_and_stride():
    for kind in "int8 uint8 int64 float16 float32 float64 bool >f8".split():
        values = np.array([0, 1, 1, 0, 1], kind)
        for losses in (values, values.tolist(), np.repeat(values, 2)[::2],
                       values[::-1][::-1]):
            p = make("uniform")
            ids, _ = p.choose_many(5)
            assert (p.observe_many(ids, losses) == "ok").all()
            assert [p.observe(int(id), float(loss)) for id, loss in
                    zip(ids, values)] == ["duplicate"] * 5


@pytest.mark.parametrize("ids", [[1.5], [float("nan")], [True], [[1]], "1",
                                 [1j], [b"1"]])
def test_what_names_no_choice_is_refused(ids):
    p = make("uniform")
    p.choose()
    with pytest.raises(tarry.BadArgument):
        p.observe_many(ids, [0.5])
    assert p.status()["pending"] == 1


@pytest.mark.parametrize("id", [float("inf"), -float("inf"), 1e300, 2.0**63,
                                2.0**64, -1.0, -1, 0, 2, 2**64 - 1])
@pytest.mark.filterwarnings("error")
def test_whole_numbers_of_no_choice_are_unknown(id):
    p = make("uniform")
    p.choose()
    with pytest.raises(tarry.UnknownRound) as error:
        p.observe_many([id], [0.5])
    assert error.value.results.tolist() == ["unknown"]
    assert p.status()["pending"] == 1


@pytest.mark.parametrize("ids", [[1.0, 9.0, 3.0, 2.0], ["a", 1.0, 3, 2],
                                 ["a", None, 3, 2], ["a", 2.5, 3, 2]])
def test_others_count_whatever_is_refused(ids):
    p = make("uniform")
    p.choose("a"), p.choose_many(3)
    with pytest.raises(tarry.UnknownRound) as error:
        p.observe_many(ids, [0.5] * 4)
    assert error.value.results.tolist() == ["ok", "unknown", "ok", "ok"]
    assert [w.id for w in p.pending()] == [4]


def test_texts_and_numbers_may_be_mixed():
    p = make("uniform")
    for id in ("a", None, "b", None, None):
        p.choose(id)
    ids = ["a", 2, "nobody", np.int64(4), "b", -1, 77, 2**70, 2]
    with pytest.raises(tarry.UnknownRound, match="'nobody'.*3 more of 9") as e:
        p.observe_many(ids, [0.5] * 9)
    assert e.value.results.tolist() == [
        "ok", "ok", "unknown", "ok", "ok", "unknown", "unknown", "unknown",
        "duplicate"]
    assert [w.id for w in p.pending()] == [5]


def test_results_stand_where_their_ids_do_in_a_long_batch():
    p = make("uniform")
    p.choose_many(5000)
    ids = np.random.default_rng(1).permutation(6000) + 1
    expected = np.where(ids <= 5000, "ok", "unknown")
    with pytest.raises(tarry.UnknownRound) as e:
        p.observe_many(ids, np.zeros(6000))
    assert (e.value.results == expected).all()
    assert "(and 999 more of 6000)" in str(e.value)
    assert p.observe_many([], []).shape == (0,)


def test_a_batch_of_millions_goes_on_beyond_the_horizon():
    p = tarry.Policy("uniform", 3, horizon=10, beyond_horizon=True)
    assert len(p.choose_many(20)[0]) == 20
    assert len(p.choose_many(2**20 + 1)[0]) == 2**20 + 1
    q = tarry.Policy("uniform", 3, horizon=10)
    assert len(q.choose_many(20)[0]) == 10
    assert q.choose_many(0)[0].shape == (0,)


def test_runs_have_their_own_coins_up_to_the_last():
    draws = [make("uniform", run=run).choose_many(40)[1].tolist()
             for run in (0, 1, 2**32 - 1)]
    assert len({tuple(arms) for arms in draws}) == 3
    for run in (2**32, 2**32 + 1, 2**63):
        with pytest.raises(tarry.BadArgument, match="run: .*'%d'" % run):
            make("uniform", run=run)


# ---- arms, settings, views -------------------------------------------------


def test_arms_without_names_are_called_by_numbers_once_one_has_a_name():
    p = tarry.Policy("uniform", np.eye(3), confidence=0.9)
    assert p.names is None and p.choose().name is None
    assert p.admit([1, 1, 1]) == 3 and p.names is None
    assert p.admit("new", [1, 1, 2]) == 4
    assert p.names == ("0", "1", "2", "3", "new")
    assert p.admit([1, 1, 3]) == 5
    assert p.names == ("0", "1", "2", "3", "new", "5")
    assert p.arms[3:].tolist() == [[1, 1, 1], [1, 1, 2], [1, 1, 3]]
    p.withdraw("3")
    assert p.status()["available"] == [0, 1, 2, 4, 5]
    for c in (p.choose() for _ in range(30)):
        assert c.name == p.names[c.arm]
    with pytest.raises(tarry.NotFinite):
        p.admit("never", [1, 1, float("nan")])
    assert len(p.names) == len(p.arms) == 6


@pytest.mark.parametrize("names, taken", [
    (None, ("0", "1", "2")), (["3", "a", "b"], (None, "3", "a")),
    (["a", "b", "c"], ("c",))])
def test_no_two_arms_have_one_name(names, taken):
    """Those that are only numbers until one is named, and the number of the
    new one, count: a state with a name twice could not be restored."""
    p = tarry.Policy("uniform", np.eye(3), names=names, confidence=0.9)
    for name in taken:
        with pytest.raises(tarry.BadArgument, match="name.*'%s'" % (
                name or "3")):
            p.admit(name, [1, 1, 1]) if name else p.admit([1, 1, 1])
        assert len(p.arms) == 3
    assert p.admit("new", [1, 1, 1]) == 3
    assert tarry.Policy.from_bytes(p.to_bytes()).names == p.names


def test_arms_come_from_whatever_names_them(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "arms.csv"
    path.write_text("a,1,0\nb,0,1\n")
    frame = pandas.DataFrame([[1, 0], [0, 1]], index=["a", "b"])
    for arms, names, told in [
            (path, None, ("a", "b")), (str(path), ["x", "y"], ("x", "y")),
            (frame, None, ("a", "b")), (frame, "xy", ("x", "y")),
            (frame.reset_index(drop=True), None, None),
            (frame.set_axis(["a", 1]), None, None),
            (np.eye(2), None, None), (np.eye(2), (1, 2), ("1", "2")),
            (2, None, None), (np.int8(2), None, None)]:
        p = tarry.Policy("uniform", arms, confidence=0.9, names=names)
        assert p.names == told and (p.arms == np.eye(2)).all()
    for bad in (0, -1, 20001, True):
        with pytest.raises(tarry.BadArgument, match="arms"):
            tarry.Policy("uniform", bad, confidence=0.9)


@pytest.mark.parametrize("value, text", [
    (0.1 + 0.2, "lambda=0.30000000000000004"), (1e-9, "lambda=1e-09"),
    (np.float32(0.1), "lambda=0.10000000149011612"), (3, "lambda=3"),
    (np.int64(3), "lambda=3"), ("2.5", "lambda=2.5"), (True, "lambda=1"),
    (np.bool_(True), "lambda=1"), (None, None)])
def test_settings_are_told_to_the_last_digit(value, text):
    p = tarry.Policy("linucb", 3, horizon=100, lambda_=value, alpha=0.5)
    assert p.status()["description"] == "linucb:" + \
        (text + "," if text else "") + "alpha=0.5"


def test_policies_are_described_as_by_the_program():
    theirs = {p["name"]: p for p in tarry.catalogue()["policies"]}
    for name in tarry.policies():
        ours = tarry.describe(name)
        for key, here in (("name", "name"), ("source", "source"),
                          ("summary", "summary"),
                          ("features", "uses_features")):
            assert ours[here] == theirs[name][key], (name, key)
        assert [(s["key"], s["help"], s["default"]) for s in
                ours["settings"]] == \
            [(s["key"], s["help"], s.get("default")) for s in
             theirs[name].get("settings", [])], name
    with pytest.raises(tarry.Error, match="'nobody'"):
        tarry.describe("nobody")


def test_what_a_page_could_misread_is_escaped():
    p = tarry.Policy("greedy", 2, horizon=10, names=["<a>", "&"])
    for _ in range(4):
        c = p.choose()
        p.observe(c.id, -1 if c.arm == 0 else 1)
    shown = p._repr_html_()
    assert p.status()["best"] == 0 and "<td>&lt;a&gt;</td>" in shown
    assert "<a>" not in shown and "<td>4 of 10</td>" in shown
    assert "<th>pending</th><td>0</td>" in shown
    assert "2 in 2 dimensions" in shown
    assert repr(p) == \
        "<Policy greedy: 2 arms in 2 dimensions, round 4 of 10, 0 pending>"
    assert repr(tarry.Policy.__new__(tarry.Policy)) == \
        "<Policy that was never made>"


def test_every_status_has_the_class_of_its_name():
    from tarry import _errors, _tarry
    for _, status, _ in _tarry.statuses:
        if status in _errors._BY_STATUS:
            name = "".join(part.title() for part in status.split("_"))
            assert _errors._BY_STATUS[status] is getattr(tarry, {
                "IoError": "InputOutputError"}.get(name, name))
    for name, base in [
            ("NoMemory", MemoryError), ("BadArgument", ValueError),
            ("BadInput", ValueError), ("InputOutputError", OSError),
            ("NotFinite", ValueError), ("TargetNotMet", ArithmeticError),
            ("UnknownRound", LookupError), ("ReportedTwice", ValueError),
            ("BadLoss", ValueError), ("BadState", ValueError),
            ("NoSuchArm", LookupError), ("Unreachable", ConnectionError)]:
        assert issubclass(getattr(tarry, name), (tarry.Error, base))
        assert issubclass(getattr(tarry, name), base)


@pytest.mark.parametrize("given, told", [
    (dict(horizon=50), dict(horizon=50, confidence=0.98, maximize=False,
                            range=(-1, 1), seed=1)),
    (dict(horizon=1e6, seed=7, range=(2, 5), maximize=True),
     dict(horizon=10**6, confidence=0.999999, maximize=True, range=(2, 5),
          seed=7)),
    (dict(confidence=0.75), dict(horizon=0, confidence=0.75, maximize=False,
                                 range=(-1, 1), seed=1))])
def test_a_status_tells_what_the_policy_was_made_with(given, told):
    for name in ("phased-stochastic", "lints", "phased-mab"):
        s = tarry.Policy(name, np.eye(3), **given).status()
        assert {key: s[key] for key in told} == told
        assert (s["n_arms"], s["dim"], s["round"], s["pending"]) == (3, 3, 0, 0)
        assert s["policy"] == s["description"] == name
        assert s["available"] == [0, 1, 2]
        first = s["first_phase_rounds"]
        assert s["horizon_too_short"] is bool(
            told["horizon"] and first > told["horizon"])
        assert (first > 50) == name.startswith("phased")


def test_outcomes_are_mapped_alike_for_losses_and_rewards():
    """A reward is the loss from the other end of the range."""
    p = tarry.Policy("lints", ARMS, horizon=1000, range=(-2, 2))
    q = tarry.Policy("lints", ARMS, horizon=1000, range=(-2, 2), maximize=True)
    r = tarry.Policy("lints", ARMS, horizon=1000)
    for t in range(300):
        c = p.choose()
        assert c.arm == q.choose().arm == r.choose().arm
        loss = (c.arm % 5) / 4  # 0 to 1, exact in all ranges
        p.observe(c.id, -2 + 4 * loss)
        q.observe(c.id, 2 - 4 * loss)
        r.observe(c.id, -1 + 2 * loss)
    for policy, low, high in ((p, -2, 2), (q, -2, 2), (r, -1, 1)):
        policy.choose()
        for bad in (low - 1e-9, high + 1e-9, float("inf")):
            with pytest.raises(tarry.BadLoss):
                policy.observe(301, bad)
        assert policy.observe(301, high) == "ok"


@pytest.mark.parametrize("call", ["choose_many(50000)",
                                  "choose_many_with_probability(50000)",
                                  "observe_many(ids, losses)"])
def test_a_policy_is_free_when_a_signal_has_stopped_a_call(call):
    """Also for what the signal's own handler does with it."""
    script = """
import signal, numpy as np, tarry
p = tarry.Policy("uniform", 3, horizon=10**9, range=(0, 1))
ids, _ = p.choose_many(300000)
losses = np.zeros(len(ids))
def stop(*_):
    p.choose()
    raise KeyError("stopped")
signal.signal(signal.SIGALRM, stop)
for _ in range(20):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.003)
        while True:
            p.%s
    except KeyError:
        p.choose()
print(p.status()["round"] >= 300040)
""" % call
    done = subprocess.run([sys.executable, "-c", script], text=True, timeout=60,
                          capture_output=True)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_threads_may_ask_one_choice_for_its_probability():
    """Also where nothing but the choice holds the policy any more."""
    arms, told = np.random.default_rng(1).normal(size=(200, 20)), []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for seed in range(60):
            c = tarry.Policy("lints", arms, horizon=1000, seed=seed).choose()
            threads = [threading.Thread(
                target=lambda: told.append((seed, c.probability)))
                for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert len(told) == 180 and len(set(told)) == 60


@pytest.mark.parametrize("count", [5000, (1 << 20) + 1])
def test_many_choices_go_beyond_the_horizon_if_they_may(count):
    for beyond in False, True:
        p = tarry.Policy("uniform", 3, horizon=1000, beyond_horizon=beyond)
        assert p.status()["beyond_horizon"] == beyond
        assert len(p.choose_many(count)[0]) == (count if beyond else 1000)


@pytest.mark.parametrize("policy", ["phased-mab", "phased-stochastic"])
def test_estimates_are_those_of_the_arms_that_they_name(policy):
    """Also when some are out: the bounds hold the arm's own loss."""
    losses, seen = np.array([0.9, -0.9, 0.3, -0.3]), set()
    p = tarry.Policy(policy, np.eye(4), horizon=10**6, constants="tight")
    for _ in range(100):
        ids, arms = p.choose_many(1000)
        p.observe_many(ids, losses[arms])
        s = p.status()
        for e in s["estimates"]:
            assert e["lower"] - 1e-9 <= losses[e["arm"]] <= e["upper"] + 1e-9
        if s["estimates"]:
            assert [e["arm"] for e in s["estimates"]] == s["active"]
            seen.add(len(s["active"]))
    assert min(seen) == 1


def test_certificates_are_in_the_unit_of_the_losses():
    gaps = []
    for low, high in ((-1, 1), (0, 10)):
        p = tarry.Policy("phased-mab:constants=tight", 2, horizon=10**4,
                         range=(low, high), seed=3)
        for _ in range(40):
            c = p.choose()
            p.observe(c.id, high if c.arm else low)
        certificate = p.certificate()
        assert (certificate.arm, certificate.gap) == \
            (p.status()["exploit"], p.status()["certificate"])
        gaps.append(certificate.gap)
    assert gaps[1] == pytest.approx(5 * gaps[0]) and gaps[0] > 0


def test_pending_choices_bear_the_ids_that_they_were_given(tmp_path):
    p = make("uniform", names=["arm-%d" % k for k in range(20)])
    made = [p.choose(id=None if t % 3 else "own-%d" % t) for t in range(30)]
    for policy in [p] + twins_of(p, tmp_path / "state"):
        assert policy.pending() == [(c.id, c.arm, c.name, 29 - t)
                                    for t, c in enumerate(made)]
        for c in made[10:20]:
            policy.observe(c.id, 0.5)
        assert [w.id for w in policy.pending()] == \
            [c.id for c in made[:10] + made[20:]]
        assert [w.id for w in policy.pending(12)] == \
            [c.id for c in made[:10] + made[20:22]]


def test_a_damaged_file_is_named_whoever_wrote_it(tmp_path):
    p = make()
    play(p, 50)
    for plain in (False, True):
        path = tmp_path / ("plain-%d" % plain)
        p.save(path, plain=plain)
        data = path.read_bytes()
        for damaged in (data[:-1], data[:len(data) // 2],
                        data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], b""):
            path.write_bytes(damaged)
            with pytest.raises(tarry.BadState, match=str(path)):
                tarry.Policy.restore(path)
            with pytest.raises(tarry.BadState, match="the bytes"):
                tarry.Policy.from_bytes(damaged)


def test_more_choices_than_there_is_memory_for_are_refused(monkeypatch):
    def empty(*shape):
        raise MemoryError
    p = tarry.Policy("uniform", 3, confidence=0.9)
    with monkeypatch.context() as patch:
        patch.setattr("numpy.empty", empty)
        with pytest.raises(tarry.BadArgument, match="too many .*: '7'"):
            p.choose_many(7)
    assert p.status()["round"] == 0 and len(p.choose_many(7)[0]) == 7


def test_a_page_shows_what_the_policy_knows():
    p, shown = tarry.Policy("phased-mab:constants=tight", 2, horizon=10**4,
                            seed=3, names=["a", "b"]), set()
    for t in range(1, 301):
        c = p.choose()
        cells = dict(line.split("</th><td>") for line in p._repr_html_()[
            len("<table><tr><th>"):-len("</td></tr></table>")].split(
                "</td></tr><tr><th>"))
        s = p.status()
        assert cells == {
            "policy": "phased-mab", "arms": "2 in 2 dimensions",
            "round": "%d of 10000" % t, "pending": "1",
            "active arms": str(len(s["active"])),
            "best so far": "not known" if s["best"] is None
            else "ab"[s["best"]],
            "certificate": "%.4g" % s["certificate"]}
        shown.add(cells["best so far"])
        p.observe(c.id, 1 if c.arm else -1)
    assert shown == {"not known", "a"}


@pytest.mark.parametrize("data", [None, "x", bytearray(b"x"), 7, [1]])
def test_a_state_is_bytes(data):
    with pytest.raises(tarry.BadArgument, match="^the bytes: not bytes$"):
        tarry.Policy.from_bytes(data)


def test_a_class_of_texts_is_kept_as_a_text():
    """What it does when it is compared is not done in the middle of a call."""
    class Text(str):
        def __hash__(self):
            p.status()
            return hash(str(self))

        def __eq__(self, other):
            p.status()
            return str(self) == other
    p = tarry.Policy("uniform", 3, horizon=10)
    c = p.choose(id=Text("mine"))
    assert type(c.id) is str and c == p.choose("mine")
    assert [type(w.id) for w in p.pending()] == [str]


@pytest.mark.parametrize("write", [
    lambda p, path: p.save(path), lambda p, path: p.save(path, plain=True),
    lambda p, path: tarry.Experiment("uniform").to_json(path)])
def test_what_cannot_be_written_is_said(write, tmp_path):
    p = make("uniform")
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "nowhere" / "x", tmp_path / "file" / "x",
                 tmp_path):
        with pytest.raises(OSError, match=str(path)):
            write(p, path)
    assert sorted(os.listdir(tmp_path)) == ["file"]


def test_a_choice_that_is_refused_is_no_next_choice():
    for name in ("uniform", "lints"):
        p, q = (tarry.Policy(name, ARMS, horizon=5) for _ in range(2))
        for _ in range(5):
            c, told = p.choose(), q.choose().probability
        for refused in (p.choose, lambda: p.choose(id="a"),
                        lambda: p.choose_many(3)):
            with pytest.raises(tarry.HorizonReached):
                refused()
        assert c.probability == told > 0


# ---- the default outcome ---------------------------------------------------


def test_report_after_default_is_corrected():
    p = tarry.Policy("lints", 3, horizon=100, range=(0, 1), maximize=True,
                     default_outcome="0/1r")
    for _ in range(4):
        p.choose()
    assert p.observe(1, 1) == "corrected"
    assert p.observe(1, 1) == "duplicate"
    assert p.observe_many([2, 4], [1, 0]).tolist() == ["corrected", "ok"]
    with pytest.raises(tarry.ReportedTwice):
        p.observe(1, 0)
    status = p.status()
    assert status["default_outcome"] == "0/1r"
    assert (status["defaulted"], status["corrected"]) == (2, 2)


def test_status_tells_whether_reports_come():
    p = tarry.Policy("recommended", 2, horizon=20000, range=(0, 1))
    assert p.status()["reports"] == "none yet"
    for t in range(1, 1001):
        p.choose()
        if t <= 500:
            p.observe(t, t % 2)
    status = p.status()
    assert status["reports"] == "silent since round 500"
    assert status["silence"] is None
    p.observe(501, 0)
    assert p.status()["reports"] == "flowing"


def test_default_of_a_time_is_applied_by_the_caller(tmp_path):
    p = tarry.Policy("lints", 3, horizon=100, default_outcome="0.5/7d")
    final = tarry.Policy("otf-lints", 3, horizon=100,
                         default_outcome="0.5/7d/final")
    for policy, word in (p, "corrected"), (final, "late"):
        policy.choose(id="visit-1")
        policy.choose()
        policy.apply_default("visit-1")
        with pytest.raises(tarry.ReportedTwice):
            policy.apply_default("visit-1")
        policy.save(tmp_path / "state")
        for one in policy, tarry.Policy.restore(tmp_path / "state"):
            assert one.observe("visit-1", 1) == word
            assert one.observe(2, 1) == "ok"
            assert one.status()["defaulted"] == 1


@pytest.mark.parametrize("rule", ["0", "0/7", "0/7y", "2/7d", "0/7d/last"])
def test_rule_of_another_form_is_a_bad_argument(rule):
    with pytest.raises(tarry.BadArgument, match="default_outcome"):
        tarry.Policy("lints", 3, horizon=100, default_outcome=rule)


def test_policy_that_cannot_correct_needs_a_final_rule():
    with pytest.raises(tarry.BadArgument, match="or use recommended"):
        tarry.Policy("otf-lints", 3, horizon=100, default_outcome="0/7d")
