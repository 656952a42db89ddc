"""Processes of `tarry serve` that share a store in PostgreSQL: requests find the
owner, and when it is killed another takes over, with nothing lost.

5 kills by default, 300 with TARRY_CAMPAIGN=1; TARRY_SEED=n for other
moments."""
import collections
import http.client
import json
import os
import random
import signal
import subprocess
import threading
import time
import unittest
import urllib.parse

import postgres
import test_serve
from lab import amount
from pipe import TARRY, run
from ports import free_port

KILLS = amount(3, 5, 300)
CLIENTS = amount(4, 8, 16)
SEED = int(os.environ.get("TARRY_SEED", 2385))
WAIT_S = 300  # on a busy machine
ARMS = [{"name": name, "features": features} for name, features in [
    ("north", [0.8, 0.2, 0]), ("south", [0.1, 0.6, 0.3]),
    ("east", [0, 0.1, 0.9])]]


def setUpModule():
    global server
    server = postgres.Server()
    unittest.addModuleCleanup(server.close)


class Unreachable(Exception):
    pass


def ask(address, method, path, body=None):
    """Status, Location and body of one request; Unreachable: no answer."""
    connection = http.client.HTTPConnection(address, timeout=20)
    try:
        connection.request(method, path,
                           None if body is None else json.dumps(body))
        answer = connection.getresponse()
        text = answer.read()
        if answer.getheader("Content-Type", "").endswith("json"):
            text = json.loads(text)
        return answer.status, answer.getheader("Location"), text
    except (OSError, http.client.HTTPException) as e:
        raise Unreachable(str(e))
    finally:
        connection.close()


class Process:
    """One `tarry serve`."""

    def __init__(self, store, *options):
        self.address = "127.0.0.1:%d" % free_port()
        self.command = [TARRY, "serve", "--listen", self.address, "--store",
                        store, "--quiet", *options]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE)
        end = time.monotonic() + WAIT_S
        while True:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except Unreachable:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(self.end(signal.SIGKILL)[1])
            time.sleep(0.02)

    def ask(self, *arguments):
        return ask(self.address, *arguments)

    def end(self, how=signal.SIGTERM):
        """What does not end is killed: it must not outlive the test."""
        self.process.send_signal(how)
        try:
            self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        error = self.process.communicate()[1].decode()
        return self.process.returncode, error


class TakeoverTest(unittest.TestCase):
    def setUp(self):
        self.url = server.place()
        self.random = random.Random(SEED)
        self.processes = []
        self.addCleanup(self.stop_all)

    def start(self, *options):
        self.processes.append(Process(self.url, *options))
        return self.processes[-1]

    def stop_all(self):
        ends = [p.end() for p in self.processes if p.process.poll() is None]
        for code, error in ends:
            self.assertEqual(code, 0, error)
            self.assertNotIn("Sanitizer", error)

    def insist(self, process, status):
        """Asks for decisions until the answer has this status; until then
        the process does not know whether it is the owner."""
        end = time.monotonic() + WAIT_S
        while True:
            answer = process.ask("POST", "/v1/experiments/e/decisions", {})
            if answer[0] == status:
                return answer
            self.assertIn(answer[0], (307, 503))
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def create(self, process, name="e", **more):
        return process.ask("POST", "/v1/experiments",
                           {"name": name, "policy": "lints", "arms": ARMS,
                            "seed": 5, **more})

    def owner(self):
        address = server.sql("SELECT address FROM owners", self.url)[0][0]
        return next(p for p in self.processes
                    if "http://" + p.address == address)

    def sql(self, text):
        return server.sql(text, self.url)

    def check_store(self):
        """Every choice comes out again as it was made."""
        for p in self.processes:
            if p.process.poll() is None:
                p.end()
        code, _, error = run("store", "check", self.url)
        self.assertEqual(code, 0, error)


class Owners(TakeoverTest):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.start(), self.start()
        self.assertEqual(self.create(self.a)[0], 201)

    def test_requests_are_sent_to_the_owner(self):
        self.a.ask("POST", "/v1/experiments/e/decisions", {"id": "mine"})
        for method, path, body in [
                ("POST", "/v1/experiments/e/decisions", {}),
                ("POST", "/v1/feedback", {"id": "e:1", "loss": 0.5}),
                ("POST", "/v1/feedback", {"id": "mine", "loss": 0.5}),
                ("POST", "/v1/feedback", [{"id": "mine", "loss": 0.5}]),
                ("POST", "/v1/decisions/mine/cancel", None),
                ("POST", "/v1/experiments/e/arms", ARMS[0]),
                ("DELETE", "/v1/experiments/e/arms/north", None),
                ("GET", "/v1/experiments/e", None),
                ("GET", "/v1/experiments/e/status", None),
                ("GET", "/v1/experiments/e/overview", None),
                ("POST", "/v1/experiments/e/pause", None),
                ("GET", "/v1/experiments/e/log", None),
                ("GET", "/v1/experiments/e/pending?limit=3", None)]:
            with self.subTest(path):
                status, location, problem = self.b.ask(method, path, body)
                self.assertEqual(status, 307)
                self.assertEqual(problem["code"], "elsewhere")
                self.assertEqual(problem["title"], "Temporary Redirect")
                self.assertEqual(location,
                                 "http://" + self.a.address + path)
        listed = self.b.ask("GET", "/v1/experiments")[2]["experiments"]
        self.assertEqual([e["name"] for e in listed], ["e"])
        status, _, told = self.b.ask("GET", "/metrics")
        metrics = told.decode()
        self.assertEqual(status, 200)
        self.assertIn('\ntarry_pending{experiment="e"} 0\n', metrics)
        self.assertIn('\ntarry_pending_oldest_seconds{experiment="e"} 0.000\n',
                      metrics)
        self.assertEqual(self.b.ask("GET", "/v1/experiments/x")[0], 404)

    def test_a_list_for_several_owners_says_what_is_elsewhere(self):
        self.assertEqual(self.create(self.b, "f")[0], 201)
        self.a.ask("POST", "/v1/experiments/e/decisions", {})
        self.b.ask("POST", "/v1/experiments/f/decisions", {})
        status, _, answer = self.b.ask("POST", "/v1/feedback", [
            {"id": "e:1", "loss": 0.5}, {"id": "f:1", "loss": 0.5},
            {"id": "g:1", "loss": 0.5}])
        self.assertEqual(status, 200)
        self.assertEqual([r["status"] for r in answer["results"]],
                         ["elsewhere", "applied", "unknown"])
        self.assertNotIn("detail", answer["results"][1])
        self.assertIn(self.a.address, answer["results"][0]["detail"])
        third = self.start()  # which owns none of them
        for ids, owner in [(("e:1", "f:1"), None), (("f:1", "e:1"), None),
                           (("e:1", "g:1"), None), (("g:1", "e:1"), None),
                           (("e:1", "e:1"), self.a), (("f:1",), self.b)]:
            status, location, answer = third.ask(
                "POST", "/v1/feedback", [{"id": i, "loss": 0.5} for i in ids])
            if owner is not None:
                self.assertEqual((status, location), (
                    307, "http://" + owner.address + "/v1/feedback"))
                continue
            self.assertEqual(status, 200)
            self.assertEqual([r["status"] for r in answer["results"]],
                             ["unknown" if i == "g:1" else "elsewhere"
                              for i in ids])

    def test_a_name_is_given_once(self):
        for round in range(5):
            name = "same%d" % round
            answers = []
            threads = [threading.Thread(
                target=lambda p=p: answers.append(self.create(p, name)[0]))
                for p in (self.a, self.b) * 3]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(sorted(answers), [201] + [409] * 5)
        numbers = self.sql("SELECT number FROM experiments ORDER BY number")
        self.assertEqual([int(n) for n, in numbers], list(range(1, 7)))

    def test_an_own_id_is_of_one_experiment_whoever_owns_it(self):
        self.assertEqual(self.create(self.b, "f")[0], 201)
        first = self.a.ask("POST", "/v1/experiments/e/decisions",
                           {"id": "mine"})
        self.assertEqual(first[0], 201)
        self.assertEqual(self.b.ask("POST", "/v1/experiments/f/decisions",
                                    {"id": "mine"})[0], 409)

    def test_a_graceful_end_hands_over_at_once(self):
        self.a.ask("POST", "/v1/experiments/e/decisions", {})
        code, error = self.a.end()
        self.assertEqual(code, 0, error)
        status, _, made = self.b.ask("POST", "/v1/experiments/e/decisions",
                                     {})
        self.assertEqual((status, made["round"]), (201, 2))

    def test_what_has_no_owner_is_found_without_a_request(self):
        self.a.end(signal.SIGKILL)
        while self.owner() is not self.b:
            time.sleep(0.05)

    def test_a_frozen_owner_that_wakes_up_cannot_commit(self):
        self.a.ask("POST", "/v1/experiments/e/decisions", {})
        self.a.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.a.process.send_signal, signal.SIGCONT)
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE "
                 "locktype = 'advisory'")
        self.assertEqual(self.insist(self.b, 201)[2]["round"], 2)
        self.a.process.send_signal(signal.SIGCONT)
        self.assertIn(self.a.ask("POST", "/v1/experiments/e/decisions", {})[0],
                      (307, 503))
        self.assertEqual(self.insist(self.b, 201)[2]["round"], 3)
        self.assertEqual(
            self.insist(self.a, 307)[1],
            "http://%s/v1/experiments/e/decisions" % self.b.address)
        self.b.end()
        self.assertEqual(self.insist(self.a, 201)[2]["round"], 4)
        self.check_store()



class Alone(TakeoverTest):
    def test_a_commit_that_comes_too_late_is_no_fault_of_the_store(self):
        """Another owner was there in between: the commit fails, and the
        store is as ready as before."""
        process = self.start()
        self.assertEqual(self.create(process)[0], 201)
        for k in range(3):
            self.sql("UPDATE owners SET epoch = epoch + 1")
            self.assertEqual(
                process.ask("POST", "/v1/experiments/e/decisions", {})[0], 503)
            self.assertEqual(process.ask("GET", "/readyz")[0], 200)
            self.assertIn(b"\ntarry_store_writable 1\n",
                          process.ask("GET", "/metrics")[2])
            self.assertEqual(self.insist(process, 201)[2]["round"], k + 1)
        self.check_store()


class Addresses(TakeoverTest):
    def test_others_are_told_of_the_public_address(self):
        """With one slash between it and a path, however it is given."""
        for name, given in [("e", "http://tarry.example"),
                            ("f", "http://tarry.example:81/"),
                            ("g", "http://tarry.example/base/")]:
            self.assertEqual(
                self.create(self.start("--public-url", given), name)[0], 201)
            path = "/v1/experiments/%s/status" % name
            status, location, _ = self.start().ask("GET", path)
            self.assertEqual((status, location),
                             (307, given.rstrip("/") + path))


    def test_an_address_that_is_none_leads_nowhere(self):
        """Whoever may write to the database can write any."""
        self.assertEqual(self.create(self.start(), "e")[0], 201)
        other = self.start()
        for address in ("", "http://a\\r\\nSet-Cookie: a=b", "http://\xfc", "x"):
            self.sql("UPDATE owners SET address = E'%s'" % address)
            status, location, body = other.ask("GET",
                                               "/v1/experiments/e/status")
            self.assertEqual((status, location), (503, None), address)
            self.assertEqual(body["code"], "elsewhere")
        status, _, body = other.ask("POST", "/v1/feedback",
                                    [{"id": "e:1", "loss": 0}])
        self.assertNotIn("postgresql", str(body))


class Contract(test_serve.Contract):
    """All that holds on SQLite holds here too."""

    def open(self, *options, **more):
        more.setdefault("store", server.place())
        return super().open(*options, **more)

    test_the_store_is_for_one = None  # it is for many

    def test_restarts_go_on_where_it_was(self):
        path = "/v1/experiments/colours/decisions"
        for i in range(20):
            self.decide()
            if i < 10:
                self.feedback({"id": "colours:%d" % (i + 1), "loss": 0.1})
        self.assertEqual(self.server.stop()[0], 0)
        copy = os.path.join(self.folder, "copy.db")
        self.assertEqual(run("store", "copy", self.server.store, copy)[0], 0)
        twin = self.open(store=copy)
        self.server.start()
        for _ in range(5):
            two = twin.call("POST", path, {}).json
            one = self.decide()
            while one.status != 201:  # until the server has seen the end
                self.assertIn(one.status, (307, 503))
                one = self.decide()
            for key in ("id", "arm", "probability", "round"):
                self.assertEqual(one.json[key], two[key])
            self.server.kill()
            self.server.start()


class Client(threading.Thread):
    """Decides and reports, with a record of every answer; what was not
    answered, or with 503, is asked again, of any process."""

    def __init__(self, number, addresses, stop):
        super().__init__()
        self.number, self.addresses, self.stop = number, addresses, stop
        self.random = random.Random(SEED + number)
        self.arms, self.losses, self.answered_at = {}, {}, []
        self.counts = collections.Counter()
        self.error = None

    def insist(self, path, body):
        address = self.random.choice(self.addresses)
        while True:
            try:
                status, location, answer = ask(address, "POST", path, body)
            except Unreachable:
                status, location = 0, None
            self.counts[status] += 1
            if status in (200, 201):
                self.answered_at.append(time.monotonic())
                return answer
            if location is not None:
                address = urllib.parse.urlsplit(location).netloc
                continue
            if status not in (0, 503):
                raise AssertionError("%s: %s" % (status, answer))
            time.sleep(0.01)
            address = self.random.choice(self.addresses)

    def run(self):
        try:
            for k in range(10**9):
                if self.stop.is_set():
                    return
                id = "c%d-%d" % (self.number, k)
                made = self.insist("/v1/experiments/e/decisions", {"id": id})
                self.arms[id] = (made["round"], made["arm"])
                if k % 3 != 0:
                    loss = self.random.choice([-1, -0.5, 0.25, 1])
                    said = self.insist("/v1/feedback",
                                       {"id": id, "loss": loss})
                    assert said["status"] in ("applied", "duplicate"), said
                    self.losses[id] = loss
        except Exception as e:
            self.error = e


class Load(TakeoverTest):
    def run_clients(self, disturb):
        stop = threading.Event()
        addresses = [p.address for p in self.processes]
        clients = [Client(i, addresses, stop) for i in range(CLIENTS)]
        for c in clients:
            c.start()
        try:
            disturb(clients)
        finally:
            stop.set()
            for c in clients:
                c.join(WAIT_S)
        for c in clients:
            self.assertFalse(c.is_alive())
            self.assertIsNone(c.error, repr(c.error))
        return clients

    def check(self, clients):
        """What the clients were told is there, once."""
        decisions = {row[0]: (int(row[1]), row[2]) for row in
                     self.sql("SELECT id, round, arm FROM decisions")}
        rounds = [round for round, _ in decisions.values()]
        self.assertEqual(sorted(rounds), list(range(1, len(rounds) + 1)))
        outcomes = self.sql("SELECT id, loss FROM outcomes")
        losses = {id: float(loss) for id, loss in outcomes}
        self.assertEqual(len(losses), len(outcomes))
        for c in clients:
            self.assertGreater(len(c.arms), 0)
            for id, told in c.arms.items():
                self.assertEqual(decisions[id], told)
            for id, loss in c.losses.items():
                self.assertEqual(losses[id], loss)
        self.check_store()

    def next_answer(self, clients, since):
        """Waits until a client got an answer to a request after that."""
        end = time.monotonic() + WAIT_S
        while True:
            if any(t > since for c in clients for t in c.answered_at[-20:]):
                return
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def wait_for(self, process, ready):
        end = time.monotonic() + WAIT_S
        while process.ask("GET", "/readyz")[0] != ready:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_an_owner_that_is_killed_is_followed_by_another(self):
        def disturb(clients):
            for _ in range(KILLS):
                time.sleep(0.1 + 0.3 * self.random.random())
                owner = self.owner()
                owner.end(signal.SIGKILL)
                # what was on its way is answered within moments, or never
                self.next_answer(clients, time.monotonic() + 0.005)
                owner.start()

        self.start()
        self.start()
        self.assertEqual(self.create(self.processes[0])[0], 201)
        clients = self.run_clients(disturb)
        self.check(clients)
        epochs = int(self.sql("SELECT epoch FROM owners")[0][0])
        self.assertGreater(epochs, KILLS)

    def test_a_server_that_restarts_loses_nothing(self):
        def disturb(clients):
            for k in range(amount(2, 3, 20)):
                time.sleep(0.3)
                server.stop(immediate=k % 2 == 1)
                time.sleep(0.2 * self.random.random())
                server.start()
            self.next_answer(clients, time.monotonic())
            server.stop()
            for p in self.processes:  # they know, and get over it
                self.wait_for(p, 503)
            server.start()
            for p in self.processes:
                self.wait_for(p, 200)

        self.start()
        self.start()
        self.assertEqual(self.create(self.processes[0])[0], 201)
        self.check(self.run_clients(disturb))

    def test_what_may_be_there_is_not_denied_while_the_server_is_away(self):
        process = self.start()
        asked = [("POST", "/v1/experiments/new/decisions", {}),
                 ("GET", "/v1/experiments/new/status"),
                 ("GET", "/v1/experiments/new/log"),
                 ("POST", "/v1/feedback", {"id": "new:1", "loss": 0}),
                 ("POST", "/v1/feedback", [{"id": "new:1", "loss": 0}]),
                 ("POST", "/v1/decisions/new:1/cancel", {})]
        server.stop()
        for what in asked:
            self.assertEqual(process.ask(*what)[0], 503, what)
        server.start()
        self.wait_for(process, 200)
        self.assertEqual([process.ask(*what)[0] for what in asked],
                         [404, 404, 404, 404, 200, 404])


if __name__ == "__main__":
    unittest.main()
