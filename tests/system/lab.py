"""Running the program from tests: what those of the laboratory share."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

TARRY = os.environ["TARRY"]
SANITIZED = bool(os.environ.get("TARRY_SANITIZE"))
BRIEF = os.environ.get("TARRY_BRIEF") == "1"  # see tests/check.h
CAMPAIGN = bool(os.environ.get("TARRY_CAMPAIGN"))


def amount(brief, usual, all):
    """How much a test does: that of tests/check.h."""
    return all if CAMPAIGN else brief if BRIEF else usual


SMALL = ["--instance", "sphere:dim=3,arms=6", "--horizon", "2e4",
         "--runs", "5", "--points", "20"]


def tarry(*arguments, program=(TARRY,), **more):
    return subprocess.run([*program, *map(str, arguments)],
                          capture_output=True, text=True, **more)


def answer(*arguments, **more):
    """The JSON that a command prints; it must succeed in silence.  What MPI
    itself says on stderr is its own affair."""
    done = tarry(*arguments, "--json", **more)
    said = done.stderr if "program" not in more else "".join(
        line for line in done.stderr.splitlines() if "tarry:" in line)
    if done.returncode != 0 or said != "":
        raise AssertionError(f"{arguments}: exit {done.returncode}, "
                             f"{done.stderr}")
    return json.loads(done.stdout)


def run(*arguments, **more):
    return answer("run", *arguments, **more)


def timeless(result):
    """A result without what depends on the clock."""
    for policy in result["policies"]:
        del policy["rounds_per_second"]
    return result


class LabTest(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def refused(self, *arguments, says=(), code=2, **more):
        """One line on stderr with all of `says`, nothing on stdout."""
        done = tarry(*arguments, **more)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        self.assertEqual(done.stdout, "", arguments)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tarry: "), done.stderr)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        return done.stderr
