"""Plays every policy through `tarry pipe` in small worlds and recomputes, from
the algorithms' definitions, when phases end, what they plan and whom they cut.

The reference below takes one thing from the program: the arms and weights of
each phase's design, of which it checks the promise (every weight at least
1/(2 support), g <= 4r, small support) and not the way they were found."""
import math
import unittest

import numpy as np

from lab import amount
from pipe import POLICIES, Folder, Pipe


# ---- what must happen -------------------------------------------------------

def rank_of(rows):
    return np.linalg.matrix_rank(rows, tol=1e-9 * max(1, np.abs(rows).max()))


def inverse_information(rows, counts):
    """V^+ for V = sum of counts b b', by the rank of the rows."""
    values, vectors = np.linalg.eigh((rows.T * counts) @ rows)
    r = rank_of(rows)
    if r == 0:
        return np.zeros((rows.shape[1],) * 2)
    kept = vectors[:, -r:]
    return kept / values[-r:] @ kept.T


class Reference:
    """The four algorithms, one round at a time."""

    def __init__(self, test, name, arms, horizon):
        self.test, self.name, self.arms = test, name, np.array(arms, float)
        self.K, self.n = self.arms.shape
        self.T = horizon
        self.active = list(range(self.K))
        self.phase, self.eps = 1, 0.5
        self.start = 1           # the phase's first round
        self.round = 0
        self.open = {}           # round -> arm
        self.counts = dict(pending_max=0, used=0, ignored=0, late=0)
        self.estimate = None     # of the last phase: arm -> (lower, upper)
        self.cut_in = {}         # arm -> the phase that cut it

    # A phase begins.

    def begin(self, plan):
        """`plan` lists (arm, weight)."""
        self.plan = dict(plan)
        self.support = [arm for arm, _ in plan]
        self.observed = {arm: 0 for arm in self.plan}
        self.sum = {arm: 0.0 for arm in self.plan}
        self.played = {arm: 0 for arm in self.plan}
        self.designated_end = math.inf
        self.waits = self.repeats = 0
        self.last = None
        if len(self.active) == 1:
            self.test.assertEqual(plan, [])
            return
        self.check_promise()
        N = self.quota()
        self.target = {arm: math.ceil(N * w if self.is_linear() else N)
                       for arm, w in plan}
        self.sweep = dict(self.target)
        self.in_sweep = sum(self.sweep.values())
        if self.waits_for_share():
            self.designated_end = self.start + self.in_sweep

    def is_linear(self):
        return self.name != "phased-mab"

    def waits_for_share(self):
        return self.name in ("phased-loss-dependent", "phased-mab")

    def check_promise(self):
        t, support = self.test, self.support
        weights = np.array(list(self.plan.values()))
        t.assertEqual(support, sorted(set(support)))
        t.assertLessEqual(set(support), set(self.active))
        t.assertAlmostEqual(weights.sum(), 1, places=12)
        if not self.is_linear():
            t.assertEqual(support, self.active)
            return
        rows = self.arms[self.active]
        r, psi = rank_of(rows), len(support)
        V = inverse_information(self.arms[support], weights)
        loglog = max(0, math.log(math.log(r))) if r > 1 else 0
        t.assertEqual(rank_of(self.arms[support]), r)
        t.assertGreaterEqual(weights.min(), (1 - 1e-12) / (2 * psi))
        t.assertLessEqual(((rows @ V) * rows).sum(axis=1).max(),
                          4 * r * (1 + 1e-9))
        t.assertLessEqual(psi, 16 + 4 * r * loglog)

    def quota(self):
        log_kt = math.log(self.K * self.T)
        if not self.is_linear():
            return 24 * log_kt / self.eps ** 2
        N = 16 * self.n * log_kt / self.eps ** 2
        if self.name == "phased-loss-dependent":
            N = max(N, 24 * math.sqrt(self.n) * math.log(self.T) /
                    (self.eps * min(self.plan.values())))
        return N

    # A round.

    def choose(self, round, arm, fetch_plan):
        t = self.test
        t.assertEqual(round, self.round + 1)
        if len(self.active) > 1 and self.is_over():
            self.check_draws()
            self.eliminate()
            self.phase, self.eps, self.start = (self.phase + 1, self.eps / 2,
                                                round)
            self.begin(fetch_plan())
        self.round = round
        self.open[round] = arm
        self.counts["pending_max"] = max(self.counts["pending_max"],
                                         len(self.open))
        if len(self.active) == 1:
            t.assertEqual(arm, self.active[0])
        elif self.name == "phased-stochastic":
            t.assertIn(arm, self.plan)
        elif self.is_sweep():
            t.assertGreater(self.sweep[arm], 0)
            self.sweep[arm] -= 1
            self.in_sweep -= 1
        else:
            self.check_waiting(arm)
        if arm in self.played:
            self.played[arm] += 1
        self.repeats += arm == self.last
        self.last = arm

    def is_sweep(self):
        """Algorithm 2 sweeps again for what is missing when a sweep is over."""
        if self.in_sweep == 0 and not self.waits_for_share():
            self.sweep = {arm: self.target[arm] - self.observed[arm]
                          for arm in self.plan}
            self.in_sweep = sum(self.sweep.values())
        return self.in_sweep > 0

    def check_waiting(self, arm):
        """The support in turn, later the arm of smallest estimate."""
        if self.estimate is None:
            self.test.assertEqual(arm, self.support[self.waits %
                                                    len(self.support)])
        else:
            self.test.assertLess(self.middle(arm), 1e-9 + min(
                self.middle(a) for a in self.active))
        self.waits += 1

    def middle(self, arm):
        return sum(self.estimate[arm]) / 2

    def observe(self, round, loss):
        """Gives the answer the program owes; `loss` is in [-1, 1]."""
        arm = self.open.pop(round)
        if round < self.start:
            self.counts["late"] += 1
            return "late"
        if (round < self.designated_end and round <= self.T and
                arm in self.plan and self.observed[arm] < self.target[arm]):
            self.observed[arm] += 1
            self.sum[arm] += loss
            self.counts["used"] += 1
        else:
            self.counts["ignored"] += 1
        return "ok"

    # A phase ends.

    def check_draws(self):
        """Algorithm 1 draws from the design, each round anew: how often each
        arm and the same arm again, within 5 standard errors."""
        if self.name != "phased-stochastic":
            return
        total = sum(self.played.values())
        w = np.array(list(self.plan.values()))
        counts = np.append([self.played[arm] for arm in self.plan],
                           self.repeats)
        p = np.append(w, (w * w).sum())
        self.test.assertLessEqual(
            (np.abs(counts - total * p) -
             5 * np.sqrt(total * p * (1 - p))).max(), 1)

    def is_over(self):
        share = 1
        if self.name == "phased-loss-dependent":
            share = 1 - self.eps / math.sqrt(self.n)
        elif self.name == "phased-mab":
            share = 1 - self.eps
        if self.name != "phased-stochastic" and self.in_sweep > 0:
            return False
        return all(self.observed[arm] >= share * self.target[arm]
                   for arm in self.plan)

    def is_settled(self):
        """No phase will end any more, and this has been so for a while."""
        missing = sum(self.target[arm] - self.observed[arm]
                      for arm in self.plan)
        return (self.round > self.start + 1500 and
                (not self.plan or missing > 2 * (self.T - self.round)))

    def brackets(self):
        """Lower and upper of each active arm."""
        N = np.array([self.target[b] for b in self.support], float)
        S = np.array([self.sum[b] for b in self.support])
        sigma = N - [self.observed[b] for b in self.support]
        if not self.is_linear():
            return (S - sigma) / N, (S + sigma) / N
        B = self.arms[self.support]
        aVb = self.arms[self.active] @ inverse_information(B, N) @ B.T
        sign = np.sign(aVb)
        return ((aVb * (S - sigma * sign)).sum(axis=1),
                (aVb * (S + sigma * sign)).sum(axis=1))

    def eliminate(self):
        cut = {"phased-loss-dependent": 6, "phased-mab": 4}.get(self.name, 2)
        lower, upper = self.brackets()
        self.estimate = dict(zip(self.active, zip(lower, upper)))
        excess = lower - upper.min() - cut * self.eps
        # no case here may hang on the last digits of a sum
        self.test.assertGreater(np.abs(excess).min(), 1e-9)
        for arm, e in zip(self.active, excess):
            if e > 0:
                self.cut_in[arm] = self.phase
        self.active = [arm for arm, e in zip(self.active, excess) if e <= 0]

    # Comparison.

    def compare(self, status):
        t = self.test
        expected = dict(policy=self.name, round=self.round, horizon=self.T,
                        phase=self.phase, epsilon=self.eps,
                        phase_start=self.start, active=self.active,
                        pending=len(self.open), **self.counts)
        t.assertEqual({key: status[key] for key in expected}, expected)
        t.assertEqual([(e["arm"], e["weight"], e["target"], e["observed"])
                       for e in status["plan"]],
                      [(arm, w, self.target[arm], self.observed[arm])
                       for arm, w in self.plan.items()])
        if self.estimate is None:
            t.assertEqual(status["estimates"], [])
            return
        t.assertLess(self.middle(status["best"]), 1e-9 + min(
            self.middle(a) for a in self.active))
        t.assertEqual([e["arm"] for e in status["estimates"]], self.active)
        np.testing.assert_allclose(
            [(e["lower"], e["upper"]) for e in status["estimates"]],
            [self.estimate[a] for a in self.active], rtol=0, atol=1e-9)


# ---- worlds -----------------------------------------------------------------

class World:
    """Losses +-1, or with uniform noise, or none, about <arm, theta>; a delay
    in rounds; feedback is delivered every `step` rounds."""

    def __init__(self, arms, theta, delay, step, noise="sign", seed=2385):
        self.means = np.array(arms, float) @ np.array(theta, float)
        assert np.abs(self.means).max() <= 1
        self.delay, self.step, self.noise = delay, step, noise
        self.rng = np.random.default_rng(seed)
        self.arrivals = {}  # round -> list of (id, loss)

    def loss(self, arm):
        mean = self.means[arm]
        if self.noise == "sign":
            return 1.0 if self.rng.random() < (1 + mean) / 2 else -1.0
        spread = 1 - abs(mean) if self.noise == "uniform" else 0
        return float(mean + spread * self.rng.uniform(-1, 1))

    def play(self, round, arm):
        loss = self.loss(arm)
        due = round + self.delay(self.rng, round, arm, loss)
        at = -(-due // self.step) * self.step
        self.arrivals.setdefault(at, []).append((round, loss))

    def arrived(self, round):
        """What is seen at the end of `round`, in any order."""
        seen = self.arrivals.pop(round, [])
        self.rng.shuffle(seen)
        return seen


NEVER = 10 ** 12


def none(rng, round, arm, loss):
    return 0


def exponential(rng, round, arm, loss):
    return int(rng.exponential(90))


def by_arm(rng, round, arm, loss):
    return 5 + 60 * arm


def steady(rng, round, arm, loss):
    return 3500


def bursts(rng, round, arm, loss):
    return -round % 700


def low_late(rng, round, arm, loss):
    return 400 if loss < 0 else 3


def some_never(rng, round, arm, loss):
    return NEVER if rng.random() < 0.004 else int(rng.exponential(30))


def fifth_never(rng, round, arm, loss):
    return NEVER if rng.random() < 0.2 else 0


def sphere(n, K, seed):
    rows = np.random.default_rng(seed).normal(size=(K, n))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def towards(row, size=0.97):
    """A theta for which `row` is the best arm by far."""
    return -size * np.array(row) / np.linalg.norm(row)


# name -> (arms, theta)
def make_arm_sets():
    ball = sphere(3, 12, 1) * np.linspace(0.3, 1, 12)[:, None]
    plane = sphere(2, 10, 2) @ sphere(5, 2, 3)  # rank 2 in 5 dimensions
    plane /= np.linalg.norm(plane, axis=1).max()
    double = np.repeat(sphere(2, 3, 4), 2, axis=0)
    many = sphere(2, 30, 5)
    return {
        "ball": (ball, towards(ball[11])),
        "plane": (plane, towards(plane[np.argmax(
            np.linalg.norm(plane, axis=1))])),
        "line": ([[0.9], [0.4], [-0.2], [-1], [0.05]], [0.9]),
        "double": (double, towards(double[2])),
        "many": (many, towards(many[7])),
        "with_zero": ([[0, 0], [1, 0], [0, 0], [0.5, 0.5]], [-0.9, 0.3]),
        "zeros": (np.zeros((3, 2)), [1, 1]),
        "basis": (np.eye(3), [-0.95, 0.9, 0.2]),
        "square": (np.eye(4), [0.93, -0.95, 0.9, 0.3]),
        # gaps to the first arm just below and above the cuts
        "gaps": ([[-1], [-0.502], [-0.498], [-0.252], [-0.248], [-0.002],
                  [0.002], [0.498], [0.502]], [1]),
        "three_gaps": ([[-1], [-0.002], [0.002]], [1]),
        "far": (np.eye(3), [-1, 0.2, 0.9]),
        "one": ([[0.3, -0.2]], [0.5, 0.5]),
    }


ARM_SETS = make_arm_sets()


def observe_lines(seen):
    return ["observe %d %r" % pair for pair in seen]


class Phases(unittest.TestCase):

    def play(self, name, arm_set, delay, step=1, horizon=20000, noise="sign"):
        """Plays a world while phases can end."""
        arms, theta = ARM_SETS[arm_set]
        world = World(arms, theta, delay, step, noise)
        reference = Reference(self, name, arms, horizon)
        with self.subTest(policy=name, arms=arm_set), Folder() as folder, \
                Pipe("--policy", name, "--arms", folder.arms(arms),
                     "--horizon", horizon, "--seed", 7) as pipe:
            self.run_world(pipe, world, reference)
            self.assertEqual(pipe.end(), (0, b"", ""))
        return reference

    def run_world(self, pipe, world, reference):
        def fetch_plan():
            return [(e["arm"], e["weight"]) for e in pipe.status()["plan"]]
        reference.begin(fetch_plan())
        reference.compare(pipe.status())
        while reference.round < reference.T and not reference.is_settled():
            phase = reference.phase
            count = min(world.step, reference.T - reference.round)
            for round, arm in pipe.choose(count):
                reference.choose(round, arm, fetch_plan)
                world.play(round, arm)
            seen = world.arrived(reference.round)
            answers = pipe.ask(["observe %d %r" % pair for pair in seen])
            # whatever the order of the lines, they count in order of play
            expected = {pair[0]: reference.observe(*pair)
                        for pair in sorted(seen)}
            self.assertEqual(answers, [expected[round] for round, _ in seen])
            # right after a change, right before the next, and now and then
            if (phase != reference.phase or world.rng.random() < 0.01 or
                    len(reference.active) > 1 and reference.is_over()):
                reference.compare(pipe.status())
        reference.compare(pipe.status())

    def play_all(self, arm_sets, *world, **options):
        return {(name, arm_set): self.play(name, arm_set, *world, **options)
                for name in POLICIES
                for arm_set in arm_sets[:amount(1, 1, 3)]}

    # ---- one test per kind of delay

    def test_phases_are_those_of_the_paper_without_delay(self):
        self.play_all(["ball", "line"], none)

    def test_phases_are_those_of_the_paper_under_exponential_delays(self):
        self.play_all(["plane", "double", "square"], exponential, step=15,
                      noise="uniform")

    def test_phases_are_those_of_the_paper_under_delays_that_favour_arms(self):
        self.play_all(["ball", "with_zero", "many"], by_arm, step=5)

    def test_phases_are_those_of_the_paper_when_losses_come_in_bursts(self):
        self.play_all(["line", "basis", "plane"], bursts, step=50)

    def test_phases_are_those_of_the_paper_when_low_losses_are_late(self):
        self.play_all(["double", "basis", "many"], low_late, step=10)

    def test_phases_are_those_of_the_paper_when_some_losses_never_come(self):
        self.play_all(["line", "basis", "double"], some_never, step=20,
                      noise="uniform")

    # ---- the ends of the range

    def test_each_policy_finds_the_best_arm_in_the_end(self):
        sets = {"phased-loss-dependent": "line", "phased-mab": "basis"}
        for name in POLICIES:
            arm_set = sets.get(name, "ball")
            arms, theta = ARM_SETS[arm_set]
            r = self.play(name, arm_set, exponential, step=40, horizon=90000)
            self.assertEqual(r.active, [int(np.argmin(arms @ np.array(theta)))])

    def test_a_phase_ends_at_the_choice_after_the_last_loss_it_needs(self):
        self.play_all(["line", "basis"], steady, horizon=9000)

    def test_arms_are_cut_just_above_the_threshold_and_not_below(self):
        soon = {6: 1, 7: 1, 8: 1, 2: 2, 3: 2, 4: 2, 5: 2, 1: 3}
        later = {8: 2, 4: 3, 5: 3, 6: 3, 7: 3}
        for name, arm_set, cut_in in zip(
                POLICIES, ["gaps", "gaps", "gaps", "three_gaps"],
                [soon, soon, later, {2: 2}]):
            r = self.play(name, arm_set, none, noise="no")
            self.assertEqual(r.cut_in, cut_in)

    def test_missing_losses_count_for_the_arm_in_doubt(self):
        r = self.play("phased-mab", "far", fifth_never, step=10, noise="no")
        self.assertEqual(r.cut_in, {2: 2})

    def test_one_arm_is_played_for_ever(self):
        for r in self.play_all(["one"], exponential, horizon=300).values():
            self.assertEqual((r.phase, r.active), (1, [0]))

    def test_arms_that_are_all_zero_stay_together(self):
        for r in self.play_all(["zeros"], none, step=10,
                               horizon=15000).values():
            self.assertEqual(r.active, [0, 1, 2])
            self.assertGreater(r.phase, 1)

    def test_equal_arms_stay_together(self):
        for name in POLICIES[:2]:
            r = self.play(name, "double", none, step=10, horizon=50000)
            self.assertEqual(r.active, [2, 3])
            self.assertGreater(r.phase, 3)


if __name__ == "__main__":
    unittest.main()
