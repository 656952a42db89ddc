"""The same bytes on every processor: digests of commands, and stores that one
kind of processor writes and another one goes on with.

Other processors are simulated by TARRY_VECTORS and by GLIBC_TUNABLES, which
keeps the C library from using FMA and AVX2.  TARRY_CAMPAIGN=1 compares all of
tools/digests and hands a store over 500 times; TARRY_SEED=n for other moments."""
import importlib.machinery
import importlib.util
import os
import random
import subprocess
import unittest

from lab import SANITIZED, TARRY, LabTest, amount
from pipe import Pipe

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools", "digests")
HANDOVERS = amount(4, 12, 500)
SEED = int(os.environ.get("TARRY_SEED", 2385))


def load_tool():
    os.environ.setdefault("TARRY_PYTHONPATH", os.path.join(
        os.environ["TARRY_BUILD"], "python"))
    loader = importlib.machinery.SourceFileLoader("digests", TOOL)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("digests", loader))
    loader.exec_module(module)
    return module


digests = load_tool()
PLAINEST = {"TARRY_VECTORS": "plain", "GLIBC_TUNABLES": digests.NO_VARIANTS}


@unittest.skipIf(SANITIZED, "takes minutes with sanitizers")
class Digests(unittest.TestCase):

    def check(self, environment):
        found = digests.digests((TARRY,), environment)
        self.assertEqual(
            digests.differences(found), [],
            "these commands answer otherwise than on other machines; "
            "tools/digests shows them, and tools/digests --write records a "
            "change that is meant")

    def test_commands_answer_as_recorded(self):
        self.check({})

    def test_the_plainest_processor_answers_as_recorded(self):
        self.check({**PLAINEST, "OMP_NUM_THREADS": "3"})

    @unittest.skipUnless(os.environ.get("TARRY_CAMPAIGN"), "long")
    def test_all_variants_and_builds_answer_as_recorded(self):
        done = subprocess.run([TOOL, "--matrix", "--builds"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


class Variables(LabTest):

    def test_unknown_width_of_vectors_is_refused(self):
        self.refused("list", says=["TARRY_VECTORS", "'wide'", "plain", "avx2",
                                   "avx512"],
                     env=dict(os.environ, TARRY_VECTORS="wide"))


class Handovers(LabTest):
    """A store is written under load, its process is killed, and a process on
    the other kind of processor goes on."""

    def hand_over(self, policy, count):
        draw = random.Random(SEED)
        arms = self.write("arms.csv", "".join(
            f"{draw.random()},{draw.random()},{draw.random()}\n"
            for _ in range(8)))
        store = self.path(policy.split(":")[0] + ".db")
        waiting, told = [], {}
        for k in range(count):
            environment = {**os.environ, **(PLAINEST if k % 2 else {})}
            pipe = Pipe("--policy", policy, "--arms", arms, "--confidence",
                        "0.9", "--store", store, env=environment)
            for name, arm in list(told.items())[-3:]:
                self.assertEqual(pipe.one(f"choose --id {name}"),
                                 f"{name} {arm}")
            lines = []
            for i in range(draw.randrange(40, 200)):
                lines.append(f"choose --id d{k}-{i}")
                waiting.append(f"d{k}-{i}")
                if draw.random() < 0.7:
                    at = draw.randrange(len(waiting))
                    lines.append(f"observe {waiting.pop(at)} "
                                 f"{draw.uniform(-1, 1)!r}")
            pipe.send("".join(line + "\n" for line in lines).encode())
            for line in lines[:draw.randrange(len(lines))]:
                answer = pipe.answer()
                if line.startswith("choose"):
                    name, arm = answer.split()
                    told[name] = arm
            pipe.kill()
            waiting = [name for name in waiting if name in told]

    def test_stores_go_on_on_another_processor(self):
        for policy in ("recommended", "phased-stochastic:constants=tight",
                       "lints"):
            self.hand_over(policy, HANDOVERS // 3 + 1)


if __name__ == "__main__":
    unittest.main()
