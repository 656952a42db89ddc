"""Calls that fail in a server: it answers, or refuses, or ends with an error;
it never hangs, and what it has answered is in the store."""
import http.client
import json
import os
import signal
import socket
import subprocess
import time
import unittest

from faults import FaultTest
from lab import SANITIZED, TARRY
from ports import free_port

WAIT_S = 300
ARMS = [{"features": [1, 0]}, {"features": [0, 1]}]


@unittest.skipIf(SANITIZED, "sanitizers replace malloc themselves")
class Serve(FaultTest):
    some = 2

    def wait_until_open(self, server, port):
        """False: it has ended."""
        end = time.time() + WAIT_S
        while server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return True
            except OSError:
                self.assertLess(time.time(), end, "it does not open")
                time.sleep(0.01)
        return False

    @staticmethod
    def ask(port, path, body):
        """Status and answer; None: it has refused to talk."""
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        try:
            link.request("POST", path, json.dumps(body),
                         {"Connection": "close"})
            answer = link.getresponse()
            return answer.status, json.loads(answer.read())
        except (http.client.HTTPException, ConnectionError, ValueError):
            return None
        finally:
            link.close()

    def talk(self, port):
        """The ids of choices made, and of those observed."""
        made, observed = [], []
        self.ask(port, "/v1/experiments",
                 {"name": "x", "policy": "lints", "horizon": 1000,
                  "arms": ARMS})
        for i in range(4):
            said = self.ask(port, "/v1/experiments/x/decisions",
                            {"id": "own-%d" % i} if i % 2 else {})
            if said is None or said[0] != 201:
                continue
            made.append(said[1]["id"])
            said = self.ask(port, "/v1/feedback",
                            {"id": made[-1], "loss": 0.25})
            if said is not None and said[0] == 200:
                observed.append(made[-1])
        return made, observed

    def serve(self, store, **fault):
        """One life of a server; exit code, what it said, what it answered."""
        port = free_port()
        answered = [], []
        server = subprocess.Popen(
            [TARRY, "serve", "--listen", "127.0.0.1:%d" % port, "--store",
             store], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=self.environment(**fault))
        try:
            if self.wait_until_open(server, port):
                answered = self.talk(port)
                server.send_signal(signal.SIGTERM)
            said, _ = server.communicate(timeout=WAIT_S)
        finally:
            server.kill()
        return server.returncode, said, answered

    def start(self, arguments, input="", **fault):
        if arguments[0] != "serve":
            return super().start(arguments, input, **fault)
        return self.serve(arguments[1], **fault)

    def test_what_was_answered_is_kept(self):
        store = self.path("s.db")

        def prepare():
            for name in os.listdir(self.folder):
                if name.startswith("s.db"):
                    os.remove(self.path(name))

        prepare()
        code, said, answered = self.serve(store)
        self.assertEqual((code, len(answered[0]), len(answered[1])),
                         (0, 4, 4), said)
        for fault in self.ways(["serve", store], "", prepare):
            with self.subTest(**fault):
                prepare()
                code, said, (made, observed) = self.serve(store, **fault)
                self.assertIn(code, (0, 1, 2), said)
                self.assertTrue(code == 0 or said.startswith("tarry: "), said)
                if not os.path.exists(store):
                    self.assertEqual(made, [])
                    continue
                done = self.start(["store", "export", store, "--json"])
                self.assertEqual(done.returncode, 0, done.stderr)
                rows = {row["id"]: row for row in map(
                    json.loads, done.stdout.splitlines())}
                for id in made:
                    self.assertIn(id, rows)
                for id in observed:
                    self.assertEqual(rows[id]["loss"], 0.25)


if __name__ == "__main__":
    unittest.main()
