"""The service killed at random moments under load.  Each client keeps its own
record of every answer; in the end the store must have all of it, once.

15 kills by default, 300 with TARRY_CAMPAIGN=1; TARRY_SEED=n for other ones."""
import collections
import json
import os
import random
import threading
import time
import unittest

from lab import LabTest, amount, tarry
from wire import Closed, Server, Talk

KILLS = amount(5, 15, 300)
CLIENTS = amount(8, 8, 16)
SEED = int(os.environ.get("TARRY_SEED", 2385))
NAMES = ("one", "two")


class Client(threading.Thread):
    """Decides and reports for ever; what failed is tried again as it was."""

    def __init__(self, test, number):
        super().__init__()
        self.test, self.number = test, number
        self.random = random.Random(SEED * 1000 + number)
        self.decisions = []  # (experiment, answer), as acknowledged
        self.outcomes = {}   # by id
        self.repeated = 0    # decisions that a lost answer had made before
        self.wrong = []
        self.talk = None

    def send(self, path, body, attempts=1000):
        """The answer; None: the connection broke, and nobody knows."""
        for _ in range(attempts):
            try:
                if self.talk is None:
                    self.talk = Talk(self.test.server.port)
                return self.talk.call("POST", path, body)
            except (Closed, OSError):
                if self.talk is not None:
                    self.talk.socket.close()
                self.talk = None
                time.sleep(0.01)
        return None

    def decide(self, name, i):
        path = "/v1/experiments/%s/decisions" % name
        kind = self.random.random()
        if kind < 0.5:
            answer = self.send(path, {"id": "c%d-%d" % (self.number, i)})
            self.repeated += answer.status == 200
        elif kind < 0.8:
            answer = self.send(path, {}, attempts=1)
        else:
            answer = self.send(path, {"count": 5}, attempts=1)
        if answer is None:
            return []
        if answer.status not in (200, 201):
            self.wrong.append(answer)
            return []
        made = answer.json.get("decisions", [answer.json])
        self.decisions += [(name, d) for d in made]
        return made

    def report(self, decision):
        loss = self.random.choice((-1, -0.25, 0.125, 0.5))
        body = {"id": decision["id"], "loss": loss}
        listed = self.random.random() < 0.3
        answer = self.send("/v1/feedback", [body] if listed else body)
        status = answer.json["results"][0]["status"] if listed and \
            answer.status == 200 else answer.json.get("status")
        if answer.status != 200 or status not in ("applied", "duplicate",
                                                  "late"):
            self.wrong.append(answer)
        else:
            self.outcomes[decision["id"]] = loss

    def run(self):
        i = 0
        while not self.test.done.is_set():
            i += 1
            for decision in self.decide(self.random.choice(NAMES), i):
                if self.random.random() < 0.6:
                    self.report(decision)
        if self.talk is not None:
            self.talk.socket.close()


class Kills(LabTest):

    def test_nothing_is_lost_doubled_or_reused(self):
        self.server = Server(self.folder)
        self.addCleanup(lambda: self.server.stop())
        self.done = threading.Event()
        source = random.Random(SEED)
        for name in NAMES:
            self.assertEqual(self.server.create(name).status, 201)
        clients = [Client(self, k) for k in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            for kill in range(KILLS):
                while sum(len(c.decisions) for c in clients) < 10 * kill + 10:
                    self.assertTrue(any(c.is_alive() for c in clients))
                    time.sleep(0.02)
                time.sleep(0.02 + source.random() * 0.3)
                self.server.kill()
                self.server.start()
        finally:
            time.sleep(0.3)
            self.done.set()
            for client in clients:
                client.join()
        self.assertEqual([c.wrong for c in clients], [[]] * CLIENTS)
        self.check(clients)

    def log(self, name):
        lines = self.server.call("GET", "/v1/experiments/%s/log" % name).body
        return [json.loads(line) for line in lines.splitlines()]

    def check(self, clients):
        chosen, observed = {}, {}
        for name in NAMES:
            lines = self.log(name)
            self.assertEqual([e["seq"] for e in lines],
                             list(range(1, len(lines) + 1)))
            rounds = [e for e in lines if e["event"] == "choose"]
            self.assertEqual([e["round"] for e in rounds],
                             list(range(1, len(rounds) + 1)))
            for e in rounds:
                self.assertNotIn(e["id"], chosen)
                chosen[e["id"]] = (name, e["round"], e["arm"],
                                   e["probability"], e["at"])
            for e in lines:
                if e["event"] == "observe":
                    self.assertNotIn(e["id"], observed)
                    observed[e["id"]] = e["loss"]
        told = collections.Counter()
        for client in clients:
            for name, d in client.decisions:
                told[d["id"]] += 1
                self.assertEqual(chosen.get(d["id"]),
                                 (name, d["round"], d["arm"],
                                  d["probability"], d["decided_at"]))
            for id, loss in client.outcomes.items():
                self.assertEqual(observed.get(id), loss)
        self.assertEqual(max(told.values()), 1)  # no id twice
        self.assertGreaterEqual(len(told), 10 * KILLS)
        print("%d kills, %d decisions told of %d, %d outcomes, %d decisions "
              "asked for again" % (KILLS, len(told), len(chosen),
                                   len(observed),
                                   sum(c.repeated for c in clients)))
        self.assertEqual(self.server.stop()[0], 0)
        found = tarry("store", "check", self.server.store)
        self.assertEqual(found.returncode, 0, found.stderr)


if __name__ == "__main__":
    unittest.main()
