"""Pages for people, number by number: what `tarry examine --page` and
`tarry plot --page` show is what results.json says."""
import csv
import html.parser
import json
import math
import os
import re
import unittest

import numpy as np

import fabricated
from lab import LabTest, tarry

UNITS = [(86400, "days", "d"), (3600, "hours", "h"), (60, "minutes", "min"),
         (1, "seconds", "s")]


class Reader(html.parser.HTMLParser):
    """Tables by their name, as rows of texts; the text of all else."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.text, self.classes = {}, "", []
        self.name, self.cell = None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("role") == "region":
            self.name = attributes["aria-label"]
            self.tables.setdefault(self.name, [])
        if "verdict" in attributes.get("class", "").split():
            self.classes.append(attributes["class"].split()[-1])
        if tag == "tr":
            self.tables[self.name].append([])
        if tag in ("td", "th"):
            self.cell = ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[self.name][-1].append(" ".join(self.cell.split()))
            self.cell = None

    def handle_data(self, data):
        self.text += data
        if self.cell is not None:
            self.cell += data


def shown(x, form):
    return "–" if x is None or not math.isfinite(x) else form % x


class Log(LabTest):
    maxDiff = None

    def page(self, log, *options):
        done = tarry("examine", log, "--page", self.path("page"),
                     "--max-refused", 1, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("page/results.json")) as file:
            self.result = json.load(file)
        with open(self.path("page/index.html")) as file:
            return Reader(file.read())

    def log(self, arms=3, count=600, scale=1.0, moment=str, slow=1, bad=0,
            never=0):
        rng = np.random.default_rng(8)
        lines = ["arm,decided,reported,loss,probability"]
        for i in range(count):
            arm = i % arms
            loss = rng.choice([-1, 1])
            wait = scale * rng.exponential(slow if loss > 0 else 1)
            t, seen = scale * i / 10, rng.random() >= never
            lines.append("%s,%s,%s,%s,%r" % (
                "arm %d" % arm if arms < 9 else arm, moment(t),
                moment(t + wait) if seen else "", loss if seen else "",
                1 / arms))
        lines += ["0,x,,,1"] * bad
        return self.write("log.csv", "\n".join(lines) + "\n")

    def time(self, x):
        if x is None:
            return "–"
        if self.result["unit"] != "seconds":
            return "%.4g" % x
        size, _, unit = next((u for u in UNITS if x >= 2 * u[0]), UNITS[-1])
        return "%.3g %s" % (x / size, unit)

    def check(self, page):
        r = self.result
        delay, d = r["delay"], r["dependence"]

        def times(part):
            return [self.time(part[key])
                    for key in ("median", "mean", "q90", "q99")]
        arms = [["all", str(r["decisions"]),
                 str(r["decisions"] - r["outstanding"])] + times(delay)]
        arms += [[str(a["arm"]), str(a["decisions"]), str(a["reported"])] +
                 times(a["delay"]) for a in r["arms"][:50]]
        self.assertEqual(page.tables["Delays"][1:], arms)
        self.assertEqual("The other arms are in results.json" in page.text,
                         len(r["arms"]) > 50)
        self.assertEqual(page.tables["Dependence by arm"][1:], [
            [str(a["arm"]), str(a["reported"]),
             shown(a["correlation"], "%.2f"), shown(a["p_value"], "%.2g")]
            for a in d["by_arm"][:50]])
        self.assertEqual(page.tables.get("Policies", [0])[1:], [
            [row["policy"]] + [shown(row[key], "%.3g" if row["regret"] < 1
                                     else "%.1f") for key in ("regret",
                                                              "ci95")] +
            [shown(row["certificate"], "%.3g")] for row in r["simulation"]])
        self.assertEqual(page.tables.get("Values", [0])[1:], [
            [row["policy"], row["method"]] +
            [shown(row[key], "%.4g") for key in ("estimate", "low", "high")]
            for row in r["value"]])
        word, kind = {"dependent": ("yes", "contradicted"),
                      "independent": ("no", "supported"),
                      "cannot tell": ("cannot tell", "unresolved")}[
                          d["verdict"]]
        self.assertEqual(page.classes, [kind, kind])
        text = " ".join(page.text.split())
        parts = [
            "%d decisions, of which %d still wait" % (r["decisions"],
                                                      r["outstanding"]),
            "%d rows were refused, %d of them because of this: not a time, "
            "first in line 602." % ((r["rejected"]["count"],) * 2)
            if r["rejected"]["count"] else "",
            "within %s, nine of ten within %s." % (self.time(delay["median"]),
                                                   self.time(delay["q90"])),
            "Do good or bad outcomes take longer? %s %s." % (
                word, "Use " + r["recommendation"]["policy"]
                if r["recommendation"]["policy"]
                else "No policy is recommended"),
            "%s: %s." % (d["verdict"], d["why"]),
            "because %s." % r["recommendation"]["why"],
            "%s fits best" % delay["laws"][0]["law"],
            "is about %.1f %% (between %.1f and %.1f %%)" % tuple(
                100 * delay["never"][k] for k in ("estimate", "low", "high"))]

        def told(p):
            return "%s (p = %s)" % (
                "there is nothing to compare" if p is None else
                "yes" if p <= 0.05 else "no sign of it", shown(p, "%.2g"))
        parts.append("Between arms: %s. Over time, arm by arm: %s." % (
            told(delay["arms_differ"]["p_value"]),
            told(delay["drift"]["p_value"])))
        if r["rejected"]["count"]:
            parts.append("%d rows of the log make no sense" %
                         r["rejected"]["count"])
            parts += ["line %d: %s" % (row["line"], row["why"])
                      for row in r["rejected"]["first"]]
        else:
            self.assertNotIn("Rows left out", text)
        for part in parts:
            self.assertIn(part, text)

    def figure(self, name):
        with open(self.path("page/figures/%s.csv" % name), newline="") as file:
            return list(csv.DictReader(file))

    def check_figures(self, unit, page):
        """Curves fall in steps, from all at time 0 on."""
        size = next(u[0] for u in UNITS if u[1] == unit) \
            if self.result["unit"] == "seconds" else 1

        def steps(curve):
            points, last = [[0, 1, 1, 1]], [1, 1, 1]
            for t, *now in curve:
                points += [[t / size, *last], [t / size, *now]]
                last = now
            return points
        rows = self.figure("delays")
        self.assertEqual([[float(row[k]) for k in ("x", "y", "lo", "hi")]
                          for row in rows],
                         steps(self.result["delay"]["curve"]))
        arms = self.result["arms"][:6]
        wanted = [["arm %d" % a["arm"] if isinstance(a["arm"], int)
                   else a["arm"], x, y] for a in arms if "curve" in a["delay"]
                  for x, y, *_ in steps(a["delay"]["curve"])]
        if len(self.result["arms"]) <= 20 and len(arms) > 1:
            self.assertEqual([[row["series"], float(row["x"]),
                               float(row["y"])] for row in self.figure("arms")],
                             wanted)
        else:
            self.assertFalse(os.path.exists(self.path(
                "page/figures/arms.csv")))
        drift = []
        for i, p in enumerate(self.result["delay"]["drift"]["periods"]):
            ends = p["median_ci95"]
            if p["median"] is not None:
                drift.append([i, p["median"] / size] + [
                    None if None in ends else e / size for e in ends])
        if len(drift) > 1:
            self.assertEqual(
                [[float(row[k]) if row[k] else None
                  for k in ("x", "y", "lo", "hi")]
                 for row in self.figure("drift")], drift)
            self.assertIn("median delay (%s)" % unit, page.text)
        self.assertIn("time since the decision (%s)" % unit, page.text)

    def test_numbers_of_the_log(self):
        how = ["--runs", 2, "--horizon", 300]
        for changes in ({}, {"slow": 9}, {"arms": 1, "bad": 3},
                        {"arms": 50, "never": 0.3, "bad": 22},
                        {"arms": 51, "count": 900}, {"arms": 8}):
            with self.subTest(**changes):
                page = self.page(self.log(**changes), *how)
                self.check(page)
                self.check_figures("unit of the log", page)
                done = tarry("examine", self.path("log.csv"), *how, "--json",
                             "--max-refused", 1)
                self.assertEqual(json.loads(done.stdout), self.result)
                self.clear()

    def clear(self):
        for folder, _, files in os.walk(self.path("page")):
            for file in files:
                os.remove(os.path.join(folder, file))

    def test_times_have_the_unit_of_the_longest(self):
        def iso(seconds):
            return "%sZ" % np.datetime64(1767571200000 + int(1000 * seconds),
                                         "ms")
        for scale, unit in ((15, "seconds"), (60, "minutes"), (3600, "hours"),
                            (86400, "days")):
            page = self.page(self.log(scale=scale, moment=iso, count=200),
                             "--runs", 0)
            longest = self.result["delay"]["curve"][-1][0]
            self.assertEqual(next(u[1] for u in UNITS if longest > 2 * u[0]),
                             unit)
            self.check(page)
            self.check_figures(unit, page)
            self.clear()


class Report(LabTest):
    def page(self, results):
        done = tarry("plot", self.write("r.json", json.dumps(results)),
                     "--page", self.path("page"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("page/index.html")) as file:
            return Reader(file.read())

    def test_theory_measured_and_verdict_of_every_check(self):
        checks, wanted = [], []
        for relation, words in (("<=", "at most "), (">=", "at least "),
                                ("=", ""), (None, "")):
            for tolerance, told in ((None, ""), (0, ""),
                                    (0.08, " (tolerance 0.08)")):
                for verdict, sign in (("supported", "✓ supported"),
                                      ("unresolved", "? unresolved"),
                                      ("contradicted", "✗ contradicted"),
                                      (None, "reported")):
                    checks.append({
                        "name": "c%d" % len(checks), "theory": 0.5,
                        "measured": -2.385, "ci95": 0.25, "verdict": verdict,
                        "relation": relation, "tolerance": tolerance})
                    wanted.append([checks[-1]["name"], words + "0.5" + told,
                                   "−2.38 ± 0.25", sign])
        checks.append({"name": "bare", "text": "why", "verdict": None})
        wanted.append(["barewhy", "–", "–", "reported"])
        row = {"id": "r", "title": "R", "verdict": "unresolved",
               "group": "theorem", "checks": checks, "seconds": 1.25,
               "theory": 1, "measured": 3, "relation": ">="}
        page = self.page({"rows": [row], "config": {"scale": "full",
                                                    "seed": 7}})
        self.assertEqual([[c.replace("−2.39", "−2.38") for c in line]
                          for line in page.tables["Checks"][1:]], wanted)
        self.assertEqual(page.tables["Theorems and promises"][1:],
                         [["R", "at least 1", "3", "? unresolved"]])
        self.assertNotIn("Table 1 of the paper with what was measured",
                         page.tables)
        self.assertIn("results at the full scale", page.text)
        self.assertRegex(page.text, r"Computed in 1\.[23] s\.")

    def test_rows_of_the_table_and_their_bounds(self):
        results = fabricated.results()
        page = self.page(results)
        signs = {"supported": "✓ ", "unresolved": "? ", "contradicted": "✗ "}

        def plain(text):
            return re.sub(r"[_^]\{?([a-z0-9/]*)\}?", r"\1", text)
        wanted = []
        for row in results["rows"]:
            if row["group"] != "table":
                continue
            cells = [plain(row["paper"][k]) or "–"
                     for k in ("bandits", "prior", "here")]
            cells[2] += "seen: " + plain(row["paper"]["here"]) + (
                "–" if row["measured"] is None else
                "0.982 ± 0.031" if row["measured"] == 0.982 else
                "0.610 ± 0.020")
            wanted.append([row["title"], *cells,
                           signs[row["verdict"]] + row["verdict"]])
        table = page.tables["Table 1 of the paper with what was measured"]
        self.assertEqual(table[1:], wanted)
        self.assertEqual(table[0][1:4], ["Plain bandits", "Linear, before",
                                         "Linear, new"])
        self.assertEqual(len(page.tables["Theorems and promises"]), 3)

    def test_records_are_shown_by_column_and_up_to_forty(self):
        for count in (1, 40, 41):
            data = [{"k": i, "x": i + 0.5, **({"late": "t"} if i == 3 else {})}
                    for i in range(count)]
            page = self.page({"rows": [{"id": "r", "verdict": "supported",
                                        "data": data}]})
            self.assertEqual(page.tables["Data"], [
                ["k", "x"] + ["late"] * (count > 3)] + [
                    [str(i), "%g" % (i + 0.5)] +
                    ["t" if i == 3 else ""] * (count > 3)
                    for i in range(min(count, 40))])
            self.assertIn("Data: %d record%s" % (count, "s" * (count > 1)),
                          page.text)
            self.assertEqual("The first 40 are shown" in page.text,
                             count > 40)


if __name__ == "__main__":
    unittest.main()
