"""`tarry paper`: the same results for any workers, pages, resuming, bad input."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from browser import Browser
from lab import BRIEF, SANITIZED, TARRY, LabTest, answer, tarry

MPI = os.path.join(os.environ["TARRY_BUILD"], "tarry-mpi")
FAST = "stochastic-by-arm,design"
ROWS = {"stochastic", "adversarial", "stochastic-by-arm", "adversarial-by-arm",
        "loss-dependent", "payoff", "lower-loss", "trade-off", "growth",
        "bounds", "algorithms", "estimates", "best-kept", "design",
        "adversarial-losses"}


def timeless(results):
    del results["seconds"]
    return results


class Paper(LabTest):
    @classmethod
    def setUpClass(cls):
        """One page for all tests that only look at it."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.page = os.path.join(folder.name, "page")
        cls.results = timeless(answer("paper", "--rows", FAST, "--threads", 1,
                                      "--out", cls.page))

    def make(self, *arguments, name="page", **more):
        return timeless(answer("paper", "--out", self.path(name), *arguments,
                               **more))

    def test_results_do_not_depend_on_workers(self):
        self.assertEqual(self.make("--rows", FAST, "--threads", 3),
                         self.results)
        if not SANITIZED and os.path.exists(MPI):
            ranks = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n",
                     "2", MPI]
            self.assertEqual(self.make("--rows", FAST, program=ranks),
                             self.results)
        for page in (self.page, self.path("page")):
            with open(os.path.join(page, "results.json")) as file:
                self.assertEqual(timeless(json.load(file)), self.results)
            self.assertEqual(sorted(os.listdir(page)),
                             ["figures", "index.html", "results.json"])

    def test_rows_are_as_the_contract_says(self):
        results = self.results
        self.assertEqual(results["config"]["scale"], "quick")
        self.assertEqual([row["id"] for row in results["rows"]],
                         ["stochastic-by-arm", "design"])
        for row in results["rows"]:
            for key in ("claim", "theory", "measured", "ci95", "data"):
                self.assertIn(key, row)
            verdicts = [c["verdict"] for c in row["checks"] if c["verdict"]]
            worst = max(verdicts, key=["supported", "unresolved",
                                       "contradicted"].index)
            self.assertEqual(row["verdict"], worst)
            self.assertEqual(row["verdict"], "supported")
        by_arm = results["rows"][0]
        self.assertEqual(by_arm["theory"], 1)
        self.assertLess(abs(by_arm["measured"] - 1), 0.1)
        self.assertEqual(len(by_arm["data"]), 26)

    @unittest.skipIf(BRIEF, "it is about numbers")
    def test_another_seed_is_another_experiment(self):
        first = self.results["rows"][0]
        other = self.make("--rows", "stochastic-by-arm", "--seed", 8)["rows"][0]
        self.assertNotEqual(first["measured"], other["measured"])
        self.assertEqual(first["verdict"], other["verdict"])

    @unittest.skipIf(BRIEF, "it is about numbers")
    def test_a_row_can_be_made_again_alone(self):
        """The command beside a figure gives that figure."""
        both = self.results
        command = both["rows"][0]["figures"][0]["command"].split()
        self.assertEqual(command[:2] + command[-2:],
                         ["tarry", "paper", "--out", "DIR"])
        alone = self.make(*command[2:-2], name="alone")
        self.assertEqual(alone["rows"][0], both["rows"][0])

    def test_the_terminal_shows_the_table(self):
        done = tarry("paper", "--rows", FAST, "--out", self.path("page"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Stochastic delays, a law per arm", done.stdout)
        self.assertEqual(done.stdout.count("supported"), 2)
        self.assertTrue(done.stdout.rstrip().endswith("page/index.html"))

    def test_the_page_opens(self):
        with Browser() as browser:
            browser.open("file://" + os.path.join(self.page, "index.html"))
            self.assertEqual(browser.complaints(), [])
            shown = browser.ask("document.querySelectorAll('figure svg').length")
        self.assertEqual(shown, sum(len(row["figures"])
                                    for row in self.results["rows"]))

    def test_an_interrupted_job_goes_on(self):
        """Stopped in the middle, the same command needs only the rest."""
        arguments = ("--rows", "algorithms,design", "--threads", "1")
        process = subprocess.Popen(
            [TARRY, "paper", "--out", self.path("page"), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        journal = self.path("page/trials.jsonl")
        while not os.path.exists(journal) or \
                sum(1 for _ in open(journal)) < 12:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (1, ""))
        self.assertEqual(err.count("\n"), 1)
        self.assertIn("interrupted", err)
        self.assertEqual(os.listdir(self.path("page")), ["trials.jsonl"])
        with open(journal, "a") as file:
            file.write('{"trial": 3, "outc')  # as after a crash
        if not SANITIZED:  # a whole row takes its time there
            self.assertEqual(self.make(*arguments),
                             self.make(*arguments, name="whole"))
            self.assertFalse(os.path.exists(journal))

    def test_bad_input_is_refused(self):
        out = self.path("page")
        for arguments, says in (
                ((), "--out"),
                (("--out", ""), "--out"),
                (("--out", out, "--rows", "no-such"), "no-such"),
                (("--out", out, "--rows", ""), "--rows"),
                (("--out", out, "--rows", "design,,growth"), "--rows"),
                (("--out", out, "--rows", "design,design"), "design"),
                (("--out", out, "--quick", "--full"), "--full"),
                (("--out", out, "--seed", "x"), "x"),
                (("--out", out, "--threads", "5000"), "5000"),
                (("--out", "/no/such/dir/page", "--rows", "design"),
                 "/no/such/dir/page"),
                (("--out", "/dev/null", "--rows", "design"), "/dev/null"),
                (("--out", out, "stray"), "stray")):
            self.refused("paper", *arguments, says=(says,))
        self.assertFalse(os.path.exists(out))

    def test_without_gnuplot_nothing_is_begun(self):
        self.refused("paper", "--rows", "design", "--out", self.path("page"),
                     says=("gnuplot",), code=1, env={**os.environ,
                                                     "PATH": self.folder})
        self.assertFalse(os.path.exists(self.path("page")))

    def test_help_names_every_row(self):
        done = tarry("paper", "--help")
        self.assertEqual(done.returncode, 0)
        words = done.stdout.replace(",", " ").replace("\n", " ").split()
        self.assertEqual(ROWS - set(words), set())


if __name__ == "__main__":
    unittest.main()
