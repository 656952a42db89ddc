"""Stores: what was answered is kept, whatever happens to process, disk and
file.

15 kills by default and some hundred flipped bits; TARRY_CAMPAIGN=1 tries 500
and many more; TARRY_SEED=n for other ones."""
import csv
import io
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from faults import counts_in
from lab import CAMPAIGN, SANITIZED, amount
from pipe import TARRY, Folder, Pipe, run

KILLS = amount(5, 15, 500)
FLIPS = amount(40, 120, 20000)
SEED = int(os.environ.get("TARRY_SEED", 2385))
FAULTS = os.path.join(os.environ.get("TARRY_BUILD", "build"), "tests",
                      "libfaults.so")
ARMS = "name,x,y,z\nnorth,0.8,0.2,0\nsouth,0.1,0.6,0.3\neast,0,0.1,0.9\n"
POLICIES = ["recommended", "phased-stochastic", "phased-adversarial",
            "phased-mab", "lints", "linucb", "uniform"]


def loss_of(text):
    return random.Random(text).choice([-1, -0.5, 0.25, 1])


class StoreTest(unittest.TestCase):

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)
        self.arms = self.folder.path("arms.csv")
        with open(self.arms, "w") as file:
            file.write(ARMS)
        self.store = self.folder.path("store.db")
        self.random = random.Random(SEED)

    def options(self, policy="lints"):
        return ["--policy", policy, "--arms", self.arms, "--horizon", "1e6"]

    def start(self, *options):
        pipe = Pipe(*options)
        self.addCleanup(pipe.__exit__)
        return pipe

    def kept(self, *more, policy="lints"):
        return self.start(*self.options(policy), "--store", self.store, *more)

    def again(self, *more):
        return self.start("--store", self.store, *more)

    def refused(self, *arguments, naming, code=2):
        done = run(*arguments, input=b"choose\n")
        self.assertEqual(done[:2], (code, b""))
        self.assertRegex(done[2], r"^tarry: [^\n]*\n$")
        self.assertIn(naming, done[2])

    def table(self, sql):
        database = sqlite3.connect("file:%s?mode=ro" % self.store, uri=True)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()


def play(pipe, rounds, first=1):
    """Choices with a loss for every other one, some rounds later."""
    lines = []
    for t in range(first, first + rounds):
        lines.append("choose")
        if t > 7 and t % 2:
            lines.append("observe %d %g" % (t - 7, loss_of(t - 7)))
    return pipe.ask(lines)


# ---- going on ---------------------------------------------------------------

class GoingOn(StoreTest):

    def test_a_restarted_process_is_one_that_never_died(self):
        for policy in POLICIES:
            with self.subTest(policy=policy):
                twin = self.start(*self.options(policy))
                wanted = play(twin, 400)
                got = []
                for first in range(1, 400, 80):
                    pipe = self.kept(policy=policy)
                    got += play(pipe, 80, first)
                    if first % 3 == 0:
                        pipe.kill()
                    else:
                        self.assertEqual(pipe.end(), (0, b"", ""))
                self.assertEqual(got, wanted)
                pipe = self.again()
                self.assertEqual(pipe.one("status"), twin.one("status"))
                pipe.end()
                for end in ("", "-lock"):
                    os.remove(self.store + end)

    def test_arms_that_come_and_go_survive_kills(self):
        for policy in POLICIES:
            with self.subTest(policy=policy):
                twin = self.start(*self.options(policy))
                pipe, t = self.kept(policy=policy), 1
                for change in ["admit west 0.3 0.3 0.3", "withdraw north",
                               "admit north 0.7 0.1 0.1", "withdraw south",
                               "withdraw west", "admit up 0 1 0"]:
                    self.assertEqual(play(pipe, 60, t), play(twin, 60, t))
                    t += 60
                    self.assertEqual(pipe.one(change), "ok")
                    self.assertEqual(twin.one(change), "ok")
                    if change.startswith("admit"):
                        pipe.kill()
                    else:
                        self.assertEqual(pipe.end(), (0, b"", ""))
                    pipe = self.again()
                    self.assertEqual(pipe.one("status"), twin.one("status"))
                self.assertEqual(play(pipe, 60, t), play(twin, 60, t))
                self.assertEqual(sorted(pipe.status()["arms"]),
                                 ["east", "north", "up"])
                self.assertRegex(pipe.one("withdraw west"), "^error ")
                pipe.end()
                self.assertEqual(
                    self.table("SELECT name FROM arms WHERE withdrawn_at IS "
                               "NULL ORDER BY number"),
                    [("east",), ("north",), ("up",)])
                for end in ("", "-lock"):
                    os.remove(self.store + end)

    def test_an_end_in_the_middle_of_many_choices_is_clean(self):
        with open(self.arms, "w") as file:
            for _ in range(1000):
                file.write(",".join("%.3f" % self.random.uniform(-0.1, 0.1)
                                    for _ in range(64)) + "\n")
        pipe = self.kept(policy="lints")
        pipe.one("choose")
        pipe.send(b"choose 1000000\n")  # half a minute's work with such arms
        time.sleep(0.5)
        pipe.process.send_signal(signal.SIGTERM)
        code, out, error = pipe.end()
        self.assertEqual((code, error), (0, ""))
        lines = out.decode().splitlines()
        self.assertEqual(lines[-1], "ok %d" % (len(lines) - 1))
        self.assertLess(len(lines), 1000000)
        self.assertEqual([line.split()[0] for line in lines[:-1]],
                         [str(t) for t in range(2, len(lines) + 1)])
        self.assertEqual(self.again().status()["round"], len(lines))

    def test_what_is_said_again_must_be_the_same(self):
        with self.kept() as pipe:
            play(pipe, 20)
        other = self.folder.path("other.csv")
        with open(other, "w") as file:
            file.write(ARMS.replace("east", "west"))
        for options, naming in [
                (["--policy", "linucb"], "lints"),
                (["--horizon", "1e5"], "horizon is 1000000"),
                (["--range", "0,1"], "range is -1,1"),
                (["--maximize"], "rewards"), (["--seed", "4"], "seed is 0"),
                (["--arms", other], "other arms"),
                (["--beyond-horizon"], "ends at its horizon"),
                (["--set", "scale=2"], "scale=2"),
                (["--confidence", "0.9"], "confidence is 0"),
                (["--expire-after", "3d"], "expire after ''")]:
            self.refused("pipe", "--store", self.store, *options,
                         naming=naming)
        self.assertEqual(self.kept().status()["round"], 20)

    def test_tables_say_in_sql_what_was_answered(self):
        pipe = self.kept("--json")
        told = [json.loads(a) for a in pipe.ask(["choose"] * 5 +
                                                ["choose --id mine"])]
        pipe.ask(["observe 2 0.25", "observe mine -0.5"])
        pipe.kill()
        self.assertEqual(self.table("SELECT id, arm, probability FROM "
                                    "decisions ORDER BY round"),
                         [(c["id"], c["arm"], c["probability"]) for c in told])
        self.assertEqual(self.table("SELECT id, loss FROM outcomes"),
                         [("2", 0.25), ("mine", -0.5)])
        self.assertEqual(self.table("SELECT state FROM decisions WHERE id IN "
                                    "('1', '2') ORDER BY round"),
                         [("pending",), ("observed",)])
        self.assertEqual(self.table("SELECT name FROM arms"),
                         [("north",), ("south",), ("east",)])
        self.assertEqual(self.table("SELECT name FROM experiments"),
                         [("default",)])

    def test_two_experiments_share_a_store(self):
        one, two = self.kept("--name", "one"), None
        play(one, 10)
        one.end()
        two = self.kept("--name", "two", policy="linucb")
        play(two, 20)
        two.end()
        self.assertEqual(self.again("--name", "one").status()["round"], 10)
        ids = [row[0] for row in self.table("SELECT id FROM decisions")]
        self.assertEqual(len(set(ids)), 30)
        self.assertIn("two:20", ids)

    def test_an_experiment_has_a_name_that_ids_have_room_for(self):
        self.kept("--name", "one").end()
        name = "\u00e9" * 127 + "x"
        two = self.kept("--name", name)
        self.assertEqual(two.one("choose").split()[0], name + ":1")
        self.assertEqual(two.one("observe %s:1 0.5" % name), "ok")
        two.end()
        for bad in name + "x", "x" * 300, "x\ty", "", "my shop", " ":
            self.refused("pipe", "--store", self.store, *self.options(),
                         "--name", bad, naming="experiment's name")

    def test_ids_of_another_experiment_are_unknown(self):
        one = self.kept("--name", "one")
        self.assertEqual(one.ask(["choose", "choose --id mine"])[1][:5],
                         "mine ")
        one.end()
        two = self.kept("--name", "two")
        two.ask(["choose", "choose --id yours", "choose"])
        before = two.status()
        for id in ("one:1", "mine", "1", "two:2", "two:4", "nobody"):
            for line in ("observe %s 0.5", "cancel %s", "expire %s"):
                self.assertRegex(two.one(line % id), "^error ", line % id)
        for id in ("mine", "one:1", "two:3"):
            self.assertRegex(two.one("choose --id " + id), "^error ", id)
        self.assertEqual(two.status(), before)
        self.assertRegex(two.one("observe two:1 0.5"), "^ok")
        two.end()
        self.assertEqual(self.again("--name", "one").status()["pending"], 2)

    def test_a_second_process_is_refused_by_the_number_of_the_first(self):
        pipe = self.kept()
        pipe.one("choose")
        for command in (["pipe", "--store", self.store],
                        ["store", "check", self.store]):
            self.refused(*command, naming="process %d" % pipe.process.pid,
                         code=1)
        self.assertEqual(pipe.one("choose").split()[0], "2")

    def test_a_link_leads_to_the_same_store_and_lock(self):
        pipe = self.kept()
        pipe.one("choose")
        link = self.folder.path("link.db")
        os.symlink(self.store, link)
        self.refused("pipe", "--store", link, naming="process", code=1)

    def test_the_file_itself_is_for_one_process(self):
        pipe = self.kept()
        pipe.one("choose")
        other = self.folder.path("other.db")
        os.link(self.store, other)
        os.remove(self.store + "-lock")
        for name in other, self.store:
            self.refused("pipe", "--store", name, naming="another process",
                         code=1)
            self.assertFalse(os.path.exists(name + "-lock"))
        self.assertEqual(pipe.one("choose").split()[0], "2")
        pipe.end()
        self.assertEqual(run("store", "check", other)[0], 0)

    def test_what_is_no_store_is_refused_and_left_alone(self):
        for data in (b"x", b"name,x\narm,1.0\n" * 200, b"\0" * 8192):
            with open(self.store, "wb") as file:
                file.write(data)
            self.refused("pipe", "--store", self.store, *self.options(),
                         naming="not a store")
            with open(self.store, "rb") as file:
                self.assertEqual(file.read(), data)
        os.remove(self.store)
        sqlite3.connect(self.store).execute("CREATE TABLE t(x)")
        self.refused("pipe", "--store", self.store, *self.options(),
                     naming="not a store")
        self.refused("store", "check", self.folder.path("none"), naming="none")
        self.refused("pipe", "--store", self.folder.path("no/such/folder"),
                     *self.options(), naming="no/such/folder")

    def test_a_state_is_not_saved_over_the_store(self):
        pipe = self.kept()
        pipe.ask(["choose"] * 3)
        link = self.folder.path("link.db")
        os.link(self.store, link)
        for path in (self.store, link, self.store + "-lock",
                     self.store + "-wal"):
            self.assertEqual(pipe.one("save " + path),
                             "error %s: a file of the store" % path)
        self.assertEqual(pipe.one("choose").split()[0], "4")
        pipe.kill()
        os.remove(link)
        self.assertEqual(self.again().one("choose").split()[0], "5")

    def test_a_bad_experiment_leaves_no_trace_in_the_store(self):
        self.refused("pipe", "--store", self.store, *self.options(),
                     "--set", "speed=3", naming="speed")
        self.assertEqual(self.table("SELECT count(*) FROM experiments"),
                         [(0,)])
        play(self.kept(), 5)

    def test_a_term_signal_ends_cleanly(self):
        pipe = self.kept()
        play(pipe, 9)
        pipe.process.send_signal(signal.SIGTERM)
        self.assertEqual(pipe.end(), (0, b"", ""))
        self.assertEqual(sorted(os.listdir(self.folder.name)),
                         ["arms.csv", "store.db", "store.db-lock"])


class Commands(StoreTest):

    def test_check_and_export_tell_what_is_there(self):
        pipe = self.kept()
        told = play(pipe, 50)
        pipe.end()
        code, out, error = run("store", "check", self.store)
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(out.decode(), "default: 74 events, 50 decisions, 29 "
                         "outstanding\nok\n")
        code, out, error = run("store", "export", self.store)
        rows = [line.split(",") for line in out.decode().splitlines()]
        self.assertEqual(rows[0], ["id", "experiment", "round", "arm",
                                   "probability", "decided", "state",
                                   "reported", "loss"])
        self.assertEqual(["%s %s" % (row[0], row[3]) for row in rows[1:]],
                         [a for a in told if a != "ok"])
        for row in rows[1:]:
            if row[6] == "observed":
                self.assertEqual(float(row[8]), loss_of(int(row[0])))
            else:
                self.assertEqual((row[6:]), ["pending", "", ""])
        code, out, error = run("store", "export", self.store, "--json")
        for line, row in zip(out.decode().splitlines(), rows[1:]):
            self.assertEqual(json.loads(line)["id"], row[0])
        self.assertEqual(run("store", "upgrade", self.store)[0], 0)

    def test_names_of_any_characters_survive_an_export(self):
        names = ["a,b", 'say "hi"', '"', " lead", "tail ", "a;b", "\u00fc'"]
        with open(self.arms, "w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_NONNUMERIC).writerows(
                [name, 1 + k, k * k] for k, name in enumerate(names))
        pipe = self.kept(policy="uniform")
        told = [pipe.one("choose").split(" ", 1)[1] for _ in range(100)]
        pipe.end()
        self.assertEqual(set(told), set(names))
        text = run("store", "export", self.store)[1].decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["arm"] for row in rows], told)
        lines = run("store", "export", self.store, "--json")[1].decode()
        self.assertEqual([json.loads(line)["arm"]
                          for line in lines.splitlines()], told)
        exported = self.folder.path("export.csv")
        with open(exported, "w") as file:
            file.write(text)
        for log in (exported, self.store):
            found = json.loads(run("examine", log, "--json", "--runs", "1",
                                   "--horizon", "10")[1])
            self.assertEqual({arm["arm"] for arm in found["arms"]}, set(names))

    def test_a_changed_row_is_named(self):
        pipe = self.kept()
        play(pipe, 50)
        pipe.end()
        for change, naming in [
                ("UPDATE choices SET arm = (arm + 1) % 3 WHERE round = 20",
                 "digest is wrong at event"),
                ("DELETE FROM choices WHERE round = 30", "no event"),
                ("UPDATE reports SET value = 0.75 WHERE item = 2 AND "
                 "kind = 'observe'", "digest is wrong at event 13"),
                ("UPDATE experiments SET seed = 1", "event 1"),
                ("DELETE FROM choices WHERE round = 50", "no event 74"),
                ("DROP VIEW outcomes", "views")]:
            copy = self.folder.path("copy.db")
            shutil.copy(self.store, copy)
            shutil.copy(self.store + "-lock", copy + "-lock")
            database = sqlite3.connect(copy)
            database.execute(change)
            database.commit()
            database.close()
            for command in ["store", "check", copy], ["pipe", "--store", copy]:
                self.refused(*command, naming=naming)

    def test_check_finds_a_snapshot_of_another_history(self):
        other = self.folder.path("other.db")
        for store, fate in (self.store, "observe %d 0.5"), (other, "cancel %d"):
            pipe = self.start(*self.options(), "--store", store)
            pipe.ask(["choose"] * 20)
            self.assertEqual(set(pipe.ask([fate % t for t in range(3, 9)])),
                             {"ok"})
            pipe.end()
            self.assertEqual(run("store", "check", store)[0], 0)
        database = sqlite3.connect(self.store)
        database.execute("ATTACH ? AS other", (other,))
        database.execute("DELETE FROM snapshots")
        database.execute("INSERT INTO snapshots SELECT * FROM other.snapshots")
        database.commit()
        database.close()
        self.refused("store", "check", self.store,
                     naming="'default': its snapshot is not what its log")


# ---- kills ------------------------------------------------------------------

class Kills(StoreTest):

    def check_answers(self, told):
        """Every choice and outcome that was answered is in the store, once."""
        decisions = dict(self.table("SELECT id, arm FROM decisions"))
        outcomes = dict(self.table("SELECT id, loss FROM outcomes"))
        for line, answer in told:
            words = line.split()
            if words[0] == "choose":
                id, arm = answer.split()
                self.assertEqual(decisions[id], arm)
            elif answer in ("ok", "late", "duplicate"):
                self.assertEqual(outcomes[words[1]], float(words[2]))
        ids = [answer.split()[0] for line, answer in told if line == "choose"]
        self.assertEqual(len(ids), len(set(ids)))

    def test_random_moments(self):
        """Batches of lines are on their way when the process is killed."""
        told, t = [], 0
        begin = time.monotonic()
        run("pipe", *self.options("linucb"), "--store", self.folder.path("first.db"),
            input=b"choose\n" * 1000)
        start = time.monotonic() - begin
        kills = 0
        while kills < KILLS or len(told) <= 100:
            self.assertLess(kills, KILLS + 20)
            kills += 1
            lines = []
            for _ in range(3000):
                t += 1
                lines.append("choose")
                lines.append("observe %d %g" % (self.random.randrange(1, t + 1),
                                                loss_of(t)))
            path = self.folder.path("lines")
            with open(path, "w") as file:
                file.write("".join(line + "\n" for line in lines))
            with open(path) as file:
                child = subprocess.Popen(
                    [TARRY, "pipe", *self.options("linucb"), "--store", self.store],
                    stdin=file, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
            time.sleep(self.random.uniform(0.5, 2) * start)
            child.kill()
            out, error = child.communicate()
            self.assertEqual(error, b"")
            answers = out.decode().split("\n")[:-1]
            told += [(line, answer) for line, answer in zip(lines, answers)
                     if not answer.startswith("error ")]
            if os.path.exists(self.store):
                t = (self.table("SELECT max(round) FROM choices")[0][0] or 0)
                self.check_answers(told)
            else:
                self.assertEqual(told, [])
            if len(told) <= 100:  # a busy machine needs longer than the first
                start *= 1.5
        self.assertEqual(run("store", "check", self.store)[0], 0)

    @unittest.skipIf(SANITIZED, "sanitizers replace malloc themselves")
    def test_before_each_write_and_flush(self):
        """Also between commit and answer.  Lines are sent again until they are
        answered; in the end all is as if nobody had been killed."""
        lines = []
        for t in range(1, 13):
            lines.append("choose --id c%d" % t)
            if t > 2:
                lines.append("observe c%d %g" % (t - 2, loss_of(t)))
        wanted = self.start(*self.options()).ask(lines)

        def answer_all(**fault):
            environment = {**os.environ, "LD_PRELOAD": FAULTS,
                           "FAULT_KILL": "1", **fault}
            got = []
            while len(got) < len(lines):
                child = subprocess.Popen(
                    [TARRY, "pipe", *self.options(), "--store", self.store],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    text=True, env=environment)
                environment = {**os.environ}
                while len(got) < len(lines):
                    try:
                        child.stdin.write(lines[len(got)] + "\n")
                        child.stdin.flush()
                    except BrokenPipeError:
                        break
                    answer = child.stdout.readline()
                    if not answer.endswith("\n"):
                        break
                    got.append(answer[:-1].replace("duplicate", "ok"))
                try:
                    child.communicate()
                except BrokenPipeError:
                    child.wait()
            return got

        def remove_store():
            for name in os.listdir(self.folder.name):
                if name.startswith("store.db"):
                    os.remove(self.folder.path(name))
        count = self.folder.path("count")
        answer_all(FAULT_COUNT=count)
        for call in ("write", "fsync"):
            n = counts_in(count)[call]
            self.assertGreater(n, len(lines))
            places = range(1, n + 1)
            if not CAMPAIGN:
                places = sorted(self.random.sample(places, 25))
            for k in places:
                remove_store()
                with self.subTest(call=call, k=k):
                    self.assertEqual(answer_all(FAULT_CALL=call,
                                                FAULT_AT=str(k)), wanted)
                    self.assertEqual(self.table(
                        "SELECT count(*) FROM decisions"), [(12,)])
                    self.assertEqual(run("store", "check", self.store)[0], 0)


# ---- full disks -------------------------------------------------------------

class FullDisk(StoreTest):

    def check_full(self, pipe, twin, fill, clear):
        """Between fill() and clear() every line that must be written is
        refused, and nothing else."""
        t = 0
        for _ in range(5):
            fill()
            before, refused = pipe.one("status"), 0
            while refused < 3:
                answer = pipe.one("choose")
                if answer.startswith("error "):
                    self.assertRegex(answer, "^error store: ")
                    refused += 1
                else:  # there was some room left
                    t += 1
                    self.assertEqual(answer, twin.one("choose"))
                    before = pipe.one("status")
            self.assertEqual(pipe.one("status"), before)
            self.assertRegex(pipe.many("pending")[-1], "^ok ")
            self.assertRegex(pipe.one("observe %d 0.5" % max(t - 1, 1)),
                             "^error store: " if t else "^error ")
            self.assertRegex(pipe.one("nonsense"), "^error not understood")
            clear()
            for _ in range(5):
                t += 1
                self.assertEqual(pipe.one("choose"), twin.one("choose"))
            line = "observe %d 0.25" % t
            self.assertEqual(pipe.one(line), twin.one(line))
        pipe.kill()
        with self.again() as pipe:
            self.assertEqual(play(pipe, 20, t + 1), play(twin, 20, t + 1))

    def test_a_limit_on_the_size_of_files(self):
        pipe, twin = self.kept(), self.start(*self.options())

        def limit(size):
            resource.prlimit(pipe.process.pid, resource.RLIMIT_FSIZE,
                             (size, resource.RLIM_INFINITY))
        pipe.one("status")  # it has started
        self.check_full(
            pipe, twin, lambda: limit(os.path.getsize(self.store + "-wal")),
            lambda: limit(resource.RLIM_INFINITY))

    def test_a_small_file_system(self):
        disk = self.folder.path("disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs",
                           disk], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("file systems cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        self.store = os.path.join(disk, "store.db")
        pipe, twin = self.kept(), self.start(*self.options())
        ballast = os.path.join(disk, "ballast")
        pipe.one("status")  # it has started

        def fill():
            with open(ballast, "wb", buffering=0) as file:
                try:
                    while file.write(b"x" * 1024):
                        pass
                except OSError:
                    pass
        self.check_full(pipe, twin, fill, lambda: os.remove(ballast))


# ---- copies -----------------------------------------------------------------

class Copies(StoreTest):
    """Of a store that is in use: what is whole passes, what is not is named."""

    def setUp(self):
        super().setUp()
        self.copy = self.folder.path("copy.db")

    def copied(self, *ends):
        for end in ("", "-wal", "-shm", "-lock"):
            if os.path.exists(self.copy + end):
                os.remove(self.copy + end)
        for end in ends:
            shutil.copyfile(self.store + end, self.copy + end)

    def says(self, *ends):
        self.copied(*ends)
        code, out, error = run("store", "check", self.copy)
        return out.decode() if code == 0 else error

    def is_refused(self, *ends):
        self.copied(*ends)
        self.refused("store", "check", self.copy,
                     naming="without " + os.path.realpath(self.copy) + "-wal")

    def backup(self):
        self.copied()
        source, target = sqlite3.connect(self.store), sqlite3.connect(self.copy)
        source.backup(target)
        source.close()
        target.close()

    def test_copy_without_log_is_refused(self):
        pipe = self.kept()
        for rounds in (1, 30):
            play(pipe, rounds)
            self.is_refused("")
            self.assertFalse(os.path.exists(self.copy + "-lock"))
        self.is_refused("")
        pipe.kill()  # its log stays
        self.is_refused("")
        pipe = self.again()
        self.is_refused("")
        pipe.one("choose")
        self.is_refused("")
        self.assertIn("32 decisions", self.says("", "-wal"))
        pipe.end()
        self.assertIn("32 decisions", self.says(""))

    def test_copy_without_log_is_refused_after_the_log_was_moved(self):
        """Its 4000 pages are moved into the file more than once."""
        pipe = self.kept()
        pipe.one("choose")
        before, moves = os.path.getsize(self.store), 0
        while moves < 2:
            pipe.one("choose 10000")
            for _ in range(10000):
                pipe.answer()
            pages = os.path.getsize(self.store)
            moves += pages > before
            before = pages
        pipe.one("choose")  # in the log, if all of the others were moved
        self.is_refused("")
        pipe.end()
        self.assertIn("decisions", self.says(""))

    def test_backup_of_sqlite_is_whole(self):
        pipe = self.kept()
        for first in (1, 101):
            play(pipe, 100, first)
            self.backup()
            for _ in range(2):
                code, out, _ = run("store", "check", self.copy)
                self.assertEqual(code, 0)
                self.assertIn(b" %d decisions" % (first + 99), out)
        self.assertEqual(pipe.one("choose").split()[0], "201")

    def test_copy_that_another_program_has_completed_is_whole(self):
        pipe = self.kept()
        play(pipe, 40)
        self.copied("", "-wal")
        other = sqlite3.connect(self.copy)  # moves the log when it closes
        self.assertEqual(other.execute("SELECT count(*) FROM choices")
                         .fetchone(), (40,))
        other.close()
        self.assertFalse(os.path.exists(self.copy + "-wal"))
        code, out, _ = run("store", "check", self.copy)
        self.assertEqual((code, b" 40 decisions" in out), (0, True))
        pipe.end()

    def test_empty_lock_file_says_that_a_copy_is_to_be_taken_as_it_is(self):
        pipe = self.kept()
        play(pipe, 40)
        self.copied("")
        open(self.copy + "-lock", "wb").close()
        for _ in range(2):
            self.assertEqual(run("store", "check", self.copy)[0], 0)
        pipe.end()

    def test_store_in_use_is_exported_and_copied(self):
        pipe = self.kept()
        for rounds in (3, 3000):
            play(pipe, rounds)
            count = pipe.status()["round"]
            code, out, _ = run("store", "export", self.store)
            self.assertEqual((code, out.count(b"\n")), (0, count + 1))
            self.copied()
            self.assertEqual(run("store", "copy", self.store, self.copy)[0], 0)
            self.assertEqual(run("store", "export", self.copy)[1], out)
            self.assertIn("%d decisions" % count,
                          run("store", "check", self.copy)[1].decode())
            self.assertEqual(pipe.one("choose").split()[0], str(count + 1))
        self.is_refused("")
        pipe.end()
        code, out, _ = run("store", "check", self.store)
        self.assertEqual((code, b" %d decisions" % (count + 1) in out),
                         (0, True))


# ---- flipped bits -----------------------------------------------------------

class Flips(StoreTest):

    def outcome(self):
        """What the store says, or that it refuses."""
        code, out, error = run("pipe", "--store", self.store,
                               input=b"status\nchoose\nobserve 3 0.5\n"
                               b"observe 5 0.125\nchoose --id c9\nstatus\n")
        if code != 0:
            self.assertEqual(out, b"")
            self.assertRegex(error, r"^tarry: [^\n]*\n$")
            return None
        return out

    def flip_all(self, ends, kept=("", "-wal", "-lock", "-shm")):
        """Flips bits of the store's files and puts them back."""
        files = {}
        for end in kept:
            if os.path.exists(self.store + end):
                with open(self.store + end, "rb") as file:
                    files[end] = file.read()

        def put(changed=None, data=None):
            for end in ("", "-wal", "-lock", "-shm"):
                if os.path.exists(self.store + end):
                    os.remove(self.store + end)
            for end, old in files.items():
                with open(self.store + end, "wb") as file:
                    file.write(data if end == changed else old)
        put()
        good = self.outcome()
        self.assertIsNotNone(good)
        refused = 0
        for i in range(FLIPS):
            end = ends[i % len(ends)]
            data = bytearray(files[end])
            at = self.random.randrange(len(data))
            data[at] ^= 1 << self.random.randrange(8)
            put(end, bytes(data))
            got = self.outcome()
            self.assertIn(got, (None, good), "byte %d of store%s" % (at, end))
            refused += got is None
        return refused

    def prepare(self):
        pipe = self.kept()
        for t in range(1, 60):
            pipe.ask(["choose --id c%d" % t, "choose",
                      "observe c%d %g" % (t, loss_of(t))])
        return pipe

    def test_in_a_store_at_rest(self):
        self.prepare().end()
        self.assertGreater(self.flip_all(["", "", "-lock"]), FLIPS // 5)

    def test_in_a_store_that_was_left_by_a_kill(self):
        self.prepare().kill()
        self.assertGreater(self.flip_all(["-wal", "-wal", "", "-lock"]),
                           FLIPS // 3)

    def test_in_a_copy_without_the_lock_file(self):
        """Where nobody knows how much was committed, nothing may be torn."""
        self.prepare().kill()
        self.assertGreater(self.flip_all(["-wal", "-wal", ""], ("", "-wal")),
                           FLIPS // 3)

    def test_a_torn_end_needs_a_lock_file(self):
        self.prepare().kill()
        os.remove(self.store + "-lock")
        with open(self.store + "-wal", "r+b") as file:
            file.seek(-2000, os.SEEK_END)  # in the last commit
            file.write(bytes(100))
        for _ in range(2):
            self.refused("pipe", "--store", self.store, naming="no " +
                         os.path.realpath(self.store) + "-lock")
            self.assertFalse(os.path.exists(self.store + "-lock"))
        with open(self.store + "-lock", "wb"):  # it was a crash
            pass
        self.assertEqual(run("store", "check", self.store)[0], 0)


if __name__ == "__main__":
    unittest.main()
