"""A stranger at the server's door: bytes that are no requests, requests that
mean no good, slow ones, many at once.  It answers each in good form or hangs
up, never with an error of its own, stays small, and serves others meanwhile.

A thousand requests of 44 kinds; TARRY_CAMPAIGN=1: ten thousand and 5 000
connections; TARRY_SEED=n for other ones."""
import concurrent.futures
import itertools
import json
import os
import random
import re
import resource
import select
import signal
import socket
import subprocess
import time
import unittest

from lab import SANITIZED, TARRY, LabTest, amount

SEED = int(os.environ.get("TARRY_SEED", 2385))
REQUESTS = amount(200, 1000, 10000)
CONNECTIONS = amount(400, 400, 5000)
MOST_MEGABYTES = 1500 if SANITIZED else 300
EXPERIMENT = {"name": "e", "arms": [{"name": "a"}, {"name": "b"}],
              "horizon": 100000}


def request(method, path, body=None, more="", version="HTTP/1.1"):
    """The bytes of a request; `body` may be bytes or what is to be JSON."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    length = "" if body is None else "Content-Length: %d\r\n" % len(body)
    head = "%s %s %s\r\nHost: localhost\r\n%s%s\r\n" % (
        method, path, version, length, more)
    return head.encode("latin-1") + (body or b"")


def feedback(text):
    return request("POST", "/v1/feedback", text.encode("utf-8",
                                                       "surrogateescape"))


def decide(body):
    return request("POST", "/v1/experiments/e/decisions", body)


def kinds(r):
    """One request of each kind; r: random numbers."""
    number = r.choice(["1e999", "-1e999", "NaN", "1e-400", "-0",
                       "9" * 400, "0x1", "1.", ".5", "+1", "1e", "01"])
    name = "".join(chr(r.choice([0, 7, 9, 10, 27, 34, 92, 127, 128, 0x202e,
                                 0xfffd, 0x1f600])) for _ in range(5))
    junk = bytes(r.randrange(256) for _ in range(r.randrange(1, 300)))
    good = request("POST", "/v1/feedback", {"id": "e:1", "loss": 0})
    at = r.randrange(len(good))
    return {
        "junk": junk,
        "nothing": b"\r\n" * r.randrange(1, 20),
        "zeros": b"\0" * r.randrange(1, 4000),
        "a secure greeting": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + junk,
        "the other protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "bare line feeds": good.replace(b"\r\n", b"\n"),
        "bare returns": good.replace(b"\r\n", b"\r"),
        "one byte changed": good[:at] + bytes([r.randrange(256)]) +
        good[at + 1:],
        "one byte missing": good[:at] + good[at + 1:],
        "one byte more": good[:at] + bytes([r.randrange(256)]) + good[at:],
        "cut off": good[:at],
        "two lengths": request("POST", "/v1/feedback", {},
                               "Content-Length: 2\r\n"),
        "two lengths that differ": request("POST", "/v1/feedback", {},
                                           "Content-Length: 3\r\n"),
        "a length and a coding": request(
            "POST", "/v1/feedback", {}, "Transfer-Encoding: chunked\r\n"),
        "chunks": request("POST", "/v1/feedback", None,
                          "Transfer-Encoding: chunked\r\n") +
        b"2\r\n{}\r\n0\r\n\r\n",
        "chunks of another size": request("POST", "/v1/feedback", None,
                                          "Transfer-Encoding: chunked\r\n") +
        b"%x\r\n{}\r\n0\r\n\r\n" % r.choice([1, 3, 5]),
        "a coding": request("POST", "/v1/feedback", None, r.choice(
            ["Transfer-Encoding: %s\r\n" % coding for coding in (
                "gzip", "gzip, chunked", "chunked, chunked", "x-chunked")])) +
        b"2\r\n{}\r\n0\r\n\r\n",
        "an odd length": request("POST", "/v1/feedback", None,
                                 "Content-Length: %s\r\n" % r.choice(
                                     ["-1", "+2", "0x2", "2 2", "2,2", "", "9" *
                                      30, "1e3", " "])) + b"{}",
        "a huge length": request("POST", "/v1/feedback", None,
                                 "Content-Length: 99999999999\r\n"),
        "a folded line": request("GET", "/healthz", None,
                                 "X: a\r\n b\r\n"),
        "a blank before the colon": request("GET", "/healthz", None,
                                            "X : a\r\n"),
        "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
        "two hosts": request("GET", "/healthz", None, "Host: y\r\n"),
        "many fields": request("GET", "/healthz", None, "".join(
            "X-%d: 1\r\n" % i for i in range(200))),
        "a long field": request("GET", "/healthz", None,
                                "X: " + "a" * 20000 + "\r\n"),
        "a long path": request("GET", "/" + "a" * 9000),
        "an odd path": request("GET", r.choice(
            ["/../../etc/passwd", "/%2e%2e/%2fetc", "/%00", "/%zz", "//", "/?",
             "/v1/experiments/%ff%fe", "/v1/experiments/" + "%41" * 900,
             "http://x/healthz", "*", "/v1/experiments/e/pending?limit=-1",
             "/v1/experiments/e/pending?limit=1e99&limit=2",
             "/v1/experiments/e/log?from=%00"])),
        "an odd method": request(r.choice(
            ["get", "TRACE", "CONNECT", "OPTIONS", "G E T", "A" * 30, "\x01"]),
            "/healthz"),
        "another version": request("GET", "/healthz", None, "", r.choice(
            ["HTTP/0.9", "HTTP/2", "HTTP/1.2", "http/1.1", "HTTP/1.1 ", ""])),
        "something expected": request("POST", "/v1/feedback", {},
                                      "Expect: magic\r\n"),
        "an odd number": feedback('{"id":"e:1","loss":%s}' % number),
        "duplicate keys": feedback('{"id":"e:1","id":"e:2","loss":0}'),
        "an odd name": request("POST", "/v1/experiments", dict(
            EXPERIMENT, name=name)),
        "an odd id": decide({"id": name}),
        "a generated id": decide({"id": r.choice(["e:1", "1", ":7", "x:1"])}),
        "a long id": decide({"id": "x" * r.randrange(60, 5000)}),
        "an odd count": decide(('{"count":%s}' % r.choice(
            [number, "-1", "0", "1e18", "2.5", '"3"', "null"])).encode()),
        "no utf-8": feedback('{"id":"\udcff\udcfe","loss":0}'),
        "half a pair": feedback('{"id":"\\ud800","loss":0}'),
        "a zero": feedback('{"id":"a\\u0000b","loss":0}'),
        "deep": request("POST", "/v1/feedback",
                        b"[" * 100000 if r.random() < 0.5 else
                        b'{"a":' * 50000),
        "a long list": request("POST", "/v1/feedback",
                               [{"id": "e:1", "loss": 0}] * 1001),
        "no object": request("POST", "/v1/experiments", r.choice(
            [b"null", b"7", b'"x"', b"[]", b"", b"{", b"{}{}", b"true"])),
        "arms that are none": request("POST", "/v1/experiments", dict(
            EXPERIMENT, name="n%d" % r.randrange(10 ** 9), arms=r.choice(
                [[], {}, None, [{}], [{"name": 7}], [{"name": "a"}] * 2,
                 [{"name": "a", "features": [1]}, {"name": "b"}],
                 [{"name": "a", "features": [1e308] * 3}],
                 [{"name": "a", "features": ["x"]}]]))),
        "settings that are none": request("POST", "/v1/experiments", dict(
            EXPERIMENT, name="n%d" % r.randrange(10 ** 9), **r.choice(
                [{"policy": "lints:v=nan"}, {"policy": "oracle"},
                 {"policy": "x" * 10000}, {"range": [1, 0]},
                 {"range": [-1e308, 1e308]}, {"horizon": -1},
                 {"horizon": 1.5}, {"confidence": 1}, {"seed": -1},
                 {"seed": 2 ** 64}, {"expire_after": "soon"},
                 {"objective": "both"}, {"dim": 3}, {"unheard": 1}]))),
        "pipelined": good * r.randrange(2, 30) + junk,
    }


def answers(data):
    """The statuses of the answers in these bytes; raises if they are not framed
    well."""
    statuses = []
    while data:
        match = re.match(rb"HTTP/1\.1 (\d\d\d) [ -~]*\r\n", data)
        head, blank, rest = data.partition(b"\r\n\r\n")
        if not match or not blank:
            raise AssertionError("not an answer: %r" % data[:200])
        statuses.append(int(match[1]))
        length = re.search(rb"\r\ncontent-length: (\d+)", head.lower())
        if not length and statuses[-1] >= 200:
            raise AssertionError("no length: %r" % head)
        size = int(length[1]) if length else 0
        body, data = rest[:size], rest[size:]
        if len(body) < size:
            raise AssertionError("a short body: %r" % data[:200])
        if re.search(rb"\r\ncontent-type: application/(problem\+)?json\r",
                     head.lower() + b"\r"):
            json.loads(body)
    return statuses


class Strangers(LabTest):

    def setUp(self):
        super().setUp()
        self.server = subprocess.Popen(
            [TARRY, "serve", "--listen", "127.0.0.1:0", "--store",
             self.path("s.db"), "--request-timeout", "2"],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.server.stderr.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        line = json.loads(self.server.stderr.readline())
        self.address = ("127.0.0.1", int(line["detail"].split(":")[1]))
        self.assertEqual(self.ask(request("POST", "/v1/experiments",
                                          EXPERIMENT)), [201])

    def tearDown(self):
        """It is alive, small, stops when told, and its store is sound."""
        self.check_well()
        with open("/proc/%d/status" % self.server.pid) as file:
            peak = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(60), 0)
        self.assertLess(peak, MOST_MEGABYTES)
        done = subprocess.run([TARRY, "store", "check", self.path("s.db")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        super().tearDown()

    def connect(self):
        return socket.create_connection(self.address, timeout=60)

    def ask(self, data):
        """Sends and hangs up; answers what came back."""
        with self.connect() as s:
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
            except OSError:  # it has hung up first
                pass
            got = b""
            try:
                while part := s.recv(65536):
                    got += part
            except ConnectionError:
                pass
            return answers(got)

    def check_well(self):
        self.assertEqual(self.ask(request("POST",
                                          "/v1/experiments/e/decisions", {})),
                         [201])

    def test_malformed_requests_are_refused_in_good_form(self):
        r = random.Random(SEED)
        sent = 0
        while sent < REQUESTS:
            for kind, data in kinds(r).items():
                with self.subTest(kind=kind, data=data[:500]):
                    for status in self.ask(data):
                        self.assertTrue(status < 500 or status in (501, 505),
                                        status)
                sent += 1
        self.assertGreaterEqual(len(kinds(r)), 40)

    def test_what_comes_behind_a_refusal_is_not_a_request(self):
        """Else a stranger could hide one from whoever stands before us."""
        hidden = request("POST", "/v1/experiments",
                         dict(EXPERIMENT, name="hidden"))
        for kind in ("two lengths", "two lengths that differ", "an odd length",
                     "a length and a coding", "a coding", "a folded line",
                     "chunks of another size",
                     "bare line feeds", "a huge length", "two hosts"):
            with self.subTest(kind=kind):
                data = kinds(random.Random(1))[kind]
                self.assertEqual(len(self.ask(data + hidden)), 1)
        self.assertEqual(self.ask(request("GET", "/v1/experiments/hidden")),
                         [404])

    def test_slow_clients_are_cut_off_and_hold_nobody_up(self):
        begun = time.monotonic()
        slow = [self.connect() for _ in range(50)]
        data = request("POST", "/v1/feedback", b"x" * 1000)
        left = set(slow)
        for i in itertools.count():
            for s in list(left):
                try:
                    s.sendall(data[i:i + 1])
                except OSError:
                    left.discard(s)
            self.check_well()
            time.sleep(0.1)
            ready, _, _ = select.select(list(left), [], [], 0)
            for s in ready:
                try:
                    got = s.recv(1000)
                except OSError:
                    got = b""
                self.assertTrue(got == b"" or got.startswith(b"HTTP/1.1 408"))
                left.discard(s)
            if not left:
                break
        self.assertGreater(time.monotonic() - begun, 1.5)
        for s in slow:
            s.close()

    def test_who_takes_no_answers_is_cut_off(self):
        """Many requests, and nothing of the answers is read."""
        with self.connect() as s:
            s.settimeout(0.2)
            data = request("GET", "/openapi.json") * 200
            with self.assertRaises(ConnectionError):
                while True:
                    try:
                        s.sendall(data)
                    except TimeoutError:
                        pass
        self.check_well()

    def test_who_sends_on_after_a_refusal_holds_nobody_up(self):
        children = [os.fork() for _ in range(1)]
        if children[0] == 0:
            try:
                with self.connect() as s:
                    s.sendall(b"GET / HTTP/9.9\r\n\r\n")
                    while True:
                        s.sendall(b"x" * (1 << 20))
            finally:
                os._exit(0)
        try:
            for _ in range(10):
                self.check_well()
                time.sleep(0.1)
        finally:
            os.kill(children[0], signal.SIGKILL)
            os.waitpid(children[0], 0)

    def test_many_connections_at_once(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = min(CONNECTIONS + 200, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        many = []
        try:
            for _ in range(wanted - 200):
                many.append(self.connect())
            self.check_well()
            for s in many[::7]:
                s.sendall(request("GET", "/healthz"))
            for s in many[::7]:
                self.assertTrue(s.recv(1000).startswith(b"HTTP/1.1 200"))
        finally:
            for s in many:
                s.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_many_experiments(self):
        with self.connect() as s:
            for i in range(300):
                s.sendall(request("POST", "/v1/experiments",
                                  dict(EXPERIMENT, name="many-%d" % i)))
                got = s.recv(65536)
                self.assertTrue(got.startswith(b"HTTP/1.1 201"), (i, got))

    def test_clients_at_once_do_not_disturb_each_other(self):
        """All kinds of calls, at the same time, on the same experiments."""
        rounds = amount(20, 50, 50)

        def client(number):
            for i in range(rounds):
                name = "c%d-%d" % (number, i)
                self.assertEqual(self.ask(
                    decide({"id": name}) +
                    feedback('{"id":"%s","loss":0.5}' % name) +
                    feedback('{"id":"%s","loss":0.5}' % name) +
                    request("GET", "/v1/experiments/e/status") +
                    request("GET", "/v1/experiments/e/pending?limit=5") +
                    request("GET", "/metrics") +
                    request("GET", "/v1/experiments")),
                    [201, 200, 200, 200, 200, 200, 200])
                if i % 10 == 0:
                    self.assertEqual(self.ask(request(
                        "POST", "/v1/experiments",
                        dict(EXPERIMENT, name=name))), [201])
            return number
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            self.assertEqual(list(pool.map(client, range(6))), list(range(6)))

    def test_large_bodies_are_refused_before_they_are_read(self):
        with self.connect() as s:
            s.sendall(request("POST", "/v1/feedback", None,
                              "Content-Length: 1000000000\r\n"))
            self.assertTrue(s.recv(1000).startswith(b"HTTP/1.1 413"))

    def test_very_many_values_do_not_take_all_memory(self):
        for value in b"[],", b'{"features":[1]},', b"1,":
            body = b'{"name":"new","arms":[' + value * (4000000 // len(value))
            self.assertEqual(self.ask(request(
                "POST", "/v1/experiments", body[:-1] + b"]}")), [422])

    def test_odd_names_come_back_as_they_were(self):
        """Names and ids with any characters they may have."""
        for name in ("a/b", "a%2fb", "?q", "#", "..", " ", "\u202e",
                     "gr\u00fcn \U0001f600", '"\\', "x" * 60):
            with self.subTest(name=name):
                statuses = self.ask(request("POST", "/v1/experiments",
                                            dict(EXPERIMENT, name=name)))
                self.assertIn(statuses, ([201], [422]))
                if statuses == [201]:
                    path = "".join("%%%02x" % b for b in name.encode())
                    self.assertEqual(self.ask(request(
                        "GET", "/v1/experiments/" + path)), [200])
                    self.assertEqual(self.ask(request(
                        "POST", "/v1/experiments/%s/decisions" % path, {})),
                        [201])


if __name__ == "__main__":
    unittest.main()
