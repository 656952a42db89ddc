"""A random program of a running server, against a plain model (traffic.py).

Clients at once, each on a connection of its own, send requests one behind the
other: whole, in pieces, byte by byte, half closed, read slowly, or left in the
middle; the server is killed meanwhile, or told to end.  Every answer must be
the one to its request.  What was not answered is asked again, which must do it
or find it done; what was not sent as a whole must not have happened.  Then log,
pending, status, list and metrics must say the same as the clients.

24 volleys; TARRY_CAMPAIGN=1: 1500, and 300 with PostgreSQL; TARRY_SEED=n for
other ones."""
import collections
import concurrent.futures
import json
import os
import random
import re
import socket
import threading
import time
import unittest

import postgres
from lab import CAMPAIGN, LabTest, amount, tarry
from traffic import (ALL, MOST_BODY, Client, Decision, Experiment,
                     is_pending, must, replay)
from wire import Closed, Server, Talk

SEED = int(os.environ.get("TARRY_SEED", 2385))
VOLLEYS = amount(12, 24, 1500)
CLIENTS = 6
MOST_BURST = 12
LONG = 10000  # decisions: the answer is more than a connection holds
RESET = b"\1\0\0\0\0\0\0\0"  # for SO_LINGER: a close is a reset


class Line:
    """One connection, and a burst of requests on it."""

    def __init__(self, port, requests, tokens, chance, counts, may_end):
        self.requests, self.chance, self.counts = requests, chance, counts
        self.may_end = may_end  # the server, at any time
        self.parts = [r.bytes(tokens, "%012d" % chance.randrange(10 ** 12))
                      for r in requests]
        self.sent = 0  # bytes
        self.answered = 0
        self.again = [False] * len(requests)
        self.talk = Talk(port)

    def send(self, data):
        for at in range(0, len(data), 1 << 16):
            self.talk.send(data[at:at + (1 << 16)])
            self.sent += len(data[at:at + (1 << 16)])

    def is_sent(self, i):
        return self.sent >= sum(map(len, self.parts[:i + 1]))

    def is_begun(self, i):
        return self.sent > sum(map(len, self.parts[:i]))

    def send_in_pieces(self, data, size, pause):
        while data:
            n = self.chance.randrange(1, size + 1)
            self.send(data[:n])
            data = data[n:]
            if self.chance.random() < pause:
                time.sleep(0.0005)

    def read(self):
        r = self.requests[self.answered]
        answer = self.talk.read(r.method == "HEAD")
        if not r.refused:
            must(answer.headers["x-request-id"] == r.name, r.path, answer)
        self.counts[answer.status] += 1
        r.check(answer, self.again[self.answered])
        closes = answer.headers.get("connection") == "close"
        must(closes == r.ends or self.may_end, r.path, answer.headers)
        self.answered += 1
        return closes

    def read_all(self):
        while self.answered < len(self.requests):
            if self.read():
                must(self.talk.ends(), self.talk.rest)
                return
        must(self.talk.rest == b"", self.talk.rest)

    # ---- styles -------------------------------------------------------------

    def whole(self):
        self.send(b"".join(self.parts))
        self.read_all()

    def one_by_one(self):
        for part in self.parts:
            self.send(part)
            if self.read():
                return

    def pieces(self):
        self.send_in_pieces(b"".join(self.parts),
                            self.chance.choice((30, 300, 3000)), 0.1)
        self.read_all()

    def every_byte(self):
        data = b"".join(self.parts)
        for i in range(min(len(data), 2000)):
            self.send(data[i:i + 1])
        self.send(data[2000:])
        self.read_all()

    def half_closed(self):
        self.send(b"".join(self.parts))
        self.talk.socket.shutdown(socket.SHUT_WR)
        self.read_all()
        must(self.talk.ends(), self.talk.rest)

    def slowly(self):
        """Its window is small, and it reads a little now and then."""
        self.talk.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        sender = threading.Thread(target=self.try_to_send)
        sender.start()
        try:
            while self.answered < len(self.requests):
                time.sleep(0.002)
                if self.read():
                    return
        finally:
            self.talk.socket.shutdown(socket.SHUT_RDWR)
            sender.join()

    def try_to_send(self):
        try:
            self.send(b"".join(self.parts))
        except OSError:
            pass

    def dropped(self):
        """Some of it is sent, some answers are read, then it is gone."""
        data = b"".join(self.parts)
        self.send(data[:self.chance.randrange(len(data) + 1)])
        whole = sum(map(self.is_sent, range(len(self.parts))))
        for _ in range(self.chance.randrange(whole + 1)):
            if self.read():
                break
        if self.chance.random() < 0.5:
            self.talk.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                        RESET)
        raise Closed()


STYLES = ("whole", "one_by_one", "pieces", "every_byte", "half_closed",
          "slowly", "dropped")


class RandomProgram(LabTest):

    def begin(self, store):
        self.tokens = {}
        lines = []
        for scope in ("decide", "feedback", "read", "admin", ALL):
            made = tarry("serve", "--new-token", scope).stdout.splitlines()
            self.tokens[scope] = made[0].split()[-1]
            lines.append(made[1].split(": ")[1])
        self.write("tokens", "\n".join(lines) + "\n")
        self.server = Server(self.folder, "--tokens", self.path("tokens"),
                             "--max-body", str(MOST_BODY), store=store)
        self.addCleanup(lambda: self.server.process.kill())
        self.chance = random.Random(SEED)
        self.counts = collections.Counter()  # answers of this process
        self.unanswered = 0                  # at most so many more
        self.before = {}                     # events before it, by name
        self.answers = 0
        self.experiments = []
        for e in (Experiment("plain", policy="lints"),
                  Experiment("Plain.2", policy="lints", maximize=True),
                  Experiment("ageing", policy="lints", ages=9,
                             expire_after="9rounds"),
                  Experiment("mixed", may_be_late=True, horizon=100000)):
            self.ask("POST", "/v1/experiments", e.settings, 201)
            self.experiments.append(e)
        self.is_ending = False
        self.lock = threading.Lock()
        self.clients = [Client(i, random.Random(SEED * 100 + i),
                               self.experiments) for i in range(CLIENTS)]

    def ask(self, method, path, body=None, status=200):
        answer = self.server.call(method, path, body, token=self.tokens[ALL])
        self.counts[answer.status] += 1
        self.assertEqual(answer.status, status, (path, body, answer))
        return answer

    # ---- volleys ------------------------------------------------------------

    def talk(self, client, requests, style, again=None):
        """Plays a burst; answers what is left of it, and whether each of that
        may have happened."""
        try:
            line = Line(self.server.port, requests, self.tokens,
                        client.random, self.counts, self.is_ending)
        except OSError:
            return [(r, False) for r in requests]
        if again is not None:
            line.again = again
        with line.talk:
            try:
                getattr(line, style)()
            except (Closed, OSError):
                if style != "dropped" and not self.is_ending:
                    raise
        left = range(line.answered, len(requests))
        with self.lock:  # half a request may be refused
            self.unanswered += sum(map(line.is_begun, left))
        return [(requests[i], line.is_sent(i)) for i in left]

    def play(self, client):
        style = client.random.choice(STYLES)
        requests = client.burst(MOST_BURST)
        if style == "dropped":
            requests = [r for r in requests if r.doubtful is None]
        if not requests:
            return []
        behind = [client.misuse(), client.ask_plainly()] \
            if requests[-1].ends and style in ("whole", "pieces") else []
        for r in behind:  # must never be read: it would be answered
            r.check = lambda answer, again: must(False, answer)
        left = self.talk(client, requests + behind, style)
        return [(r, sent) for r, sent in left if r not in behind]

    def settle(self, client, left):
        """Asks again what was not answered."""
        for r, sent in left:
            if r.doubtful is not None and sent:
                r.doubtful[0].doubtful += r.doubtful[1]
            else:
                self.assertEqual(self.talk(client, [r], "whole", [sent]), [])

    def volley(self, ending):
        self.is_ending = ending is not None
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            tasks = [pool.submit(self.play, c) for c in self.clients]
            if ending is not None:
                time.sleep(self.chance.random() * 0.05)
                ending()
            left = [task.result() for task in tasks]
        self.is_ending = False
        if ending is not None:
            self.restart()
        for client, rest in zip(self.clients, left):
            self.settle(client, rest)

    def restart(self):
        """The store is as the last process left it."""
        self.server.start()
        self.sockets = self.count_sockets()
        self.answers += sum(self.counts.values())
        self.counts.clear()
        self.unanswered = 0
        self.before = {e.name: self.events(self.log(e))
                       for e in self.experiments}

    def terminate(self):
        code, said = self.server.stop()
        self.assertEqual(code, 0, said)
        self.assertNotIn("Sanitizer", said)

    # ---- what one alone may do ----------------------------------------------

    def rule(self):
        """Changes that all clients must know of."""
        e = self.chance.choice(self.experiments)
        path = "/v1/experiments/%s/" % e.name
        kind = self.chance.randrange(4)
        if kind == 0:
            e.is_paused = not e.is_paused
            what = "pause" if e.is_paused else "resume"
            self.assertEqual(self.ask("POST", path + what).json["paused"],
                             e.is_paused)
        elif kind == 1 and len(e.arms) < 9:
            name = "arm %d" % self.chance.randrange(10 ** 6)
            self.ask("POST", path + "arms", {
                "name": name, "features": [1, self.chance.random()]}, 201)
            e.arms.append(name)
        elif kind == 2 and len(e.arms) > 2:
            gone = e.arms.pop(self.chance.randrange(len(e.arms)))
            gone = gone.replace(" ", "%20")
            self.ask("DELETE", path + "arms/" + gone)
            self.ask("DELETE", path + "arms/" + gone, status=404)

    # ---- comparing ----------------------------------------------------------

    def log(self, e):
        lines = self.ask("GET", "/v1/experiments/%s/log" % e.name).body
        return [json.loads(line) for line in lines.splitlines()]

    def compare_decisions(self, e, fates):
        """Every decision that was told is there, and no other is."""
        known = {d.id: d for c in self.clients for d in c.made
                 if d.experiment is e and d.told is not None}
        for id, d in known.items():
            fate = fates.get(id)
            self.assertIsNotNone(fate, id)
            self.assertEqual(
                [fate[key] for key in ("round", "arm", "probability", "at")],
                [d.told[key] for key in ("round", "arm", "probability",
                                         "decided_at")])
            self.assertEqual((fate["loss"], fate["is_cancelled"]),
                             (d.loss, d.is_cancelled), id)
            if not e.ages or d.was_expired:
                self.assertEqual(fate["was_expired"], d.was_expired, id)
        lost = [fate for id, fate in fates.items() if id not in known]
        self.assertLessEqual(len(lost), e.doubtful, lost[:3])
        e.doubtful = 0
        for fate in lost:  # somebody finds them
            self.assertTrue(fate["id"].startswith(e.name + ":"), fate)
            told = {key: fate[key] for key in ("id", "arm", "probability",
                                               "round")}
            d = Decision(e, told=dict(told, decided_at=fate["at"]))
            d.was_expired = fate["was_expired"]
            self.chance.choice(self.clients).made.append(d)

    def compare_questions(self, e, lines, fates):
        path = "/v1/experiments/%s/" % e.name
        waiting = [f for f in fates.values() if is_pending(f)]
        found = self.ask("GET", path + "pending?limit=10000").json
        self.assertEqual([(p["id"], p["arm"]) for p in found["pending"]],
                         [(f["id"], f["arm"]) for f in waiting])
        self.assertEqual(found["count"], len(waiting))
        status = self.ask("GET", path + "status").json
        self.assertEqual((status["round"], status["pending"],
                          status["paused"]),
                         (len(fates), len(waiting), e.is_paused))
        self.assertEqual(sorted(status["arms"]), sorted(e.arms))

    def events(self, lines):
        return collections.Counter(line["event"] for line in lines)

    def compare_metrics(self, logs):
        text = self.ask("GET", "/metrics").body.decode()
        value = {m[1]: float(m[2]) for m in
                 re.finditer(r"^(\w+(?:\{.*?\})?) (.*)$", text, re.M)}
        for e, lines in logs:
            now, before = self.events(lines), self.before[e.name]
            of = '{experiment="%s"' % e.name
            self.assertEqual(value["tarry_decisions_total%s}" % of],
                             now["choose"] - before["choose"])
            self.assertEqual(
                sum(value['tarry_feedback_total%s,status="%s"}' % (of, s)]
                    for s in ("applied", "late")),
                now["observe"] - before["observe"])
            self.assertEqual(value["tarry_pending%s}" % of], sum(map(
                is_pending, replay(lines).values())))
        counted = collections.Counter()
        for name, count in value.items():
            if name.startswith("tarry_http_requests_total"):
                counted[int(re.search(r'code="(\d+)"', name)[1])] += count
        self.counts[200] -= 1  # this one was not counted when it was answered
        more = {code: counted[code] - self.counts[code]
                for code in {**counted, **self.counts}}
        self.counts[200] += 1
        self.assertGreaterEqual(min(more.values()), 0, (counted, self.counts))
        self.assertLessEqual(sum(more.values()), self.unanswered, more)

    def compare(self):
        logs = [(e, self.log(e)) for e in self.experiments]
        for e, lines in logs:
            self.assertEqual([line["seq"] for line in lines],
                             list(range(1, len(lines) + 1)))
            fates = replay(lines)
            self.assertEqual([f["round"] for f in fates.values()],
                             list(range(1, len(fates) + 1)))
            self.compare_decisions(e, fates)
            self.compare_questions(e, lines, fates)
        listed = self.ask("GET", "/v1/experiments").json["experiments"]
        self.assertEqual([x["name"] for x in listed],
                         [e.name for e in self.experiments])
        return logs

    # ---- all of it ----------------------------------------------------------

    def wait_until_quiet(self):
        """Requests of connections that were dropped may still run."""
        sockets = self.count_sockets()
        for _ in range(3000):
            if sockets <= self.sockets:
                return
            time.sleep(0.002)
            sockets = self.count_sockets()
        self.fail("%d sockets are open, not %d" % (sockets, self.sockets))

    def wait_for_ages(self):
        """What is too old expires within half a second."""
        for e in self.experiments:
            while e.ages:
                oldest = self.ask("GET", "/v1/experiments/%s/pending?limit=1"
                                  % e.name).json["pending"]
                if not oldest or oldest[0]["rounds"] < e.ages:
                    break
                time.sleep(0.02)

    def count_sockets(self):
        files = "/proc/%d/fd" % self.server.process.pid
        count = 0
        for name in os.listdir(files):
            try:
                count += "socket:" in os.readlink(os.path.join(files, name))
            except OSError:  # closed meanwhile
                pass
        return count

    def run_program(self, volleys):
        self.before = {e.name: collections.Counter()
                       for e in self.experiments}
        self.sockets = self.count_sockets()
        for i in range(volleys):
            ending = {3: self.server.kill, 7: self.terminate}.get(i % 10)
            self.volley(ending)
            self.rule()
            if i % 5 == 4 or ending is not None:
                self.wait_until_quiet()
                self.wait_for_ages()
                self.compare_metrics(self.compare())
        self.terminate()
        found = tarry("store", "check", self.server.store)
        self.assertEqual(found.returncode, 0, found.stderr)
        made = sum(d.told is not None for c in self.clients for d in c.made)
        print("%d volleys, %d answers, %d decisions" % (
            volleys, self.answers + sum(self.counts.values()), made))

    def test_with_sqlite(self):
        self.begin(self.path("store.db"))
        self.run_program(VOLLEYS)

    @unittest.skipUnless(CAMPAIGN and postgres.programs(), "for campaigns")
    def test_with_postgres(self):
        server = postgres.Server()
        self.addCleanup(server.close)
        self.begin(server.place())
        self.run_program(VOLLEYS // 5)


class LongAnswers(LabTest):

    def test_what_is_read_slowly_is_whole(self):
        server = Server(self.folder, store="memory:")
        self.addCleanup(server.stop)
        self.assertEqual(server.create().status, 201)
        path = "/v1/experiments/colours/"
        lease = {"id": "lease", "count": LONG}
        first = server.call("POST", path + "decisions", lease)
        log = server.call("GET", path + "log")
        self.assertEqual(log.body.count(b"\n"), 4 + LONG)
        body = json.dumps(lease)
        again = "POST %sdecisions HTTP/1.1\r\nHost: localhost\r\n" \
            "Content-Length: %d\r\n\r\n%s" % (path, len(body), body)
        read = "GET %slog HTTP/1.1\r\nHost: localhost\r\n\r\n" % path
        with server.talk() as talk:
            talk.send(((again + read) * 3).encode())
            time.sleep(0.3)  # until nothing more fits
            for wanted in (first, log) * 3:
                self.assertEqual(talk.read().body, wanted.body)


if __name__ == "__main__":
    unittest.main()
