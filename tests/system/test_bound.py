"""tarry bound against the formulas by hand; tarry list and every --help."""
import math
import subprocess
import unittest

from lab import LabTest, TARRY, answer, run, tarry


def promised_weight(n):
    """1/(2 psi), the smallest weight that a design may have."""
    loglog = max(math.log(math.log(n)), 0) if n > 2 else 0
    return 1 / (2 * math.floor(16 + 4 * n * loglog))


def exponential_quantile(mean, q):
    """The smallest d with P(floor(mean E) <= d) = 1 - exp(-(d+1)/mean) >= q,
    E an exponential."""
    if q >= 1:
        return math.inf
    return max(math.ceil(-mean * math.log(1 - q) * (1 - 1e-12) - 1), 0)


class World:
    """The numbers that bounds are made of, for n, K and T."""

    def __init__(self, n, K, T):
        self.n, self.K, self.T = n, K, T
        self.log_kt = math.log(K * T)
        self.weight = promised_weight(n)

    def options(self):
        return ["--instance", f"sphere:dim={self.n},arms={self.K}",
                "--horizon", self.T]

    def regret(self, alpha, beta):
        return 8 * beta + 32 * math.sqrt(3 * alpha * self.n * self.T *
                                         self.log_kt) + 4

    def phases(self):
        """Phases of Algorithms 1 and 2 that can begin."""
        count, start = 0, 0
        while start < self.T:
            count += 1
            start += self.quota(2.0 ** -count)
        return count

    def log_of_all(self):
        """log(psi M T): the union over arms of designs and phases."""
        return math.log(min(0.5 / self.weight, self.K) * self.phases() *
                        self.T)

    def algorithm1(self, quantile):
        """The best of q = 0.005, 0.01, ..., 1: regret, alpha, beta, q."""
        def of(q):
            beta = (2 / q * (self.log_of_all() + 1) / self.weight +
                    quantile(q))
            return self.regret(4 / q, beta), 4 / q, beta, q
        return min(of(i / 200) for i in range(1, 201))

    def quota(self, eps):
        return 16 * self.n * self.log_kt / eps ** 2

    def quota3(self, eps, min_weight):
        wait = (24 * math.sqrt(self.n) * math.log(self.T) /
                (eps * min_weight))
        return max(self.quota(eps), wait)

    def quota4(self, eps):
        return math.ceil(24 * self.log_kt / eps ** 2)


WORLDS = [World(10, 100, 10 ** 6), World(2, 5, 3000), World(3, 40, 10 ** 8),
          World(30, 60, 10 ** 7)]


class Bounds(LabTest):
    def close(self, got, expected):
        self.assertAlmostEqual(got / expected, 1, delta=1e-10)

    def stated(self, b, expected):
        """The bound as a number, or, above 2T, as nothing."""
        T = b["horizon"]
        if expected <= 2 * T:
            self.close(b["upper"]["regret"], expected)
            self.assertIsNone(b["upper"]["says_nothing_below"])
        else:
            self.assertIsNone(b["upper"]["regret"])
            self.assertGreater(b["upper"]["says_nothing_below"], T)

    def test_algorithm_1_with_stochastic_delays(self):
        for w in WORLDS:
            for mean in (1, 100, 3000):
                b = answer("bound", *w.options(), "--policy",
                           "phased-stochastic", "--delay",
                           f"exponential:mean={mean}")
                regret, alpha, beta, q = w.algorithm1(
                    lambda q: exponential_quantile(mean, q))
                self.stated(b, regret)
                self.close(b["upper"]["alpha"], alpha)
                self.close(b["upper"]["beta"], beta)
                self.close(b["upper"]["q"], q)
                for p in b["phases"]:
                    self.close(p["quota"], w.quota(p["epsilon"]))
                    self.close(p["longest"], alpha * p["quota"] + beta)

    def test_algorithm_1_with_lost_feedback_uses_smaller_quantiles(self):
        w = WORLDS[0]
        b = answer("bound", *w.options(), "--delay",
                   "exponential:mean=100,never=0.5")
        regret, _, _, q = w.algorithm1(
            lambda q: exponential_quantile(100, q / 0.5))
        self.assertLess(q, 0.5)
        self.stated(b, regret)
        self.close(b["upper"]["q"], q)

    def test_algorithm_1_waits_for_the_slowest_arm(self):
        w = World(3, 5, 10 ** 6)
        b = answer("bound", *w.options(), "--delay",
                   "exponential:mean=100,spread=10")
        self.assertEqual(b["model"], "stochastic, per arm")
        self.stated(b, w.algorithm1(
            lambda q: exponential_quantile(1000, q))[0])

    def test_adversaries(self):
        for w in WORLDS:
            for sigma in (1, 50, 1000):
                beta1 = 2 * (w.log_of_all() + 1) / w.weight + sigma
                beta2 = sigma * (1 + math.log(sigma))
                for policy, delay, beta in (
                        ("phased-stochastic", "hold-all", beta1),
                        ("phased-adversarial", "hold-all", beta2),
                        ("phased-adversarial", "hold-rarest", beta2)):
                    b = answer("bound", *w.options(), "--policy", policy,
                               "--delay", f"{delay}:sigma={sigma}")
                    self.close(b["upper"]["beta"], beta)
                    self.assertEqual(b["upper"]["alpha"], 2)
                    self.stated(b, w.regret(2, beta))

    def test_algorithms_3_and_4_phase_by_phase(self):
        for w in WORLDS:
            for algorithm, policy in ((3, "phased-loss-dependent"),
                                      (4, "phased-mab")):
                b = answer("bound", *w.options(), "--policy", policy,
                           "--delay", "exponential:mean=200")
                total, start = 4, 0
                for m, p in enumerate(b["phases"]):
                    eps = 2.0 ** -(m + 1)
                    self.assertLess(start, w.T)
                    if algorithm == 3:
                        weight = (b["design"]["min_weight"] if m == 0
                                  else w.weight)
                        N = w.quota3(eps, weight)
                        longest = 2 * N + exponential_quantile(
                            200, 1 - eps / (3 * math.sqrt(w.n)))
                        total += (16 + 16 * math.sqrt(2)) * eps * longest
                        start += w.quota(eps)
                    else:
                        N = w.quota4(eps)
                        longest = w.K * N + exponential_quantile(
                            200, 1 - eps / 3)
                        total += 20 * eps * longest
                        start += 48 * w.log_kt / eps ** 2
                    self.assertEqual(p["epsilon"], eps)
                    self.close(p["quota"], N)
                    self.close(p["longest"], longest)
                self.assertGreaterEqual(start, w.T)
                self.stated(b, total)

    def test_no_promise_is_no_number(self):
        for policy, delay in (("phased-stochastic", "low-late"),
                              ("phased-adversarial", "high-late"),
                              ("phased-stochastic", "hold-rarest"),
                              ("phased-mab", "hold-all"),
                              ("phased-loss-dependent", "hold-newest")):
            b = answer("bound", "--policy", policy, "--delay", delay)
            self.assertIsNone(b["upper"]["by"])
            self.assertIsNone(b["upper"]["regret"])
            for p in b["phases"]:
                self.assertIsNone(p["longest"])
            text = tarry("bound", "--policy", policy, "--delay", delay)
            self.assertIn("none", text.stdout)

    def test_endless_waits_are_infinite(self):
        for policy, delay in (
                ("phased-stochastic", "exponential:never=0.999"),
                ("phased-adversarial", "lomax:shape=0.9,scale=10"),
                ("phased-adversarial", "exponential:never=0.1"),
                ("phased-loss-dependent", "exponential:never=0.1")):
            b = answer("bound", "--policy", policy, "--delay", delay)
            self.assertIsNotNone(b["upper"]["by"])
            self.assertIsNone(b["upper"]["regret"])
            self.assertIsNone(b["phases"][-1]["longest"])

    def test_long_poisson_delays_take_no_longer(self):
        b = answer("bound", "--delay", "poisson:mean=1e8,spread=10",
                   timeout=60)  # term by term, many minutes
        self.assertAlmostEqual(b["upper"]["beta"], 1e9, delta=1e6)

    def test_lower_bound_with_loss_dependent_delay(self):
        n, dbar = 320, 20
        q = math.sqrt(8 * math.log(dbar * n) / n)
        for horizon in (10, 10 ** 6):
            b = answer("bound", "--instance",
                       f"lower-loss:dim={n},dbar={dbar}", "--delay",
                       "theorem", "--horizon", horizon)
            self.close(b["lower"]["regret"],
                       min(dbar / q, horizon) * (1 - q) / 2)
        without = answer("bound", "--instance",
                         f"lower-loss:dim={n},dbar={dbar}")
        self.assertIsNone(without["lower"]["by"])
        self.assertIsNone(without["lower"]["regret"])

    def test_lower_bound_of_delay_as_payoff(self):
        for D, horizon in ((30, 10 ** 6), (110, 10 ** 6), (110, 4)):
            b = answer("bound", "--instance", "lower-payoff:dim=240,arms=11",
                       "--loss", "none", "--delay", f"payoff:D={D}",
                       "--horizon", horizon)
            self.close(b["lower"]["regret"], min(D / 20, horizon) / 20 / 2)

    def test_measured_regret_lies_between_the_bounds(self):
        worlds = (["--instance", "lower-loss:dim=320,dbar=20", "--delay",
                   "theorem"],
                  ["--instance", "lower-payoff:dim=240,arms=11", "--loss",
                   "none", "--delay", "payoff:D=110"])
        for world in worlds:
            for policy in ("phased-loss-dependent", "phased-mab"):
                options = [*world, "--policy", policy, "--horizon", "3000"]
                b = answer("bound", *options)
                got, = run(*options, "--runs", 3)["policies"]
                self.assertLess(b["lower"]["regret"], got["regret"]["mean"])
                self.assertIsNone(b["upper"]["regret"])

    def test_below_2T_or_nothing(self):
        """At the horizon that is named the bound is at most 2T, at the one
        before it is above."""
        for policy in ("phased-stochastic", "phased-adversarial",
                       "phased-loss-dependent", "phased-mab",
                       "phased-mab:constants=tight", "recommended"):
            options = ["--policy", policy, "--instance",
                       "sphere:dim=3,arms=7"]
            short = answer("bound", *options, "--horizon", 1000)
            needed = int(short["upper"]["says_nothing_below"])
            self.assertIn("says nothing at this T; from "
                          f"T = {needed} on it says something\n",
                          tarry("bound", *options, "--horizon",
                                1000).stdout)
            for T, says in ((needed - 1, False), (needed, True),
                            (needed + 1, True), (int(1.001 * needed), True)):
                upper = answer("bound", *options, "--horizon", T)["upper"]
                self.assertEqual(upper["regret"] is not None, says)
                self.assertEqual(upper["says_nothing_below"],
                                 None if says else needed)
                if says:
                    self.assertLessEqual(upper["regret"], 2 * T)

    def test_a_bound_that_never_says_something_is_said_so(self):
        never = tarry("bound", "--policy", "phased-loss-dependent", "--delay",
                      "exponential:never=0.5")
        self.assertIn("says nothing at any horizon", never.stdout)
        for policy in ("phased-stochastic", "phased-stochastic:constants=tight"):
            b = answer("bound", "--policy", policy, "--delay",
                       "exponential:never=0.999", "--horizon", 1000)
            self.assertIsNone(b["upper"]["regret"])
            self.assertIsNone(b["upper"]["says_nothing_below"])

    def test_the_limit_of_a_plain_bandit_is_that_of_lai_and_robbins(self):
        """Arms 0, 1, .. have means best, best + gap/(K-1), .."""
        tarry("run", "--instance", "basis:arms=6", "--export-instance",
              self.folder)
        with open(self.path("theta.csv"), encoding="utf-8") as file:
            means = sorted(float(line) for line in file if line.strip())
        gaps = [m - means[0] for m in means[1:]]
        limit = answer("bound", "--instance", "basis:arms=6")["limit"]
        for key in ("constant", "certified"):
            self.assertAlmostEqual(limit[key] / sum(2 / g for g in gaps), 1,
                                   delta=1e-4)
        def divergence(m):
            p, q = (1 + m) / 2, (1 + means[0]) / 2
            return (p * math.log(p / q) +
                    (1 - p) * math.log((1 - p) / (1 - q)))
        own = sum((m - means[0]) / divergence(m) for m in means[1:])
        self.assertAlmostEqual(limit["by_law"] / own, 1, delta=1e-6)
        self.assertAlmostEqual(limit["regret"],
                               limit["certified"] * math.log(1e6), delta=1e-6)

    def test_the_horizon_needed_is_the_smallest_that_fits(self):
        for policy in ("phased-stochastic", "phased-adversarial",
                       "phased-loss-dependent", "phased-mab"):
            options = ["--instance", "sphere:dim=3,arms=7", "--policy", policy]
            needed = int(answer("bound", *options)["horizon_needed"])
            enough = answer("bound", *options, "--horizon", needed)
            short = answer("bound", *options, "--horizon", needed - 1)
            self.assertIs(enough["horizon_too_short"], False)
            self.assertIs(short["horizon_too_short"], True)
            self.assertLessEqual(enough["first_phase_rounds"], needed)
            self.assertGreater(short["first_phase_rounds"], needed - 1)
            same = [*options, "--delay", "none", "--runs", 1]
            self.assertEqual(self.phases(*same, "--horizon", needed - 1), 0)

    def phases(self, *options):
        return run(*options)["policies"][0]["phases"]

    def test_the_first_phase_is_as_long_as_announced(self):
        """Without delay Algorithms 2 to 4 play just what they plan."""
        for policy in ("phased-adversarial", "phased-loss-dependent",
                       "phased-mab"):
            options = ["--instance", "sphere:dim=3,arms=7", "--policy",
                       policy, "--horizon", "1e5", "--delay", "none"]
            b = answer("bound", *options)
            log = run(*options, "--runs", 1)["policies"][0]["phase_log"][0]
            self.assertEqual(log[0]["designated"], b["first_phase_rounds"])
            self.assertEqual(log[0]["length"], b["first_phase_rounds"])

    def test_the_design_is_that_of_tarry_design(self):
        tarry("run", "--instance", "sphere:dim=4,arms=30", "--export-instance",
              self.folder)
        d = answer("design", self.path("arms.csv"), "--rule", "paper")
        b = answer("bound", "--instance", "sphere:dim=4,arms=30")
        self.assertEqual(b["design"]["support"], len(d["support"]))
        self.close(b["design"]["min_weight"], d["min_weight"])
        N = 16 * 4 * math.log(30 * 1e6) / 0.25
        self.assertEqual(b["first_phase_rounds"],
                         sum(math.ceil(N * s["weight"])
                             for s in d["support"]))

    def test_refusals(self):
        for options, says in ((["--policy", "nobody"], "nobody"),
                              (["--policy", ""], ""),
                              (["--policy", "phased-mab:a=1"], "'a'"),
                              (["--horizon", "1"], "--horizon"),
                              (["--horizon", "1e12"], "--horizon"),
                              (["--delay", "nothing"], "nothing"),
                              (["--instance", "lower-loss:dim=9"],
                               "32 log(dbar dim)"),
                              (["more"], "more")):
            self.refused("bound", *options, says=says)
        with open("/dev/full", "w") as full:
            self.assertEqual(subprocess.run([TARRY, "bound"], stdout=full,
                                            stderr=subprocess.DEVNULL
                                            ).returncode, 1)


class Lists(LabTest):
    NAMES = {
        "policies": "phased-stochastic phased-adversarial "
                    "phased-loss-dependent phased-mab",
        "instances": "sphere cube basis file orthogonal lower-loss "
                     "lower-payoff optimism",
        "losses": "rademacher uniform normal bernoulli none",
        "delays": "none constant uniform geometric exponential poisson pareto "
                  "lomax lognormal weibull two-point empirical low-late "
                  "high-late threshold theorem payoff",
        "adversaries": "hold-rarest hold-all hold-newest script",
    }

    def test_every_name_is_listed_with_its_settings(self):
        listed, text = answer("list"), tarry("list").stdout
        for kind, names in self.NAMES.items():
            found = {entry["name"]: entry for entry in listed[kind]}
            self.assertLessEqual(set(names.split()), set(found))
            for name, entry in found.items():
                self.assertIn(name, text)
                self.assertTrue(entry["summary"])
                for s in entry["settings"]:
                    self.assertLessEqual({"key", "default", "help", "type"},
                                         set(s))
        for policy in listed["policies"]:
            self.assertTrue(policy["source"])

    def test_listed_defaults_are_what_leaving_them_out_means(self):
        options = ["--instance", "sphere:dim=3,arms=6", "--horizon", "3000",
                   "--runs", "1", "--policy", "phased-mab"]
        for delay in answer("list")["delays"]:
            name, settings = delay["name"], delay["settings"]
            if name in ("theorem", "payoff", "empirical", "resampled"):
                continue  # these need another world, or a file
            given = ",".join(f"{s['key']}={s['default']}" for s in settings
                             if s["default"])
            long = name + (":" + given if given else "")
            self.assertEqual(*[run(*options, "--delay", spec)["policies"][0]
                               ["curve"] for spec in (name, long)])

    def test_settings_that_must_be_given_have_no_default(self):
        for kind in ("instances", "delays", "adversaries"):
            for entry in answer("list")[kind]:
                option = "--instance" if kind == "instances" else "--delay"
                needed = [s["key"] for s in entry["settings"]
                          if s["default"] is None]
                if needed:
                    self.refused("run", option, entry["name"],
                                 says=needed[0])


class Help(LabTest):
    OPTIONS = {
        "run": "policy instance loss delay horizon runs seed points threads "
               "json csv curves resume print-config export-instance help",
        "bound": "policy instance loss delay horizon seed threads json help",
        "list": "json seed threads help",
        "plot": "out world policy log certificate title figure page json seed "
                "threads help",
        "design": "rule tol json seed threads help",
        "pipe": "policy arms horizon seed set restore help",
    }

    def test_every_command_explains_its_options(self):
        overview = tarry("--help").stdout
        for command, options in self.OPTIONS.items():
            self.assertIn(command, overview)
            for flag in ("--help", "-h"):
                done = tarry(command, flag)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                for option in options.split():
                    self.assertIn(f"--{option}", done.stdout)

    def test_a_range_is_refused_in_the_same_words_everywhere(self):
        for command in (["pipe"], ["examine", "log"], ["ask", "url", "list"]):
            for bad in ("1,0", "1", "0,1,2", "0,x", ",1", "1,", "0,nan", ""):
                self.refused(*command, "--range", bad, says=(
                    "--range: not LOW,HIGH with LOW < HIGH: '%s'" % bad,))

    def test_usage_is_one_line(self):
        for command in ("store", "design", "plot", "examine", "ask"):
            said = self.refused(command, says=("usage: tarry %s " % command,))
            self.assertNotIn("?", said)


if __name__ == "__main__":
    unittest.main()
