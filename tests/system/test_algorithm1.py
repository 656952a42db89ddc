"""Algorithm 1 against an independent implementation in numpy.

Both play the same instance with losses +/-1 and exponential delays, with random
numbers of their own; only the design's weights come from `tarry design`.  The
mean regrets and the mean ends of the phases agree within 4 standard errors."""
import math
import unittest

import numpy as np

from lab import BRIEF, LabTest, answer, run, tarry

DIM, ARMS, DELAY = 5, 20, 100
HORIZON, RUNS = (200000, 10) if BRIEF else (1000000, 30)


class Designs:
    """`tarry design --rule paper` over the active arms, asked once each."""

    def __init__(self, arms, path):
        self.arms, self.path, self.known = arms, path, {}

    def of(self, active):
        key = tuple(active)
        if key not in self.known:
            np.savetxt(self.path, self.arms[active], delimiter=",",
                       fmt="%.17g")
            support = answer("design", self.path, "--rule",
                             "paper")["support"]
            self.known[key] = (active[[s["arm"] for s in support]],
                               np.array([s["weight"] for s in support]))
        return self.known[key]


class Plays:
    """Plays of one phase, as many as are asked for: arm, loss, and the round
    at whose end the loss is seen, counted from the phase's first."""

    def __init__(self, rng, means, support, weights):
        self.draw = lambda n: rng.choice(len(weights), n,
                                         p=weights / weights.sum())
        self.rng, self.means = rng, means[support]
        self.entry, self.due, self.loss = (np.empty(0, int), np.empty(0),
                                           np.empty(0))

    def extend(self, count):
        entry = self.draw(count)
        begin = len(self.entry)
        heads = self.rng.random(count) < (1 + self.means[entry]) / 2
        delay = np.floor(self.rng.exponential(DELAY, count))
        self.entry = np.append(self.entry, entry)
        self.loss = np.append(self.loss, np.where(heads, 1.0, -1.0))
        self.due = np.append(self.due, begin + np.arange(count) + delay)


def first_arrivals(plays, targets):
    """Per entry the plays whose losses arrive first; None if too few."""
    firsts = []
    for k, target in enumerate(targets):
        mine = np.flatnonzero(plays.entry == k)
        if len(mine) < target:
            return None
        firsts.append(mine[np.argsort(plays.due[mine],
                                      kind="stable")[:target]])
    return firsts


def phase(rng, arms, theta, active, eps, designs):
    """Answers the arms played, and those left active after it."""
    support, weights = designs.of(active)
    quota = 16 * DIM * math.log(ARMS * HORIZON) / eps ** 2
    targets = np.ceil(quota * weights).astype(int)
    plays = Plays(rng, arms @ theta, support, weights)
    plays.extend(int(1.1 * targets.sum()) + 1000)
    firsts = first_arrivals(plays, targets)
    # Plays made later arrive later, so a phase that ends within is settled.
    while firsts is None or (max(plays.due[f].max() for f in firsts) + 1 >
                             len(plays.entry)):
        plays.extend(len(plays.entry) // 10)
        firsts = first_arrivals(plays, targets)
    length = int(max(plays.due[f].max() for f in firsts)) + 1
    b = arms[support]
    V = (b * targets[:, None]).T @ b
    sums = np.array([plays.loss[f].sum() for f in firsts])
    values = arms[active] @ np.linalg.pinv(V) @ (b.T @ sums)
    return (support[plays.entry[:length]],
            active[values - values.min() <= 2 * eps])


def simulate(rng, arms, theta, designs):
    """The regret and the number of phases finished of one run."""
    gaps = arms @ theta - (arms @ theta).min()
    active, eps, left, regret, phases = np.arange(len(arms)), 0.5, HORIZON, 0, 0
    while left > 0 and len(active) > 1:
        played, kept = phase(rng, arms, theta, active, eps, designs)
        regret += gaps[played[:left]].sum()
        left -= len(played)
        if left > 0:
            active, phases = kept, phases + 1
        eps /= 2
    return regret + max(left, 0) * gaps[active[0]], phases


class Algorithm1(LabTest):
    def agree(self, ours, theirs):
        error = math.sqrt(np.var(ours, ddof=1) / len(ours) +
                          np.var(theirs, ddof=1) / len(theirs))
        self.assertAlmostEqual(np.mean(ours), np.mean(theirs),
                               delta=4 * error + 1e-9)

    def test_regret_and_phases_agree_with_another_implementation(self):
        tarry("run", "--instance", f"sphere:dim={DIM},arms={ARMS}", "--seed",
              2385, "--export-instance", self.folder, check=True)
        files = self.path("arms.csv"), self.path("theta.csv")
        arms, theta = np.loadtxt(files[0], delimiter=","), np.loadtxt(files[1])
        ours, = run("--instance", "file:arms=%s,theta=%s" % files, "--loss",
                    "rademacher", "--delay", f"exponential:mean={DELAY}",
                    "--policy", "phased-stochastic", "--horizon", HORIZON,
                    "--runs", RUNS)["policies"]
        designs = Designs(arms, self.path("active.csv"))
        rng = np.random.default_rng(2385)
        theirs = np.array([simulate(rng, arms, theta, designs)
                           for _ in range(RUNS)])
        self.agree(ours["regret"]["runs"], theirs[:, 0])
        self.agree([len(log) for log in ours["phase_log"]], theirs[:, 1])


if __name__ == "__main__":
    unittest.main()
