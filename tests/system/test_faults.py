"""Calls that fail: the k-th allocation, open, read, write, fsync, rename or
close of a command fails, once or from then on.  Whatever happens, files are as
before or as they should be, and an error is one line.

By default some k are tried; TARRY_CAMPAIGN=1 tries all."""
import json
import os
import re
import subprocess
import unittest

from faults import ALL, ERROR, FaultTest, content, timeless
from lab import SANITIZED

WORLD = ["--instance", "sphere:dim=2,arms=4", "--horizon", "500", "--runs",
         "2", "--points", "5", "--policy", "lints", "--policy", "phased-mab",
         "--threads", "1"]


def without_seconds(text):
    return re.sub(r",[0-9.]+$", "", text, flags=re.M)


@unittest.skipIf(SANITIZED, "sanitizers replace malloc themselves")
class Faults(FaultTest):

    def attack(self, arguments, files, input="", prepare=lambda: None,
               same=timeless, after=lambda: None):
        """Runs the command with each fault; `files` are those it writes."""
        def begin():
            prepare()
            for name, text in before.items():
                if text is None and os.path.exists(name):
                    os.remove(name)
                elif text is not None:
                    with open(name, "w") as file:
                        file.write(text)
        before = {name: content(name) for name in files}
        begin()
        good = self.start(arguments, input)
        self.assertEqual(good.returncode, 0, good.stderr)
        wanted = {name: without_seconds(content(name)) for name in files}
        answer = same(good.stdout)
        tried = 0
        for fault in self.ways(arguments, input, begin):
            with self.subTest(command=arguments[0], **fault):
                begin()
                done = self.start(arguments, input, **fault)
                tried += 1
                if done.returncode == 0:
                    self.assertEqual(same(done.stdout), answer)
                    self.assertEqual(done.stderr, "")
                else:
                    self.assertRegex(done.stderr, ERROR)
                self.check_code(done, **fault)
                for name in files:
                    now = content(name)
                    new = now is not None and without_seconds(
                        now) == wanted[name]
                    self.assertTrue(new or now == before[name], name)
                    self.assertTrue(new or done.returncode != 0, name)
                    folder = os.path.dirname(name)
                    self.assertEqual(
                        [left for left in os.listdir(folder)
                         if left.startswith(".tarry")], [])
                after()
        return tried

    def log(self, delay=3, loss=0.5):
        return self.write("log.csv", "id,arm,decided,reported,loss\n" + "".join(
            "%d,%s,%d,%d,%g\n" % (i, "ab"[i % 2], i, i + delay,
                                  (-1) ** i * loss) for i in range(40)))

    def test_tables_are_written_or_not(self):
        csv, curves = self.path("runs.csv"), self.path("curves.csv")
        with open(csv, "w") as file:
            file.write("precious\n")
        tried = self.attack(["run", *WORLD, "--json", "--csv", csv, "--curves",
                             curves], [csv, curves])
        self.assertGreater(tried, 60)

    def test_instances_are_exported_or_not(self):
        folder = self.path("world")
        os.mkdir(folder)
        names = [os.path.join(folder, n)
                 for n in ("arms.csv", "theta.csv", "world.json")]
        self.attack(["run", *WORLD, "--export-instance", folder], names)

    def test_rebuilt_worlds_are_exported_or_not(self):
        folder = self.path("world")
        names = [os.path.join(folder, n)
                 for n in ("arms.csv", "theta.csv", "pairs.csv")]
        command = ["examine", self.log(5, 0.25), "--runs", "2", "--horizon",
                   "100", "--threads", "1", "--export-world", folder]
        self.assertEqual(self.start(command).returncode, 0)
        self.log()  # and another one, whose arms are the same
        self.attack(command, names)

    def test_journals_go_on_after_any_fault(self):
        journal = self.path("journal")
        command = ["run", *WORLD, "--json", "--resume", journal]
        good = timeless(self.start(["run", *WORLD, "--json"]).stdout)

        def prepare():
            if os.path.exists(journal):
                os.remove(journal)

        def after():
            done = self.start(command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(timeless(done.stdout), good)
        self.attack(command, [], prepare=prepare, after=after)

    def test_states_are_saved_or_not(self):
        arms = self.write("arms.csv", "1,0\n0,1\n0.6,0.8\n")
        state, old = self.path("state"), self.path("old")
        begin = ["pipe", "--policy", "phased-stochastic", "--arms", arms,
                 "--horizon", "1000"]
        first = "".join("choose\nobserve %d 0.5\n" % t for t in range(1, 20))
        self.assertEqual(self.start(begin, first + "save " + old +
                                    "\n").returncode, 0)
        more = "choose\nobserve 20 -0.5\nchoose\nsave %s\n" % state

        def status(path):
            done = self.start(["pipe", "--restore", path], "status\n")
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["round"]

        for fault in self.ways(["pipe", "--restore", old], more,
                               lambda: None):
            with self.subTest(**fault):
                subprocess.run(["cp", old, state], check=True)
                done = self.start(["pipe", "--restore", old], more, **fault)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                answers = done.stdout.splitlines()
                saved = len(answers) == 4 and answers[3] == "ok"
                refused = any(a.startswith("error store") for a in answers)
                chosen = 19 + sum(not a.startswith("error")
                                  for a in answers[0:3:2])
                self.assertIn(status(state), (19, chosen, 21) if not saved
                              else (19,) if refused else (chosen,))
                self.assertEqual([left for left in os.listdir(self.folder)
                                  if left.startswith(".tarry")], [])

    def test_stores_are_copied_or_not(self):
        arms = self.write("arms.csv", "1,0\n0,1\n0.6,0.8\n")
        store, copy = self.path("store.db"), self.path("copy.db")
        lines = "".join("choose\nobserve %d 0.5\n" % t for t in range(1, 20))
        self.assertEqual(self.start(["pipe", "--policy", "lints", "--arms",
                                     arms, "--horizon", "1000", "--store",
                                     store], lines).returncode, 0)
        wanted = self.start(["store", "export", store]).stdout
        command = ["store", "copy", store, copy]

        def prepare():
            for name in os.listdir(self.folder):
                if name.startswith("copy.db"):
                    os.remove(self.path(name))

        for fault in self.ways(command, "", prepare):
            if not ALL and fault["call"] in ("open", "read"):
                continue
            with self.subTest(**fault):
                prepare()
                done = self.start(command, **fault)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                if done.returncode == 0:
                    self.assertTrue(os.path.exists(copy))
                else:
                    self.assertRegex(done.stderr, ERROR)
                if os.path.exists(copy):
                    found = self.start(["store", "export", copy])
                    self.assertEqual(found.stdout, wanted, found.stderr)

    def remove_store(self, store):
        for end in ("", "-wal", "-shm", "-lock", "-new", "-new-journal"):
            if os.path.exists(store + end):
                os.remove(store + end)

    def rounds_in(self, store):
        """How many choices a sound store holds; None: there is no store."""
        if not os.path.exists(store):
            return None
        done = self.start(["store", "check", store, "--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return sum(e["decisions"] for e in json.loads(done.stdout)[
            "experiments"])

    def test_stores_keep_what_was_answered(self):
        arms = self.write("arms.csv", "1,0\n0,1\n0.6,0.8\n")
        store = self.path("s.db")
        command = ["pipe", "--policy", "phased-mab", "--arms", arms,
                   "--horizon", "1000", "--store", store]
        lines = "".join("choose\nobserve %d 0.5\n" % t for t in range(1, 6))
        for fault in self.ways(command, lines,
                               lambda: self.remove_store(store)):
            with self.subTest(**fault):
                self.remove_store(store)
                done = self.start(command, lines, **fault)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                answered = len(re.findall(r"^\d+ \d+$", done.stdout, re.M))
                self.assertLessEqual(answered, self.rounds_in(store) or 0)
                if done.returncode == 0 and "error" not in done.stdout:
                    self.assertEqual(answered, 5)

    def test_answers_of_the_pipe_are_whole_or_none(self):
        arms = self.write("arms.csv", "".join(
            "a%d,%g,%g\n" % (k, k / 40, 1 - k / 40) for k in range(40)))
        command = ["pipe", "--policy", "phased-mab", "--arms", arms,
                   "--horizon", "1000", "--json"]
        for fault in self.ways(command, "choose 40\npending\nstatus\n",
                               lambda: None):
            if fault["call"] not in ("alloc", "write"):
                continue
            with self.subTest(**fault):
                done = self.start(command, "choose 40\npending\nstatus\n",
                                  **fault)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                if done.returncode != 0:
                    self.assertRegex(done.stderr, ERROR)
                    continue
                made, waiting, status = map(json.loads,
                                            done.stdout.splitlines())
                if "error" not in waiting and "error" not in made:
                    self.assertEqual([c["id"] for c in made["choices"]],
                                     [p["id"] for p in waiting["pending"]])
                if "error" not in status:
                    self.assertEqual(len(status["active"]), 40)
                    self.assertEqual(len(status["arms"]), 40)
                    self.assertIn("certificate", status)
                    self.assertIn("dependence", status)

    def test_exports_are_whole_or_an_error(self):
        arms = self.write("arms.csv", "1,0\n0,1\n0.6,0.8\n")
        store = self.path("s.db")
        lines = "".join("choose\nobserve %d 0.5\n" % t for t in range(1, 20))
        done = self.start(["pipe", "--policy", "phased-mab", "--arms", arms,
                           "--horizon", "1000", "--store", store], lines)
        self.assertEqual(done.returncode, 0, done.stderr)
        for action in "export", "check":
            self.attack(["store", action, store], [])
            self.attack(["store", action, store, "--json"], [])
        self.assertEqual(self.rounds_in(store), 19)

    def test_figures_are_drawn_or_not(self):
        result, out = self.path("result.json"), self.path("figure.svg")
        with open(result, "w") as file:
            file.write(self.start(["run", *WORLD, "--json"]).stdout)
        with open(out, "w") as file:
            file.write("precious")
        self.attack(["plot", result, "--out", out], [out])

    def test_lists_and_designs_are_said_whole_or_not(self):
        arms = self.write("arms.csv", "a,1,0\nb,0,1\nc,0.6,0.8\n")
        for command in (["list", "--json"], ["design", arms, "--json"],
                        ["examine", self.log(), "--json", "--threads", "1"],
                        ["bound", "--json", "--horizon", "1e4"]):
            self.attack(command, [])


if __name__ == "__main__":
    unittest.main()
