"""Certified and practical: guides, certificates and the recommended policy
through the program."""
import json
import math
import random
import unittest

from lab import SMALL, answer, run, tarry, timeless
from pipe import Folder, Pipe

TIGHT = "constants=tight,guide=lints,guide_share=1,design=regret"
GUIDED = ["phased-stochastic:" + TIGHT, "phased-adversarial:" + TIGHT,
          "phased-loss-dependent:" + TIGHT,
          "phased-mab:constants=tight,guide=lints,guide_share=1"]
ARMS = [[1, 0], [0.8, 0.6], [0.2, 0.7], [-0.5, 0.5], [0, -0.9]]
THETA = [-0.7, 0.1]


def mean(arm):
    return sum(a * t for a, t in zip(ARMS[arm], THETA))


BEST = min(map(mean, range(len(ARMS))))


class Transcript(unittest.TestCase):
    """The certificate, recounted by somebody who plays through the pipe."""

    def play(self, policy, rounds=6000, seed=0):
        """Low losses late; gives the statuses of some rounds."""
        coins, due, statuses = random.Random(seed), {}, []
        with Folder() as folder, Pipe(
                "--policy", policy, "--arms", folder.arms(ARMS), "--horizon",
                20000, "--range", "-2,2") as pipe:
            for t in range(1, rounds + 1):
                (_, arm), = pipe.choose(1)
                loss = 1 if coins.random() < (1 + mean(arm)) / 2 else -1
                late = coins.randrange(50) if loss < 0 else 0
                due.setdefault(t + late, []).append((t, loss))
                for round_, seen in due.pop(t, []):
                    pipe.one(f"observe {round_} {2 * seen}")
                if t % 500 == 0:
                    statuses.append(json.loads(pipe.one("status")))
        return statuses

    def test_bounds_hold_and_shrink(self):
        for policy in GUIDED[2:]:  # delays look at losses
            statuses = self.play(policy)
            for status in statuses:
                gap = 2 * (mean(status["exploit"]) - BEST)
                self.assertLessEqual(gap, status["certificate"] + 1e-12)
                self.assertIn(status["exploit"], status["active"])
            self.assertLess(statuses[-1]["certificate"], 2)
            self.assertLessEqual(statuses[0]["certificate"], 4)

    def test_policies_without_bounds_say_so(self):
        status = self.play("lints", rounds=500)[-1]
        self.assertIsNone(status["certificate"])

    def test_a_guided_policy_is_restored_with_its_guide(self):
        for policy in GUIDED:
            with Folder() as folder, Pipe(
                    "--policy", policy, "--arms", folder.arms(ARMS),
                    "--horizon", 20000) as pipe:
                for id_, arm in pipe.choose(1500):
                    pipe.one(f"observe {id_} {0.9 if arm else -0.9}")
                pipe.one("save " + folder.path("state"))
                with Pipe("--restore", folder.path("state")) as heir:
                    self.assertEqual(heir.one("status"), pipe.one("status"))
                    self.assertEqual(heir.choose(500), pipe.choose(500))


class Runs(unittest.TestCase):

    def test_certificates_come_with_their_coverage(self):
        for policy in GUIDED:
            result = run(*SMALL, "--policy", policy, "--delay",
                         "low-late:late=20" if "loss" in policy
                         or "mab" in policy else "exponential:mean=20")
            entry, = result["policies"]
            certificate = entry["certificate"]
            self.assertEqual(certificate["runs_held"], 1)
            self.assertEqual(certificate["points_held"], 1)
            self.assertEqual([p[0] for p in certificate["curve"]],
                             [p[0] for p in entry["curve"]])
            self.assertAlmostEqual(certificate["curve"][0][1], 2)
            for _, bound, low, high, gap in certificate["curve"]:
                self.assertLessEqual(low, bound)
                self.assertLessEqual(bound, high)
                self.assertLessEqual(gap, bound + 1e-12)
            if "mab" not in policy:
                self.assertLess(certificate["curve"][-1][1], 1)

    def test_without_a_certificate_there_is_null(self):
        for policy in ["lints", "phased-stochastic"]:
            entry, = run(*SMALL, "--policy", policy)["policies"]
            self.assertIsNone(entry["certificate"])

    def test_threads_do_not_matter(self):
        def result(threads):
            return timeless(run(*SMALL, "--policy", GUIDED[2], "--threads",
                                threads))
        self.assertEqual(result(1), result(3))

    def test_recommended_says_what_it_stands_for_and_is_that(self):
        for delay in ("exponential:mean=50", "exponential:mean=50,spread=3",
                      "hold-all:sigma=50", "hold-rarest:sigma=50",
                      "low-late:late=50"):
            one, = run(*SMALL, "--delay", delay,
                       "--policy", "recommended")["policies"]
            self.assertIn("constants=tight", one["stands_for"])
            other, = run(*SMALL, "--delay", delay,
                         "--policy", one["stands_for"])["policies"]
            self.assertNotIn("stands_for", other)
            self.assertEqual(one["regret"]["runs"], other["regret"]["runs"])
            table = tarry("run", *SMALL, "--delay", delay,
                          "--policy", "recommended").stdout
            self.assertIn("recommended is %s here." % one["stands_for"], table)
        self.assertIn("phased-loss-dependent:", one["stands_for"])
        payoff, = run(*SMALL, "--instance", "orthant:dim=4,arms=10", "--loss",
                      "bernoulli", "--delay", "payoff:D=50",
                      "--policy", "recommended")["policies"]
        self.assertIn("guide=foresight/delays=payoff", payoff["stands_for"])

    def test_a_guide_that_cannot_play_has_no_bounds(self):
        for guide, says in (("nosuch", "no policy 'nosuch'"),
                            ("lints/w=1", "lints: no setting 'w'")):
            done = tarry("bound", "--policy", "phased-mab:constants=tight,"
                         "guide=" + guide)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(says, done.stderr)

    def test_bounds_of_recommended_are_those_of_what_it_stands_for(self):
        for delay in ("exponential:mean=50", "hold-rarest:sigma=50",
                      "low-late:late=50"):
            one = answer("bound", "--delay", delay, "--policy", "recommended")
            text = tarry("bound", "--delay", delay, "--policy",
                         "recommended").stdout
            self.assertIn("\npolicy        %s\n" % one["stands_for"], text)
            other = answer("bound", "--delay", delay, "--policy",
                           one.pop("stands_for"))
            del one["policy"], other["policy"]
            self.assertEqual(one, other)


class Bounds(unittest.TestCase):

    def bound(self, policy, *more, horizon=1e8):
        return answer("bound", "--policy", policy, "--horizon", horizon, *more)

    def test_a_guide_costs_the_share_it_is_given(self):
        plain = self.bound("phased-adversarial:constants=tight")
        shares = [self.bound("phased-adversarial:constants=tight,guide=lints,"
                             f"guide_share={c}") for c in (0, 19, 99)]
        for c, b in zip((0, 19, 99), shares):
            self.assertEqual(b["upper"]["alpha"], 1 + c)
        regrets = [b["upper"]["regret"] for b in (plain, *shares)]
        self.assertEqual(sorted(regrets), regrets)
        # the regret grows like the root of the share
        self.assertLess(regrets[3] / regrets[2], math.sqrt(100 / 20) * 1.3)

    def test_tight_constants_promise_more(self):
        for policy in ("phased-stochastic", "phased-adversarial",
                       "phased-loss-dependent"):
            paper, tight = self.bound(policy), self.bound(
                policy + ":constants=tight")
            self.assertLess(tight["upper"]["regret"],
                            paper["upper"]["regret"])
            self.assertLess(tight["first_phase_rounds"],
                            paper["first_phase_rounds"] / 4)

    def test_nothing_is_promised_where_delays_look_at_losses(self):
        for settings in ("constants=tight", TIGHT):
            b = self.bound("phased-adversarial:" + settings, "--delay",
                           "low-late:late=100")
            self.assertIsNone(b["upper"]["regret"])

    def test_a_guide_needs_tight_constants(self):
        done = tarry("bound", "--policy", "phased-stochastic:guide=lints")
        self.assertEqual(done.returncode, 2)
        self.assertIn("constants=tight", done.stderr)


if __name__ == "__main__":
    unittest.main()
