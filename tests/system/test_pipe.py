"""The lines `tarry pipe` understands, the ones it refuses, and its options."""
import json
import os
import select
import unittest

import numpy as np

from pipe import POLICIES, Folder, Pipe, run

ARMS = [[0.8, 0.2, 0.0], [0.1, 0.6, 0.3], [0.0, 0.1, 0.9], [0.3, 0.3, 0.4]]
HORIZON = 100000


class PipeTest(unittest.TestCase):

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)
        self.arms = self.folder.arms(ARMS)

    def options(self, policy="phased-adversarial", horizon=HORIZON):
        return ["--policy", policy, "--arms", self.arms, "--horizon", horizon]

    def start(self, *more, **known):
        pipe = Pipe(*self.options(**known), *more, cwd=self.folder.name)
        self.addCleanup(pipe.__exit__)
        return pipe


# ---- good lines -------------------------------------------------------------

class GoodLines(PipeTest):

    def test_each_answer_comes_at_once_although_input_stays_open(self):
        pipe = self.start()
        for line in ["choose", "observe 1 0.25", "status", "nonsense",
                     "save " + self.folder.path("state")]:
            pipe.send(line.encode() + b"\n")
            ready, _, _ = select.select([pipe.process.stdout], [], [], 20)
            self.assertTrue(ready, line)
            pipe.answer()

    def test_half_a_line_waits_for_the_other_half(self):
        pipe = self.start()
        pipe.send(b"cho")
        ready, _, _ = select.select([pipe.process.stdout], [], [], 0.05)
        self.assertFalse(ready)
        pipe.send(b"ose\n")
        self.assertEqual(pipe.answer(), "1 0")

    def test_a_last_line_without_its_end_is_refused(self):
        self.assertEqual(run("pipe", *self.options(), input=b"choose\nchoose"),
                         (0, b"1 0\nerror the input ended inside a line\n",
                          ""))

    def test_batches_and_single_lines_give_the_same_answers(self):
        lines = ["choose"] * 30 + ["observe %d -0.5" % i for i in range(1, 31)]
        lines.append("status")
        one, all_at_once = self.start(), self.start()
        self.assertEqual([one.one(line) for line in lines],
                         all_at_once.ask(lines))

    def test_space_around_words_and_other_ways_to_write_numbers_are_fine(self):
        pipe = self.start()
        pipe.choose(5)
        pipe.send(b"  choose\t\r\nobserve\t1 \t0.5 \r\nobserve 2 +.5\n"
                  b"observe 3 -5e-1\nobserve 4 1\nobserve 5 -1.0\n")
        self.assertEqual([pipe.answer() for _ in range(6)],
                         ["6 0"] + ["ok"] * 5)
        self.assertEqual(pipe.status()["pending"], 1)

    def test_without_a_policy_the_recommended_one_plays(self):
        default = Pipe("--arms", self.arms, "--horizon", HORIZON)
        self.addCleanup(default.__exit__)
        for pipe in (default, self.start(policy="recommended")):
            self.assertEqual(len(pipe.many("choose 50")), 51)
        meant = [p["stands_for"]
                 for p in json.loads(run("list", "--json")[1])["policies"]
                 if p["name"] == "recommended"][0]
        self.assertEqual(self.start(policy="recommended").many("choose 9"),
                         self.start(policy=meant).many("choose 9"))

    def test_many_choices_at_once_are_those_of_many_lines(self):
        one, many = self.start(policy="lints"), self.start(policy="lints")
        singly = one.ask(["choose"] * 20)
        self.assertEqual(many.many("choose 15"), singly[:15] + ["ok 15"])
        self.assertEqual(many.many("choose 5"), singly[15:] + ["ok 5"])
        self.assertEqual(one.one("status"), many.one("status"))
        ids = [line.split()[0] for line in many.many("choose 1000")]
        self.assertEqual(ids, [str(t) for t in range(21, 1021)] + ["ok"])

    def test_the_horizon_cuts_many_choices_short(self):
        pipe = self.start(horizon=10)
        self.assertEqual(pipe.many("choose 7")[-1], "ok 7")
        self.assertEqual(pipe.many("choose 7")[-1], "ok 3")
        self.assertRegex(pipe.one("choose 7"), "^error .*horizon")

    def test_own_ids_stand_for_their_choice_and_repeat_it(self):
        pipe = self.start(policy="uniform")
        first = pipe.one("choose --id user-1/2")
        self.assertRegex(first, r"^user-1/2 \d$")
        pipe.choose(3)
        self.assertEqual(pipe.one("choose --id user-1/2"), first)
        self.assertEqual(pipe.status()["round"], 4)
        self.assertEqual(pipe.ask(["observe user-1/2 0.5",
                                   "observe user-1/2 0.5"]),
                         ["ok", "duplicate"])
        self.assertRegex(pipe.one("observe user-1/2 0.25"),
                         "^error .*first one reported")
        self.assertEqual(pipe.one("choose --id user-1/2"), first)

    def test_a_choice_has_one_id(self):
        """The number of its round, which nobody was given, is none."""
        store = ["--store", self.folder.path("store.db")]
        pipe = self.start(*store, policy="uniform")
        pipe.send(b"choose\nchoose --id mine\nobserve 2 0.5\n")
        self.assertEqual([pipe.answer().split()[0] for _ in range(3)],
                         ["1", "mine", "error"])
        for _ in range(2):
            for line in "observe 2 0.5", "cancel 2", "expire 2":
                self.assertEqual(pipe.one(line),
                                 'error experiment "default" has no '
                                 'decision with id "2"')
            pipe.end()
            pipe = self.start(*store, policy="uniform")
        self.assertEqual(pipe.ask(["observe mine 0.5", "observe 1 0.5"]),
                         ["ok", "ok"])

    def test_pending_lists_the_oldest_first(self):
        pipe = self.start()
        self.assertEqual(pipe.many("pending"), ["ok 0"])
        pipe.ask(["choose"] * 4 + ["choose --id mine", "observe 2 0.5",
                                   "observe 4 0.5"])
        lines = [line.split() for line in pipe.many("pending")]
        self.assertEqual([line[0] for line in lines], ["1", "3", "mine", "ok"])
        for line in lines[:-1]:
            self.assertEqual(line[1], "0")
            self.assertLess(float(line[2]), 60)
        self.assertEqual([line.split()[0] for line in pipe.many("pending 2")],
                         ["1", "3", "ok"])
        self.assertEqual(pipe.many("pending 0"), ["ok 3"])

    def test_json_answers_are_objects_with_the_promised_keys(self):
        pipe = self.start("--json", policy="uniform")
        ask = lambda line: json.loads(pipe.one(line))
        self.assertEqual(set(ask("choose")), {"id", "arm", "probability"})
        again = [ask("choose --id x") for _ in range(2)]
        self.assertEqual(again[1], {**again[0], "repeated": True})
        self.assertEqual((again[0]["id"], type(again[0]["arm"])), ("x", int))
        choices = ask("choose 3")["choices"]
        self.assertEqual([c["id"] for c in choices], ["3", "4", "5"])
        self.assertEqual(ask("observe 1 0.5"), {"id": "1", "result": "ok"})
        self.assertEqual(ask("observe 1 0.5"),
                         {"id": "1", "result": "duplicate"})
        self.assertEqual(list(ask("observe 1 0.75")), ["error"])
        pending = ask("pending 2")
        self.assertEqual(pending["count"], 4)
        self.assertEqual([set(p) for p in pending["pending"]],
                         [{"id", "arm", "rounds", "seconds"}] * 2)
        self.assertEqual([(p["id"], p["rounds"]) for p in pending["pending"]],
                         [("x", 3), ("3", 2)])
        self.assertEqual(list(ask("nonsense \x1b[2J \"")), ["error"])
        self.assertEqual(ask("status")["round"], 5)
        pipe = self.start("--json", "--no-probability", policy="uniform")
        self.assertIsNone(ask("choose")["probability"])

    def test_answers_speak_names_unless_told_not_to(self):
        path = self.folder.path("named.csv")
        for header in ("route,x,y\n", ""):
            with open(path, "w") as file:
                file.write(header + "north,1,0\n\"the, south\",0,1\n")
            options = ["--arms", path, "--horizon", 99, "--policy"]
            with Pipe(*options, "uniform") as pipe:
                self.assertEqual({pipe.one("choose").split(" ", 1)[1]
                                  for _ in range(50)}, {"north", "the, south"})
            options.append("phased-mab")
            with Pipe(*options) as pipe:
                status = pipe.status()
                self.assertEqual(status["active"], ["north", "the, south"])
                self.assertEqual([e["arm"] for e in status["plan"]],
                                 ["north", "the, south"])
            with Pipe(*options, "--by-number", "--json") as pipe:
                self.assertEqual(json.loads(pipe.one("choose"))["arm"], 0)
                self.assertEqual(pipe.status()["active"], [0, 1])

    def test_what_is_out_is_a_line_each_however_long_the_names(self):
        path, names = self.folder.path("long.csv"), ["a" * 3000, "b" * 1015]
        with open(path, "w") as file:
            file.write("route,x,y\n%s,1,0\n%s,0,1\n" % tuple(names))
        _, out, _ = run("pipe", "--arms", path, "--policy", "uniform",
                        input=b"choose 9\npending\n")
        lines = out.decode().splitlines()
        self.assertEqual(lines[9], lines[-1])
        self.assertEqual([line.rsplit(" ", 1)[0] for line in lines[10:-1]],
                         lines[:9])

    def test_a_term_signal_is_a_clean_end(self):
        pipe = self.start()
        pipe.choose(3)
        pipe.process.terminate()
        self.assertEqual(pipe.end(), (0, b"", ""))

    def test_a_signal_ends_it_although_nobody_reads_its_answers(self):
        pipe = self.start(policy="uniform", horizon=10 ** 6)
        pipe.send(b"choose 50000\n")
        while not select.select([pipe.process.stdout], [], [], 20)[0]:
            self.fail("no answer")
        pipe.process.terminate()
        self.assertEqual(pipe.process.wait(timeout=20), 1)
        self.assertIn(b"nobody reads", pipe.process.stderr.read())

    def test_quit_answers_and_ends_without_reading_on(self):
        code, out, error = run("pipe", *self.options(),
                               input=b"choose\nquit\nchoose\n")
        self.assertEqual((code, out, error), (0, b"1 0\nok\n", ""))

    def test_no_input_at_all_is_fine(self):
        self.assertEqual(run("pipe", *self.options(), input=b""), (0, b"", ""))

    def test_status_is_one_line_of_json_with_the_promised_keys(self):
        pipe = self.start()
        pipe.choose(3)
        status = pipe.status()
        for key in ("round", "phase", "epsilon", "active", "pending", "plan"):
            self.assertIn(key, status)
        for entry in status["plan"]:
            self.assertEqual(set(entry),
                             {"arm", "weight", "target", "observed"})
        self.assertEqual(status["active"], [0, 1, 2, 3])

    def test_there_is_no_best_arm_before_an_estimate(self):
        for policy in ("phased-mab", "linucb", "lints", "opse", "greedy"):
            pipe = self.start(policy=policy)
            pipe.choose(3)
            self.assertIsNone(pipe.status()["best"])
        pipe = self.start(policy="linucb")
        pipe.ask(["choose", "observe 1 -0.5"])
        self.assertIsInstance(pipe.status()["best"], int)
        one = self.folder.arms(ARMS[:1], "one.csv")
        pipe = Pipe("--policy", "phased-mab", "--arms", one, "--horizon", 99)
        self.addCleanup(pipe.__exit__)
        self.assertEqual(pipe.status()["best"], 0)


# ---- bad lines --------------------------------------------------------------

BAD_LINES = [
    b"", b" ", b"\t \r", b"nonsense", b"choose 0", b"choose -1",
    b"choose 1.5", b"choose 1e9", b"choose x", b"choose --id",
    b"choose --id 7", b"choose --id a:7", b"choose --id \xc3\xa4",
    b"choose --id " + b"x" * 65, b"choose --id a b", b"choosee", b"CHOOSE",
    b"observe 2e0 0.5", b"observe 2.0 0.5", b"observe +2 0.5",
    b"observe 02 0.5", b"pending x", b"pending -1", b"pending 1 2", b"cancel",
    b"expire", b"cancel 99", b"expire nobody", b"admit", b"admit x 1 2",
    b"admit x 1 2 y", b"admit 1 2 3", b"withdraw", b"withdraw nobody",
    b"choose-in {}",
    b"choose;choose", b"observe", b"observe 2", b"observe 2 0.5 0.5",
    b"observe 2 0.5 save x", b"observe -2 0.5", b"observe 2.5 0.5",
    b"observe two 0.5", b"observe 0 0.5", b"observe 99 0.5",
    b"observe 1e300 0.5", b"observe 1e400 0.5", b"observe 9007199254740993 0",
    b"observe 18446744073709551617 0.5", b"observe 0x2 0.5", b"observe NaN 0",
    b"observe 2 1e400", b"observe 2 -1e400", b"observe 2 NaN",
    b"observe 2 nan", b"observe 2 inf", b"observe 2 -Infinity",
    b"observe 2 0x1p-1", b"observe 2 0,5", b"observe 2 1.0000000000000002",
    b"observe 2 -1.5", b"observe 2 half", b"observe 2 0.5e", b"observe 2 -",
    b"observe 2 ''", b"observe 1 0.5",  # reported already
    b"status now", b"status status", b"quit now", b"save", b"save ",
    b"save\t", b"savenow", b"save /no/such/folder/state", b"save .",
    b"save " + b"./" * 2040 + b"x" * 50,  # too long by a little
    b"save " + b"d/" * 3000 + b"x",
    b"\0", b"choose\0", b"observe 2\0 0.5", b"\xff\xfe\x80", b"choose \xc3",
    b"observe 2 \xe2\x88\x9e", b"observe \xd9\xa2 0.5", b"\x1b[2Jchoose",
    b"%s%n%d", b"'; rm -rf", b"x" * 1000000, b"observe 2 " + b"1" * 1000000,
    b"observe " + b"9" * 1000000 + b" 0.5", b"0 " * 500000,
]


class BadLines(PipeTest):

    def prepare(self):
        """A pipe in which 1 is reported and 2 to 5 are open."""
        pipe = self.start()
        pipe.choose(5)
        pipe.one("observe 1 0.25")
        return pipe

    def test_a_bad_line_gets_one_error_and_changes_nothing(self):
        pipe = self.prepare()
        before = pipe.one("status")
        for line in BAD_LINES:
            with self.subTest(line=line[:40]):
                pipe.send(line + b"\nstatus\n")
                answer = pipe.answer()
                self.assertRegex(answer, r"^error \S")
                self.assertLess(len(answer), 600)
                self.assertEqual(pipe.answer(), before)
        self.assertEqual(pipe.end(), (0, b"", ""))
        self.assertEqual(os.listdir(self.folder.name), ["arms.csv"])

    def test_a_file_that_json_cannot_name_is_refused(self):
        pipe = self.start("--json")
        pipe.send(b"save " + self.folder.path("x").encode() + b"\xff\n")
        self.assertIn("not UTF-8", json.loads(pipe.answer())["error"])
        self.assertEqual(json.loads(pipe.one("choose"))["id"], "1")
        self.assertEqual(os.listdir(self.folder.name), ["arms.csv"])

    def test_a_state_goes_into_a_file_and_nobody_waits_for_a_reader(self):
        os.mkfifo(self.folder.path("pipe"))
        lines = b"choose\nsave /dev/stdin\nsave pipe\nchoose\n"
        _, out, _ = run("pipe", *self.options(), cwd=self.folder.name,
                        input=lines, timeout=20)
        self.assertRegex(out.decode(), r"^1 \d\nerror /dev/stdin: not a file"
                         r"\nerror pipe: not a file\n2 \d\n$")

    def test_good_lines_between_bad_ones_are_not_lost(self):
        pipe, twin = self.prepare(), self.prepare()
        for line in BAD_LINES:
            pipe.send(line + b"\nchoose\n")
            self.assertTrue(pipe.answer().startswith("error "))
            self.assertEqual(pipe.answer(), twin.one("choose"))
        for id in range(2, 5 + len(BAD_LINES)):
            self.assertEqual(pipe.one("observe %d 0.5" % id), "ok")
            self.assertEqual(twin.one("observe %d 0.5" % id), "ok")
        self.assertEqual(pipe.one("status"), twin.one("status"))

    def test_errors_name_what_is_wrong(self):
        pipe = self.prepare()
        for line, part in [("observe 1 0.5", 'decision "1"'),
                           ("observe 77 0.5", 'no decision with id "77"'),
                           ("observe 2 1.5", 'losses of experiment "default" '
                            'lie in [-1, 1]; got 1.5 for id "2"'),
                           ("observe 2 abc", "'abc'"),
                           ("observe abc 1", '"abc"'),
                           ("save /no/folder/x", "/no/folder/x"),
                           ("jump 3", "'jump'")]:
            self.assertIn(part, pipe.one(line))

    def test_input_that_cannot_be_read_is_an_error(self):
        with open("/proc/self/mem", "rb") as unreadable:
            code, out, error = run("pipe", *self.options(), stdin=unreadable)
        self.assertEqual((code, out), (1, b""))
        self.assertRegex(error, r"^tarry: cannot read standard input: .*\n$")


# ---- ranges, horizons, settings ---------------------------------------------

def losses(count):
    """Multiples of 1/4 in [-1, 1], so that ranges map them exactly."""
    return np.random.default_rng(23).integers(-4, 5, size=count) / 4


class Options(PipeTest):

    def play(self, report, *more, policy="phased-adversarial", rounds=2500):
        """Choices and the last status when loss l is reported as report(l)."""
        pipe = self.start(*more, policy=policy, horizon=20000)
        arms, drift = [], [-0.75, 0.25, 0.5, 0.0]
        for id, l in enumerate(losses(rounds), 1):
            arm = int(pipe.one("choose").split()[1])
            arms.append(arm)
            loss = float(np.clip(l + drift[arm], -1, 1))
            self.assertIn(pipe.one("observe %d %r" % (id, report(loss))),
                          ("ok", "late"))
        return arms, pipe.status()

    def test_losses_in_another_range_give_the_same_choices(self):
        # each arm's entries sum to 1: losses stay linear when shifted
        plain, status = self.play(lambda l: l)
        self.assertEqual(status["phase"], 2)
        for low, high in [(-8, 8), (0, 1), (2, 10), (-48, -16)]:
            middle, half = (low + high) / 2, (high - low) / 2
            arms, other = self.play(lambda l: middle + half * l,
                                    "--range", "%d,%d" % (low, high))
            self.assertEqual(arms, plain)
            np.testing.assert_allclose(
                [e["lower"] for e in other.pop("estimates")],
                [middle + half * e["lower"] for e in status["estimates"]])
            self.assertEqual(other.pop("range"), [low, high])
            self.assertEqual(other, {k: v for k, v in status.items()
                                     if k not in ("estimates", "range")})

    def test_rewards_are_losses_with_the_sign_changed(self):
        for policy in POLICIES:
            plain, status = self.play(lambda l: l, policy=policy)
            arms, other = self.play(lambda l: -l, "--maximize", policy=policy)
            self.assertEqual(arms, plain)
            self.assertEqual([(e["arm"], e["lower"], e["upper"])
                              for e in other["estimates"]],
                             [(e["arm"], -e["upper"], -e["lower"])
                              for e in status["estimates"]])
            arms, _ = self.play(lambda l: 3 - 2 * l, "--maximize", "--range",
                                "1,5", policy=policy)
            self.assertEqual(arms, plain)

    def test_the_ends_of_a_range_are_inside(self):
        pipe = self.start("--range", "0.1,0.7")
        pipe.choose(4)
        self.assertEqual(pipe.ask(["observe 1 0.1", "observe 2 0.7"]),
                         ["ok", "ok"])
        for loss in ("0.09999999999999999", "0.7000000000000001"):
            self.assertIn("lie in [0.1, 0.7]", pipe.one("observe 3 " + loss))

    def test_choices_end_with_the_horizon_and_reports_do_not(self):
        for policy in POLICIES:
            pipe = self.start(policy=policy, horizon=40)
            self.assertTrue(pipe.status()["horizon_too_short"])
            self.assertEqual([id for id, _ in pipe.choose(40)],
                             list(range(1, 41)))
            for _ in range(2):
                self.assertRegex(pipe.one("choose"), "^error .*horizon")
            self.assertEqual(pipe.one("observe 40 0.5"), "ok")
            self.assertEqual(pipe.status()["round"], 40)

    def test_beyond_the_horizon_the_best_arm_is_played_on(self):
        for policy in POLICIES:
            pipe = self.start("--beyond-horizon", policy=policy, horizon=9000)
            def play(count):
                arms = []
                for start in range(0, count, 100):
                    pairs = pipe.choose(100)
                    arms += [arm for _, arm in pairs]
                    pipe.ask(["observe %d %r" % (id, 0.25 if arm == 1 else 0.5)
                              for id, arm in pairs])
                return arms
            play(9000)
            before = pipe.status()
            self.assertEqual((before["round"], before["pending"]), (9000, 0))
            self.assertGreater(before["phase"], 1)
            self.assertEqual(set(play(3000)), {before["best"]})
            after = pipe.status()
            self.assertEqual(after["round"], 12000)
            for key in ("phase", "plan", "active", "used"):
                self.assertEqual(after[key], before[key])

    def test_settings_may_stand_behind_the_name_or_in_options(self):
        def answers(*more, **known):
            pipe = self.start(*more, **known)
            status = [pipe.one("choose"), pipe.status()]
            status[1].pop("description", None)  # as it was given
            return status
        plain = answers()
        self.assertEqual(answers("--set", "constants=paper", "--set",
                                 "rank_tolerance=1e-10"), plain)
        self.assertEqual(answers(policy="phased-adversarial:constants=paper,"
                                        "rank_tolerance=1e-10"), plain)

    def test_counts_may_be_written_with_exponents(self):
        pipe = self.start(horizon="1e5")
        self.assertEqual(pipe.status()["horizon"], 100000)

    def test_the_seed_decides_the_draws_and_nothing_else_does(self):
        def draws(*more):
            return self.start(*more, policy="phased-stochastic").choose(200)
        self.assertEqual(draws(), draws("--seed", "0"))
        self.assertEqual(draws("--seed", "5"), draws("--seed", "5",
                                                     "--threads", "2"))
        self.assertNotEqual(draws("--seed", "5"), draws("--seed", "6"))

    def test_arms_may_come_as_numpy_files(self):
        path = self.folder.path("arms.npy")
        np.save(path, np.array(ARMS))
        pipe = Pipe("--policy", "phased-mab", "--arms", path, "--horizon", 99)
        self.addCleanup(pipe.__exit__)
        self.assertEqual(pipe.one("status"),
                         self.start(policy="phased-mab",
                                    horizon=99).one("status"))


# ---- bad usage --------------------------------------------------------------

class BadUsage(PipeTest):

    def refused(self, *arguments, naming):
        """Exit code 2, one line that names the fault, and no answer."""
        with self.subTest(arguments=arguments):
            code, out, error = run(*arguments, input=b"choose\n")
            self.assertEqual((code, out), (2, b""))
            self.assertRegex(error, r"^tarry: [^\n]*\n$")
            self.assertIn(naming, error)

    def test_what_is_needed_must_be_there(self):
        full = ["pipe"] + self.options()
        self.refused(*full[:3], *full[5:], naming=full[3])
        self.refused("pipe", naming="--arms")
        self.refused(*full[:-1], naming="--horizon")
        self.refused(naming="--help")
        self.refused("pope", naming="'pope'")

    def test_unknown_options_and_arguments_are_named(self):
        for extra in ("--polciy=x", "-p", "stray", "--json=1", "--"):
            arguments = ["pipe", *self.options(), extra]
            if extra == "--":
                arguments.append("--stray")
            self.refused(*arguments, naming=arguments[-1])

    def test_unknown_policies_are_named_with_those_there_are(self):
        for name in ("phased", "phased-stochastic2", "", "x" * 100, "linear"):
            options = self.options(policy=name)
            self.refused("pipe", *options, naming="no policy '" + name)
        self.refused("pipe", *self.options(policy="nobody"),
                     naming=", ".join(POLICIES))

    def test_a_description_is_never_cut(self):
        digits = "1" * 4080
        self.refused("pipe", *self.options("greedy:epsilon=0.%se-3" % digits),
                     naming="--policy: too long: 'greedy:epsilon=0.1111")
        self.refused("pipe", *self.options("greedy:epsilon=0." + digits),
                     "--set", "lambda=2", naming="--policy: too long")

    def test_bad_settings_are_named(self):
        for pair, naming in [("speed=3", "'speed'"), ("constants", "constants"),
                             ("=paper", "=paper"), ("constants=", "constants"),
                             ("constants=loose", "'loose'"),
                             ("rank_tolerance=x", "'x'"),
                             ("rank_tolerance=-1", "'-1'"),
                             ("rank_tolerance=nan", "'nan'"),
                             ("x" * 3000, "too many")]:
            self.refused("pipe", *self.options(), "--set", pair, naming=naming)
        self.refused("pipe", *self.options(policy="phased-mab:speed=3"),
                     naming="'speed'")
        self.refused("pipe", *self.options(), "--set", "constants=paper",
                     "--set", "constants=paper", naming="twice")

    def test_bad_ranges_are_named(self):
        for text in ("", "1", "1,", ",1", "1,1", "2,1", "0,1,2", "a,b", "0;1",
                     "nan,1", "0,inf", "-inf,0", "0, 1", "0,1e400", "0x0,1"):
            self.refused("pipe", *self.options(), "--range", text,
                         naming="'%s'" % text)
        self.refused("pipe", *self.options(), "--range", "-1e308,1e308",
                     naming="'-1e308,1e308'")

    def test_bad_horizons_and_other_counts_are_named(self):
        for text in ("1", "1.5", "-5", "many", "1e400", "nan", "0x10", "",
                     "1e17", "600e9"):
            self.refused("pipe", *self.options(horizon=text), naming="horizon")
        self.refused("pipe", *self.options(horizon="0"), naming="horizon")
        for option in ("--seed", "--threads"):
            self.refused("pipe", *self.options(), option, "-1",
                         naming=option + ": ")

    def test_bad_confidences_are_named(self):
        for text in ("0", "0.0", "-0", "0.49", "1", "2", "-1", "nan", "x"):
            for options in (["--arms", self.arms], self.options()):
                self.refused("pipe", *options, "--confidence", text,
                             naming="confidence")

    def test_bad_arm_files_are_named_with_line_and_value(self):
        for text, naming in [("1,2\n3,x\n", ":2:2: "), ("1,2\n3\n", ":2:"),
                             ("1,nan\n", "'nan'"), ("1,1e999\n", "'1e999'"),
                             ("", "arms"), ("a,b\n", "arms"),
                             ("1,,2\n", ":1:")]:
            path = self.folder.path("bad-arms.csv")
            with open(path, "w") as file:
                file.write(text)
            self.refused("pipe", "--policy", "phased-mab", "--arms", path,
                         "--horizon", 99, naming=naming)
        for path in (self.folder.path("missing.csv"), self.folder.name, "-"):
            self.refused("pipe", "--policy", "phased-mab", "--arms", path,
                         "--horizon", 99, naming=path)

    def test_names_that_cannot_be_told_apart_or_shown_are_refused(self):
        path = self.folder.path("names.csv")
        for text, naming in [(b"a,1\nb,2\na,3\n", "same name: 'a'"),
                             (b"a,1\n\x1b[2J,2\n", "arm 1 "),
                             (b"a,1\n\xff\xfe,2\n", "arm 1 ")]:
            with open(path, "wb") as file:
                file.write(text)
            self.refused("pipe", "--arms", path, "--horizon", 99,
                         naming=naming)


# ---- help and list ----------------------------------------------------------

class Help(unittest.TestCase):

    def test_help_says_what_lines_there_are(self):
        for option in ("--help", "-h"):
            code, out, error = run("pipe", option)
            self.assertEqual((code, error), (0, ""))
            for word in (b"choose", b"observe ID LOSS", b"status", b"save FILE",
                         b"quit", b"--restore", b"--store", b"--range"):
                self.assertIn(word, out)

    def test_list_names_every_policy_with_its_source_and_settings(self):
        code, out, error = run("list")
        self.assertEqual((code, error), (0, ""))
        lines = out.decode().splitlines()
        for number, name in enumerate(POLICIES, 1):
            line = [l for l in lines if l.split()[:1] == [name]]
            self.assertEqual(len(line), 1)
            self.assertIn("Algorithm %d" % number, line[0])
        self.assertIn("constants=paper", out.decode())

    def test_list_speaks_json_of_the_same_policies(self):
        code, out, error = run("list", "--json")
        self.assertEqual((code, error, out.count(b"\n")), (0, "", 1))
        listed = json.loads(out)["policies"]
        self.assertEqual([p["name"] for p in listed][:4], POLICIES)
        for policy in listed:
            self.assertTrue(policy["source"] and policy["summary"])
            for setting in policy["settings"]:
                self.assertLessEqual({"key", "default", "help", "type"},
                                     set(setting))

    def test_every_listed_default_is_accepted(self):
        with Folder() as folder:
            arms = folder.arms(ARMS)
            for p in json.loads(run("list", "--json")[1])["policies"]:
                if p["name"] == "oracle":  # only for simulations
                    continue
                pairs = ",".join("%s=%s" % (s["key"], s["default"])
                                 for s in p["settings"] if s["default"])
                self.assertEqual(run(
                    "pipe", "--policy", p["name"] + ":" + pairs, "--arms",
                    arms, "--horizon", "1e4", input=b"quit\n"),
                    (0, b"ok\n", ""))

    def test_list_refuses_what_it_does_not_know(self):
        for extra in ("--yaml", "policies"):
            code, out, error = run("list", extra)
            self.assertEqual((code, out), (2, b""))
            self.assertIn(extra, error)


if __name__ == "__main__":
    unittest.main()
