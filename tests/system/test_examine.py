"""tarry examine: its numbers against independent code, formats, dirty logs,
verdicts, the rebuilt world and the page."""
import html.parser
import json
import math
import os
import re
import unittest

import numpy as np

from lab import LabTest, answer, run, tarry

K = 4
MEANS = np.array([-0.4, 0.0, 0.2, 0.4])


class Log:
    """Decisions at times 1, 2, ...; `delay` makes delays of (rng, loss, arm).
    """

    def __init__(self, count, delay, seed=1, weights=(0.4, 0.3, 0.2, 0.1)):
        rng = np.random.default_rng(seed)
        self.arm = rng.choice(K, count, p=weights)
        self.probability = np.array(weights)[self.arm]
        self.loss = np.where(rng.random(count) < (1 + MEANS[self.arm]) / 2,
                             1.0, -1.0)
        self.decided = np.arange(1, count + 1, dtype=float)
        self.delay = delay(rng, self.loss, self.arm)
        self.now = float(count)
        self.seen = self.decided + self.delay <= self.now
        self.age = self.now - self.decided
        self.time = np.where(self.seen, self.delay, self.age)

    def rows(self):
        for i in range(len(self.arm)):
            seen = self.seen[i]
            yield {"id": i, "arm": int(self.arm[i]),
                   "decided": self.decided[i],
                   "reported": self.decided[i] + self.delay[i] if seen
                   else None,
                   "loss": self.loss[i] if seen else None,
                   "probability": self.probability[i]}

    def csv(self):
        rows = list(self.rows())
        lines = [",".join(rows[0])]
        lines += [",".join("" if v is None else repr(v) if isinstance(v, float)
                           else str(v) for v in row.values()) for row in rows]
        return "\n".join(lines) + "\n"

    def ndjson(self):
        return "".join(json.dumps(row, default=float) + "\n"
                       for row in self.rows())


def exponential(mean, never=0.0):
    def draw(rng, loss, arm):
        d = np.floor(rng.exponential(mean, len(loss)))
        return np.where(rng.random(len(loss)) < never, math.inf, d)
    return draw


def low_late(late, early):
    def draw(rng, loss, arm):
        return np.floor(rng.exponential(np.where(loss < 0, late, early)))
    return draw


def conversions():
    """Of 23 % of decisions a conversion is told, a third of them at once, half
    within a day, all in 30 days; of the others nothing ever is.  A day has 100
    decisions."""
    def draw(rng, loss, arm):
        d = np.interp(rng.random(len(loss)), [0, 0.35, 0.5, 0.7, 0.87, 1],
                      [0, 4, 100, 500, 1400, 3000])
        return np.where(rng.random(len(loss)) < 0.23, np.floor(d), math.inf)
    log = Log(7500, draw)
    log.loss[:] = -1
    return log


def kaplan_meier(time, seen):
    """Times of outcomes and S after each of them."""
    times = np.unique(time[seen])
    S, out = 1.0, []
    for t in times:
        n, d = np.sum(time >= t), np.sum((time == t) & seen)
        S *= 1 - d / n
        out.append(S)
    return times, np.array(out)


def quantile(times, S, q):
    reached = np.nonzero(S <= 1 - q + 1e-12)[0]
    return times[reached[0]] if len(reached) else None


class ExamineTest(LabTest):
    def examine(self, log, *more, form="csv"):
        path = self.write("log." + form, getattr(log, form)())
        return answer("examine", path, *more)


class Delays(ExamineTest):
    def check(self, said, time, seen):
        times, S = kaplan_meier(time, seen)
        for name, q in ("median", 0.5), ("q90", 0.9), ("q99", 0.99):
            self.assertEqual(said[name], quantile(times, S, q), name)
        last, end = S[-1], time.max()
        area = times[0] + np.sum(S * np.diff(np.append(times, end)))
        self.assertAlmostEqual(said["mean"],
                               (area - last * end) / (1 - last), 6)
        for t, out, low, high in said.get("curve", []):
            at = np.searchsorted(times, t, side="right") - 1
            self.assertAlmostEqual(out, S[at], 9)
            self.assertLessEqual(low, out)
            self.assertGreaterEqual(high, out)

    def test_one_run_has_no_interval(self):
        how = ["--runs", 1, "--horizon", 100]
        log = Log(200, exponential(10))
        result = self.examine(log, *how)
        self.assertEqual({row["ci95"] for row in result["simulation"]}, {None})
        self.assertNotIn("±", result["recommendation"]["why"])
        table = tarry("examine", self.path("log.csv"), *how).stdout
        rows = table[table.index("+/-"):].split("\n\n")[0].splitlines()[1:]
        self.assertEqual({row.split()[1] for row in rows}, {"-"})

    def test_curves_are_those_of_kaplan_and_meier(self):
        for delay in exponential(400), exponential(100, 0.3):
            log = Log(3000, delay)
            result = self.examine(log, "--runs", 0)
            self.assertEqual(result["decisions"], 3000)
            self.assertEqual(result["outstanding"], np.sum(~log.seen))
            self.check(result["delay"], log.time, log.seen)
            for k, arm in enumerate(result["arms"]):
                mine = log.arm == k
                self.assertEqual(arm["arm"], k)
                self.assertEqual(arm["decisions"], np.sum(mine))
                self.assertEqual(arm["reported"], np.sum(mine & log.seen))
                self.check(arm["delay"], log.time[mine], log.seen[mine])

    def test_a_curve_stays_up_until_it_falls(self):
        """Half come within 100, the others when their time is over."""
        log = Log(3000, lambda rng, loss, arm: np.where(
            rng.random(len(loss)) < 0.5, rng.integers(0, 100, len(loss)), 900))
        result = self.examine(log, "--runs", 0)
        early = log.seen & (log.delay < 900)
        for k, part in enumerate([result] + result["arms"]):
            mine = early & ((k == 0) | (log.arm == k - 1))
            before = [row for row in part["delay"]["curve"] if row[0] < 900]
            self.assertEqual(before[-1][0], log.delay[mine].max())

    def test_the_share_that_never_comes(self):
        result = self.examine(Log(4000, exponential(100, 0.3)), "--runs", 0)
        never = result["delay"]["never"]
        self.assertAlmostEqual(never["estimate"], 0.3, delta=0.03)
        self.assertLess(never["low"], 0.31)
        self.assertGreater(never["high"], 0.29)
        self.assertTrue(result["delay"]["laws"][0]["law"].startswith(
            ("exponential:mean=", "geometric:mean=", "weibull:")))

    def test_nothing_is_said_to_never_come_where_nothing_is_out(self):
        for when in (lambda rng, loss, arm: 0 * loss,
                     lambda rng, loss, arm: 5 + 0 * loss,
                     lambda rng, loss, arm: np.arange(len(loss))[::-1]):
            log = Log(1000, when)
            log.seen[:] = True
            r = self.examine(log, "--runs", 0)
            never = r["delay"]["never"]
            self.assertEqual(r["dependence"]["out"]["share"], 0)
            self.assertNotIn("have no outcome", r["dependence"]["why"])
            self.assertEqual((never["estimate"], never["low"]), (0, 0))
            self.assertGreater(never["high"], 0)
            self.assertLess(never["high"], 0.11)

    def test_what_never_comes_is_out_at_the_end_of_the_curve(self):
        """Also for laws that end, and where few outcomes came."""
        for seed in range(12):
            def draw(rng, loss, arm):
                d = (rng.uniform(0, 60, len(loss)) if seed % 2 else
                     rng.choice([3.0, 50.0], len(loss)))
                return np.where(rng.random(len(loss)) < 0.6, math.inf, d)
            log = Log(90, draw, seed=seed)
            r = self.examine(log, "--runs", 0)["delay"]
            end = kaplan_meier(log.time, log.seen)[1][-1]
            never = r["never"]
            for law in r["laws"]:
                self.assertLessEqual(law["never"], end + 1e-12)
            self.assertLessEqual(0, never["low"])
            self.assertLessEqual(never["low"], never["estimate"])
            self.assertLessEqual(never["estimate"], end + 1e-12)
            self.assertLessEqual(end, never["high"] + 1e-12)
            self.assertLess(never["low"], never["high"])

    def test_intervals_of_never_hold(self):
        """30 % never come; delays are short.  Of 60 logs at least 52 hold it:
        57 are expected, with a standard error of 1.7."""
        hold = 0
        for seed in range(60):
            log = Log(300, exponential(10, 0.3), seed=seed)
            never = self.examine(log, "--runs", 0)["delay"]["never"]
            hold += never["low"] <= 0.3 <= never["high"]
        self.assertGreaterEqual(hold, 52)

    def test_conversions_that_do_not_come_never_come(self):
        never = self.examine(conversions(), "--runs", 0)["delay"]["never"]
        self.assertGreater(never["estimate"], 0.6)
        self.assertLess(never["low"], 0.78)
        self.assertGreater(never["high"], 0.77)

    def test_drift_is_seen_by_week(self):
        rng = np.random.default_rng(5)
        lines = ["arm,decided,reported,loss"]
        start = np.datetime64("2026-01-05T00:00:00")
        for i in range(4000):
            t = start + np.timedelta64(int(i * 42 * 86400 / 4000), "s")
            mean = 3600 if i < 2000 else 10800
            r = t + np.timedelta64(int(rng.exponential(mean)), "s")
            lines.append(f"a,{t}Z,{r}Z,{rng.choice([-1, 1])}")
        result = answer("examine", self.write("log.csv", "\n".join(lines)),
                        "--runs", 0)
        drift = result["delay"]["drift"]
        self.assertEqual(drift["by"], "week")
        self.assertEqual(len(drift["periods"]), 6)
        self.assertEqual(drift["periods"][0]["start"], "2026-01-05T00:00:00Z")
        self.assertLess(drift["p_value"], 1e-6)
        self.assertEqual(result["dependence"]["verdict"], "independent")
        steady = self.examine(Log(4000, exponential(100)), "--runs", 0)
        self.assertGreater(steady["delay"]["drift"]["p_value"], 1e-3)


def chi_square(x, degrees):
    """P(chi-square of so many degrees > x), by adding up its density."""
    term = math.erfc(math.sqrt(x / 2)) if degrees % 2 else math.exp(-x / 2)
    total, k = term, degrees % 2 or 2
    while k < degrees:
        total += math.exp(k / 2 * math.log(x / 2) - x / 2 -
                          math.lgamma(k / 2 + 1))
        k += 2
    return total


def hazards(time, seen):
    """Per decision the sum of hazards up to its time."""
    out = np.zeros(len(time))
    total = 0.0
    for t in np.unique(time):
        total += np.sum((time == t) & seen) / np.sum(time >= t)
        out[time == t] = total
    return out


def log_rank(time, seen, group):
    """Mantel's, with the hypergeometric variance; None if there is nothing to
    compare.  Groups of which less than 5 are expected count as one, with the
    smallest of the others if they still are less than 5."""
    E = np.bincount(group, hazards(time, seen))
    order = np.argsort(E, kind="stable")
    small = [k for k in order if E[k] < 5]
    if small:
        if sum(E[small]) < 5 and len(small) < len(E):
            small.append(order[len(small)])
        group = np.where(np.isin(group, small), small[0], group)
    group = np.unique(group, return_inverse=True)[1]
    n_groups = group.max() + 1
    if n_groups < 2:
        return None
    z, V = np.zeros(n_groups), np.zeros((n_groups, n_groups))
    for t in np.unique(time[seen]):
        risk, now = time >= t, (time == t) & seen
        n, d = np.sum(risk), np.sum(now)
        p = np.bincount(group[risk], minlength=n_groups) / n
        z += np.bincount(group[now], minlength=n_groups) - d * p
        if n > 1:
            V += d * (n - d) / (n - 1) * (np.diag(p) - np.outer(p, p))
    x = z[1:] @ np.linalg.solve(V[1:, 1:], z[1:])
    return chi_square(x, n_groups - 1)


class Differences(ExamineTest):
    def p_value(self, groups, seen, expected):
        """Log-rank, the conservative form; groups of which less than 5 are
        expected count as one."""
        O = np.bincount(groups, seen)
        E = np.bincount(groups, expected)
        small = E < 5
        O = np.append(O[~small], O[small].sum())
        E = np.append(E[~small], E[small].sum())
        O, E = O[E >= 5], E[E >= 5]
        if len(E) < 2:
            return None
        return chi_square(np.sum((O - E) ** 2 / E), len(E) - 1)

    def check(self, told, wanted):
        if wanted is None:
            self.assertIsNone(told)
        else:
            self.assertAlmostEqual(told, wanted, delta=1e-7 + 1e-6 * wanted)

    def test_of_arms_and_of_times(self):
        for seed, count, delay, weights in (
                (1, 700, exponential(60), (0.4, 0.3, 0.2, 0.1)),
                (2, 700, exponential(60, 0.4), (0.7, 0.297, 0.002, 0.001)),
                (3, 400, lambda rng, loss, arm: np.floor(
                    rng.exponential(20 + 9 * arm)), (0.25,) * 4),
                (4, 400, lambda rng, loss, arm: np.floor(rng.exponential(
                    20 + np.arange(len(loss)) / 8)), (0.25,) * 4),
                (5, 9, exponential(1), (0.25,) * 4),
                (6, 200, exponential(9), (0.25,) * 4)):
            log = Log(count, delay, seed=seed, weights=weights)
            if seed == 6:  # about 5 decisions for each arm
                log.arm = np.random.default_rng(6).integers(0, 40, count)
            names, arm = np.unique(log.arm, return_inverse=True)
            r = self.examine(log, "--runs", 0)["delay"]
            self.check(r["arms_differ"]["p_value"],
                       log_rank(log.time, log.seen, arm))
            own = np.zeros(count)
            for k in range(len(names)):
                own[arm == k] = hazards(log.time[arm == k], log.seen[arm == k])
            length = (count - 1) / 10 * (1 + 1e-12)
            period = ((log.decided - 1) / length).astype(int)
            self.check(r["drift"]["p_value"],
                       self.p_value(period, log.seen, own))
            self.assertEqual([p["decisions"] for p in r["drift"]["periods"]],
                             [n for n in np.bincount(period) if n])
            self.assertEqual([p["reported"] for p in r["drift"]["periods"]],
                             [int(np.sum(log.seen[period == k]))
                              for k in np.unique(period)])
            for k, p in zip(np.unique(period), r["drift"]["periods"]):
                mine = period == k
                self.assertAlmostEqual(p["start"], 1 + k * length, 9)
                self.assertEqual(p["median"], quantile(*kaplan_meier(
                    log.time[mine], log.seen[mine]), 0.5))

    def test_a_difference_that_the_conservative_form_would_miss(self):
        """With two delays in all, the outcomes of a step are far from
        independent."""
        log = Log(400, lambda rng, loss, arm: np.where(
            rng.random(len(loss)) < 0.5 + 0.12 * (arm == 0), 0, 1))
        told = self.examine(log, "--runs", 0)["delay"]["arms_differ"]
        exact = log_rank(log.time, log.seen, log.arm)
        crude = self.p_value(log.arm, log.seen, hazards(log.time, log.seen))
        self.check(told["p_value"], exact)
        self.assertLess(exact, crude / 3)

    def test_a_log_where_all_came_may_still_lose_some(self):
        """None of so many of the oldest: at most 1 - 0.05^(1/m) in truth; m is
        30, or all there are, or 1 %."""
        for count, m in (10, 10), (30, 30), (500, 30), (4000, 40):
            log = Log(count, lambda rng, loss, arm: 0 * loss)
            r = self.examine(log, "--runs", 0)
            self.assertAlmostEqual(r["delay"]["never"]["high"],
                                   1 - 0.05 ** (1 / m), delta=1e-12)
            self.assertEqual(r["dependence"]["out"],
                             {"share": 0, "age": log.age[m - 1]})

    def test_ripe_is_what_nearly_all_outcomes_would_have_come_in(self):
        log = Log(900, exponential(50, 0.2))
        times, S = kaplan_meier(log.time, log.seen)
        r = self.examine(log, "--runs", 0)
        self.assertEqual(r["ripe"]["window"],
                         quantile(times, S, 0.99 * (1 - S[-1])))
        whole = Log(900, lambda rng, loss, arm: 0 * loss)
        self.assertEqual(self.examine(whole, "--runs", 0)["ripe"],
                         {"window": 0, "decisions": 900, "missing": 0,
                          "without_probability": 0})


class Dependence(ExamineTest):
    def verdict(self, count, delay, **more):
        return self.examine(Log(count, delay, **more), "--runs",
                            0)["dependence"]

    def test_verdicts(self):
        d = self.verdict(5000, exponential(100))
        self.assertEqual(d["verdict"], "independent", d)
        self.assertGreater(d["p_value"], 0.05)
        d = self.verdict(5000, low_late(200, 100))
        self.assertEqual(d["verdict"], "dependent")
        self.assertIn("low losses come later", d["why"])
        self.assertLess(d["correlation"], 0)
        self.assertEqual(len(d["by_arm"]), K)
        d = self.verdict(5000, low_late(100, 200))
        self.assertIn("high losses come later", d["why"])

    def test_what_is_out_may_hide_it(self):
        d = self.verdict(5000, exponential(100, 0.3), seed=4)
        self.assertEqual(d["verdict"], "cannot tell")
        self.assertIn("Waiting will not help", d["why"])
        self.assertIsNone(d["wait"])
        d = self.verdict(2000, exponential(2000), seed=4)
        self.assertEqual(d["verdict"], "cannot tell")
        self.assertIn("waiting for another", d["why"])
        # exp(-t / 2000) = 5 % at t = 5991; the oldest is 1999 old
        self.assertAlmostEqual(d["wait"], 3992, delta=1200)

    def test_few_outcomes_ask_for_a_longer_log(self):
        """At the pace of this log, until 325 outcomes can be compared."""
        for count in 50, 130, 320:
            d = self.verdict(count, exponential(1), seed=4)
            self.assertEqual(d["verdict"], "cannot tell")
            self.assertIn("only %d outcomes" % d["compared"], d["why"])
            self.assertAlmostEqual(
                d["wait"], (count - 1) * (325 / d["compared"] - 1), places=6)
            said = re.search("another ([0-9.]+) of logging$", d["why"])
            self.assertAlmostEqual(float(said[1]), d["wait"],
                                   delta=0.01 * d["wait"])

    def test_nobody_is_told_to_wait_for_ages(self):
        d = self.examine(conversions(), "--runs", 0)["dependence"]
        self.assertEqual(d["verdict"], "cannot tell")
        self.assertIn("Waiting will not help", d["why"])
        self.assertIsNone(d["wait"])

    def test_few_outcomes_tell_nothing(self):
        d = self.verdict(150, exponential(3))
        self.assertEqual(d["verdict"], "cannot tell")
        self.assertIn("can be compared", d["why"])

    def test_the_policy_may_have_learned(self):
        """Short delays and constant ones have little to say, and say it."""
        d = self.verdict(2000, lambda rng, loss, arm: 7 + 0 * loss)
        self.assertEqual(d["verdict"], "independent")
        self.assertIn("all delays", d["why"])


def shrunk(arm, loss, K):
    """Each arm's mean, shrunk towards that of all: empirical Bayes by moments,
    with the arms' own variances."""
    n = np.bincount(arm, minlength=K).astype(float)
    own = np.bincount(arm, loss, K) / np.maximum(n, 1)
    squares = np.bincount(arm, (loss - own[arm]) ** 2, K)
    m, N, two = np.mean(loss), len(loss), n >= 2
    excess = np.sum((n * (own - m) ** 2 - squares / np.maximum(n - 1, 1) *
                     (1 - n / N))[two])
    if excess <= 1e-12 * N:
        return np.full(K, m), math.inf
    strength = (np.sum(squares) / (N - np.sum(n > 0)) *
                np.sum((n * (1 - n / N))[two]) / excess)
    return (n * own + strength * m) / (n + strength), strength


class Clicks(ExamineTest):
    """10 000 decisions with 46 clicks among 40 arms, of which eight have some
    10 decisions and no click."""

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(46)
        weights = np.where(np.arange(40) < 32, 1.0, 0.03)
        weights /= weights.sum()
        self.arm = rng.choice(40, 10000, p=weights)
        self.click = np.zeros(10000, int)
        self.click[rng.choice(np.flatnonzero(self.arm < 32), 46,
                              replace=False)] = 1
        lines = ["arm,decided,reported,reward,probability"]
        lines += ["a%d,%d,%d,%d,%r" % (
            self.arm[i], i, i + rng.exponential(20), self.click[i],
            weights[self.arm[i]]) for i in range(10000)]
        self.world = self.path("world")
        self.result = answer("examine", self.write("log.csv", "\n".join(lines)),
                             "--range", "0,1", "--runs", 2, "--horizon", 1000,
                             "--export-world", self.world)

    def test_what_looks_best_has_been_clicked(self):
        clicks = np.bincount(self.arm, self.click, 40)
        best = [row["policy"] for row in self.result["value"]
                if row["policy"].startswith("always")][::3]
        self.assertEqual(len(best), 10)
        for name in best:
            self.assertGreater(clicks[int(name[len("always a"):])], 0)

    def test_values_are_in_range_and_in_their_intervals(self):
        for row in self.result["value"]:
            self.assertLessEqual(0, row["low"])
            self.assertLessEqual(row["low"], row["estimate"])
            self.assertLessEqual(row["estimate"], row["high"])
            self.assertLessEqual(row["high"], 1)
            if row["policy"] == "uniform" and row["method"] == "dr":
                self.assertAlmostEqual(row["estimate"], 0.0046, delta=0.002)
        for half in "even", "odd":
            self.assertLess(max(self.result["model"][half]), 0.05)

    def test_the_rebuilt_world_is_about_the_logs_mean(self):
        theta = np.loadtxt(os.path.join(self.world, "theta.csv"))
        rate = (1 - theta) / 2
        self.assertLess(np.max(np.abs(rate - 0.0046)), 0.004)
        names = [arm["arm"] for arm in self.result["arms"]]
        bare = [k for k, name in enumerate(names) if int(name[1:]) >= 32]
        self.assertGreaterEqual(np.max(rate), np.max(rate[bare]))

    def test_no_policy_is_recommended_where_arms_are_alike(self):
        advice = self.result["recommendation"]
        self.assertIsNone(advice["policy"])
        self.assertIn("does not show that its arms differ in their rewards",
                      advice["why"])
        self.assertGreater(
            self.result["outcomes"]["arms_differ"]["p_value"], 0.05)
        self.assertAlmostEqual(self.result["outcomes"]["mean"], 0.0046, 12)


class Values(ExamineTest):
    def by_method(self, result, policy):
        return {row["method"]: row for row in result["value"]
                if row["policy"] == policy}

    def test_estimates_are_recomputed(self):
        log = Log(4000, lambda rng, loss, arm: 0 * loss)
        target = np.array([0.1, 0.2, 0.3, 0.4])
        path = self.write("target.csv", "\n".join(map(str, target)))
        result = self.examine(log, "--runs", 0, "--target", path)
        q = np.array([result["model"]["even"], result["model"]["odd"]])
        for half in range(2):  # the model of the other half
            other = np.arange(4000) % 2 != half
            predicted, strength = shrunk(log.arm[other], log.loss[other], K)
            self.assertAlmostEqual(result["model"]["strength"][half] /
                                   strength, 1, 9)
            self.assertAlmostEqual(result["model"]["mean"][half],
                                   np.mean(log.loss[other]), 12)
            for k in range(K):
                self.assertAlmostEqual(q[half][k], predicted[k], 12)
        policies = {"target": target, "uniform": np.full(K, 1 / K),
                    "always 2": np.eye(K)[2]}
        for name, pi in policies.items():
            w = pi[log.arm] / log.probability
            model = q[np.arange(4000) % 2]
            told = self.by_method(result, name)
            wanted = {"ips": np.mean(w * log.loss),
                      "snips": np.sum(w * log.loss) / np.sum(w),
                      "dr": np.mean(model @ pi + w * (log.loss - model[
                          np.arange(4000), log.arm]))}
            for method, value in wanted.items():
                self.assertAlmostEqual(told[method]["estimate"], value, 9)
                self.assertLess(told[method]["low"], pi @ MEANS)
                self.assertGreater(told[method]["high"], pi @ MEANS)

    def test_the_model_of_features_is_recomputed(self):
        rng = np.random.default_rng(6)
        A = rng.normal(size=(15, 3))
        rate = np.clip(0.05 + A @ [0.02, -0.015, 0.01], 0.001, 1)
        arm = rng.integers(0, 15, 20000)
        click = (rng.random(20000) < rate[arm]).astype(int)
        arms = self.write("arms.csv", "".join(
            "k%d,%r,%r,%r\n" % (k, *map(float, a)) for k, a in enumerate(A)))
        path = self.write("log.csv", "arm,decided,reported,reward,pscore\n" +
                          "".join("k%d,%d,%d,%d,%r\n" % (
                              arm[i], i, i, click[i], 1 / 15)
                              for i in range(20000)))
        r = answer("examine", path, "--arms", arms, "--range", "0,1",
                   "--runs", 0)
        for half, name in enumerate(("even", "odd")):
            other = np.arange(20000) % 2 != half
            a, x = arm[other], 1 - 2 * click[other]
            n = np.bincount(a, minlength=15)
            own, m, N = np.bincount(a, x, 15) / n, np.mean(x), len(x)
            squares = np.bincount(a, (x - own[a]) ** 2, 15)
            D = A - n @ A / N
            excess = np.sum(n * (own - m) ** 2 - squares / (n - 1) *
                            (1 - n / N))
            strength = (np.sum(squares) / (N - 15) *
                        np.sum(n * np.sum(D ** 2, 1)) / excess)
            theta = np.linalg.solve((D.T * n) @ D + strength * np.eye(3),
                                    D.T @ (n * (own - m)))
            wanted = (1 - (m + D @ theta)) / 2
            np.testing.assert_allclose(r["model"][name],
                                       np.clip(wanted, 0, 1), atol=1e-12)
            self.assertAlmostEqual(r["model"]["strength"][half] / strength, 1,
                                   9)

    def test_a_log_without_times_says_nothing_of_delays(self):
        path = self.write("log.csv", "arm,loss\n" + "".join(
            "%d,%d\n" % (i % 3, i % 2) for i in range(300)))
        r = answer("examine", path, "--page", self.path("page"))
        self.assertIsNone(r["delay"])
        self.assertEqual([arm["delay"] for arm in r["arms"]], [None] * 3)
        shown = tarry("examine", path).stdout
        self.assertIn("does not say when outcomes were reported, so nothing "
                      "is said of delays", shown)
        for word in "median", "never", "arms differ (p", "do not differ":
            self.assertNotIn(word, shown)
        with open(self.path("page/index.html")) as file:
            page = file.read()
        self.assertIn("so nothing is said of delays", page)
        self.assertNotIn("nine of ten", page)

    def test_rewards_keep_their_unit(self):
        lines = ["timestamp,item_id,position,click,propensity_score"]
        rng = np.random.default_rng(2)
        clicks = (rng.random(1000) < 0.3).astype(int)
        items = rng.integers(0, 2, 1000)
        for i in range(1000):
            lines.append(f"2019-11-24 00:{i // 60:02}:{i % 60:02}+00:00,"
                         f"{items[i]},1,{clicks[i]},0.5")
        result = answer("examine", self.write("obd.csv", "\n".join(lines)),
                        "--range", "0,1")
        told = self.by_method(result, "always 1")["ips"]
        self.assertAlmostEqual(told["estimate"],
                               np.mean((items == 1) / 0.5 * clicks), 9)
        self.assertEqual(result["dependence"]["verdict"], "cannot tell")
        self.assertIn("when outcomes were reported",
                      result["dependence"]["why"])

    def test_few_blank_probabilities_are_left_out(self):
        """And many make values impossible, which is said."""
        log = Log(3000, lambda rng, loss, arm: 0 * loss)
        lines = log.csv().splitlines()
        for blanks, valued in ((21, True), (40, False), (3000, False)):
            text = "\n".join([lines[0]] + [
                line.rsplit(",", 1)[0] + "," if i < blanks else line
                for i, line in enumerate(lines[1:])])
            path = self.write("log.csv", text)
            r = answer("examine", path, "--runs", 0)
            shown = tarry("examine", path, "--runs", 0).stdout
            self.assertEqual(bool(r["value"]), valued)
            self.assertEqual(r["no_value"] is None, valued)
            if valued:
                self.assertEqual(r["ripe"]["without_probability"], blanks)
                self.assertAlmostEqual(r["value"][0]["estimate"],
                                       np.mean(log.loss[blanks:]), 12)
                self.assertIn("%d decisions without a probability" % blanks,
                              shown)
            else:
                self.assertIn("no values of other policies: " + r["no_value"],
                              shown)
        self.assertEqual(r["no_value"],
                         "the log has no probabilities of its decisions")

    def test_only_ripe_decisions_count(self):
        log = Log(3000, exponential(50))
        result = self.examine(log, "--runs", 0)
        ripe = result["ripe"]
        self.assertGreater(ripe["window"], 150)
        self.assertEqual(ripe["decisions"],
                         np.sum(log.age >= ripe["window"]))
        old = log.age >= ripe["window"]
        self.assertEqual(ripe["missing"], np.sum(old & ~log.seen))


class Policies(ExamineTest):
    def test_a_policy_is_recommended_from_a_rebuilt_world(self):
        log = Log(3000, exponential(100))
        world = self.path("world")
        result = self.examine(log, "--runs", 6, "--horizon", 2000,
                              "--export-world", world)
        rows = result["simulation"]
        self.assertEqual([r["regret"] for r in rows],
                         sorted(r["regret"] for r in rows))
        pick = result["recommendation"]["policy"]
        self.assertNotIn("e+", result["recommendation"]["why"])
        self.assertNotIn("guide", result["recommendation"]["why"])
        best = rows[0]["regret"]
        mine = [r for r in rows if r["policy"] == pick][0]
        self.assertLessEqual(mine["regret"], 1.05 * best)
        again = run("--instance", result["world"]["instance"], "--loss",
                    result["world"]["loss"], "--delay",
                    result["world"]["delay"], "--horizon", 2000, "--runs", 6,
                    "--policy", pick)
        self.assertAlmostEqual(again["policies"][0]["regret"]["mean"],
                               mine["regret"], 9)
        theta = np.loadtxt(os.path.join(world, "theta.csv"))
        self.assertLess(np.max(np.abs(theta - MEANS)), 0.2)

    def test_outcomes_that_are_all_alike_make_no_world(self):
        result = self.examine(conversions(), "--runs", 2)
        self.assertEqual(result["simulation"], [])
        self.assertIn("phased-loss-dependent",
                      result["recommendation"]["policy"])
        self.assertIn("all outcomes are alike",
                      result["recommendation"]["why"])

    def test_nothing_is_advised_for_want_of_news(self):
        log = Log(3000, lambda rng, loss, arm: np.full(len(loss), 2000.0))
        result = self.examine(log, "--runs", 5, "--horizon", 1000)
        self.assertIsNone(result["recommendation"]["policy"])
        self.assertIn("no policy can be told apart from uniform play over the "
                      "next 1000 decisions", result["recommendation"]["why"])
        self.assertIn("no policy is recommended\n", tarry(
            "examine", self.path("log.csv"), "--runs", 1, "--horizon",
            1000).stdout)

    def test_dependent_delays_rule_policies_out(self):
        log = Log(3000, low_late(400, 50))
        result = self.examine(log, "--runs", 3, "--horizon", 1000)
        for row in result["simulation"]:
            self.assertFalse(row["policy"].startswith("phased-stochastic"))

    def test_features_are_used(self):
        rng = np.random.default_rng(8)
        arms = rng.normal(size=(K, 2))
        arms /= np.linalg.norm(arms, axis=1)[:, None]
        path = self.write("arms.csv", "\n".join(
            f"ad{k}," + ",".join(map(str, a)) for k, a in enumerate(arms)))
        log = Log(2000, exponential(20))
        text = "arm,decided,reported,loss\n" + "".join(
            f"ad{log.arm[i]},{log.decided[i]},"
            f"{log.decided[i] + log.delay[i]},{log.loss[i]}\n"
            for i in range(2000) if log.seen[i])
        text += "ad9,1,2,0\n"
        done = tarry("examine", self.write("log.csv", text), "--arms", path,
                     "--runs", 2, "--horizon", 1000, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no such arm: 'ad9' (row left out)", done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual([a["arm"] for a in result["arms"]],
                         [f"ad{k}" for k in range(K)])
        self.assertIn("linucb", [r["policy"] for r in result["simulation"]])

    def test_the_same_on_any_number_of_threads(self):
        log = Log(1500, exponential(30))
        results = [self.examine(log, "--runs", 4, "--horizon", 1000,
                                "--threads", n) for n in (1, 3)]
        self.assertEqual(*results)


class Scales(ExamineTest):
    """What is told does not depend on the units of a log."""

    def table(self, log, value, time=1.0, column="loss", plus=0.0):
        lines = ["arm,decided,reported,%s,probability" % column]
        for row in log.rows():
            lines.append(",".join("" if v is None else repr(v) for v in (
                row["arm"], plus + time * row["decided"],
                None if row["reported"] is None
                else plus + time * row["reported"],
                None if row["loss"] is None else value(row["loss"]),
                row["probability"])))
        return self.write("log.csv", "\n".join(lines) + "\n")

    def numbers(self, value, name=""):
        if isinstance(value, (list, dict)):
            for key, part in (value.items() if isinstance(value, dict)
                              else enumerate(value)):
                yield from self.numbers(part, "%s.%s" % (name, key))
        else:
            yield name, value

    def same(self, one, other, scale=1.0, plus=0.0):
        one, other = dict(self.numbers(one)), dict(self.numbers(other))
        self.assertEqual(set(one), set(other))
        for key, x in one.items():
            if isinstance(x, float):
                self.assertAlmostEqual(other[key], scale * x + plus,
                                       delta=1e-9 * (1 + abs(scale * x)),
                                       msg=key)
            else:
                self.assertEqual(other[key], x, key)

    def test_of_losses(self):
        log = Log(1500, exponential(40))
        how = ["--runs", 3, "--horizon", 500]
        base = answer("examine", self.table(log, lambda x: x), *how)
        moved = answer("examine", self.table(log, lambda x: 5 * (x + 1)),
                       "--range", "0,10", *how)
        for key in ("delay", "dependence", "arms", "ripe", "rejected"):
            self.same(base[key], moved[key])
        for key in ("simulation", "value"):
            self.assertEqual([r["policy"] for r in base[key]],
                             [r["policy"] for r in moved[key]])
        for a, b in zip(base["simulation"], moved["simulation"]):
            for key in ("regret", "ci95", "certificate"):
                if a[key] is None:
                    self.assertIsNone(b[key])
                else:
                    self.assertAlmostEqual(b[key] / a[key], 5, delta=1e-9)
            self.assertEqual(a["best_kept"], b["best_kept"])
        for a, b in zip(base["value"], moved["value"]):
            for key in ("estimate", "low", "high"):
                if (key, a["method"]) != ("estimate", "ips"):  # sum w is not T
                    self.assertAlmostEqual(b[key], 5 * (a[key] + 1),
                                           delta=1e-9)
        self.same(base["model"]["even"], moved["model"]["even"], 5, 5)
        for a, b in zip(base["model"]["strength"], moved["model"]["strength"]):
            self.assertAlmostEqual(b / a, 1, 9)
        self.assertEqual(base["recommendation"]["policy"],
                         moved["recommendation"]["policy"])
        losses = re.findall(r"loses ([\d.]+) ", moved["recommendation"]["why"])
        rows = {r["policy"]: r for r in moved["simulation"]}
        self.assertAlmostEqual(
            float(losses[0]), rows[moved["recommendation"]["policy"]]["regret"],
            delta=0.51)

    def test_of_rewards(self):
        log = Log(1500, exponential(40))
        how = ["--runs", 2, "--horizon", 500]
        base = answer("examine", self.table(log, lambda x: x), *how)
        for column, more in ("reward", []), ("loss", ["--maximize"]):
            turned = answer("examine", self.table(log, lambda x: -x,
                                                  column=column), *more, *how)
            for key in ("delay", "simulation"):
                self.same(base[key], turned[key])
            self.assertEqual(turned["outcome"], "reward")
            self.assertEqual(base["recommendation"]["policy"],
                             turned["recommendation"]["policy"])
            for key in ("verdict", "p_value", "compared", "out", "wait"):
                self.assertEqual(base["dependence"][key],
                                 turned["dependence"][key])
            for a, b in zip([base["dependence"]] + base["dependence"]["by_arm"],
                            [turned["dependence"]] +
                            turned["dependence"]["by_arm"]):
                self.assertAlmostEqual(a["correlation"], -b["correlation"], 12)
            told = tarry("examine", self.path("log.csv"), *more,
                         *how).stdout.split("\n\n", 1)[1]
            self.assertNotIn("loss", told.replace("phased-loss-dependent", ""))
            self.assertNotIn("loses", told)
            self.assertIn("depend on the reward?", told)
            for a, b in zip(base["value"], turned["value"]):
                self.assertEqual((a["policy"], a["method"]),
                                 (b["policy"], b["method"]))
                for x, y in (("estimate", "estimate"), ("low", "high"),
                             ("high", "low")):
                    self.assertAlmostEqual(a[x], -b[y], delta=1e-12)

    def test_of_times(self):
        log = Log(1500, exponential(40))
        how = ["--runs", 2, "--horizon", 500]
        base = answer("examine", self.table(log, lambda x: x), *how)
        later = answer("examine", self.table(log, lambda x: x, 4.0, plus=1e6),
                       *how)
        for key in ("dependence", "simulation", "value", "recommendation"):
            for part in (base, later):
                if key == "dependence":
                    part[key]["out"].pop("age")
            self.same(base[key], later[key])
        for key in ("median", "q90", "q99", "mean", "mean_ci95",
                    "median_ci95", "q90_ci95", "q99_ci95"):
            self.same(base["delay"][key], later["delay"][key], 4)
        self.same([row[1:] for row in base["delay"]["curve"]],
                  [row[1:] for row in later["delay"]["curve"]])
        for key in ("arms_differ", "drift"):
            self.assertAlmostEqual(base["delay"][key]["p_value"],
                                   later["delay"][key]["p_value"], delta=1e-9)
        self.assertAlmostEqual(later["ripe"].pop("window"),
                               4 * base["ripe"].pop("window"), delta=1e-6)
        self.assertEqual(base["ripe"], later["ripe"])

    def test_the_order_of_rows_says_nothing(self):
        log = Log(800, exponential(40))
        path = self.table(log, lambda x: x)
        base = answer("examine", path, "--runs", 0)
        with open(path) as file:
            head, *rows = file.read().splitlines()
        np.random.default_rng(4).shuffle(rows)
        mixed = answer("examine", self.write("m.csv", "\n".join(
            [head] + rows) + "\n"), "--runs", 0)
        self.assertEqual(mixed, base)


class Reasons(ExamineTest):
    """Why no policy was tried, and who is told."""

    def log(self, outcomes, arms=2, extra=5, delays=True, alike=False):
        lines = ["arm,decided," + "reported," * delays + "loss"]
        for i in range(outcomes + extra):
            seen = i < outcomes
            lines.append("%d,%d,%s%s" % (
                i % arms, i, ("%d," % (i + i % 3) if seen else ",") * delays,
                (1 if alike else i % 5 / 5) if seen else ""))
        return self.write("log.csv", "\n".join(lines) + "\n")

    def test_all(self):
        for made, runs, reason in (
                (dict(outcomes=60), 0, "it was not asked for"),
                (dict(outcomes=29), 1, "there are too few outcomes"),
                (dict(outcomes=30), 1, None),
                (dict(outcomes=60, delays=False), 1,
                 "the log has no delays"),
                (dict(outcomes=60, arms=1), 1, "there is one arm"),
                (dict(outcomes=60, alike=True), 1, "all outcomes are alike"),
                (dict(outcomes=600, arms=200), 1, None),
                (dict(outcomes=603, arms=201), 1,
                 "there are too many arms without features")):
            path, how = self.log(**made), ["--runs", runs, "--horizon", 50]
            r = answer("examine", path, *how)
            why = r["recommendation"]["why"]
            if reason is None:
                self.assertTrue(r["simulation"], made)
                self.assertEqual(r["horizon"], 50)
                continue
            self.assertEqual(r["simulation"], [])
            self.assertNotIn("horizon", r)
            self.assertIn("it was not tried in a simulation: " + reason, why)
            self.assertEqual(
                r["outcomes"]["arms_differ"]["p_value"] > 0.05,
                "so it does not show a gain over uniform play" in why)
            self.assertEqual(
                "loss-dependent" in r["recommendation"]["policy"],
                r["dependence"]["verdict"] != "independent")
            self.refused("examine", path, *how, "--export-world",
                         self.path("w"), says=["no world can be made of it: "
                                               + reason, "log.csv"])
            self.assertFalse(os.path.exists(self.path("w")))

    def test_a_horizon_is_as_long_as_the_log_within_reason(self):
        for count, horizon in (60, 1000), (1203, 1203):
            r = answer("examine", self.log(count, extra=0), "--runs", 1)
            self.assertEqual(r["horizon"], horizon)

    def test_targets_are_probabilities(self):
        log = Log(100, exponential(3))
        for numbers, says in (
                ("0.5\n0.5\n", "2 probabilities for 4 arms"),
                ("0.2\n" * 5, "5 probabilities for 4 arms"),
                ("0.5\n-0.1\n0.3\n0.3\n", "number 2 is not a probability"),
                ("0\n0\n0\n1.5\n", "number 4 is not a probability"),
                ("0.3\n" * 4, "add up to 1.2, not 1"),
                ("0.249\n" * 4, "add up to 0.996, not 1")):
            path = self.write("target.csv", numbers)
            self.refused("examine", self.write("log.csv", log.csv()),
                         "--target", path, "--runs", 0, says=[path, says])
        for numbers in ("0.25\n" * 4, "1\n0\n0\n0\n",
                        "0.3333333\n0.3333333\n0.3333333\n0\n"):
            path = self.write("target.csv", numbers)
            r = self.examine(log, "--target", path, "--runs", 0)
            self.assertEqual(sum(v["policy"] == "target" for v in r["value"]),
                             3)
        bare = self.write("bare.csv", "arm,decided,reported,loss\n0,1,2,1\n")
        self.refused("examine", bare, "--target", path, "--runs", 0,
                     says="--target: %s: the log has no probabilities" % bare)

    def test_the_ten_best_arms_are_valued(self):
        lines = ["arm,decided,reported,loss,probability"]
        for i in range(1200):
            arm = i * 7 % 12
            lines.append("%d,%d,%d,%r,%r" % (arm, i, i, (arm * 5 % 12) / 12,
                                             1 / 12))
        r = answer("examine", self.write("log.csv", "\n".join(lines) + "\n"),
                   "--runs", 0)
        best = sorted(range(12), key=lambda k: k * 5 % 12)[:10]
        told = ["as logged"] + 3 * ["uniform"]
        for k in best:
            told += 3 * ["always %d" % k]
        self.assertEqual([v["policy"] for v in r["value"]], told)
        self.assertEqual([v["method"] for v in r["value"]],
                         ["mean"] + 11 * ["ips", "snips", "dr"])


class Input(ExamineTest):
    def test_formats_agree(self):
        log = Log(800, exponential(30))
        one = self.examine(log, "--runs", 0)
        two = self.examine(log, "--runs", 0, form="ndjson")
        self.assertEqual((one.pop("format"), two.pop("format")),
                         ("CSV", "NDJSON"))
        self.assertEqual(one, two)
        three = tarry("examine", "-", "--runs", 0, "--json",
                      input=log.csv())
        self.assertEqual(json.loads(three.stdout)["delay"], one["delay"])

    def test_dirty_rows_are_named_and_counted(self):
        lines = Log(500, exponential(30)).csv().splitlines()
        lines[7] = "x"
        lines[20] = lines[19].replace(",", ",9", 1)
        lines.append(lines[40])
        lines[30] = "30,1,zzz,,,0.3"
        done = tarry("examine", self.write("log.csv", "\n".join(lines)),
                     "--runs", 0, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rejected = json.loads(done.stdout)["rejected"]
        self.assertEqual(rejected["count"], 3)
        self.assertEqual([r["line"] for r in rejected["first"]], [8, 21, 31])
        self.assertIn("log.csv:31: not a time: 'zzz'", done.stderr)
        self.refused("examine", self.path("log.csv"), "--strict",
                     says="log.csv:8: fewer fields than columns")

    def test_refused_rows_stand_in_the_first_line(self):
        lines = ["arm,decided,reported,reward"]
        lines += ["%d,%d,%d,%d" % (i % 2, i, i + i % 3, i % 5 == 0)
                  for i in range(200)]
        lines[3] += "x"
        path = self.write("log.csv", "\n".join(lines))
        done = tarry("examine", path, "--runs", 0)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(
            done.stdout.splitlines()[0],
            path + ": 199 decisions (CSV), 0 outstanding, 1 rows refused "
            "(0.5 %), 1 of them: reward is not a number, first in line 4")

    def test_nothing_is_concluded_from_what_many_refused_rows_leave(self):
        """A wrong range would drop every click."""
        lines = ["arm,decided,reported,reward"]
        lines += ["%d,%d,%d,%d" % (i % 2, i, i + i % 3, 5 * (i % 10 == 0))
                  for i in range(200)]
        path = self.write("log.csv", "\n".join(lines))
        done = tarry("examine", path, "--runs", 0)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertIn("20 rows refused (10 %), 20 of them: outside of the "
                      "range of rewards (see --range), first in line 2",
                      done.stdout)
        self.assertIn("nothing is concluded", done.stderr)
        done = tarry("examine", path, "--runs", 0, "--json")
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout)
        self.assertFalse(told["concluded"])
        self.assertNotIn("delay", told)
        self.assertEqual(told["rejected"]["share"], 0.1)
        self.assertEqual(told["rejected"]["reasons"], [
            {"why": "outside of the range of rewards (see --range)",
             "count": 20, "line": 2}])
        self.assertEqual(told["rejected"]["out_of_range"], 1)

    def test_the_share_of_refused_rows_that_is_too_much(self):
        lines = ["arm,decided,reported,reward"]
        lines += ["%d,%d,%d,%s" % (i % 2, i, i + i % 3, "x" if i % 10 == 0
                                   else i % 2) for i in range(200)]
        path = self.write("log.csv", "\n".join(lines))
        for share, code in (0.1, 0), (0.0999, 1), (0, 1), (1, 0):
            done = tarry("examine", path, "--runs", 0, "--max-refused", share)
            self.assertEqual(done.returncode, code)
        for share in -0.1, 1.1:
            self.refused("examine", path, "--max-refused", share,
                         says="--max-refused: not in [0, 1]")

    def test_a_range_that_refuses_rare_clicks_concludes_nothing(self):
        """They are 0.4 % of the rows, and all that the log is about."""
        lines = ["arm,decided,reported,reward"]
        lines += ["%d,%d,%d,%d" % (i % 2, i, i + i % 3, i % 250 == 7)
                  for i in range(1000)]
        path = self.write("log.csv", "\n".join(lines))
        done = tarry("examine", path, "--runs", 0, "--range", "-1,0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("4 rows refused, 0.4 % of all (of outcomes other than "
                      "the most frequent one 100 % are out of range)",
                      done.stderr)
        self.assertEqual(tarry("examine", path, "--runs", 0).returncode, 0)

    def test_a_log_that_is_only_appended_to_is_that_of_its_decisions(self):
        log = Log(600, exponential(30))
        whole = self.examine(log, "--runs", 0)
        rows = list(log.rows())
        text = "".join(
            json.dumps({**row, "reported": None, "loss": None}, default=float)
            + "\n" for row in rows)
        text += "".join(json.dumps(row, default=float) + "\n" for row in rows
                        if row["loss"] is not None)
        again = answer("examine", self.write("appended.json", text), "--runs",
                       0)
        self.assertEqual(again.pop("format"), "NDJSON")
        whole.pop("format")
        self.assertEqual(again, whole)

    def test_bad_usage_is_refused(self):
        good = self.write("log.csv", Log(50, exponential(3)).csv())
        self.refused("examine", says="LOG")
        self.refused("examine", self.path("nothing"), says="nothing")
        self.refused("examine", good, "--range", "1,0", says="--range")
        self.refused("examine", good, "--range", "-1e308,1e308",
                     says="--range")
        self.refused("examine", good, "--now", "7", says="--now")
        self.refused("examine", good, "--arms", self.path("no"), says="no")
        self.refused("examine", good, "--target", good, says="log.csv")
        self.refused("examine", self.write("empty.csv", ""), says="empty")
        self.refused("examine", self.write("text.csv", "hello\nworld\n"),
                     says="text.csv:1: no column 'arm'")
        outside = self.write("out.csv", "arm,decided,reported,loss\n1,1,2,7\n")
        self.refused("examine", outside, says=["out.csv:2", "--range", "'7'"])


class Stores(ExamineTest):
    """A store is the log that its export would be."""

    def keep(self, name, *options):
        """Some hundred decisions of a live policy, with every fate."""
        rng = np.random.default_rng(3)
        lines = []
        prefix = (name + ":" if os.path.exists(self.path("kept.db"))
                  else "")  # numbers belong to the first experiment
        for t in range(1, 701):
            own = t % 50 == 0
            lines.append("choose --id %s%dx" % (name, t) if own else "choose")
            if t > 9:
                id = ("%s%dx" % (name, t - 9) if (t - 9) % 50 == 0
                      else "%s%d" % (prefix, t - 9))
                lines.append("cancel %s" % id if t % 23 == 0 else
                             "expire %s" % id if t % 29 == 0 else
                             "observe %s %.3f" % (id, rng.random()))
        done = tarry("pipe", "--store", self.path("kept.db"), "--name", name,
                     *options, input="\n".join(lines) + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("error", done.stdout)

    def examined(self, *arguments):
        result = answer("examine", *arguments, "--runs", 2, "--horizon", 1000)
        return {k: v for k, v in result.items() if k != "format"}

    def test_a_store_is_examined_as_its_export(self):
        arms = self.write("arms.csv", "".join(
            "%s,%s\n" % (name, ",".join("%.3f" % x for x in row))
            for name, row in zip(["north, east", "b", "c", "d"],
                                 np.random.default_rng(5).random((4, 2)))
        ).replace("north, east", '"north, east"'))
        self.keep("shop", "--policy", "lints", "--arms", arms, "--range",
                  "0,1", "--maximize")
        store = self.path("kept.db")
        for json in ([], ["--json"]):
            export = self.write("export", tarry("store", "export", store,
                                                *json).stdout)
            wanted = self.examined(export, "--arms", arms, "--range", "0,1")
            self.assertEqual(wanted["outcome"], "reward")
            self.assertEqual(self.examined(store), wanted)
        self.assertEqual(self.examined("sqlite:" + store), wanted)
        self.assertEqual(wanted["decisions"], 700 - 30)
        self.assertGreater(wanted["outstanding"], 9)
        self.assertTrue(wanted["value"])

    def test_an_export_names_its_outcomes_by_what_they_are(self):
        """The arm that looks best in the store does in its export."""
        arms = self.write("arms.csv", "good\nbad\n")
        for name, maximize in ("sales", ["--maximize"]), ("waits", []):
            lines = []
            for t in range(1, 401):
                lines += ["choose --id %s%d" % (name, t)]
            told = tarry("pipe", "--store", self.path("kept.db"), "--name",
                         name, "--policy", "uniform", "--arms",
                         self.write("arms.csv", "good,1,0\nbad,0,1\n"),
                         "--range", "0,1", *maximize,
                         input="\n".join(lines) + "\n").stdout.split()
            lines = ["observe %s %d" % (
                told[i], (told[i + 1] == "good") == bool(maximize))
                for i in range(0, 800, 2)]
            done = tarry("pipe", "--store", self.path("kept.db"), "--name",
                         name, input="\n".join(lines) + "\n")
            self.assertNotIn("error", done.stdout)
        store = self.path("kept.db")
        head = "id,experiment,round,arm,probability,decided,state,reported,"
        for name, column in ("sales", "reward"), ("waits", "loss"):
            table = tarry("store", "export", store, "--name", name).stdout
            self.assertEqual(table.splitlines()[0], head + column)
            objects = tarry("store", "export", store, "--name", name,
                            "--json").stdout
            other = "loss" if column == "reward" else "reward"
            for line in objects.splitlines():
                self.assertIn(column, json.loads(line))
                self.assertNotIn(other, json.loads(line))
            kept = self.examined(store, "--name", name)
            for text in table, objects:
                said = self.examined(self.write("export", text), "--arms",
                                     arms, "--range", "0,1")
                self.assertEqual(said, kept)
            best = [row["policy"] for row in kept["value"]
                    if row["policy"].startswith("always")][0]
            self.assertEqual(best, "always good")
        both = tarry("store", "export", store).stdout.splitlines()
        self.assertEqual(both[0], head + "loss,reward")
        for row in both[1:]:
            loss, reward = row.split(",")[-2:]
            self.assertEqual(loss == "", ",sales," in row)
            self.assertEqual(reward == "", ",waits," in row)
        self.refused("examine", self.write("export", "\n".join(both)),
                     says="losses and rewards")
        self.refused("store", "export", store, "--name", "x", says="'x'")
        self.refused("store", "check", store, "--name", "sales",
                     says="--name is for export")

    def test_arms_that_share_a_name_are_told_apart(self):
        """One withdrawn, others in between, and one of its name admitted; the
        name that tells it apart may be another's."""
        arms = self.write("arms.csv", "a,1,0\nb,0,1\nb 5,1,1\n")
        lines, round = [], 0
        for change in (["withdraw a", "admit a 1 0.5"],
                       ["withdraw b", "admit d 0 1", "admit b 0.5 1"], []):
            for _ in range(40):
                round += 1
                lines += ["choose", "observe %d 0.5" % round]
            lines += change
        done = tarry("pipe", "--store", self.path("kept.db"), "--policy",
                     "uniform", "--arms", arms, input="\n".join(lines) + "\n")
        self.assertNotIn("error", done.stdout)
        said = self.examined(self.path("kept.db"))
        self.assertEqual([a["arm"] for a in said["dependence"]["by_arm"]],
                         ["a", "b", "b 5", "a 3", "d", "b 6"])
        for arm in said["dependence"]["by_arm"]:
            self.assertGreater(arm["reported"], 0, arm)

    def test_what_a_store_does_not_say_is_asked_for(self):
        arms = self.write("arms.csv", "1,0\n0,1\n")
        for name in "one", "two":
            self.keep(name, "--policy", "uniform", "--arms", arms,
                      "--no-probability")
        store = self.path("kept.db")
        self.assertEqual(self.examined(store, "--name", "two")["decisions"],
                         670)
        log = self.write("log.csv", "arm,loss\n0,1\n")
        for arguments, naming in [
                ([store], "2 experiments"), ([store, "--name", "x"], "'x'"),
                ([store, "--name", "one", "--range", "0,1"], "--range"),
                ([log, "--name", "one"], "--name")]:
            done = tarry("examine", *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(naming, done.stderr)

    def test_a_damaged_store_is_refused(self):
        arms = self.write("arms.csv", "1,0\n0,1\n")
        self.keep("one", "--policy", "uniform", "--arms", arms)
        store = self.path("kept.db")
        with open(store, "r+b") as file:
            data = file.read()
            file.seek(data.rindex(b"one500x"))
            file.write(b"one599x")
        done = tarry("examine", store)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("kept.db", done.stderr)


class Page(ExamineTest):
    def test_a_page_stands_by_itself(self):
        log = self.write("log.csv", Log(1500, low_late(200, 50)).csv())
        page = self.path("page")
        done = tarry("examine", log, "--runs", 2, "--horizon", 1000, "--page",
                     page)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(page, "index.html")) as file:
            text = file.read()
        for part in ("How long outcomes take", "Does the delay depend",
                     "low losses come later", "Which policy to use",
                     "What would another policy have earned", "<svg"):
            self.assertIn(part, text)
        for link in "figures/delays.csv", "figures/arms.png", "results.json":
            self.assertTrue(os.path.exists(os.path.join(page, link)), link)

    def test_hostile_text_is_only_text(self):
        """Names of arms and of the file, and what is said of bad rows."""
        hostile = "<img src=x onerror=alert(%d)>&amp;'\"</table><script>"
        names = [hostile % k for k in range(K)]
        log = Log(400, exponential(20))
        rows = [{**row, "arm": names[row["arm"]]} for row in log.rows()]
        rows.append({**rows[0], "id": "x", "decided": hostile % 7})
        path = self.write("<b>log<i>.json", "".join(
            json.dumps(row, default=float) + "\n" for row in rows))
        tags, texts = set(), []

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attributes):
                tags.add(tag)
                texts.extend(key for key, _ in attributes
                             if key.startswith("on"))

            def handle_data(self, data):
                texts.append(data)

        done = tarry("examine", path, "--runs", 1, "--horizon", 100, "--page",
                     self.path("page"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("page/index.html")) as file:
            Reader().feed(file.read())
        self.assertFalse(tags & {"img", "script", "i"}, tags)
        self.assertNotIn("onerror", texts)
        shown = "".join(texts)
        for name in names:  # in tables of delays, dependence and values
            self.assertGreaterEqual(shown.count(name), 3, name)
        self.assertIn("<b>log<i>.json", shown)
        self.assertIn("not a time: '<img src=x", shown)


if __name__ == "__main__":
    unittest.main()
