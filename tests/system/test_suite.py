"""tools/suite, what `make test` runs: it goes on after failures and names all
of them.  Programs of the test's own stand for cmake and ctest."""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
REPORT = """<testsuite>
<testcase name="base.json" time="0.5" status="run"/>
<testcase name="system.rough" time="7" status="%s"/>
<testcase name="store.power" time="3" status="%s"/></testsuite>"""


class Suite(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("tools", "build", "build-sanitize", "bin"):
            os.mkdir(os.path.join(self.folder, name))
        shutil.copy(os.path.join(ROOT, "tools", "suite"),
                    os.path.join(self.folder, "tools"))
        self.program("bin/cmake", "exit 0")
        self.program("tools/check", "exit 0")
        self.results(release=("run", "run"), sanitize=("run", "run"))

    def program(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write('#!/bin/sh\ncd %s\necho "%s $*" >>calls\n%s\n'
                       % (self.folder, name, text))
        os.chmod(path, 0o755)

    def results(self, **presets):
        """What ctest is to report, by preset."""
        for preset, statuses in presets.items():
            with open(os.path.join(self.folder, preset), "w") as file:
                file.write(REPORT % statuses)
        self.program("bin/ctest", 'for last; do :; done; cp "$2" "$last"; '
                                  '! grep -q fail "$2"')

    def command(self, *words):
        return {"args": ["python3", os.path.join(self.folder, "tools/suite"),
                         *words], "text": True, "stdout": subprocess.PIPE,
                "env": {**os.environ, "PATH": self.folder + "/bin:" +
                        os.environ["PATH"]}}

    def run_suite(self, *words):
        """Exit code, what it printed last, and the programs called."""
        done = subprocess.run(**self.command(*words))
        with open(os.path.join(self.folder, "calls")) as file:
            calls = file.read().splitlines()
        end = done.stdout[done.stdout.rindex("== "):].splitlines()
        return done.returncode, end, calls

    def test_a_suite_without_failures_succeeds(self):
        code, end, calls = self.run_suite("--check", "-DX=1")
        self.assertEqual(code, 0)
        self.assertRegex(end[0], "^== 0 failures, after ")
        self.assertEqual([call.split()[0] for call in calls], [
            "tools/check"] + 2 * ["bin/cmake", "bin/cmake", "bin/ctest"])
        self.assertIn("-DX=1", calls[1])

    def test_every_failure_is_named_with_the_command_that_repeats_it(self):
        self.results(release=("fail", "run"), sanitize=("fail", "notrun"))
        code, end, _ = self.run_suite()
        self.assertEqual(code, 1)
        self.assertRegex(end[0], "^== 3 failures, after ")
        self.assertEqual(end[1:], [
            "failed: system.rough, release",
            r"    ctest --preset release -R '^system\.rough$'",
            "failed: system.rough, sanitize",
            r"    ctest --preset sanitize -R '^system\.rough$'",
            "failed: store.power, sanitize",
            r"    ctest --preset sanitize -R '^store\.power$'"])

    def test_a_failed_build_does_not_keep_the_other_pass_from_running(self):
        self.program("bin/cmake", 'test "$*" != "--build --preset release"')
        code, end, calls = self.run_suite()
        self.assertEqual(code, 1)
        self.assertEqual(end[1:], ["failed: build release",
                                   "    cmake --build --preset release"])
        self.assertEqual([call.split()[2] for call in calls
                          if call.startswith("bin/ctest")], ["sanitize"])

    def test_quick_runs_one_pass_of_some_tests(self):
        code, _, calls = self.run_suite("--quick")
        self.assertEqual(code, 0)
        self.assertIn("--target quick", calls[1])
        self.assertEqual(len(calls), 3)
        self.assertIn("-L ^quick$", calls[2])

    def test_a_suite_that_is_stopped_names_the_step_and_its_failures(self):
        self.results(release=("fail", "run"))
        self.program("tools/check", "exit 3")
        self.program("bin/cmake", 'case "$*" in *sanitize*) sleep 600;; esac')
        with subprocess.Popen(**self.command("--check")) as suite:
            for line in suite.stdout:
                if line.startswith("== configure sanitize"):
                    break
            suite.send_signal(signal.SIGTERM)
            end = suite.stdout.read()
        self.assertEqual(suite.returncode, 1)
        self.assertIn("stopped by SIGTERM in: configure sanitize", end)
        self.assertIn("failed: system.rough, release", end)
        self.assertIn("failed: format and clang-tidy\n    tools/check", end)


if __name__ == "__main__":
    unittest.main()
