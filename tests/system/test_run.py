"""tarry run: what it answers, refuses, keeps and resumes."""
import csv
import itertools
import json
import math
import os
import re
import pty
import resource
import signal
import subprocess
import time
import unittest

import numpy as np

import lab
from lab import LabTest, SMALL, TARRY, run, tarry, timeless

PHASED = ["phased-stochastic", "phased-adversarial", "phased-loss-dependent",
          "phased-mab"]
MPI = os.path.join(os.environ["TARRY_BUILD"], "tarry-mpi")


class Answer(LabTest):
    def test_json_has_the_keys_of_the_contract(self):
        result = run(*SMALL, "--seed", 2385)
        self.assertEqual(result["config"],
                         {"instance": "sphere:dim=3,arms=6",
                          "loss": "rademacher",
                          "delay": "exponential:mean=100", "policy": PHASED,
                          "horizon": 20000, "runs": 5, "seed": 2385,
                          "points": 20})
        self.assertRegex(result["version"], r"^\d+\.\d+\.\d+$")
        self.assertIs(result["partial"], False)
        self.assertEqual([p["name"] for p in result["policies"]], PHASED)
        for policy in result["policies"]:
            self.assertEqual(set(policy["regret"]),
                         {"mean", "ci95", "runs", "median", "q95", "worst"})
            self.assertEqual(len(policy["regret"]["runs"]), 5)
            for key in ("phases", "active", "best_kept", "sigma_max",
                        "rounds_per_second"):
                self.assertIsInstance(policy[key], float, key)
            self.assertGreater(policy["rounds_per_second"], 0)

    def test_curves_grow_and_end_at_the_mean_regret(self):
        for policy in run(*SMALL)["policies"]:
            rounds, mean, low, high = np.array(policy["curve"]).T
            self.assertTrue(np.all(np.diff(rounds) > 0))
            self.assertTrue(np.all(np.diff(mean) >= 0))
            self.assertTrue(np.all((low <= mean) & (mean <= high)))
            self.assertEqual((rounds[0], rounds[-1]), (1, 20000))
            self.assertEqual(mean[-1], policy["regret"]["mean"])
            self.assertAlmostEqual(high[-1] - mean[-1],
                                   policy["regret"]["ci95"], delta=1e-9)

    def test_mean_and_interval_are_those_of_the_runs(self):
        student = {2: 12.7062, 5: 2.7764, 20: 2.0930}  # 97.5 %, n - 1 degrees
        for n, factor in student.items():
            for policy in run(*SMALL, "--runs", n)["policies"]:
                runs = np.array(policy["regret"]["runs"])
                half = factor * runs.std(ddof=1) / math.sqrt(n)
                self.assertAlmostEqual(policy["regret"]["mean"] / runs.mean(),
                                       1, delta=1e-12)
                self.assertAlmostEqual(policy["regret"]["ci95"] / half, 1,
                                       delta=1e-3)
        only = run(*SMALL, "--runs", 1)["policies"][0]["regret"]
        self.assertEqual((only["mean"], only["ci95"]), (only["runs"][0], None))

    def test_phase_log_adds_up(self):
        for policy in run(*SMALL, "--horizon", "2e5")["policies"]:
            logs = policy["phase_log"]
            self.assertEqual(np.mean([len(log) for log in logs]),
                             policy["phases"])
            for log in logs:
                self.assertLess(sum(p["length"] for p in log), 2e5)
                active = [6] + [p["active_after"] for p in log]
                self.assertEqual(active, sorted(active, reverse=True))
                for p in log:
                    self.assertEqual(p["waited"],
                                     p["length"] - p["designated"])
                    self.assertGreaterEqual(p["waited"], 0)
            last = np.mean([log[-1]["active_after"] if log else 6
                            for log in logs])
            self.assertEqual(last, policy["active"])

    def test_every_loss_is_used_late_ignored_or_outstanding(self):
        for delay in ("exponential:mean=300", "constant:rounds=40,never=0.2",
                      "hold-rarest:sigma=70", "low-late:late=500"):
            for p in run(*SMALL, "--delay", delay)["policies"]:
                a = p["arrivals"]
                self.assertAlmostEqual(a["used"] + a["late"] + a["ignored"] +
                                       p["sigma"]["final"], 20000, delta=1e-6)

    def test_table_names_every_policy(self):
        done = tarry("run", *SMALL)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in PHASED:
            self.assertIn(name, done.stdout)


class SameLuck(LabTest):
    def test_threads_do_not_matter(self):
        for delay in ("lognormal", "hold-all:sigma=50"):
            expected = timeless(run(*SMALL, "--delay", delay, "--threads", 1))
            for threads in (2, 5):
                self.assertEqual(timeless(run(*SMALL, "--delay", delay,
                                              "--threads", threads)), expected)

    def test_threads_do_not_matter_where_designs_are_large(self):
        options = ["--instance", "lower-loss:dim=320,dbar=20", "--delay",
                   "theorem", "--policy", "phased-loss-dependent",
                   "--horizon", "3000", "--runs", "8"]
        expected = timeless(run(*options, "--threads", 1))
        for _ in range(1 if lab.SANITIZED else 5):
            self.assertEqual(timeless(run(*options, "--threads", 8)),
                             expected)

    @unittest.skipIf(lab.SANITIZED or not os.path.exists(MPI),
                     "needs tarry-mpi without sanitizers")
    def test_ranks_do_not_matter(self):
        expected = timeless(run(*SMALL))
        for ranks in (1, 2, 3):
            got = run(*SMALL, "--threads", 1, program=mpi(ranks))
            self.assertEqual(timeless(got), expected)

    def test_another_seed_is_another_answer(self):
        one, two = run(*SMALL), run(*SMALL, "--seed", 2)
        self.assertNotEqual(one["policies"][0]["regret"],
                            two["policies"][0]["regret"])

    def test_runs_differ_and_more_of_them_begin_alike(self):
        few, many = run(*SMALL), run(*SMALL, "--runs", 7)
        for a, b in zip(few["policies"], many["policies"]):
            self.assertEqual(a["regret"]["runs"], b["regret"]["runs"][:5])
            self.assertEqual(len(set(b["regret"]["runs"])), 7)

    def test_the_same_policy_by_another_name_is_no_different(self):
        names = ["phased-stochastic", "phased-stochastic:rank_tolerance=1e-11"]
        a, b = timeless(run(*SMALL, "--policy", names[0], "--policy",
                            names[1]))["policies"]
        self.assertEqual([a.pop("name"), b.pop("name")], names)
        self.assertEqual(a, b)
        self.assertEqual((a["above_best"]["mean"], a["above_best"]["ci95"]),
                         (0, 0))

    def test_the_same_policy_twice_is_run_once(self):
        twice = ["--policy", "phased-stochastic"] * 2
        one, = timeless(run(*SMALL, *twice))["policies"]
        self.assertEqual(one["name"], "phased-stochastic")

    def test_policies_do_not_change_each_other(self):
        together = timeless(run(*SMALL))["policies"]
        for policy in together:
            alone, = timeless(run(*SMALL, "--policy",
                                  policy["name"]))["policies"]
            for key in ("regret", "curve", "phase_log", "arrivals", "sigma"):
                self.assertEqual(alone[key], policy[key])

    def test_differences_are_run_by_run(self):
        policies = run(*SMALL)["policies"]
        best = min(policies, key=lambda p: p["regret"]["mean"])
        for p in policies:
            d = np.subtract(p["regret"]["runs"], best["regret"]["runs"])
            half = 2.7764 * d.std(ddof=1) / math.sqrt(5)
            self.assertEqual(p["above_best"]["best"], best["name"])
            self.assertAlmostEqual(p["above_best"]["mean"], d.mean(),
                                   delta=1e-8)
            self.assertAlmostEqual(p["above_best"]["ci95"], half,
                                   delta=1e-3 * half + 1e-9)

    def test_points_do_not_change_the_result(self):
        few, many = run(*SMALL, "--points", 1), run(*SMALL, "--points", 256)
        for a, b in zip(few["policies"], many["policies"]):
            self.assertEqual(a["regret"], b["regret"])
            self.assertEqual(a["curve"][-1], b["curve"][-1])
            self.assertEqual(len(a["curve"]), 1)


def mpi(ranks):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n",
            str(ranks), MPI]


class ExperimentFile(LabTest):
    def config(self, **changes):
        config = json.loads(tarry("run", *SMALL, "--print-config").stdout)
        config.update(changes)
        return self.write("experiment.json", json.dumps(config))

    def test_a_printed_experiment_reads_back(self):
        options = [*SMALL, "--delay", "lomax:shape=2.385,never=0.1", "--loss",
                   "uniform:low=-1", "--policy",
                   "phased-mab:rank_tolerance=1e-10", "--seed", "7"]
        first = tarry("run", *options, "--print-config")
        path = self.write("experiment.json", first.stdout)
        again = tarry("run", path, "--print-config")
        self.assertEqual((again.returncode, again.stdout), (0, first.stdout))
        self.assertEqual(timeless(run(path)), timeless(run(*options)))

    def test_options_win_over_the_file(self):
        path = self.config(seed=5)
        for order in ([path, "--runs", 2, "--policy", "phased-mab"],
                      ["--runs", 2, "--policy", "phased-mab", path]):
            result = run(*order)
            self.assertEqual(result["config"]["runs"], 2)
            self.assertEqual(result["config"]["seed"], 5)
            self.assertEqual(result["config"]["policy"], ["phased-mab"])

    def test_a_policy_may_be_a_text_or_a_list(self):
        text = run(self.config(policy="phased-mab"))
        self.assertEqual(timeless(text),
                         timeless(run(self.config(policy=["phased-mab"]))))

    def test_wrong_keys_and_types_are_refused(self):
        wrong = {"horzon": 5, "horizon": "many", "runs": 2.5, "seed": -1,
                 "points": None, "instance": 3, "delay": ["none"],
                 "loss": {}, "policy": [1]}
        for key, value in wrong.items():
            path = self.config(**{key: value})
            self.refused("run", path, says=[path, key])
        for policy in (7, [], {}, ["phased-mab"] * 65):
            path = self.config(policy=policy)
            self.refused("run", path, says=[path, "policy"])

    def test_wrong_worlds_are_refused(self):
        one = {"name": "one", "instance": "basis:arms=3", "loss": "uniform",
               "delay": "constant:rounds=3"}
        worlds = run(self.config(worlds=[one], horizon=100))["worlds"]
        self.assertEqual([world["name"] for world in worlds], ["one"])
        self.assertLessEqual(one.items() - {("name", "one")},
                             {(key, value) for key, value in
                              worlds[0]["config"].items()
                              if isinstance(value, str)})
        for worlds, says in (
                ([], "not a list of 1"), ({}, "not a list of 1"),
                ([one, one], "two of the name 'one'"),
                ([one, {**one, "delay": "none"}], "'one'"),
                ([{"delay": "none"}], "without a name"),
                ([{"name": ""}], "without a name"), ([7], "entry 0"),
                ([one, "two"], "entry 1"), ([{"name": 3}], "name"),
                ([{"name": "x", "horizon": 5}], "'horizon'"),
                ([{"name": "x", "loss": 1}], "loss")):
            path = self.config(worlds=worlds)
            self.refused("run", path, says=[path, says])

    def test_values_out_of_range_are_refused(self):
        for key, value in {"horizon": 1, "runs": 0, "points": 257}.items():
            self.refused("run", self.config(**{key: value}), says=key)
        for value in (2 ** 53 + 1, 1.5, -1, "1", None, [2]):
            path = self.config(seed=value)
            self.refused("run", path, says=["%s: seed: " % path,
                                            ": " + json.dumps(value)])

    def test_bad_json_is_refused_with_its_place(self):
        for text, place in (('{"runs": 3,\n "seed": }', ":2:"),
                            ('{"runs": 3, "runs": 4}', ":1:"), ("", ":1:"),
                            ('{"runs": 3} more', ":1:")):
            path = self.write("bad.json", text)
            self.refused("run", path, says=path + place)
        path = self.write("list.json", "[1, 2]")
        self.refused("run", path, says=path)
        missing = self.path("missing.json")
        self.assertNotIn(":-1", self.refused("run", missing, says=missing))


class Files(LabTest):
    def test_no_result_takes_the_place_of_another(self):
        options, path = ["--csv", "--curves", "--resume"], self.path("one")
        for one, other in itertools.combinations(options, 2):
            self.refused("run", *SMALL, one, path, other, path,
                         says="'%s'" % path)
            self.assertFalse(os.path.exists(path))
        run(*SMALL, "--csv", "/dev/null", "--curves", "/dev/null")

    def test_csv_has_a_row_per_run_that_agrees_with_the_json(self):
        table = self.path("runs.csv")
        policies = ["--policy", "phased-stochastic:rank_tolerance=1e-11,"
                    "constants=paper", "--policy", "phased-mab"]
        result = run(*SMALL, *policies, "--csv", table)
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 10)
        for k, p in enumerate(result["policies"]):
            mine = rows[5 * k:5 * k + 5]
            self.assertEqual({r["policy"] for r in mine}, {p["name"]})
            self.assertEqual([r["run"] for r in mine], list("01234"))

            def column(key):
                return [float(r[key]) for r in mine]
            self.assertEqual(column("regret"), p["regret"]["runs"])
            self.assertEqual(max(column("sigma_max")), p["sigma_max"])
            for key in ("phases", "active", "best_kept"):
                self.assertAlmostEqual(np.mean(column(key)), p[key])
            for key in ("used", "late", "ignored", "lost"):
                self.assertAlmostEqual(np.mean(column(key)),
                                       p["arrivals"][key], delta=1e-6)
            for key in ("mean", "final"):
                self.assertAlmostEqual(np.mean(column("sigma_" + key)),
                                       p["sigma"][key], delta=1e-6)

    def test_curves_agree_with_the_json(self):
        path = self.path("curves.csv")
        result = run(*SMALL, "--curves", path)
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        expected = [[p["name"], *point] for p in result["policies"]
                    for point in p["curve"]]
        self.assertEqual([[r["policy"], int(r["round"]), float(r["mean"]),
                           float(r["low"]), float(r["high"])] for r in rows],
                         expected)

    def test_a_full_disk_is_a_failed_job(self):
        for options in ([], ["--json"], ["--print-config"], ["--help"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TARRY, "run", *SMALL, *options],
                                      stdout=full, stderr=subprocess.PIPE,
                                      text=True)
            self.assertEqual(done.returncode, 1, options)
            self.assertEqual(done.stderr.count("\n"), 1)
        for option in ("--csv", "--curves"):
            done = tarry("run", *SMALL, option, "/dev/full", "--json")
            self.assertEqual(done.returncode, 1)
            self.assertIn("/dev/full", done.stderr)
            json.loads(done.stdout)  # the answer is not lost

    def test_files_that_cannot_be_made_are_named_before_the_work(self):
        nowhere = self.path("no/such/folder")
        for option in ("--csv", "--curves", "--resume", "--export-instance"):
            self.refused("run", "--horizon", "1e11", option, nowhere,
                         says=nowhere)

    def test_progress_is_for_terminals_only(self):
        terminal, other_end = pty.openpty()
        done = subprocess.run([TARRY, "run", *SMALL, "--horizon", "2e5",
                               "--json"], stdout=subprocess.PIPE,
                              stderr=other_end)
        os.close(other_end)
        self.assertEqual(done.returncode, 0)
        json.loads(done.stdout)
        self.assertIn(b"rounds/s", os.read(terminal, 10000))
        os.close(terminal)


class Resume(LabTest):
    def keep(self, *options):
        path = self.path("kept")
        return path, timeless(run(*SMALL, *options, "--resume", path))

    def lines(self, path):
        with open(path) as file:
            return file.readlines()

    def trials(self, path):
        """(key, run, regret) of each trial, sorted."""
        found = [json.loads(line) for line in self.lines(path)]
        return sorted((n["trial"], n["run"], n["regret"]) for n in found
                      if "trial" in n)

    def test_finished_runs_are_not_repeated(self):
        path, expected = self.keep()
        lines = self.lines(path)
        self.assertEqual(len(lines), 1 + 4 * (1 + 5))
        self.assertEqual(expected, timeless(run(*SMALL)))
        before = os.stat(path).st_mtime_ns
        again = run(*SMALL, "--resume", path, "--threads", 3)
        self.assertEqual(timeless(again), expected)
        self.assertEqual(os.stat(path).st_mtime_ns, before)

    def interrupt(self, journal, lines, *options):
        """What a run says that is stopped when its journal has so many."""
        process = subprocess.Popen(
            [TARRY, "run", "--resume", journal, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and (not os.path.exists(journal) or
                                          len(self.lines(journal)) < lines):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate()
        self.assertEqual(process.returncode, 1)
        return said

    def test_an_interrupted_sweep_reports_and_goes_on(self):
        path = self.path("kept")
        options = ["--instance", "sphere:dim=4,arms=9", "--runs", "12",
                   "--horizon", "2e5" if lab.SANITIZED else "3e6",
                   "--policy", "phased-stochastic", "--threads", "1"]
        out, err = self.interrupt(path, 4, *options, "--json")
        self.assertIn("interrupted", err)
        self.assertEqual(err.count("\n"), 1)
        partial = json.loads(out)
        self.assertIs(partial["partial"], True)
        done = partial["policies"][0]["regret"]["runs"]
        kept = self.lines(path)
        self.assertEqual(len(kept) - 2, len(done))
        self.assertLess(len(done), 12)
        resumed = run(*options, "--resume", path)
        self.assertEqual(self.lines(path)[:len(kept)], kept)
        self.assertEqual(len(self.lines(path)), 14)
        self.assertEqual(resumed["policies"][0]["regret"]["runs"][:len(done)],
                         done)
        self.assertEqual(timeless(resumed), timeless(run(*options)))

    def test_a_last_line_cut_anywhere_is_written_anew(self):
        path, expected = self.keep()
        lines, trials = self.lines(path), self.trials(path)
        for keep in (1, 30, len(lines[-1]) // 2, len(lines[-1]) - 1):
            self.write("kept", "".join(lines[:-1]) + lines[-1][:keep])
            self.assertEqual(timeless(run(*SMALL, "--resume", path)), expected)
            self.assertEqual(self.trials(path), trials)

    def test_a_journal_serves_other_experiments_too(self):
        """What differs is played and added; what is the same is not."""
        path, expected = self.keep()
        for other, new in ((["--seed", 2], 20), (["--horizon", 20001], 20),
                           (["--delay", "none"], 20), (["--points", 21], 20),
                           (["--policy", "phased-mab"], 0),
                           (["--policy", "lints"], 5)):
            before = self.lines(path)
            self.assertEqual(timeless(run(*SMALL, *other, "--resume", path)),
                             timeless(run(*SMALL, *other)))
            lines = self.lines(path)
            self.assertEqual(lines[:len(before)], before)
            self.assertEqual(len(lines) - len(before), new + new // 5)
        self.assertEqual(timeless(run(*SMALL, "--resume", path)), expected)
        self.assertEqual(self.lines(path), lines)

    def test_what_is_refused_leaves_a_journal_as_it_is(self):
        path, _ = self.keep()
        before = self.lines(path)
        arms = self.write("a.csv", "1,0\n0,1\n")
        for theta in ("x", "1,0,0"):
            world = ["--instance", "file:arms=%s,theta=%s" % (
                arms, self.write("t.csv", theta + "\n"))]
            self.refused("run", *SMALL, *world, "--resume", path, says="")
        self.assertEqual(self.lines(path), before)

    def test_threads_are_not_part_of_the_experiment(self):
        path, expected = self.keep("--threads", 1)
        self.assertEqual(timeless(run(*SMALL, "--resume", path, "--threads",
                                      2)), expected)

    def test_more_runs_continue_the_experiment(self):
        path, _ = self.keep()
        kept = self.lines(path)
        more = [*SMALL, "--runs", 7]
        self.assertEqual(timeless(run(*more, "--resume", path)),
                         timeless(run(*more)))
        self.assertEqual(self.lines(path)[:len(kept)], kept)
        self.assertEqual(len(self.lines(path)), len(kept) + 4 * 2)

    def test_fewer_runs_are_answered_from_the_journal(self):
        path, _ = self.keep()
        before = self.lines(path)
        fewer = [*SMALL, "--runs", 2]
        self.assertEqual(timeless(run(*fewer, "--resume", path)),
                         timeless(run(*fewer)))
        self.assertEqual(self.lines(path), before)

    def test_a_file_of_the_world_that_was_rewritten_is_noticed(self):
        for delays, other in (("3\n40\n", "3\n41\n"), ("5\n" * 9, "5\n" * 8)):
            file = self.write("delays.csv", delays)
            options = [*SMALL, "--delay", "empirical:file=" + file]
            path = self.path("kept")
            run(*options, "--resume", path)
            before = self.lines(path)
            self.write("delays.csv", other)
            self.assertEqual(timeless(run(*options, "--resume", path)),
                             timeless(run(*options)))
            self.assertEqual(len(self.lines(path)), 2 * len(before) - 1)
            os.remove(path)

    def test_every_damaged_line_is_left_out_and_run_again(self):
        path, expected = self.keep()
        lines = self.lines(path)
        digit = re.search(r'"regret":-?[0-9.]*[0-9]', lines[4]).end() - 1
        changed = "1" if lines[4][digit] != "1" else "2"
        for damaged in ("nonsense\n", lines[4][:-10] + "\n", "{}\n", "\n",
                        re.sub(r'"trial":"\w+', '"trial":"99', lines[4]),
                        re.sub(r'"run":\d+', '"run":-1', lines[4]),
                        re.sub(r'"regret":[^,]+', '"regret":null', lines[4]),
                        lines[4][:digit] + changed + lines[4][digit + 1:]):
            self.write("kept", "".join(lines[:4]) + damaged +
                       "".join(lines[5:]))
            done = tarry("run", *SMALL, "--json", "--resume", path)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(timeless(json.loads(done.stdout)), expected)
            self.assertEqual(done.stderr, "tarry: note: %s: 1 damaged line "
                             "left out; run again\n" % path)

    def test_any_changed_digit_of_a_number_is_found(self):
        path, expected = self.keep()
        lines = self.lines(path)
        text = "".join(lines)
        start = len(lines[0])
        digits = [i for i in range(start, len(text)) if text[i].isdigit()]
        for i in digits[::len(digits) // 40]:
            other = str((int(text[i]) + 1) % 10)
            self.write("kept", text[:i] + other + text[i + 1:])
            done = tarry("run", *SMALL, "--json", "--resume", path)
            self.assertIn("1 damaged line", done.stderr)
            self.assertEqual(timeless(json.loads(done.stdout)), expected)

    def test_a_heading_cut_anywhere_is_written_anew(self):
        path, expected = self.keep()
        heading = self.lines(path)[0]
        for keep in (0, 1, 20, len(heading) // 2, len(heading) - 1):
            self.write("kept", heading[:keep])
            self.assertEqual(timeless(run(*SMALL, "--resume", path)), expected)
            self.assertEqual(self.lines(path)[0], heading)

    def test_a_second_process_is_told_the_first(self):
        path = self.path("kept")
        first = subprocess.Popen(
            [TARRY, "run", "--horizon", "1e9", "--runs", "1", "--policy",
             "uniform", "--resume", path], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        while not os.path.exists(path) or not self.lines(path):
            time.sleep(0.01)
        try:
            self.refused("run", "--horizon", "1e9", "--runs", "1", "--policy",
                         "uniform", "--resume", path,
                         says="another job, in process %d," % first.pid)
        finally:
            first.kill()
            first.communicate()
        self.assertEqual(len(self.lines(path)), 1)

    def test_files_of_something_else_are_refused(self):
        for text in ("some notes\n", "\n", "{}\n", "no newline"):
            path = self.write("notes", text)
            self.refused("run", *SMALL, "--resume", path, says=path + ":1:")
            self.assertEqual(self.lines(path), [text])

    def test_a_journal_that_cannot_grow_is_a_failed_job(self):
        path = self.path("kept")

        def limit():  # room for a run or two
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
        self.refused("run", *SMALL, "--resume", path, code=1, says=path,
                     preexec_fn=limit, restore_signals=False)
        self.assertEqual(timeless(run(*SMALL, "--resume", path)),
                         timeless(run(*SMALL)))

    def test_one_finished_run_of_many_has_no_interval(self):
        path = self.path("kept")
        out, _ = self.interrupt(
            path, 3, "--horizon", "3e6" if lab.SANITIZED else "3e7", "--runs",
            "9", "--threads", "1", "--policy", "phased-stochastic")
        self.assertEqual(len(self.lines(path)), 3)
        row = re.search("^phased-stochastic .*", out, re.M)[0].split()
        self.assertEqual([row[2], row[4]], ["-", "-"])

    def test_policies_without_finished_runs_are_not_reported(self):
        """The second of the policies does not end before it is stopped."""
        table, curves = self.path("runs.csv"), self.path("curves.csv")
        options = ["--horizon", "2e7" if lab.SANITIZED else "1e8", "--runs",
                   "1", "--threads", "1", "--instance", "sphere:dim=2,arms=3",
                   "--policy", "oracle", "--policy", "linucb"]
        path = self.path("kept")
        out, _ = self.interrupt(path, 3, "--json", "--csv", table, "--curves",
                                curves, *options)
        names = [p["name"] for p in json.loads(out)["policies"]]
        self.assertEqual(names, ["oracle"])
        for file in (table, curves):
            with open(file, newline="") as rows:
                self.assertEqual({r["policy"] for r in csv.DictReader(rows)},
                                 set(names))

    @unittest.skipIf(lab.SANITIZED or not os.path.exists(MPI),
                     "needs tarry-mpi without sanitizers")
    def test_ranks_resume_and_refuse_as_well(self):
        path, expected = self.keep()
        self.write("kept", "".join(self.lines(path)[:8]))
        got = run(*SMALL, "--resume", path, program=mpi(2))
        self.assertEqual(timeless(got), expected)
        self.write("kept", "notes\n")
        done = tarry("run", *SMALL, "--resume", path, program=mpi(2),
                     timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(path + ":1:", done.stderr)


class Instances(LabTest):
    def export(self, instance, *options):
        folder = self.path("world")
        done = tarry("run", "--instance", instance, "--export-instance",
                     folder, *options)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", ""))
        self.arms_file = os.path.join(folder, "arms.csv")
        self.theta_file = os.path.join(folder, "theta.csv")
        with open(os.path.join(folder, "world.json")) as file:
            world = json.load(file)
        arms = np.loadtxt(self.arms_file, delimiter=",", ndmin=2)
        theta = np.loadtxt(self.theta_file, ndmin=1)
        self.assertEqual(arms.shape, (world["arms"], world["dim"]))
        means = arms @ theta
        np.testing.assert_allclose(world["means"], means, atol=1e-13)
        self.assertAlmostEqual(means[world["best"]], means.min(), delta=1e-13)
        return arms, theta, world

    def nearly_orthogonal(self, arms, within):
        gram = arms @ arms.T
        np.testing.assert_allclose(np.diag(gram), 1, atol=1e-12)
        np.fill_diagonal(gram, 0)
        self.assertLessEqual(np.abs(gram).max(), within)

    def test_orthogonal_arms_nearly_are(self):
        arms, theta, _ = self.export("orthogonal:dim=60,arms=300,scale=0.5")
        self.nearly_orthogonal(arms, math.sqrt(8 * math.log(300) / 60))
        self.assertAlmostEqual(np.linalg.norm(theta), 0.5)
        arms, _, _ = self.export("orthogonal:dim=60,arms=40,within=0.45")
        self.nearly_orthogonal(arms, 0.45)

    def test_lower_loss_is_the_theorems_instance(self):
        n, dbar = 320, 20
        arms, theta, world = self.export(f"lower-loss:dim={n},dbar={dbar}",
                                         "--delay", "theorem")
        q = math.sqrt(8 * math.log(dbar * n) / n)
        K = math.ceil(2 * dbar / q)
        self.assertEqual(arms.shape, (K, n))
        self.nearly_orthogonal(arms, math.sqrt(8 * math.log(K) / n))
        np.testing.assert_array_equal(theta, -arms[world["best"]])
        others = np.delete(arms @ theta, world["best"])
        self.assertLessEqual(np.abs(others).max(), q)

    def test_lower_payoff_is_the_theorems_instance(self):
        n, K = 240, 11
        arms, theta, world = self.export(
            f"lower-payoff:dim={n},arms={K}", "--loss", "none", "--delay",
            "payoff:D=50")
        sets = np.rint(arms * math.sqrt(n))
        np.testing.assert_allclose(arms, sets / math.sqrt(n), atol=1e-15)
        self.assertTrue(np.all((sets == 0) | (sets == 1)))
        np.testing.assert_array_equal(sets.sum(axis=1), n / 2)
        missing = n / 2 - sets @ sets.T  # |S_i without S_j|
        np.fill_diagonal(missing, n)
        self.assertGreaterEqual(missing.min(), n / 20)
        np.testing.assert_allclose(
            theta, (1 - sets[world["best"]]) / math.sqrt(n), atol=1e-15)

    def test_hard_instances_draw_the_best_arm_by_seed(self):
        best = {self.export("lower-loss:dim=320,dbar=20", "--seed",
                            seed)[2]["best"] for seed in range(8)}
        self.assertGreater(len(best), 2)

    def test_an_exported_world_gives_the_same_regret(self):
        for instance in ("sphere:dim=4,arms=9", "cube:dim=4,arms=9",
                         "basis:arms=7", "optimism",
                         "orthogonal:dim=30,arms=60"):
            options = ["--runs", "1", "--horizon", "3e4", "--delay",
                       "uniform:high=300"]
            self.export(instance)
            drawn = run("--instance", instance, *options)
            read = run("--instance", f"file:arms={self.arms_file},"
                       f"theta={self.theta_file}", *options)
            for a, b in zip(drawn["policies"], read["policies"]):
                self.assertEqual(a["phase_log"], b["phase_log"])
                self.assertAlmostEqual(
                    a["regret"]["mean"], b["regret"]["mean"],
                    delta=1e-9 * (1 + a["regret"]["mean"]))

    def test_fixed_instances_are_the_same_in_every_run(self):
        self.export("sphere:dim=4,arms=9,fixed=1")
        options = ["--runs", "3", "--horizon", "2e4"]
        drawn = run("--instance", "sphere:dim=4,arms=9,fixed=1", *options)
        read = run("--instance", f"file:arms={self.arms_file},"
                   f"theta={self.theta_file}", *options)
        self.assertEqual(drawn["policies"][0]["regret"]["runs"],
                         read["policies"][0]["regret"]["runs"])

    def test_conditions_that_fail_are_named(self):
        for instance, inequality in (
                ("lower-loss:dim=200,dbar=50", "dim >= 32 log(dbar dim)"),
                ("lower-payoff:dim=200,arms=8", "arms <= exp(dim / 100)"),
                ("lower-payoff:dim=201", "even")):
            self.refused("run", "--instance", instance, says=inequality)
        self.refused("run", "--instance", "lower-payoff:dim=240,arms=3",
                     "--loss", "none", "--delay", "payoff:D=31", says="10")
        self.refused("run", "--instance",
                     "orthogonal:dim=2,arms=50,within=0.01",
                     says=["arms", "product"])
        self.refused("run", "--delay", "theorem", says="lower-loss")
        self.refused("run", "--delay", "payoff", says="payoff")


class Delays(LabTest):
    HORIZON, RUNS = 30000, 8

    def sigma(self, delay, *options):
        return run("--instance", "sphere:dim=3,arms=6", "--policy",
                   "phased-mab", "--horizon", self.HORIZON, "--runs",
                   self.RUNS, "--delay", delay, *options)["policies"][0]

    def test_outstanding_plays_are_as_many_as_the_mean_delay(self):
        """sum of sigma_t = sum of min(d_t, T - t), so its mean follows from
        the tail P(d >= j); margin 4 standard errors."""
        T = self.HORIZON
        j = np.arange(1, T, dtype=float)
        poisson = np.concatenate([[0], np.cumsum(np.log(np.arange(1, 600)))])
        pmf = np.exp(np.arange(600) * math.log(30) - 30 - poisson)
        tail = np.zeros(T - 1)
        tail[:599] = pmf[::-1].cumsum()[::-1][1:]
        erfc = np.vectorize(math.erfc)
        laws = {
            "none": 0 * j,
            "constant:rounds=77": (j <= 77) * 1.0,
            "uniform:low=20,high=120": np.clip((121 - j) / 101, 0, 1),
            "geometric:mean=50": (50 / 51) ** j,
            "exponential:mean=100": np.exp(-j / 100),
            "poisson:mean=30": tail,
            "lomax:shape=3,mean=100": (1 + j / 200) ** -3.0,
            "pareto:shape=3,mean=90": np.minimum((60 / j) ** 3, 1),
            "lognormal:median=60,sigma=0.8":
                erfc(np.log(j / 60) / 0.8 / math.sqrt(2)) / 2,
            "weibull:shape=0.7,scale=100": np.exp(-(j / 100) ** 0.7),
            "two-point:low=3,high=1000,p=0.1": (j <= 3) * 0.9 +
                                               (j <= 1000) * 0.1,
        }
        for delay, tail in laws.items():
            expected = (tail * (T - j)).sum() / T
            variance = ((2 * j - 1) * tail).sum() - tail.sum() ** 2
            error = math.sqrt(max(variance, 0) / T / self.RUNS)
            self.assertAlmostEqual(self.sigma(delay)["sigma"]["mean"],
                                   expected, delta=4 * error + 1e-9,
                                   msg=delay)

    def test_lost_feedback_is_counted(self):
        """Within 4 standard errors of a binomial."""
        p, n = 0.2385, self.HORIZON
        for delay in ("none", "exponential:mean=20", "two-point:high=50"):
            spec = delay + (",never=" if ":" in delay else ":never=") + str(p)
            if delay == "none":
                spec = f"constant:rounds=0,never={p}"
            got = self.sigma(spec)
            error = math.sqrt(p * (1 - p) * n / self.RUNS)
            self.assertAlmostEqual(got["arrivals"]["lost"], p * n,
                                   delta=4 * error)
            self.assertGreaterEqual(got["sigma"]["final"],
                                    got["arrivals"]["lost"])
        self.assertEqual(self.sigma("exponential")["arrivals"]["lost"], 0)

    def test_adversaries_keep_their_budget(self):
        script = self.write("script", "".join(f"{d * 37 % 500}\n"
                                              for d in range(100)))
        for delay in ("hold-rarest", "hold-all", "hold-newest",
                      "hold-all:period=10", f"script:file={script}"):
            for sigma in (0, 1, 23):
                spec = (f"{delay}{',' if ':' in delay else ':'}"
                        f"sigma={sigma}")
                result = run(*SMALL, "--delay", spec)
                largest = [p["sigma_max"] for p in result["policies"]]
                self.assertLessEqual(max(largest), sigma, spec)
                if sigma > 0:
                    self.assertGreater(max(largest), 0, spec)

    def test_holding_the_newest_uses_the_whole_budget(self):
        got = self.sigma("hold-newest:sigma=23")
        self.assertEqual(got["sigma_max"], 23)
        self.assertEqual(got["sigma"]["final"], 23)


class Refusals(LabTest):
    def test_counts_out_of_range(self):
        for option, values in {
                "--horizon": ["0", "1", "2^5", "1e12", "-3", "2.5", "many"],
                "--runs": ["0", "1000001", "-1"],
                "--points": ["0", "257"],
                "--threads": ["1025", "x"],
                "--seed": ["-1", "1e17", ""]}.items():
            for value in values:
                self.refused("run", f"{option}={value}", says=option)

    def test_unknown_names_and_settings(self):
        for option in ("--policy", "--instance", "--loss", "--delay"):
            self.refused("run", option, "nobody", says="nobody")
            self.refused("run", option, "", says="")
        for option, spec, says in (
                ("--policy", "phased-mab:colour=red", "colour"),
                ("--policy", "phased-mab:rank_tolerance=x", "rank_tolerance"),
                ("--policy", "phased-mab:constants=loose", "loose"),
                ("--instance", "sphere:dim=0", "dim"),
                ("--instance", "sphere:arms=2.5", "arms"),
                ("--instance", "sphere:arms=3,arms=4", "arms"),
                ("--instance", "sphere:arms", "arms"),
                ("--instance", "sphere:scale=1.5", "outside [-1, 1]"),
                ("--instance", "file", "arms"),
                ("--loss", "normal:sd=-1", "sd"),
                ("--loss", "bernoulli", "bernoulli"),
                ("--delay", "constant:rounds=-1", "rounds"),
                ("--delay", "exponential:mean=nan", "mean"),
                ("--delay", "exponential:never=1.5", "never"),
                ("--delay", "two-point:p=2", "p"),
                ("--delay", "hold-all:sigma=1e9", "sigma"),
                ("--delay", "empirical:file=/no/such/file", "/no/such/file")):
            self.refused("run", option, spec, says=says)

    def test_the_last_policy_is_looked_at_before_the_first_runs(self):
        for bad, says in (("nobody", "nobody"),
                          ("phased-mab:colour=red", "colour")):
            self.refused("run", "--horizon", "1e11", "--policy", "phased-mab",
                         "--policy", bad, says=says, timeout=60)

    def test_unknown_options_and_arguments(self):
        self.refused("run", "--policies", "x", says="--policies")
        self.refused("run", "-j", says="-j")
        self.refused("run", "--runs", says="--runs")
        self.refused("run", "--json=yes", says="--json")
        self.refused("run", "a.json", "b.json", says="b.json")
        self.refused("run", *["--policy", "phased-mab"] * 65, says="64")
        self.refused("jog", says="jog")


if __name__ == "__main__":
    unittest.main()
