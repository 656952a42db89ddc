"""Saved states: a policy goes on as if nothing had happened, whatever did."""
import os
import random
import time
import unittest

from pipe import POLICIES, Folder, Pipe, run

ARMS = [[0.9], [0.4], [-0.2], [-1.0], [0.05]]
HORIZON = 6000


def loss_of(id, arm):
    """A fixed loss of +-1 for each choice, with mean 0.9 times the arm."""
    mean = 0.9 * ARMS[arm][0]
    return 1 if random.Random(id).random() < (1 + mean) / 2 else -1


def due_of(id):
    return id + random.Random(-id).randrange(300)


class Game:
    """A world that is a function of the round, so that it can be replayed and
    go on with any process."""

    def __init__(self):
        self.arms, self.arrivals = [], {}

    def play(self, pipe, last):
        while len(self.arms) < last:
            id, arm = pipe.choose(1)[0]
            self.arms.append(arm)
            assert id == len(self.arms)
            self.arrivals.setdefault(due_of(id), []).append(id)
            pipe.ask(["observe %d %d" % (i, loss_of(i, self.arms[i - 1]))
                      for i in self.arrivals.pop(id, [])])


class StateTest(unittest.TestCase):

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.cleanup)
        self.arms = self.folder.arms(ARMS)
        self.file = self.folder.path("state file")  # a blank is fine

    def options(self, policy="phased-adversarial"):
        return ["--policy", policy, "--arms", self.arms, "--horizon", HORIZON]

    def start(self, *options):
        pipe = Pipe(*options)
        self.addCleanup(pipe.__exit__)
        return pipe

    def fresh(self, *more, policy="phased-adversarial"):
        return self.start(*self.options(policy), *more)

    def refused(self, *options, naming):
        with self.subTest(options=options):
            code, out, error = run("pipe", *options, input=b"choose\n")
            self.assertEqual((code, out), (2, b""))
            self.assertRegex(error, r"^tarry: [^\n]*\n$")
            self.assertIn(naming, error)


class SaveAndRestore(StateTest):

    def test_a_restored_policy_makes_the_choices_of_an_uninterrupted_one(self):
        for policy in POLICIES:
            twin, twin_game = self.fresh(policy=policy), Game()
            twin_game.play(twin, HORIZON)
            pipe, game = self.fresh(policy=policy), Game()
            for last in sorted(random.Random(8).sample(range(HORIZON), 12)):
                game.play(pipe, last)
                self.assertEqual(pipe.one("save " + self.file), "ok")
                before = pipe.one("status")
                pipe.kill()
                pipe = self.start("--restore", self.file)
                self.assertEqual(pipe.one("status"), before)
            game.play(pipe, HORIZON)
            self.assertEqual(game.arms, twin_game.arms)
            self.assertEqual(pipe.one("status"), twin.one("status"))
            self.assertGreater(twin.status()["phase"], 1)

    def test_saving_changes_nothing(self):
        pipe, twin, game, twin_game = self.fresh(), self.fresh(), Game(), Game()
        for last in range(100, 2000, 100):
            pipe.one("save " + self.file)
            game.play(pipe, last)
            twin_game.play(twin, last)
        self.assertEqual(game.arms, twin_game.arms)
        self.assertEqual(pipe.one("status"), twin.one("status"))

    def test_what_was_reported_before_stays_reported(self):
        pipe = self.fresh()
        pipe.ask(["choose"] * 3 + ["observe 2 0.5", "save " + self.file])
        pipe = self.start("--restore", self.file)
        self.assertEqual(
            [a.split()[0] for a in pipe.ask(
                ["observe 2 0.5", "observe 4 0.5", "observe 3 0.5", "choose",
                 "observe 3 0.5"])], ["error", "error", "ok", "4", "duplicate"])

    def test_range_rewards_and_seed_are_restored(self):
        pipe = self.fresh("--range", "0,10", "--maximize", "--seed", 5,
                          "--beyond-horizon", policy="phased-stochastic")
        pipe.ask(["choose"] * 200 + ["save " + self.file])
        other = self.start("--restore", self.file)
        lines = ["observe 1 11", "observe 1 9.5"] + ["choose"] * HORIZON
        self.assertEqual(pipe.ask(lines), other.ask(lines))
        self.assertEqual(pipe.one("status"), other.one("status"))

    def test_ages_given_again_hold_for_what_was_chosen_before_too(self):
        age = ["--expire-after", "3rounds"]
        pipe = self.fresh(*age)
        pipe.ask(["choose"] * 5 + ["save " + self.file])
        other = self.start("--restore", self.file, *age)
        lines = ["choose"] * 4 + ["expire 5", "observe 5 0", "status"]
        self.assertEqual(pipe.ask(lines), other.ask(lines))
        pipe = self.start("--restore", self.file, "--expire-after", "50ms")
        pipe.one("choose")
        time.sleep(1.1)  # the clock is looked at once a second
        self.assertEqual(pipe.status()["pending"], 0)

    def test_a_state_may_be_saved_over_itself(self):
        pipe = self.fresh()
        for _ in range(5):
            pipe.choose(10)
            self.assertEqual(pipe.one("save " + self.file), "ok")
            pipe = self.start("--restore", self.file)
        self.assertEqual(pipe.status()["round"], 50)
        self.assertEqual(sorted(os.listdir(self.folder.name)),
                         ["arms.csv", "state file"])


class Refused(StateTest):

    def setUp(self):
        super().setUp()
        pipe = self.fresh()
        Game().play(pipe, 400)
        pipe.one("save " + self.file)
        with open(self.file, "rb") as file:
            self.bytes = file.read()

    def damaged(self, data):
        path = self.folder.path("damaged")
        with open(path, "wb") as file:
            file.write(data)
        self.refused("--restore", path, naming=path)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), data)

    def test_a_state_cut_short_or_too_long_is_refused(self):
        size = len(self.bytes)
        for cut in [0, 1, 7, 8, 31, 32, 33, size // 2, size - 8, size - 1]:
            self.damaged(self.bytes[:cut])
        self.damaged(self.bytes + b"\0")

    def test_a_state_with_one_wrong_bit_is_refused(self):
        rng = random.Random(3)
        places = list(range(0, 32, 5)) + rng.sample(range(len(self.bytes)), 10)
        for at in places:
            changed = bytearray(self.bytes)
            changed[at] ^= 1 << rng.randrange(8)
            self.damaged(bytes(changed))

    def test_what_is_no_state_at_all_is_refused(self):
        self.damaged(b"name,x\narm,1.0\n" * 20)
        for path in (self.folder.name, self.folder.path("missing")):
            self.refused("--restore", path, naming=path)

    def test_a_state_of_something_else_is_refused(self):
        for name in ("phased-mab", "phased", "phased-adversarial2", ""):
            self.refused("--restore", self.file, "--policy", name,
                         naming="of phased-adversarial, not of '%s'" % name)
        for options, naming in [
                (["--horizon", HORIZON + 1], "horizon is %d" % HORIZON),
                (["--range", "0,1"], "range is -1,1, not '0,1'"),
                (["--maximize"], "losses"), (["--seed", 5], "seed is 0"),
                (["--expire-after", "soon"], "'soon'")]:
            self.refused("--restore", self.file, *options, naming=naming)

    def test_a_state_of_other_arms_is_refused(self):
        for rows in ([[0.9000000000000001]] + ARMS[1:], ARMS[:-1],
                     [row + [0.1] for row in ARMS]):
            other = self.folder.arms(rows, "other.csv")
            self.refused("--restore", self.file, "--arms", other,
                         naming="other arms than '%s'" % other)
        self.refused("--restore", self.file, "--arms",
                     self.folder.path("none.csv"), naming="none.csv")
        self.refused("--restore", self.file, "--arms", "-", naming="'-'")

    def test_the_same_again_may_be_said(self):
        for options in ([], self.options(), ["--range", "-1,1"],
                        ["--arms", self.arms, "--seed", "0"],
                        self.options("phased-adversarial:constants=paper")):
            code, out, error = run("pipe", "--restore", self.file, *options,
                                   input=b"choose\n")
            self.assertEqual((code, out[:4], error), (0, b"401 ", ""))


if __name__ == "__main__":
    unittest.main()
