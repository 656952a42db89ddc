"""Odd worlds and odd arms: every policy runs there, or says why it cannot."""
import json
import math
import random
import unittest

from pipe import Folder, Pipe, run

LISTED = [p["name"] for p in
          json.loads(run("list", "--json")[1])["policies"]
          if p["name"] != "oracle"]
ALL = [name for name in LISTED if name != "recommended"]  # in --policy all

THETA = [[0.5, 0.1, -0.2, 0.1]]
FLAT = [[0.1 * i, 0, 0.05 * (i % 3), 0] for i in range(-4, 5)]
ARMS = {
    "one": [[0.3, -0.2, 0.1, 0.5]],
    "all alike": [[0.3, -0.2, 0.1, 0.5]] * 6,
    "duplicates": [[0.3, -0.2, 0.1, 0.5]] * 3 + [[-0.1, 0.2, 0.1, 0]] * 3,
    "nearly alike": [[0.3 + i * 1e-13, 0.1, 0.2, 0.1] for i in range(8)],
    "in a plane": FLAT,
    "on a line": [[x, 2 * x, -x, 0] for x in (0.1, -0.2, 0.3, 0.01)],
    "zero": [[0, 0, 0, 0]] * 3,
    "zero and one": [[0, 0, 0, 0], [0.3, 0.1, 0, 0.2]],
    "tiny": [[1e-160 * x for x in row] for row in FLAT],
    "wide apart": [[0.5, 0, 0, 0], [0, 1e-9, 0, 0], [0, 0, 1e-90, 0]],
}

WORLDS = [
    ["--instance", "basis:arms=1"],
    ["--instance", "sphere:dim=1,arms=1"],
    ["--instance", "sphere:dim=1,arms=30"],
    ["--instance", "sphere:dim=60,arms=7"],
    ["--instance", "sphere:scale=0", "--loss", "none"],
    ["--instance", "optimism", "--delay", "none"],
    ["--instance", "cube:dim=6,arms=0", "--delay", "hold-all:sigma=1"],
    ["--delay", "hold-newest:sigma=1e6"],
    ["--delay", "constant:rounds=1e14"],
    ["--delay", "constant:never=1"],
    ["--delay", "pareto:shape=0.1,scale=10"],
    ["--delay", "poisson:mean=1e6,spread=100"],
    ["--instance", "orthant:dim=3,arms=9", "--loss", "uniform:low=0",
     "--delay", "payoff:D=1e7"],
    ["--instance", "orthant:dim=3,arms=2", "--loss", "none", "--delay",
     "payoff:D=7"],
    ["--instance", "basis:arms=10,best=0.05,gap=0.9", "--loss", "bernoulli",
     "--delay", "payoff:D=100"],
    ["--instance", "sphere:dim=3,arms=2e4", "--horizon", "50"],
    ["--horizon", "2"],
]


class OddTest(unittest.TestCase):

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)

    def arms(self, name):
        return self.folder.arms(ARMS[name], "arms.csv")


class Simulated(OddTest):

    def played(self, *options):
        """All policies have a finite regret, and none is missing."""
        with self.subTest(options=options):
            code, out, error = run("run", "--policy", "all", "--runs", 2,
                                   "--horizon", 400, "--json", *options)
            self.assertEqual((code, error), (0, ""))
            policies = json.loads(out)["policies"]
            self.assertEqual([p["name"] for p in policies], ALL)
            for p in policies:
                self.assertNotIn("error", p)
                for regret in p["regret"]["runs"]:
                    self.assertTrue(math.isfinite(regret) and regret >= 0)

    def test_every_policy_plays_in_odd_worlds(self):
        for world in WORLDS:
            self.played(*world)

    def test_every_policy_plays_with_odd_arms(self):
        theta = self.folder.arms(THETA, "theta.csv")
        for name in ARMS:
            self.played("--instance",
                        "file:arms=%s,theta=%s" % (self.arms(name), theta))

    def test_a_horizon_of_one_round_is_refused(self):
        code, out, error = run("run", "--policy", "all", "--horizon", 1)
        self.assertEqual((code, out), (2, b""))
        self.assertRegex(error, r"^tarry: --horizon: [^\n]*'1'\n$")


class Piped(OddTest):

    def talk(self, pipe, twin, rounds, rng):
        """Both hear the same; a third of the losses never comes."""
        for _ in range(rounds):
            answer = pipe.one("choose")
            self.assertEqual(answer, twin.one("choose"))
            id = int(answer.split()[0]) - rng.randrange(20)
            if id > 0 and rng.random() < 0.66:
                line = "observe %d %r" % (id, rng.uniform(3, 7))
                # a state does not have the losses reported before it, which
                # errors tell
                self.assertEqual(pipe.one(line).split()[0],
                                 twin.one(line).split()[0])

    def check(self, policy, arms):
        options = ["--policy", policy, "--arms", arms, "--horizon", 400,
                   "--range", "3,7", "--maximize", "--seed", 5]
        state, rng = self.folder.path("state"), random.Random(2385)
        with Pipe(*options) as pipe, Pipe(*options) as twin:
            self.talk(pipe, twin, 60, rng)
            self.assertEqual(pipe.one("save " + state), "ok")
            with Pipe(*options, "--restore", state) as heir:
                self.talk(heir, twin, 60, rng)
                self.assertEqual(heir.one("status"), twin.one("status"))

    def test_every_policy_talks_in_any_range_and_can_be_restored(self):
        for name in ("one", "duplicates", "in a plane"):
            for policy in LISTED:
                with self.subTest(arms=name, policy=policy):
                    self.check(policy, self.arms(name))

    def test_late_losses_stay_ignored_after_a_restore(self):
        for policy in ("otf-linucb", "otf-lints"):
            self.check(policy + ":window=3,late=ignore",
                       self.arms("in a plane"))


if __name__ == "__main__":
    unittest.main()
