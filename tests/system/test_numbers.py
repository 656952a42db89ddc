"""Numbers that are printed for machines read back as the bits they were.

What is printed with 15 digits never needs 16 when it is read again; of numbers
with all their bits nearly every one does."""
import csv
import json
import os
import random
import unittest

import numpy as np

from lab import LabTest, answer, run, tarry

WORLD = ["--instance", "sphere:dim=3,arms=6", "--delay", "exponential:mean=30",
         "--horizon", "700"]
POLICIES = ["--policy", "lints", "--policy", "phased-stochastic:constants="
            "tight", "--policy", "uniform"]


def digits(x):
    """How many digits it takes to write the number."""
    return len(repr(float(x)).split("e")[0].replace(".", "").strip("-0"))


def reals(value, name=""):
    """All numbers of a JSON value that are no whole ones, by their keys."""
    parts = (value.items() if isinstance(value, dict) else
             [("", part) for part in value] if isinstance(value, list) else [])
    for key, part in parts:
        yield from reals(part, name + "." + key if key else name)
    if isinstance(value, float) and value != round(value):
        yield name, value


class NumbersTest(LabTest):
    def full(self, numbers, what):
        """Of some numbers of one kind, one at least has all its digits."""
        self.assertGreater(len(numbers), 4, what)
        self.assertGreater(max(map(digits, numbers)), 15, what)

    def full_json(self, value, *needed):
        by_name = {}
        for name, x in reals(value):
            by_name.setdefault(name, []).append(x)
        self.assertLessEqual(set(needed), set(by_name))
        self.full([x for xs in by_name.values() for x in xs], "all")
        for name in needed:
            if len(by_name[name]) > 4:
                self.full(by_name[name], name)

    def full_table(self, path, columns):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        for name in columns:
            self.full([float(row[name]) for row in rows if row[name]], name)
        return rows


class Run(NumbersTest):
    def test_answers_tables_and_curves(self):
        table, curves = self.path("runs.csv"), self.path("curves.csv")
        r = run(*WORLD, *POLICIES, "--runs", 5, "--csv", table, "--curves",
                curves, "--limit")
        self.full_json(r, ".policies.regret.mean", ".policies.regret.ci95",
                       ".policies.regret.runs", ".policies.curve",
                       ".policies.sigma.mean", ".limit.constant",
                       ".limit.at_horizon", ".limit.curve")
        rows = self.full_table(table, ["regret", "sigma_mean"])
        self.full_table(curves, ["mean", "low", "high"])
        for k, p in enumerate(r["policies"]):
            mine = rows[5 * k:5 * k + 5]
            self.assertAlmostEqual(
                np.mean([float(row["sigma_mean"]) for row in mine]) /
                p["sigma"]["mean"], 1, delta=1e-14)

    def test_an_exported_instance(self):
        folder = self.path("world")
        self.assertEqual(tarry("run", *WORLD, "--export-instance",
                               folder).returncode, 0)
        for name in "arms.csv", "theta.csv":
            numbers = np.loadtxt(os.path.join(folder, name), delimiter=",")
            self.full(list(numbers.ravel())[:18] * 3, name)
        with open(os.path.join(folder, "world.json")) as file:
            self.full_json(json.load(file), ".means")


class Others(NumbersTest):
    def test_bound_and_design(self):
        self.full_json(answer("bound", *WORLD), ".limit.constant",
                       ".limit.certified", ".limit.regret")
        arms = self.write("arms.csv", "".join(
            ",".join(map(repr, map(float, row))) + "\n"
            for row in np.random.default_rng(3).standard_normal((30, 4))))
        self.full_json(answer("design", arms), ".support.weight", ".g",
                       ".min_weight")

    def test_examine_and_its_world(self):
        rng = np.random.default_rng(2)
        arms = rng.standard_normal((3, 2)) / 4
        path = self.write("arms.csv", "".join(
            "%r,%r\n" % tuple(map(float, row)) for row in arms))
        lines = ["arm,decided,reported,loss,probability"]
        for i in range(400):
            lines.append("%d,%r,%r,%r,%r" % (
                i % 3, float(i), i + float(rng.exponential(5)),
                float(rng.uniform(-1, 0.2 + 0.4 * (i % 3))),
                float(rng.uniform(0.3, 1))))
        log = self.write("log.csv", "\n".join(lines) + "\n")
        world = self.path("world")
        r = answer("examine", log, "--arms", path, "--runs", 2, "--horizon",
                   500, "--export-world", world)
        self.full_json(r, ".delay.median", ".delay.mean", ".delay.curve",
                       ".value.estimate", ".value.low", ".value.high",
                       ".simulation.regret", ".dependence.correlation",
                       ".model.even")
        for name in "arms.csv", "theta.csv", "pairs.csv":
            numbers = np.loadtxt(os.path.join(world, name), delimiter=",",
                                 ndmin=2, skiprows=int(name == "pairs.csv"))
            if name == "arms.csv":  # the constant is whole
                numbers = numbers[:, :2]
            if name == "pairs.csv":  # arms and delays are whole
                numbers = numbers[:, [1, 3]]
            for column in numbers.T:
                self.assertGreater(max(map(digits, column)), 15, name)
        # where arms are as they were given, they are so to the last bit
        read = np.loadtxt(os.path.join(world, "arms.csv"), delimiter=",")
        scale = read[0, 0] / arms[0, 0]
        dim = arms.shape[1]  # behind them there may be a constant
        np.testing.assert_allclose(read[:, :dim], scale * arms, rtol=1e-15)
        np.testing.assert_array_equal(read[:, dim:], 1)

    def test_pipe_and_exports_of_its_store(self):
        chance = random.Random(2385)
        arms = self.write("arms.csv", "a,0.3,0.1\nb,0.1,0.4\nc,0.2,0.2\n")
        losses = [chance.uniform(-1, 1) for _ in range(40)]
        losses += [1 / 3, -1e-300, 5e-324, 0.1 + 0.2, -0.0, 1.0, -1.0]
        fates = ["observe %d %r" % (i + 1, x) for i, x in enumerate(losses)]
        n = len(losses)
        fates += ["cancel %d" % (n + 1), "expire %d" % (n + 2)]
        lines = ["choose"] * (n + 3) + fates
        store = self.path("kept.db")
        done = tarry("pipe", "--store", store, "--policy", "lints", "--arms",
                     arms, "--json", input="\n".join(lines) + "\n")
        told = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([t for t in told if "error" in t], [])
        choices = told[:n + 3]
        self.full([c["probability"] for c in choices], "probability")
        table = list(csv.DictReader(
            tarry("store", "export", store).stdout.splitlines()))
        objects = [json.loads(line) for line in tarry(
            "store", "export", store, "--json").stdout.splitlines()]
        for rows in table, objects:
            self.assertEqual(len(rows), n + 3)
            self.assertEqual([float(row["loss"]) for row in rows[:n]], losses)
            self.assertEqual([float(row["probability"]) for row in rows],
                             [c["probability"] for c in choices])
            self.assertEqual([row["arm"] for row in rows],
                             [c["arm"] for c in choices])
            self.assertEqual([str(row["round"]) for row in rows],
                             [str(i + 1) for i in range(n + 3)])
            self.assertEqual([row["state"] for row in rows],
                             ["observed"] * n + ["cancelled", "expired",
                                                 "pending"])
            for row in rows[n:]:
                self.assertIn(row["loss"], ("", None))
                self.assertIn(row["reported"], ("", None))
        self.assertEqual([(row["id"], row["experiment"], row["decided"],
                           row["reported"] or None) for row in table],
                         [(row["id"], row["experiment"], row["decided"],
                           row["reported"]) for row in objects])

    def test_the_printed_settings_of_serve(self):
        for value in ("12.3456789", "0.1", "1234567.5", "10", "1e-3"):
            options = ["--request-timeout", value, "--idle-timeout", value]
            printed = tarry("serve", *options, "--print-config").stdout
            read = dict(line.split(" = ") for line in printed.splitlines()
                        if line[0] != "#")
            for name in "request-timeout", "idle-timeout":
                self.assertEqual(float(read[name]), float(value))
            again = tarry("serve", "--config", self.write("c", printed),
                          "--print-config").stdout
            self.assertEqual(again, printed)


if __name__ == "__main__":
    unittest.main()
