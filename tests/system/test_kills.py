"""Kills at random moments: what was kept is whole, and going on from it gives
the bytes of a job that was never killed.

20 kills by default, 500 with TARRY_CAMPAIGN=1; TARRY_SEED=n for other ones."""
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest

from lab import BRIEF, SANITIZED, TARRY, LabTest, amount, tarry

KILLS = amount(20, 20, 500)
SEED = int(os.environ.get("TARRY_SEED", 2385))
#: seconds until a command is at work
START = 0.3 if SANITIZED else 0.02


def timeless(text):
    return re.sub(r'"rounds_per_second": ?[-+.e0-9]+', "", text)


def kill_after(arguments, seconds, **more):
    """Starts the program and kills it; answers what it printed, and whether it
    was still running."""
    child = subprocess.Popen([TARRY, *arguments], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, **more)
    time.sleep(seconds)
    running = child.poll() is None
    child.send_signal(signal.SIGKILL)
    out, _ = child.communicate()
    return out, running


class Kills(LabTest):

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)

    def moment(self, longest):
        return START + self.random.random() * longest

    def test_a_job_goes_on_where_it_was(self):
        command = ["run", "--instance", "sphere:dim=3,arms=8", "--horizon",
                   "3e4" if BRIEF else "2e5", "--runs", "20", "--points",
                   "10", "--policy", "lints", "--policy", "phased-stochastic",
                   "--json"]
        journal, csv = self.path("journal"), self.path("runs.csv")
        wanted = timeless(tarry(*command).stdout)
        kills = jobs = 0
        while kills < KILLS // 2:
            _, running = kill_after([*command, "--resume", journal, "--csv",
                                     csv], self.moment(0.15))
            kills += running
            if os.path.exists(csv):  # then it was done
                with open(csv) as file:
                    self.assertEqual(len(file.readlines()), 41)
            if not running or kills % 10 == 0:
                done = tarry(*command, "--resume", journal)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(timeless(done.stdout), wanted)
                for path in (journal, csv):
                    if os.path.exists(path):
                        os.remove(path)
                jobs += 1
        self.assertGreater(jobs, 0)
        for left in os.listdir(self.folder):  # what a kill may leave behind
            self.assertTrue(left in ("journal", "runs.csv") or
                            left.startswith(".tarry-"), left)

    def test_a_state_is_the_old_or_the_new_one(self):
        arms = self.write("arms.csv", "1,0\n0,1\n0.6,0.8\n")
        state = self.path("state")
        lines = "".join("choose\nobserve %d 0.25\nsave %s\n" % (t, state)
                        for t in range(1, 3000))
        begin = ["pipe", "--policy", "lints", "--arms", arms, "--horizon",
                 "1e6"]
        script = self.write("lines", lines)
        for _ in range(KILLS // 2):
            with open(script) as input:
                out, _ = kill_after(begin, self.moment(0.1), stdin=input)
            answers = out.split("\n")
            told = sum(answers[i] == "ok" for i in range(2, len(answers) - 1,
                                                         3))
            if not os.path.exists(state):
                self.assertEqual(told, 0)
                continue
            done = tarry("pipe", "--restore", state, input="status\n")
            self.assertEqual(done.returncode, 0, done.stderr)
            saved = json.loads(done.stdout)["round"]
            self.assertGreaterEqual(saved, told)  # what was told is there
            os.remove(state)

    def test_defaults_and_corrections_are_there_once_told(self):
        arms = self.write("arms.csv", "1,0\n0,1\n0.6,0.8\n")
        store = self.path("log.db")
        begin = ["pipe", "--policy", "lints", "--arms", arms, "--horizon",
                 "1e6", "--store", store, "--default-outcome", "0.5/3r"]
        told, corrected, chosen = {}, 0, 0
        for _ in range(KILLS // 5):
            # of three choices one is reported at once, one behind its default
            # and one never
            lines = ["choose\nobserve %d %s\n" % ((t, "0.25") if t % 3 == 0
                                                  else (max(1, t - 4), "-1"))
                     if t % 3 != 1 else "choose\nstatus\n"
                     for t in range(chosen + 1, chosen + 60)]
            script = self.write("lines", "".join(lines))
            with open(script) as sent, open(script) as input:
                asked = sent.read().split("\n")
                out, _ = kill_after(begin, self.moment(0.4), stdin=input)
            for line, answer in zip(asked, out.split("\n")[:-1]):
                words = line.split()
                corrected += answer == "corrected"
                if words[0] == "choose" and not answer.startswith("error"):
                    chosen = max(chosen, int(answer.split()[0]))
                if answer in ("ok", "corrected", "duplicate"):
                    told[words[1]] = words[2]
            again = list(told.items())[-200:]
            done = tarry(*begin, input="".join("observe %s %s\n" % item
                                               for item in again) + "status\n")
            self.assertEqual(done.returncode, 0, done.stderr)
            answers = done.stdout.split("\n")[:-1]
            self.assertEqual(answers[:-1], ["duplicate"] * len(again))
            chosen = json.loads(answers[-1])["round"]
        rule = json.loads(answers[-1])["default_outcome"]
        self.assertGreaterEqual(rule["corrected"], corrected)
        self.assertGreater(rule["applied"], rule["corrected"])
        self.assertGreater(corrected, 10)
        self.assertEqual(tarry("store", "check", store).returncode, 0)


if __name__ == "__main__":
    unittest.main()
