"""Saved states: a policy goes on as if nothing had happened, whatever did."""
import os
import random
import signal
import unittest

from pipe import POLICIES, Folder, Pipe, run

ARMS = [[0.9], [0.4], [-0.2], [-1.0], [0.05]]
HORIZON = 6000
CLOSED = (0, b"", "")


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
                 "observe 3 0.5"])], ["error", "error", "ok", "4", "error"])

    def test_range_rewards_and_seed_are_restored(self):
        pipe = self.fresh("--range", "0,10", "--maximize", "--seed", 5,
                          "--beyond-horizon", policy="phased-stochastic")
        pipe.ask(["choose"] * 200 + ["save " + self.file])
        other = self.start("--restore", self.file)
        lines = ["observe 1 11", "observe 1 9.5"] + ["choose"] * HORIZON
        self.assertEqual(pipe.ask(lines), other.ask(lines))
        self.assertEqual(pipe.one("status"), other.one("status"))

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
        for option in ("--restore", "--state"):
            self.refused(option, path, naming=path)
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
        self.refused("--state", self.folder.name, naming=self.folder.name)

    def test_a_state_of_something_else_is_refused(self):
        for option in ("--restore", "--state"):
            for name in ("phased-mab", "phased", "phased-adversarial2", ""):
                self.refused(option, self.file, "--policy", name,
                             naming="of phased-adversarial, not of '%s'" % name)
            self.refused(option, self.file, "--horizon", HORIZON + 1,
                         naming="horizon is %d" % HORIZON)
            self.refused(option, self.file, "--range", "0,1",
                         naming="range is -1,1, not '0,1'")
            self.refused(option, self.file, "--maximize", naming="losses")
            self.refused(option, self.file, "--seed", 5, naming="seed is 0")

    def test_a_state_of_other_arms_is_refused(self):
        for rows in ([[0.9000000000000001]] + ARMS[1:], ARMS[:-1],
                     [row + [0.1] for row in ARMS]):
            other = self.folder.arms(rows, "other.csv")
            for option in ("--restore", "--state"):
                self.refused(option, self.file, "--arms", other,
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


class KeptState(StateTest):
    """--state FILE."""

    def kept(self, *more, **known):
        return self.fresh("--state", self.file, *more, **known)

    def test_after_a_normal_end_the_policy_goes_on_from_there(self):
        for policy in POLICIES:
            twin, twin_game = self.fresh(policy=policy), Game()
            twin_game.play(twin, 3000)
            game = Game()
            for last in range(250, 3001, 250):
                pipe = self.kept(policy=policy)
                game.play(pipe, last)
                status = pipe.one("status")
                if last % 500 == 0:
                    self.assertEqual(pipe.one("quit"), "ok")
                self.assertEqual(pipe.end(), CLOSED)
            self.assertEqual(game.arms, twin_game.arms)
            self.assertEqual(status, twin.one("status"))
            os.remove(self.file)

    def test_after_kill_9_it_goes_on_from_the_last_save(self):
        lines = []
        for id in range(1, 131):
            lines += ["choose", "observe %d 0.25" % id]
        pipe = self.kept("--save-every", 100)
        pipe.ask(lines[:250])
        pipe.kill()
        twin = self.fresh()
        twin.ask(lines[:200])
        pipe = self.kept("--save-every", 100)
        self.assertEqual(pipe.one("status"), twin.one("status"))
        self.assertEqual(pipe.ask(lines[200:]), twin.ask(lines[200:]))

    def test_bad_lines_count_as_lines_and_harm_nothing(self):
        pipe = self.kept("--save-every", 3)
        pipe.ask(["choose", "nonsense", "choose", "choose"])
        pipe.kill()
        self.assertEqual(self.kept().status()["round"], 2)

    def test_the_state_survives_kill_9_at_any_moment(self):
        """Saving after each line, at most the last answer is forgotten."""
        rng, seen = random.Random(12), 0
        for _ in range(25):
            pipe = self.kept("--save-every", 1)
            before = pipe.status()["round"]
            self.assertIn(before, (seen, seen - 1) if seen else (0,))
            count = rng.randrange(1, 12)
            pipe.send(b"choose\n" * 40)
            for _ in range(count):
                seen = int(pipe.answer().split()[0])
            pipe.process.kill()
            out = pipe.end()[1].decode().split("\n")[:-1]
            seen = int(out[-1].split()[0]) if out else seen
            self.assertGreaterEqual(seen, before + count)

    def test_signals_save_and_end(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            pipe = self.kept()
            before = pipe.status()["round"]
            pipe.choose(17)
            pipe.process.send_signal(number)
            self.assertEqual(pipe.end(), (1, b"", "tarry: interrupted\n"))
            self.assertEqual(self.kept().status()["round"], before + 17)

    def test_a_reader_that_went_away_is_an_error_but_the_state_is_saved(self):
        pipe = self.kept()
        pipe.choose(5)
        pipe.process.stdout.close()
        pipe.send(b"choose\n")
        pipe.process.stdin.close()
        error = pipe.process.stderr.read().decode()
        self.assertEqual(pipe.process.wait(), 1)
        pipe.process.stderr.close()
        self.assertRegex(error, r"^tarry: cannot write [^\n]*\n$")
        self.assertEqual(self.kept().status()["round"], 6)

    def test_restore_and_state_together_go_on_from_one_and_save_to_other(self):
        pipe = self.fresh()
        pipe.ask(["choose"] * 7 + ["save " + self.folder.path("from")])
        pipe = self.start("--restore", self.folder.path("from"), "--state",
                          self.file)
        pipe.choose(2)
        self.assertEqual(pipe.end(), CLOSED)
        self.assertEqual(self.kept().status()["round"], 9)

    def test_a_state_that_cannot_be_written_is_an_error_at_once(self):
        path = self.folder.path("no/such/state")
        code, out, error = run("pipe", *self.options(), "--state", path,
                               input=b"choose\n")
        self.assertEqual((code, out), (1, b""))
        self.assertRegex(error, r"^tarry: [^\n]*no/such/state[^\n]*\n$")


if __name__ == "__main__":
    unittest.main()
