"""Limits: as much as is allowed is taken, one more is refused by name."""
import json
import tempfile
import unittest

import numpy

from lab import LabTest, tarry
from wire import Server

PRINT = ["run", "--print-config"]  # needs no memory for the runs


class Commands(LabTest):

    def both(self, most, command, says, stdin="choose\n"):
        """The complaint is not about `most`, and is about one more."""
        for n in (most, most + 1):
            with self.subTest(n=n, says=says):
                given = stdin(n) if callable(stdin) else stdin
                done = tarry(*command(n), input=given, timeout=60)
                said = done.stdout + done.stderr
                if n == most:
                    self.assertNotIn(says, said)
                    self.assertIn(done.returncode, (0, 2), said)
                else:
                    self.assertIn(says, said)

    def test_of_numbers(self):
        arms = self.write("arms.csv", "x,y\n1,0\n0,1\n")
        log = self.write("log.csv", "id,arm,at\n")
        pipe = ["pipe", "--arms", arms, "--policy", "uniform"]
        for most, says, *command in (
                (256, "--points: not", *PRINT, "--points", "%d"),
                (10**6, "--runs: not", *PRINT, "--runs", "%d"),
                (1024, "--threads: more", *PRINT, "--threads", "%d"),
                (1024, "--threads: more", "design", "none", "--threads", "%d"),
                (1024, "--threads: more", "examine", log, "--threads", "%d"),
                (1024, "--threads: more", "paper", "--out", log + "/x",
                 "--threads", "%d"),
                (10**5, "--runs: more", "examine", log, "--runs", "%d"),
                (2**39 - 1, "the horizon must be 2 to 2^39 - 1", *pipe,
                 "--horizon", "%d")):
            self.both(most, lambda n: [w.replace("%d", str(n))
                                       for w in command], says)
        self.both(10**6, lambda n: pipe + ["--horizon", "3"],
                  "must be a whole number from 1 to 1000000",
                  lambda n: "choose %d\n" % n)
        self.both(64, lambda n: pipe + ["--horizon", "3"], "an id must be",
                  lambda n: "choose --id %s\n" % ("x" * n))

    def test_of_lists(self):
        arms = self.write("arms.csv", "x,y\n1,0\n0,1\n")
        few = ["--runs", "2", "--horizon", "10", "--points", "1"]
        names = ["linucb:lambda=%d" % i for i in range(1, 66)]

        def policies(n):
            return ["run", *few, *sum((["--policy", p] for p in names[:n]),
                                      [])]

        def config(**given):
            return ["run", self.write(
                "run.json", json.dumps({"horizon": 10, "runs": 2,
                                        "points": 1, **given}))]

        self.both(64, policies, "--policy: more than 64")
        self.both(64, lambda n: config(policy=names[:n]),
                  "policy: more than 64")
        self.both(64, lambda n: config(policy="uniform", worlds=[
            {"name": str(i)} for i in range(n)]), "not a list of 1 to 64")
        self.both(64, lambda n: ["plot", "none", "--out", self.path("x.svg"),
                                 *["--policy", "x"] * n],
                  "--policy: more than 64")
        self.both(32, lambda n: ["pipe", "--arms", arms, "--horizon", "9",
                                 "--policy", "uniform:" + ",".join(
                                     "k%d=1" % i for i in range(n))],
                  "too many settings")
        self.both(511, lambda n: ["pipe", "--arms", arms, "--horizon", "9",
                                  "--policy", "phased-stochastic:guide=" +
                                  "x" * n], "guide: more than 511 characters")

    def test_of_arms(self):
        def of_dim(n):
            numpy.save(self.path("wide.npy"), numpy.ones((1, n)))
            return ["pipe", "--arms", self.path("wide.npy"), "--policy",
                    "uniform", "--horizon", "9"]
        self.both(20000, of_dim, "dimension must be 1 to 20000")
        # 128 dimensions, beside that of the best arm
        self.both(129, lambda n: ["bound", "--instance", "basis:arms=%d" % n,
                                  "--horizon", "100"],
                  "arms in more than 128 dimensions")
        self.both(200, lambda n: ["examine", self.write(
            "log.csv", "id,arm,decided,reported,loss\n" + "".join(
                "%d,a%d,%d,%d,%g\n" % (i, i, i, i + 3, (-1) ** i / 2)
                for i in range(n))), "--runs", "1", "--horizon", "2"],
                  "too many arms without features")
        for size, says in (("1e100", None), ("1.000001e100", "scale all"),
                           ("1e-100", None), ("0.999999e-100", "scale all")):
            done = tarry("pipe", "--arms", self.write(
                "arms.csv", "x,y\n%s,0\n0,%s\n" % (size, size)), "--policy",
                "uniform", "--horizon", "9", input="choose\n")
            if says is None:
                self.assertEqual((done.returncode, done.stdout), (0, "1 0\n"))
            else:
                self.assertEqual(done.returncode, 2)
                self.assertIn(says, done.stderr)


class Serving(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server(cls.folder.name, "--max-arms", "5", "--max-count",
                            "7", "--max-body", "30000", "--max-experiments",
                            "6")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def call(self, *arguments, **more):
        with self.server.talk() as talk:
            return talk.call(*arguments, **more)

    def raw(self, data):
        with self.server.talk() as talk:
            talk.send(data)
            return talk.read()

    def both(self, most, ask, good, bad, code):
        """Statuses of `most`, and of one more with the code of its problem."""
        for n, status in ((most, good), (most + 1, bad)):
            with self.subTest(n=n, code=code):
                answer = ask(n)
                self.assertEqual(answer.status, status, answer)
                if n > most:
                    self.assertEqual(answer.json["code"], code)

    def test_at_the_door(self):
        get = b"GET /healthz HTTP/1.1\r\n"
        host = b"Host: localhost\r\n"
        self.both(8192, lambda n: self.raw(
            b"GET /" + b"a" * (n - 1) + b" HTTP/1.1\r\n" + host + b"\r\n"),
            404, 414, "uri_too_long")
        self.both(100, lambda n: self.raw(
            get + host + b"A: b\r\n" * (n - 1) + b"\r\n"), 200, 431,
            "header_too_large")
        rest = len(get + host + b"A: \r\n\r\n")
        self.both(16384, lambda n: self.raw(
            get + host + b"A: " + b"a" * (n - rest) + b"\r\n\r\n"), 200, 431,
            "header_too_large")
        self.both(20, lambda n: self.raw(
            b"G" * n + b" /healthz HTTP/1.1\r\n" + host + b"\r\n"), 405, 400,
            "bad_request")
        self.both(30000, lambda n: self.raw(
            b"POST /v1/feedback HTTP/1.1\r\n" + host +
            b"Content-Length: %d\r\n\r\n" % n +
            b"[" + b" " * (n - 2) + b"]"), 200, 413, "body_too_large")
        for n in (64, 65):
            answer = self.call("GET", "/healthz",
                               headers=["X-Request-Id: " + "q" * n])
            self.assertEqual(answer.headers["x-request-id"] == "q" * n,
                             n == 64)

    def create(self, name, n, dim=2, **more):
        arms = [{"name": "arm %d" % i, "features": [1] * (dim - 1) + [i]}
                for i in range(n)]
        return self.call("POST", "/v1/experiments",
                         {"name": name, "arms": arms, "policy": "uniform",
                          **more})

    def test_of_experiments(self):
        self.both(63, lambda n: self.create("n" * n, 1), 201, 422, "invalid")
        self.both(5, lambda n: self.create("arms%d" % n, n), 201, 422,
                  "invalid")
        self.both(1000, lambda n: self.create("dim%d" % n, 1, n), 201, 422,
                  "invalid")
        self.create("four", 4)
        self.both(5, lambda n: self.call(
            "POST", "/v1/experiments/four/arms",
            {"name": "arm %d" % n, "features": [1, n]}), 201, 422, "invalid")
        self.both(10000, lambda n: self.call(
            "GET", "/v1/experiments/four/pending?limit=%d" % n), 200, 422,
            "invalid")
        self.both(7, lambda n: self.call(
            "POST", "/v1/experiments/four/decisions", {"count": n}), 201, 422,
            "invalid")
        self.both(64, lambda n: self.call(
            "POST", "/v1/experiments/four/decisions", {"id": "x" * n}), 201,
            422, "invalid")
        self.both(2**39 - 1, lambda n: self.create(
            "long%d" % n, 1, horizon=n), 201, 422, "invalid")
        self.both(6, lambda n: self.create("last%d" % n, 1), 201, 409,
                  "too_many_experiments")


if __name__ == "__main__":
    unittest.main()
