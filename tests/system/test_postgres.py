"""Stores in PostgreSQL: the contract of stores, owners, takeover, a server that
restarts.

A server is started, with data of its own.  5 kills by default, 100 with
TARRY_CAMPAIGN=1; TARRY_SEED=n for other moments."""
import os
import random
import signal
import subprocess
import threading
import time
import unittest

import postgres
from lab import amount
from pipe import Folder, Pipe, run

KILLS = amount(3, 5, 100)
WAIT_S = 300  # on a busy machine
SEED = int(os.environ.get("TARRY_SEED", 2385))
TESTS = os.path.join(os.environ.get("TARRY_BUILD", "build"), "tests")
ARMS = "name,x,y,z\nnorth,0.8,0.2,0\nsouth,0.1,0.6,0.3\neast,0,0.1,0.9\n"


def setUpModule():
    global server
    server = postgres.Server()
    unittest.addModuleCleanup(server.close)


def loss_of(round):
    return random.Random(round).choice([-1, -0.5, 0.25, 1])


class PostgresTest(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)
        self.arms = self.folder.path("arms.csv")
        with open(self.arms, "w") as file:
            file.write(ARMS)
        self.random = random.Random(SEED)
        self.url = server.place()

    def options(self, store):
        return ["--policy", "lints", "--arms", self.arms, "--horizon", "1e6",
                "--seed", "5", "--store", store]

    def start(self, store=None):
        pipe = Pipe(*self.options(store or self.url))
        self.addCleanup(pipe.__exit__)
        return pipe

    def refused(self, *arguments, naming, code=2):
        done = run(*arguments, input=b"choose\n")
        self.assertEqual(done[:2], (code, b""))
        self.assertRegex(done[2], r"^tarry: [^\n]*\n$")
        self.assertIn(naming, done[2])
        return done[2]


class Contract(PostgresTest):
    def test_the_unit_tests_of_stores_pass(self):
        begin = "unit"
        for k in range(1, 8):
            server.place("%s%d" % (begin, k))
        for k in range(1, 10):
            server.place("%so%d" % (begin, k))
        for k in range(1, 3):
            server.place("%sf%d" % (begin, k))
        for test in ("store", "owners", "faults"):
            done = subprocess.run(
                [os.path.join(TESTS, "test.store." + test)],
                env={**os.environ, "TARRY_POSTGRES": server.url(begin)},
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("SKIPPED", done.stdout + done.stderr)

    def test_both_kinds_answer_alike(self):
        lines = ["choose", "choose --id mine", "observe mine 0.25",
                 "observe mine 0.25", "observe mine 1", "choose --id mine",
                 "cancel 1", "observe 1 1", "admit new 0.1 0.2 0.3",
                 "withdraw north", "observe 9 1", "choose --id mine 3",
                 "expire mine", "choose --id zero", "observe zero -0.0",
                 "observe zero 0", "admit flat -0.0 0.2 0.3", "choose",
                 "status"]
        text = "".join(line + "\n" for line in lines).encode()
        results = []
        for store in (self.url, self.folder.path("s.db")):
            done = run("pipe", *self.options(store), input=text)
            self.assertEqual(done[0], 0, done[2])
            results.append(done[1])
            done = run("store", "check", store)
            self.assertEqual(done[0], 0, done[2])
            done = run("store", "export", store)
            row = [line for line in done[1].split(b"\n")
                   if line.startswith(b"zero,")]
            self.assertRegex(row[0], rb",observed,[^,]*,0(\.0)?$")
        self.assertEqual(*results)

    def test_tables_can_be_read_by_sql(self):
        with self.start() as pipe:
            pipe.ask(["choose", "choose --id mine", "observe mine 0.25",
                      "choose", "cancel 3", "choose", "expire 4", "choose"])
        self.assertEqual(
            server.sql("SELECT id, experiment, round, state, decided_at IS "
                       "NOT NULL FROM decisions ORDER BY round", self.url),
            [["1", "default", "1", "pending", "t"],
             ["mine", "default", "2", "observed", "t"],
             ["3", "default", "3", "cancelled", "t"],
             ["4", "default", "4", "expired", "t"],
             ["5", "default", "5", "pending", "t"]])
        self.assertEqual(server.sql("SELECT id, loss FROM outcomes",
                                    self.url), [["mine", "0.25"]])
        self.assertEqual(
            server.sql("SELECT name FROM arms ORDER BY number", self.url),
            [["north"], ["south"], ["east"]])
        self.assertEqual(server.sql("SELECT count(*) FROM choices",
                                    self.url), [["5"]])

    def test_a_changed_row_is_named(self):
        with self.start() as pipe:
            pipe.ask(["choose"] * 20)
        for change, back, naming in [
                ("UPDATE experiments SET objective = 'maximise'",
                 "UPDATE experiments SET objective = 'minimize'", "settings"),
                ("UPDATE experiments SET beyond_horizon = 2",
                 "UPDATE experiments SET beyond_horizon = 0", "settings"),
                ("UPDATE experiments SET number = 2",
                 "UPDATE experiments SET number = 1", "settings"),
                ("UPDATE experiments SET dim = 2000000",
                 "UPDATE experiments SET dim = 3", "settings"),
                ("UPDATE experiments SET dim = 2",
                 "UPDATE experiments SET dim = 3", "event 1"),
                ("UPDATE owners SET experiment = 2",
                 "UPDATE owners SET experiment = 1", "no row in owners"),
                ("UPDATE owners SET sum = sum + 1",
                 "UPDATE owners SET sum = sum - 1", "event 23"),
                ("UPDATE owners SET events = 24",
                 "UPDATE owners SET events = 23", "event 24"),
                ("UPDATE events SET kind = 'shoes' WHERE seq = 9",
                 "UPDATE events SET kind = 'choose' WHERE seq = 9", "event"),
                ("UPDATE store SET version = 9", "UPDATE store SET version = 1",
                 "version 9"),
                ("CREATE TABLE kept AS SELECT * FROM store; DELETE FROM store",
                 "INSERT INTO store SELECT * FROM kept; DROP TABLE kept",
                 "not a store"),
                ("UPDATE events SET value = 0.5 WHERE seq = 9",
                 "UPDATE events SET value = 1 WHERE seq = 9", "event 9"),
                ("UPDATE owners SET events = 22", "UPDATE owners SET "
                 "events = 23", "event 23"),
                ("UPDATE experiments SET seed = 6",
                 "UPDATE experiments SET seed = 5", "event 1")]:
            rows = server.sql("SELECT * FROM events ORDER BY seq", self.url)
            if "value =" in change:  # whatever it was
                back = "UPDATE events SET value = %s WHERE seq = 9" % rows[8][5]
            server.sql(change, self.url)
            self.refused("store", "check", self.url, naming=naming)
            server.sql(back, self.url)
        self.assertEqual(run("store", "check", self.url)[0], 0)
        server.sql("DELETE FROM events WHERE seq = 12", self.url)
        self.refused("store", "check", self.url, naming="event 12")

    def test_a_changed_snapshot_is_named(self):
        with self.start() as pipe:
            pipe.ask(["choose"] * 20)
        other = server.place()
        for rows in ("(1, 5, 0, 'state', 1)", "(1, 5, 1, 'state', 1)"):
            server.sql("DELETE FROM snapshots; INSERT INTO snapshots VALUES"
                       + rows, self.url)
            self.refused("store", "copy", self.url, other, naming="snapshot")
            server.sql("DROP SCHEMA %s CASCADE; CREATE SCHEMA %s"
                       % (2 * (other.rsplit("%3D", 1)[1],)))
        self.refused("pipe", *self.options(self.url), naming="snapshot")
        server.sql("DELETE FROM snapshots", self.url)
        with self.start() as pipe:  # all of the log is replayed instead
            self.assertTrue(pipe.one("choose").startswith("21 "))

    def test_another_encoding_is_refused(self):
        server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        self.refused("store", "check",
                     server.url().replace("/postgres", "/latin"),
                     naming="LATIN1")

    def test_what_cannot_be_opened_is_named_without_its_password(self):
        for url, naming in [
                (server.url().replace("/postgres", "/nowhere"), "nowhere"),
                (server.url(), "no store"),
                (server.url() + "?nonsense=1", "not a URL"),
                ("postgresql://127.0.0.1:1/x", "refused")]:
            url = url.replace("tarry@", "tarry:geheim@")
            told = self.refused("store", "check", url, naming=naming)
            self.assertNotIn("geheim", told)

    def test_a_role_with_few_rights_will_do(self):
        with self.start() as pipe:
            pipe.ask(["choose"])
        schema = self.url.rsplit("%3D", 1)[1]
        server.sql("CREATE ROLE worker LOGIN; GRANT USAGE ON SCHEMA " + schema
                   + " TO worker; GRANT SELECT ON ALL TABLES IN SCHEMA " +
                   schema + " TO worker; GRANT INSERT ON experiments, "
                   "events, owners, snapshots TO worker; GRANT UPDATE ON "
                   "owners, store TO worker; GRANT DELETE ON snapshots TO "
                   "worker", self.url)
        with self.start(self.url.replace("tarry@", "worker@")) as pipe:
            self.assertTrue(pipe.one("choose").startswith("2 "))
        self.assertEqual(run("store", "check", self.url)[0], 0)


    def test_settings_of_others_do_not_weaken_a_commit(self):
        """Roles and databases have settings of their own, which hold for
        every connection; each commit tells which ones it was made with."""
        with self.start() as pipe:
            pipe.ask(["choose"])
        names = ("synchronous_commit", "transaction_read_only",
                 "transaction_isolation", "statement_timeout", "lock_timeout")
        server.sql(
            "CREATE TABLE noted(name text, value text); CREATE FUNCTION note()"
            " RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO noted "
            "SELECT name, setting FROM pg_settings WHERE name = ANY (TG_ARGV);"
            " RETURN NULL; END'; CREATE TRIGGER noting AFTER INSERT ON events "
            "EXECUTE FUNCTION note(%s)"
            % ", ".join("'%s'" % name for name in names), self.url)
        for given, kept in [("off", "on"), ("on", "on"), ("local", "local"),
                            ("remote_apply", "remote_apply")]:
            url = self.url + "".join(
                "%20-c" + pair.replace("=", "%3D") for pair in (
                    "synchronous_commit=" + given, "statement_timeout=30000",
                    "default_transaction_read_only=on", "lock_timeout=1000",
                    "default_transaction_isolation=serializable"))
            server.sql("DELETE FROM noted", self.url)
            with self.start(url) as pipe:
                self.assertNotIn("error", pipe.one("choose"))
            noted = server.sql("SELECT DISTINCT * FROM noted", self.url)
            self.assertEqual(sorted(noted), sorted(
                [name, value] for name, value in
                zip(names, (kept, "off", "read committed", "0", "5000"))))


class Copies(PostgresTest):
    def export(self, store):
        code, text, error = run("store", "export", store)
        self.assertEqual(code, 0, error)
        return text

    def test_a_store_goes_there_and_back(self):
        first = self.folder.path("first.db")
        with self.start(first) as pipe:
            pipe.ask(["choose"] * 1500 + ["choose --id mine", "cancel 3",
                                          "expire 4", "observe mine 0.25",
                                          "admit new 0.1 0.2 0.3"])
        other, back = server.place(), self.folder.path("back.db")
        for a, b in [(first, self.url), (self.url, other), (other, back)]:
            code, text, error = run("store", "copy", a, b)
            self.assertEqual((code, text), (
                0, b"ok: 1 experiments, 1508 events\n"), error)
            self.assertEqual(self.export(b), self.export(first))
            self.refused("store", "copy", a, b, naming="is not empty")
        self.assertEqual(sorted(os.listdir(self.folder.name)), [
            "arms.csv", "back.db", "back.db-lock", "first.db",
            "first.db-lock"])
        answers = []
        for store in (first, self.url, back):
            with self.start(store) as pipe:
                answers.append(pipe.ask(["choose"] * 20))
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])

    def test_a_store_in_use_is_not_copied(self):
        pipe = self.start()
        pipe.one("choose")
        copy = self.folder.path("copy.db")
        self.refused("store", "copy", self.url, copy, code=1,
                     naming="process %d" % pipe.process.pid)
        self.assertEqual(os.listdir(self.folder.name), ["arms.csv"])

    def test_half_a_copy_cannot_be_opened(self):
        with self.start() as pipe:
            pipe.one("choose")
        server.sql("UPDATE store SET state = 'copying'", self.url)
        self.refused("store", "check", self.url, naming="not been finished")


class Owners(PostgresTest):
    def test_a_second_process_is_refused_until_the_first_ends(self):
        first = self.start()
        first.one("choose")
        self.refused("pipe", *self.options(self.url), code=1,
                     naming="process %d" % first.process.pid)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        start = time.monotonic()
        while run("pipe", *self.options(self.url), input=b"choose\n")[0] != 0:
            self.assertLess(time.monotonic() - start, WAIT_S)

    def take_over(self):
        """A pipe, as soon as the server has seen the end of the one before."""
        end = time.monotonic() + WAIT_S
        while True:
            pipe = self.start()
            try:
                self.assertEqual(pipe.one("status")[0], "{")
                return pipe
            except (AssertionError, BrokenPipeError) as e:
                self.assertLess(time.monotonic(), end, str(e))
                pipe.__exit__()

    def test_kills_lose_nothing_and_choices_go_on_as_if_nothing_had_been(self):
        told = {}
        for _ in range(KILLS):
            pipe = self.take_over()
            timer = threading.Timer(0.05 + 0.3 * self.random.random(),
                                    pipe.process.kill)
            try:
                while True:
                    round, arm = pipe.one("choose").split()
                    self.assertNotIn(int(round), told)  # no id twice
                    told[int(round)] = arm
                    if timer.ident is None:
                        timer.start()
                    self.assertEqual(pipe.one("observe %s %g" % (
                        round, loss_of(int(round)))), "ok")
            except (AssertionError, BrokenPipeError) as e:
                if not isinstance(e, BrokenPipeError):
                    self.assertIn("no answer", str(e))
            timer.join()
            pipe.process.wait()
        time.sleep(0.2)
        rows = server.sql("SELECT round, arm, state, loss FROM decisions LEFT "
                          "JOIN outcomes USING (id, round) ORDER BY round",
                          self.url)
        kept = {int(r[0]): r for r in rows}
        self.assertGreaterEqual(len(told), KILLS)
        for round, arm in told.items():
            self.assertEqual(kept[round][1], arm)
        twin = self.start(self.folder.path("twin.db"))
        for round in range(1, len(kept) + 1):
            self.assertEqual(twin.one("choose"), "%d %s" % (round,
                                                            kept[round][1]))
            if kept[round][2] == "observed":
                self.assertEqual(float(kept[round][3]), loss_of(round))
                twin.one("observe %d %g" % (round, loss_of(round)))
        self.assertEqual(run("store", "check", self.url)[0], 0)

    def test_a_server_that_restarts_is_waited_for(self):
        pipe = self.start()
        told = dict([pipe.one("choose").split()])  # it is there by now
        stop, errors = threading.Event(), []

        def talk():
            while not stop.is_set():
                answer = pipe.one("choose")
                if answer.startswith("error "):
                    errors.append(answer)
                    time.sleep(0.05)
                    continue
                round, arm = answer.split()
                self.assertNotIn(round, told)
                told[round] = arm

        thread = threading.Thread(target=talk)
        thread.start()
        try:
            for k in range(amount(2, 2, 6)):
                time.sleep(0.3)
                server.stop(immediate=k % 2 == 1)
                server.start()
            count = len(told)
            time.sleep(0.5)
        finally:
            stop.set()
            thread.join()
        self.assertGreater(len(told), count)  # it went on
        pipe.one("status")
        pipe.__exit__()
        kept = dict(server.sql("SELECT id, arm FROM decisions", self.url))
        for id, arm in told.items():
            self.assertEqual(kept[id], arm)
        self.assertLessEqual(len(kept), len(told) + len(errors))
        self.assertEqual(run("store", "check", self.url)[0], 0)


if __name__ == "__main__":
    unittest.main()
