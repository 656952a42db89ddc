"""What is printed for people, line by line: a second version of each text is
made here out of what --json says."""
import json
import math
import unittest

import numpy as np

from lab import LabTest, answer, tarry

SECONDS = [(86400, "d"), (3600, "h"), (60, "min"), (1, "s")]


def number(x):
    return math.nan if x is None else x


def shorter(x, digits):
    """So many digits that count, without an exponent where it can be."""
    if x != 0 and not 1e-4 <= abs(x) < 1e9:
        return "%.*e" % (digits - 1, x)
    above = math.floor(math.log10(abs(x))) if x else 0
    return "%.*f" % (max(digits - 1 - above, 0), x)


class TextTest(LabTest):
    maxDiff = None

    def says(self, wanted, *arguments):
        done = tarry(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, wanted)


class Examine(TextTest):
    def duration(self, result, x):
        if x is None:
            return "-"
        if result["unit"] != "seconds":
            return "%.4g" % x
        size, unit = next(((s, u) for s, u in SECONDS if x >= 2 * s),
                          SECONDS[-1])
        return "%.3g %s" % (x / size, unit)

    def delays(self, r, name, decisions, reported, d):
        return "%-20s %10d %10d %12s %12s %12s %12s\n" % (
            (name, decisions, reported) + tuple(
                self.duration(r, d[key])
                for key in ("median", "mean", "q90", "q99")))

    def text(self, path, r):
        shown = r["arms"][:20]
        text = "%s: %d decisions (%s), %d outstanding\n" % (
            path, r["decisions"], r["format"], r["outstanding"])
        text += "\n%-20s %10s %10s %12s %12s %12s %12s\n" % (
            "delays", "decisions", "reported", "median", "mean", "90 % by",
            "99 % by")
        text += self.delays(r, "all", r["decisions"],
                            r["decisions"] - r["outstanding"], r["delay"])
        for arm in shown:
            text += self.delays(r, str(arm["arm"])[:20], arm["decisions"],
                                arm["reported"], arm["delay"])
        if len(r["arms"]) > 20:
            text += "and %d more arms\n" % (len(r["arms"]) - 20)
        never = r["delay"]["never"]
        text += "\nlike %s; never %.3g %% (%.3g to %.3g)\n" % (
            r["delay"]["laws"][0]["law"], 100 * never["estimate"],
            100 * never["low"], 100 * never["high"])
        p = r["delay"]["arms_differ"]["p_value"]
        if p is not None:
            text += "arms %s (p = %.2g)\n" % (
                "differ" if p <= 0.05 else "do not differ visibly", p)
        drift = r["delay"]["drift"]
        if drift["p_value"] is not None:
            text += "%s by %s (p = %.2g)\n" % (
                "delays change" if drift["p_value"] <= 0.05
                else "no visible change", drift["by"], drift["p_value"])
        text += ("\ndoes the delay depend on the loss?  %s (p = %.2g)\n  %s\n"
                 % (r["dependence"]["verdict"], r["dependence"]["p_value"],
                    r["dependence"]["why"]))
        pick = r["recommendation"]["policy"]
        text += "\n%s\n  because %s\n" % (
            "use " + pick if pick else "no policy is recommended",
            r["recommendation"]["why"])
        if r["simulation"]:
            text += "\n%12s %9s %12s  policy, in the rebuilt world\n" % (
                "regret", "+/-", "certificate")
        for row in r["simulation"]:
            text += "%12.5g %9.3g %12s  %s\n" % (
                row["regret"], number(row["ci95"]),
                "-" if row["certificate"] is None
                else "%.3g" % row["certificate"], row["policy"])
        if r["value"]:
            text += "\n%12s %12s %12s %6s  policy\n" % ("value", "from", "to",
                                                        "by")
        for row in r["value"]:
            text += "%12.5g %12.5g %12.5g %6s  %s\n" % (
                row["estimate"], row["low"], row["high"], row["method"],
                row["policy"])
        return text

    def log(self, arms, moment, slower=1):
        rng = np.random.default_rng(3)
        lines = ["arm,decided,reported,loss,probability"]
        for i in range(600):
            arm = int(rng.integers(arms))
            wait = int(rng.exponential(70000 * (slower if arm else 1)))
            end = 4000 * i + wait
            lines.append("%s,%s,%s,%s,%g" % (
                (arm, moment(4000 * i)) + (
                    (moment(end), rng.choice([-1, 1])) if end < 2300000
                    else ("", "")) + (1 / arms,)))
        return self.write("log.csv", "\n".join(lines) + "\n")

    def test_examine(self):
        def iso(seconds):
            return "%sZ" % np.datetime64(1767571200 + seconds, "s")
        for arms, moment, slower in ((3, str, 1), (20, iso, 1), (21, iso, 1),
                                     (2, iso, 40)):
            path = self.log(arms, moment, slower)
            how = ["--runs", 2, "--horizon", 1000]
            r = answer("examine", path, *how)
            self.says(self.text(path, r), "examine", path, *how)
            # as many curves of arms as lines
            self.assertEqual(["curve" in a["delay"] for a in r["arms"]],
                             [arms <= 20] * arms)

    def test_names_of_arms_are_cut_and_command_nothing(self):
        names = ["\x1b[31mred", "\u00e9" * 19 + "xy", "\u20ac" * 21, "b\x07c",
                 "n" * 20]
        shown = ["?[31mred", "\u00e9" * 19 + "x", "\u20ac" * 20, "b?c",
                 "n" * 20]
        rows = [{"arm": names[i % 5], "decided": i, "reported": i + 1 + i % 3,
                 "loss": i % 7 / 7, "probability": 0.2} for i in range(200)]
        path = self.write("log\x1b[2J.json", "".join(
            json.dumps(row) + "\n" for row in rows))
        done = tarry("examine", path, "--runs", 0)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertTrue(all(c == "\n" or c.isprintable()
                            for c in done.stdout), done.stdout)
        self.assertIn("log?[2J.json: 200 decisions", lines[0])
        found = {line[:20].rstrip() for line in lines[4:9]}
        self.assertEqual(found, set(shown))
        for line in lines[4:9]:
            self.assertEqual(line[20:].split()[:2], ["40", "40"])
            self.assertEqual(len(line), len(lines[3]))
        self.assertEqual(sum("always ?[31mred" in line for line in lines), 3)

    def test_periods_are_weeks_days_or_stretches(self):
        monday = 1767571200  # 2026-01-05
        day = 86400
        for first, span, by, start in (
                (monday + 3 * day, 14 * day, "week", "2026-01-05T00:00:00Z"),
                (monday + 3 * day, 14 * day - 1, "day",
                 "2026-01-08T00:00:00Z"),
                (monday + 7777, 2 * day, "day", "2026-01-05T00:00:00Z"),
                (monday + 7777, 2 * day - 1, "stretch",
                 "2026-01-05T02:09:37Z")):
            lines = ["arm,decided,reported,loss"]
            for i in range(101):
                t = np.datetime64(first + span * i // 100, "s")
                lines.append("a,%sZ,%sZ,1" % (t, t + 60))
            path = self.write("log.csv", "\n".join(lines) + "\n")
            now = np.datetime64(first + span + 10 ** 6, "s")
            r = answer("examine", path, "--runs", 0, "--now", "%sZ" % now)
            drift = r["delay"]["drift"]
            self.assertEqual((drift["by"], drift["periods"][0]["start"]),
                             (by, start))
            self.assertEqual(sum(p["decisions"] for p in drift["periods"]),
                             101)
            for key, t in (("first", first), ("last", first + span)):
                self.assertEqual(r[key], "%sZ" % np.datetime64(t, "s"))
            self.assertEqual(r["now"], "%sZ" % now)

    def test_five_rows_left_out_are_named_and_all_counted(self):
        path = self.log(2, str)
        with open(path, "a") as file:
            file.write("x\n" * 7)
        done = tarry("examine", path, "--runs", 0, "--max-refused", 0.02)
        self.assertEqual(done.stderr, "".join(
            "tarry: %s:%d: fewer fields than columns (row left out)\n"
            % (path, line) for line in range(602, 607)) +
            "tarry: %s: 7 rows left out in all\n" % path)


class Bound(TextTest):
    def text(self, b, instance, loss, delay):
        text = "%s in %s, %s, %s; %d rounds\n" % (
            b["policy"], instance, loss, delay, b["horizon"])
        if "stands_for" in b:
            text += "policy        %s\n" % b["stands_for"]
        text += "delay model   %s\n" % b["model"]
        upper = b["upper"]
        if upper["by"] is None:
            text += ("upper bound   none: the paper promises nothing for %s "
                     "in this delay model\n" % b["policy"])
        else:
            if upper["regret"] is not None:
                text += "upper bound   %.5g\n" % upper["regret"]
            elif upper["says_nothing_below"] is not None:
                text += ("upper bound   says nothing at this T; from "
                         "T = %.0f on it says something\n"
                         % upper["says_nothing_below"])
            else:
                tight = "tight" in b.get("stands_for", b["policy"])
                text += ("upper bound   says nothing at %s horizon\n"
                         % ("this" if tight else "any"))
            text += "              %s\n" % upper["by"]
            if upper["alpha"] > 0:
                text += ("              phases last at most %.4g N + %.5g "
                         "rounds\n" % (upper["alpha"], number(upper["beta"])))
        if b["lower"]["by"] is not None:
            text += "lower bound   %.5g, for every policy\n" \
                "              %s\n" % (b["lower"]["regret"],
                                       b["lower"]["by"])
        limit, log_t = b["limit"], math.log(b["horizon"])
        text += ("limit         %.5g log T = %.5g for large T, for every "
                 "policy\n              Graves and Lai; Gaussian losses, R = "
                 "%.3g; a plan costs %.6g,\n              none less than "
                 "%.6g\n" % (limit["certified"], limit["regret"], limit["R"],
                             limit["constant"], limit["certified"]))
        self.assertAlmostEqual(limit["regret"] / log_t / limit["certified"], 1)
        if limit["by_law"] is not None:
            text += ("              these two-valued losses: %.5g log T = "
                     "%.5g at least\n" % (limit["by_law"],
                                          limit["by_law"] * log_t))
        text += ("first phase   %d plays on %d arms, smallest weight %.3g\n"
                 "              it fits into horizons from %d on%s\n"
                 % (b["first_phase_rounds"], b["design"]["support"],
                    b["design"]["min_weight"], b["horizon_needed"],
                    ": with this one nothing is ever eliminated"
                    if b["horizon_too_short"] else ""))
        self.assertEqual(b["horizon_too_short"],
                         b["first_phase_rounds"] > b["horizon"])
        text += "\n%6s %12s %14s %14s\n" % ("phase", "epsilon", "N", "at most")
        for p in b["phases"]:
            text += "%6d %12.6g %14.6g %14.6g\n" % (
                p["phase"], p["epsilon"], p["quota"],
                math.inf if p["longest"] is None else p["longest"])
        return text

    def test_bound(self):
        worlds = [("sphere:dim=3,arms=7", "rademacher", delay) for delay in
                  ("exponential:mean=100", "low-late:late=50",
                   "hold-rarest:sigma=100", "none")]
        worlds.append(("basis:arms=4", "normal:sd=0.5", "uniform:high=9"))
        for instance, loss, delay in worlds:
            for policy in ("phased-stochastic", "phased-adversarial",
                           "phased-loss-dependent", "phased-mab",
                           "recommended"):
                for horizon in (900, 10 ** 6):
                    how = ["bound", "--instance", instance, "--loss", loss,
                           "--delay", delay, "--policy", policy, "--horizon",
                           horizon]
                    self.says(self.text(answer(*how), instance, loss, delay),
                              *how)

    def test_the_seed_makes_the_instance(self):
        limits = {answer("bound", "--instance", "sphere:dim=3,arms=7",
                         "--seed", seed)["limit"]["certified"]
                  for seed in (1, 2, 3)}
        self.assertEqual(len(limits), 3)


class Design(TextTest):
    def test_design(self):
        rng = np.random.default_rng(7)
        for dim, named, even in ((3, False, False), (12, True, True),
                                 (13, True, True), (13, False, False)):
            rows = np.eye(dim) if even else rng.standard_normal((40, dim))
            path = self.write("arms.csv", "".join(
                ("n%d," % k if named else "") +
                ",".join(map(repr, map(float, row))) + "\n"
                for k, row in enumerate(rows)))
            d = answer("design", path)
            text = "%d arms in %d dimensions, span of rank %d\n" % (
                d["arms"], d["dim"], d["rank"])
            text += "largest variance g    %.9g   (%.2e above the optimum %d)" \
                "\n" % (d["g"], max(d["g"] / d["rank"] - 1, 0), d["rank"])
            text += "support               %d arms, smallest weight %.3g\n" % (
                len(d["support"]), d["min_weight"])
            heavy = sorted(d["support"],
                           key=lambda s: (-s["weight"], s["arm"]))
            table = "\n%12s  %10s\n" % ("arm", "weight")
            for s in heavy[:12]:
                table += "%12d  %10.6f%s\n" % (
                    s["arm"], s["weight"], "  " + s["name"] if named else "")
            if len(heavy) > 12:
                table += "%12s  and %d more (--json lists all)\n" % (
                    "...", len(heavy) - 12)
            done = tarry("design", path)
            lines = done.stdout.splitlines(keepends=True)
            self.assertEqual("".join(lines[:3]), text)
            self.assertRegex(lines[3], r"^time  .* s, %.2f passes over the "
                             r"arms\n$" % d["passes"])
            self.assertEqual("".join(lines[4:]), table)
            self.assertEqual(d["min_weight"], min(s["weight"]
                                                  for s in d["support"]))


class Run(TextTest):
    def test_run(self):
        how = ["--horizon", 3000, "--policy", "recommended", "--policy",
               "uniform", "--policy", "lints", "--policy", "greedy",
               "--instance", "sphere:dim=3,arms=7", "--seed", 7]
        for runs in (1, 3):
            r = answer("run", *how, "--runs", runs)
            done = tarry("run", *how, "--runs", runs)
            lines = done.stdout.splitlines()
            self.assertRegex(
                lines[0], "^sphere:dim=3,arms=7, rademacher, "
                r"exponential:mean=100: 3000 rounds, %d runs, seed 7, [\d.]+ "
                "s$" % runs)
            best_first = sorted(r["policies"],
                                key=lambda p: p["regret"]["mean"])
            for line, p in zip(lines[3:7], best_first):
                above = p["above_best"]
                self.assertEqual(line.rsplit(None, 1)[0], (
                    "%-32s %12s %10s %12s %9s %7.2f %8.1f %6.3f %10.0f" % (
                        p["name"], shorter(p["regret"]["mean"], 5),
                        "-" if runs == 1
                        else shorter(p["regret"]["ci95"], 2),
                        shorter(above["mean"], 4),
                        "-" if runs == 1 else shorter(above["ci95"], 2),
                        p["phases"], p["active"], p["best_kept"],
                        p["sigma_max"])))
            meant = next(p for p in r["policies"] if p["name"] ==
                         "recommended")["stands_for"]
            self.assertEqual(lines[-1], "recommended is %s here." % meant)


    def limit(self, name, r):
        limit, T = r["limit"], r["config"]["horizon"]
        self.assertEqual(limit["at_horizon"],
                         limit["constant"] * math.log(T))
        return "%s %.5g log T = %.5g for every policy as T grows; %s" % (
            name, limit["constant"], limit["at_horizon"],
            "one instance" if limit["instances"] == 1
            else "mean over instances")

    def test_limits(self):
        how = ["--policy", "uniform", "--horizon", 300, "--limit"]
        worlds = [{"name": "a", "instance": "sphere:dim=2,arms=4"},
                  {"name": "b", "instance": "sphere:dim=3,arms=5"}]
        for runs in (1, 2, 12):
            one = [*how, "--instance", "sphere:dim=2,arms=4", "--runs", runs]
            r = answer("run", *one)
            self.assertEqual(r["limit"]["instances"], min(runs, 10))
            lines = tarry("run", *one).stdout.splitlines()
            self.assertEqual(lines[-2:], ["", self.limit("limit:", r)])
            path = self.write("worlds.json", json.dumps({"worlds": worlds}))
            r2 = answer("run", path, *how, "--runs", runs)
            self.assertEqual(r2["worlds"][0]["limit"], r["limit"])
            lines = tarry("run", path, *how, "--runs", runs).stdout
            self.assertEqual(lines.splitlines()[-3:], [""] + [
                self.limit("limit of %s:" % w["name"], w)
                for w in r2["worlds"]])
        # the mean of those of each run's own instance
        single = [answer("bound", "--instance", "sphere:dim=2,arms=4,fixed=1",
                         "--horizon", 300)["limit"]["constant"]]
        fixed = answer("run", *how, "--instance", "sphere:dim=2,arms=4,fixed=1",
                       "--runs", 3)["limit"]["constant"]
        self.assertAlmostEqual(fixed / single[0], 1, delta=1e-9)

    def test_a_list_of_one_world_is_told_as_a_list(self):
        world = {"name": "only", "delay": "none"}
        path = self.write("one.json", json.dumps(
            {"policy": ["uniform", "lints"], "horizon": 300, "runs": 2,
             "worlds": [world]}))
        lines = tarry("run", path).stdout.splitlines()
        self.assertRegex(lines[0], r"^1 worlds: 300 rounds, 2 runs, seed 1, "
                         r"[\d.]+ s$")
        self.assertEqual(lines[4].split(), ["policy", "mean", "only"])
        self.assertTrue(lines[-1].startswith("only   sphere, rademacher, "
                                             "none: "), lines[-1])
        self.assertEqual([w["name"] for w in answer("run", path)["worlds"]],
                         ["only"])
        limit = ["--limit", "--instance", "sphere:dim=2,arms=4"]
        r = answer("run", path, *limit)
        self.assertNotIn("limit", r)
        self.assertEqual(
            tarry("run", path, *limit).stdout.splitlines()[-2:],
            ["", self.limit("limit of only:", r["worlds"][0])])
        for option, first in (("--csv", "world,policy,run"),
                              ("--curves", "world,round,policy")):
            file = self.path("out.csv")
            self.assertEqual(tarry("run", path, option, file).returncode, 0)
            with open(file) as out:
                self.assertTrue(out.readline().startswith(first))
                self.assertTrue(out.readline().startswith('"only",'))
        self.refused("run", path, "--export-instance", self.path("x"),
                     says="--export-instance: not with worlds")


class List(TextTest):
    def settings(self, entry):
        text = ""
        for s in entry["settings"]:
            head = "      %s=%s  " % (s["key"], "..." if s["default"] is None
                                      else s["default"])
            text += head + s["help"].replace("\n", "\n" + " " * len(head)) + \
                "\n"
        return text

    def ranges(self, entry):
        text = "\nvalues:\n" if entry["settings"] else ""
        for s in entry["settings"]:
            text += "      %-16s %s\n" % (s["key"], {
                "text": lambda s: "text",
                "real": lambda s: "a number from %g to %g" % (s["least"],
                                                              s["most"]),
                "count": lambda s: "a whole number from %.0f to %g" % (
                    s["least"], s["most"]),
                "choice": lambda s: "one of " + "|".join(s["choices"]),
            }[s["type"]](s))
        return text

    def entry(self, e):
        head = "  %-22s " % e["name"]
        words = e["source"] + ": " if "source" in e else ""
        text = words + e["summary"].replace(
            "\n", "\n" + " " * (25 if words else len(head)))
        return head + text + "\n" + self.settings(e)

    def test_list(self):
        all = answer("list")
        every = {"settings": all.pop("every_policy")}
        text = ""
        for title, key in (("Policies", "policies"),
                           ("Instances", "instances"), ("Losses", "losses"),
                           ("Delays", "delays"),
                           ("Adversaries (in place of a delay)",
                            "adversaries"),
                           ("Reports (which outcomes of a world are ever "
                            "reported)", "reports")):
            text += ("\n" if text else "") + title + ":\n"
            text += "".join(map(self.entry, all[key]))
            if key == "policies":
                text += "\nEvery policy also takes:\n" + self.settings(every)
        self.says(text, "list")
        entries = sum(all.values(), [])
        for name in {e["name"] for e in entries}:
            same = [e for e in entries if e["name"] == name]
            self.says("".join(self.entry(e) + self.ranges(e) for e in same),
                      "list", name)
            self.assertEqual(sum(answer("list", name).values(), []), same)

    def test_policies_say_whether_they_use_features(self):
        """Those that do not are the group mab."""
        plain = [p["name"] for p in answer("list")["policies"]
                 if not p["features"] and "stands_for" not in p]
        group = answer("run", "--policy", "mab", "--horizon", 50, "--runs", 1,
                       "--instance", "basis:arms=3")["config"]["policy"]
        self.assertLessEqual(set(group), set(plain))
        self.assertIn("phased-mab", plain)
        self.assertNotIn("lints", plain)


class Store(TextTest):
    def test_store(self):
        store = self.path("kept.db")
        for name, arms in (("one", 3), ("two", 2)):
            lines = ["choose"] * 9 + ["observe %s%d 0.5" % (
                "" if name == "one" else "two:", i) for i in (1, 4)]
            done = tarry("pipe", "--store", store, "--name", name, "--policy",
                         "uniform", "--arms", self.write(
                             "arms.csv", "1\n" * arms),
                         input="\n".join(lines) + "\n")
            self.assertEqual(done.returncode, 0, done.stderr)
        found = answer("store", "check", store)["experiments"]
        self.assertEqual([(e["experiment"], e["decisions"], e["pending"])
                          for e in found], [("one", 9, 7), ("two", 9, 7)])
        self.says("".join("%s: %d events, %d decisions, %d outstanding\n" % (
            e["experiment"], e["events"], e["decisions"], e["pending"])
            for e in found) + "ok\n", "store", "check", store)
        events = sum(e["events"] for e in found)
        self.says("ok: 2 experiments, %d events\n" % events, "store", "copy",
                  store, self.path("copy.db"))
        self.assertEqual(answer("store", "copy", store, self.path("c2.db")),
                         {"result": "ok", "experiments": 2, "events": events})
        self.says("ok: the version is this program's\n", "store", "upgrade",
                  store)
        for action, to in (("check", ["x"]), ("copy", []), ("export", ["x"])):
            self.refused("store", action, store, *to, says="takes %s store" % (
                "two" if action == "copy" else "one"))
        self.refused("store", "burn", store, says="not check, export, copy or "
                     "upgrade: 'burn'")


if __name__ == "__main__":
    unittest.main()
