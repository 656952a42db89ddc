"""Groups of policies, experiments in several worlds, and the delay zoo."""
import csv
import json
import math
import os
import subprocess
import tempfile
import unittest

TARRY = os.environ["TARRY"]
HERE = os.path.dirname(os.path.abspath(__file__))
ZOO = os.path.join(HERE, "..", "..", "experiments", "delay-zoo.json")
SMALL = ["--horizon", "600", "--runs", "2", "--points", "4"]


def tarry(*arguments):
    return subprocess.run([TARRY, *arguments], text=True, capture_output=True)


def answer(*arguments):
    done = tarry("run", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(result):
    return [policy["name"] for policy in result["policies"]]


def without_time(result):
    for world in result["worlds"]:
        for policy in world["policies"]:
            policy.pop("rounds_per_second", None)
    return result


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w") as file:
                json.dump(content, file)
        return path


class Groups(Folder):
    listed = [p["name"] for p in
              json.loads(tarry("list", "--json").stdout)["policies"]
              if p["name"] != "oracle"  # it knows the means
              and "stands_for" not in p]

    def group(self, *policies):
        options = [o for p in policies for o in ("--policy", p)]
        config = tarry("run", *options, "--print-config")
        self.assertEqual(config.returncode, 0, config.stderr)
        return json.loads(config.stdout)["policy"]

    def test_all_is_the_whole_list_in_order_but_the_oracle(self):
        self.assertEqual(self.group("all"), self.listed)

    def test_linear_and_mab_share_all_policies_between_them(self):
        linear, mab = self.group("linear"), self.group("mab")
        self.assertEqual(sorted(linear + mab), sorted(self.listed))
        self.assertIn("phased-stochastic", linear)
        for name in ("phased-mab", "ucb-delayed", "se-delayed", "opse",
                     "payoff-mab"):
            self.assertIn(name, mab)

    def test_a_group_does_not_repeat_a_policy_that_is_named(self):
        mab = self.group("opse", "mab")
        self.assertEqual(mab[0], "opse")
        self.assertEqual(len(mab), len(set(mab)))

    def test_a_file_may_name_groups(self):
        path = self.file("e.json", {"policy": ["mab", "opse:scale=2"]})
        result = answer(path, *SMALL)
        self.assertEqual(names(result), self.group("mab") + ["opse:scale=2"])

    def test_a_group_has_no_settings(self):
        done = tarry("run", "--policy", "mab:scale=2", *SMALL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("mab", done.stderr)


class Worlds(Folder):
    two = {"policy": ["opse", "se-delayed"], "horizon": 600, "runs": 3,
           "points": 4, "instance": "sphere:dim=3,arms=5", "worlds": [
               {"name": "quick", "delay": "none"},
               {"name": "slow", "instance": "basis:arms=4",
                "loss": "rademacher", "delay": "constant:rounds=50"}]}

    def test_each_world_is_as_if_it_were_alone(self):
        both = answer(self.file("two.json", self.two))
        self.assertEqual([w["name"] for w in both["worlds"]],
                         ["quick", "slow"])
        alone = {k: v for k, v in self.two.items() if k != "worlds"}
        for world, got in zip(self.two["worlds"], both["worlds"]):
            one = dict(alone, **world)
            del one["name"]
            result = answer(self.file("one.json", one))
            self.assertEqual(got["config"], result["config"])
            for a, b in zip(got["policies"], result["policies"]):
                self.assertEqual(a["regret"], b["regret"])
                self.assertEqual(a["curve"], b["curve"])

    def test_the_table_has_a_line_per_policy_and_a_best_per_world(self):
        done = tarry("run", self.file("two.json", self.two))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        head = next(l for l in lines if l.startswith("policy")).split()
        self.assertEqual(head, ["policy", "mean", "quick", "slow"])
        rows = [l.replace("*", " ").split() for l in lines
                if l.startswith(("opse", "se-delayed"))]
        self.assertEqual(len(rows), 2)
        for column in (2, 3):
            ratios = [float(row[column]) for row in rows]
            self.assertEqual(min(ratios), 1)

    def test_the_table_is_made_of_the_numbers_of_the_json(self):
        # greedy pays nothing in "sure": no ratio there says anything
        worlds = [{"name": "sure", "instance": "circle:arms=5",
                   "loss": "none", "delay": "none"}] + self.two["worlds"]
        names = ["uniform", "greedy", "se-delayed:scale=0.02", "ucb-delayed"]
        path = self.file("three.json",
                         dict(self.two, policy=names, worlds=worlds))
        regret = {}  # by policy, a number for each world
        lost = {}
        for world in answer(path)["worlds"]:
            for p in world["policies"]:
                regret.setdefault(p["name"], []).append(p["regret"]["mean"])
                lost.setdefault(p["name"], []).append(p["best_kept"] < 1)
        best = [min(r[w] for r in regret.values()) for w in range(3)]
        self.assertEqual(best[0], 0)
        expected = []
        for name in names:
            ratios = [1 if r == b else r / b if b > 0 else math.inf
                      for r, b in zip(regret[name], best)]
            mean = math.sqrt(ratios[1] * ratios[2])
            row = [name, f"{mean:.2f}"]
            row += [("inf" if math.isinf(r) else f"{r:.2f}") + "*" * l
                    for r, l in zip(ratios, lost[name])]
            expected.append((mean, row))
        expected = [row for _, row in sorted(expected)]
        self.assertTrue(any("*" in number for row in expected
                            for number in row))
        lines = tarry("run", path).stdout.splitlines()
        head = next(i for i, l in enumerate(lines) if l.startswith("policy"))
        self.assertEqual([l.split() for l in lines[head + 1:head + 5]],
                         expected)
        for w, line in enumerate(lines[-3:]):
            winner = min(names, key=lambda name: regret[name][w])
            self.assertTrue(line.startswith(worlds[w]["name"]), line)
            self.assertTrue(line.endswith(f" by {winner}"), line)

    def test_csv_and_curves_have_a_column_for_the_world(self):
        rows, curves = self.file("r.csv"), self.file("c.csv")
        answer(self.file("two.json", self.two), "--csv", rows, "--curves",
               curves)
        with open(rows) as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), 2 * 2 * 3)
        self.assertEqual({r["world"] for r in table}, {"quick", "slow"})
        with open(curves) as file:
            self.assertEqual(next(file).split(",")[0], "world")

    def test_a_resumed_experiment_ends_as_an_unbroken_one(self):
        path, journal = self.file("two.json", self.two), self.file("runs")
        whole = answer(path, "--resume", journal)
        with open(journal) as file:
            lines = file.readlines()
        self.assertEqual(len(lines), 1 + 2 * 2 * (1 + 3))
        with open(journal, "w") as file:  # some of each world, and a torn one
            file.writelines(lines[:1] + lines[3:5] + lines[8:11])
            file.write(lines[11][:40])
        again = answer(path, "--resume", journal)
        self.assertEqual(without_time(again), without_time(whole))

    def test_the_printed_config_makes_the_same_experiment(self):
        path = self.file("two.json", self.two)
        config = json.loads(tarry("run", path, "--print-config").stdout)
        self.assertEqual(len(config["worlds"]), 2)
        self.assertNotIn("delay", config)
        copy = self.file("copy.json", config)
        self.assertEqual(without_time(answer(copy)),
                         without_time(answer(path)))

    def test_options_win_in_all_worlds(self):
        path = self.file("two.json", self.two)
        result = answer(path, "--delay", "constant:rounds=7", "--seed", "5")
        for world in result["worlds"]:
            self.assertEqual(world["config"]["delay"], "constant:rounds=7")
            self.assertEqual(world["config"]["seed"], 5)

    def test_a_policy_that_can_run_in_no_world_is_refused(self):
        broken = dict(self.two, policy=["opse", "payoff-mab:D=-1"])
        done = tarry("run", self.file("b.json", broken))
        self.assertEqual(done.returncode, 2)
        self.assertIn("D", done.stderr)

    def test_bad_worlds_are_refused_by_name(self):
        for change, word in [
                ([], "worlds"), ("quick", "worlds"), ([3], "entry 0"),
                ([{"delay": "none"}], "name"),
                ([{"name": "a"}, {"name": "a"}], "'a'"),
                ([{"name": "a", "speed": "1"}], "speed"),
                ([{"name": "a", "delay": "tomorrow"}], "world a")]:
            path = self.file("bad.json", dict(self.two, worlds=change))
            done = tarry("run", path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(word, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


class Zoo(unittest.TestCase):
    def test_every_policy_meets_every_world_of_the_zoo(self):
        result = answer(ZOO, *SMALL)
        self.assertEqual(len(result["worlds"]), 12)
        for world in result["worlds"]:
            self.assertRegex(world["config"]["instance"], "dim=10,arms=100$")
            self.assertEqual(names(world), Groups.listed)
            for policy in world["policies"]:
                if "error" not in policy:
                    self.assertEqual(len(policy["regret"]["runs"]), 2)

    def test_the_result_does_not_depend_on_threads(self):
        one = answer(ZOO, *SMALL, "--threads", "1")
        two = answer(ZOO, *SMALL, "--threads", "2")
        self.assertEqual(without_time(one), without_time(two))


if __name__ == "__main__":
    unittest.main()
