"""Runs what is in examples/ as its README says."""
import os
import re
import subprocess
import unittest

from pipe import TARRY, Folder

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BUILD = os.path.abspath(os.environ.get("TARRY_BUILD", "build"))
SANITIZE = os.environ.get("TARRY_SANITIZE", "")


class Examples(unittest.TestCase):

    def output(self, *command):
        done = subprocess.run(command, cwd=ROOT, capture_output=True,
                              env=dict(os.environ, TARRY=TARRY))
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode()

    def routes_by_phase(self, text):
        """The routes still in at each phase's start, in order."""
        lines = re.findall(r"^packet +\d+  phase (\d+)  routes still in:(.*)$",
                           text, re.MULTILINE)
        self.assertEqual([int(phase) for phase, _ in lines],
                         list(range(1, len(lines) + 1)))
        return [re.findall(r"[a-z]+", rest) for _, rest in lines]

    def test_the_shell_loop_loses_the_worst_routes_first(self):
        phases = self.routes_by_phase(self.output("examples/loop.sh"))
        self.assertEqual(phases, [
            ["harbour", "hill", "orbit", "valley", "ring"],
            ["harbour", "hill", "valley", "ring"], ["harbour", "valley"]])

    def test_the_python_driver_finds_the_best_route(self):
        text = self.output("/usr/bin/python3", "examples/driver.py")
        phases = self.routes_by_phase(text)
        self.assertEqual(len(phases[0]), 5)
        self.assertEqual(phases[-1], ["harbour"])
        self.assertLess(float(re.search(r"([\d.]+)% of", text)[1]), 35)

    def compile(self, source, program):
        command = ["cc", "-std=c17", "-Wall", "-Wextra", "-Werror",
                   "-Iinclude", "examples/" + source, "-L" + BUILD,
                   "-ltarry", "-Wl,-rpath," + BUILD, "-o", program]
        if SANITIZE:
            command.append("-fsanitize=" + SANITIZE)
        self.output(*command)

    def test_own_policies_give_the_same_on_any_threads(self):
        with Folder() as folder:
            program = folder.path("own")
            self.compile("own.c", program)
            one, two = self.output(program, "1"), self.output(program, "2")
        self.assertEqual(one, two)
        regret = {line.split()[0]: float(line.split()[1])
                  for line in one.splitlines()}
        self.assertLess(regret["lints"], regret["greedy:explore=0.05"])

    def test_the_c_program_finds_the_best_route(self):
        with Folder() as folder:
            program = folder.path("embed")
            self.compile("embed.c", program)
            text = self.output(program)
        phases = self.routes_by_phase(text)
        self.assertEqual(len(phases[0]), 5)
        self.assertEqual(phases[-1], ["harbour"])
        self.assert_brackets_hold(text)

    def assert_brackets_hold(self, text):
        rates = dict(harbour=0.185, hill=0.5, orbit=0.815, valley=0.41,
                     ring=0.4955)
        found = re.findall(r"([a-z]+) \[([\d.]+), ([\d.]+)\]", text)
        self.assertGreater(len(found), 10)
        for route, lower, upper in found:
            self.assertLess(float(lower), rates[route] + 0.03)
            self.assertGreater(float(upper), rates[route] - 0.03)


if __name__ == "__main__":
    unittest.main()
