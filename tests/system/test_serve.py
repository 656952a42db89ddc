"""`tarry serve`: the contract, spoken byte by byte; limits, tokens, restarts,
and a full disk."""
import concurrent.futures
import datetime
import email.utils
import fcntl
import glob
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.parse

from lab import BRIEF, SANITIZED, TARRY, LabTest, tarry
from wire import ARMS, Closed, Server, Talk, most_are_quick

PROBLEM = "application/problem+json"


class ServeTest(LabTest):
    options = ()

    def setUp(self):
        super().setUp()
        self.server = self.open(*self.options)

    def open(self, *options, **more):
        server = Server(self.folder, *options, **more)
        self.addCleanup(self.finish, server)
        return server

    def finish(self, server):
        code, error = server.stop()
        if code != -signal.SIGKILL:
            self.assertEqual(code, 0, error)
        self.assertNotIn("Sanitizer", error)

    def call(self, *arguments, **named):
        return self.server.call(*arguments, **named)

    def is_problem(self, answer, status, code=None):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers["content-type"], PROBLEM)
        body = answer.json
        self.assertLessEqual({"type", "title", "status", "detail", "code"},
                             set(body))
        self.assertEqual(body["status"], status)
        if code is not None:
            self.assertEqual(body["code"], code, answer)
        return body

    def decide(self, body=None, name="colours"):
        return self.call("POST", "/v1/experiments/%s/decisions" % name,
                         {} if body is None else body)

    def feedback(self, body):
        return self.call("POST", "/v1/feedback", body)

    def ok(self, answer, status=200):
        self.assertEqual(answer.status, status, answer)
        return answer.json


class Contract(ServeTest):

    def setUp(self):
        super().setUp()
        self.ok(self.server.create(), 201)

    def test_an_experiment_is_made_and_shown(self):
        made = self.server.create("other", horizon=1000, seed=7,
                                  range=[0, 10], objective="maximize",
                                  expire_after="3d")
        self.assertEqual(made.headers["location"], "/v1/experiments/other")
        shown = self.ok(self.call("GET", "/v1/experiments/other"))
        for key, value in {"name": "other", "policy": "lints", "seed": 7,
                           "range": [0, 10], "objective": "maximize",
                           "horizon": 1000, "expire_after": "3d", "arms": 3,
                           "dim": 2, "decisions": 0, "pending": 0}.items():
            self.assertEqual(shown[key], value, key)
        self.assertEqual(shown["status"]["round"], 0)
        listed = self.ok(self.call("GET", "/v1/experiments"))["experiments"]
        self.assertEqual([e["name"] for e in listed], ["colours", "other"])

    def test_experiments_are_refused_with_a_reason(self):
        create = self.server.create
        self.is_problem(create(), 409, "exists")
        for more in ({"name": ""}, {"name": "a/b"}, {"name": "-a"},
                     {"name": "x" * 64}, {"name": "é"}, {"name": 3},
                     {"arms": []}, {"arms": {}}, {"arms": [3]},
                     {"arms": [{"name": "a", "features": []}]},
                     {"arms": [{"name": "a", "features": [1]},
                               {"name": "a", "features": [2]}]},
                     {"arms": [{"name": "a", "features": [1]},
                               {"name": "b", "features": [1, 2]}]},
                     {"arms": [{"name": "a", "features": ["1"]}]},
                     {"arms": [{"name": "a", "features": [1], "x": 1}]},
                     {"policy": "nonsense"}, {"policy": "lints:x=1"},
                     {"policy": 3}, {"range": [1, 0]}, {"range": [1]},
                     {"range": "0,1"}, {"objective": "best"},
                     {"horizon": -1}, {"horizon": 1.5}, {"horizon": 0},
                     {"horizon": 10, "confidence": 0.9},
                     {"confidence": 2}, {"confidence": "high"},
                     {"seed": -1}, {"expire_after": "soon"},
                     {"expire_after": 3}, {"dim": 3}, {"colour": "red"}):
            with self.subTest(more):
                self.is_problem(create(**{"name": "new", **more}), 422)
        self.assertEqual(len(self.ok(self.call(
            "GET", "/v1/experiments"))["experiments"]), 1)

    def test_what_a_short_name_stands_for_is_kept(self):
        made = [self.ok(self.server.create(name, policy=policy), 201)["policy"]
                for name, policy in (("a", "recommended"),
                                     ("b", "recommended:"))]
        self.assertTrue(made[0].startswith("phased-loss-dependent:"), made)
        self.assertEqual(made[0], made[1])

    def test_arms_may_do_without_features_or_names(self):
        self.ok(self.call("POST", "/v1/experiments", {
            "name": "plain", "policy": "lints",
            "arms": [{"name": "a"}, {"name": "b"}]}), 201)
        self.assertIn(self.ok(self.decide(name="plain"), 201)["arm"],
                      ("a", "b"))
        self.ok(self.call("POST", "/v1/experiments", {
            "name": "numbers", "policy": "lints",
            "arms": [{"features": [1, 0]}, {"features": [0, 1]}]}), 201)
        self.assertIn(self.ok(self.decide(name="numbers"), 201)["arm"], (0, 1))

    def test_a_decision_and_its_outcome(self):
        first = self.ok(self.decide(), 201)
        self.assertEqual(set(first), {"id", "arm", "probability", "round",
                                      "decided_at"})
        self.assertEqual(first["round"], 1)
        self.assertIn(first["arm"], [arm["name"] for arm in ARMS])
        self.assertTrue(0 < first["probability"] <= 1)
        self.assertRegex(first["decided_at"],
                         r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        told = {"id": first["id"], "loss": 0.25}
        self.assertEqual(self.ok(self.feedback(told)),
                         {"id": first["id"], "status": "applied"})
        self.assertEqual(self.ok(self.feedback(told))["status"], "duplicate")
        self.is_problem(self.feedback({**told, "loss": 0.5}), 409, "conflict")
        status = self.ok(self.call("GET",
                                   "/v1/experiments/colours/status"))
        self.assertEqual((status["round"], status["pending"], status["used"]),
                         (1, 0, 1))

    def test_an_id_of_ones_own_is_the_same_decision(self):
        first = self.decide({"id": "mine"})
        self.assertEqual(first.status, 201)
        self.assertEqual(first.json["id"], "mine")
        again = self.decide({"id": "mine"})
        self.assertEqual((again.status, again.json), (200, first.json))
        self.is_problem(self.decide({"id": "mine", "count": 2}), 409,
                        "conflict")
        self.ok(self.server.create("other"), 201)
        self.is_problem(self.decide({"id": "mine"}, "other"), 409, "conflict")
        self.assertEqual(self.ok(self.call(
            "GET", "/v1/experiments/colours/status"))["round"], 1)
        self.assertEqual(self.ok(self.feedback(
            {"id": "mine", "loss": 1}))["status"], "applied")
        for bad in ("", "a b", "x" * 65, "é", "17", "colours:1", 5):
            with self.subTest(bad):
                self.is_problem(self.decide({"id": bad}), 422)

    def test_a_lease(self):
        many = self.ok(self.decide({"count": 1000}), 201)["decisions"]
        self.assertEqual([d["round"] for d in many], list(range(1, 1001)))
        self.assertEqual(len({d["id"] for d in many}), 1000)
        for bad in (0, -1, 1.5, 10001, "3", True):
            with self.subTest(bad):
                self.is_problem(self.decide({"count": bad}), 422)
        first = self.decide({"id": "lease", "count": 3})
        self.assertEqual(first.status, 201)
        self.assertEqual([d["id"] for d in first.json["decisions"]],
                         ["lease.0", "lease.1", "lease.2"])
        again = self.decide({"id": "lease", "count": 3})
        self.assertEqual((again.status, again.json), (200, first.json))
        for behind in range(2):  # who takes the next id changes nothing
            for other in ({"count": 2}, {"count": 4}, {}):
                self.is_problem(self.decide({"id": "lease", **other}), 409)
            self.assertEqual(self.ok(self.decide({"id": "lease", "count": 3})),
                             first.json)
            self.ok(self.decide({"id": "lease.3"}), 200 if behind else 201)

    def test_a_lease_is_given_as_a_whole(self):
        self.ok(self.server.create("other"), 201)
        self.ok(self.decide({"id": "theirs.1"}, "other"), 201)
        self.ok(self.decide({"id": "ours.1"}), 201)
        for stem in ("theirs", "ours"):
            for count in (2, 3):  # 1 is the last, inside
                self.is_problem(self.decide({"id": stem, "count": count}), 409,
                                "conflict")
            for status in (201, 200):  # behind the last
                self.ok(self.decide({"id": stem, "count": 1}), status)
        for count in (1, 2, 3):  # one by one they are no lease
            self.ok(self.decide({"id": "single.%d" % (count - 1)}), 201)
            self.is_problem(self.decide({"id": "single", "count": count}), 409,
                            "conflict")
        self.ok(self.decide({"id": "whole", "count": 2}, "other"), 201)
        self.is_problem(self.decide({"id": "whole", "count": 2}), 409)
        longest = "x" * 62
        self.ok(self.decide({"id": longest, "count": 10}), 201)
        for bad in (longest, "y" * 63, ""):
            self.is_problem(self.decide({"id": bad, "count": 11}), 422,
                            "invalid")
        self.assertEqual(self.ok(self.call(
            "GET", "/v1/experiments/colours/status"))["round"], 16)

    def test_ids_of_another_experiment_lead_there(self):
        """And leave the one that has as many rounds as it was."""
        self.ok(self.server.create("other"), 201)
        mine = [self.ok(self.decide(body), 201)["id"]
                for body in ({}, {"id": "mine"}, {})]
        for body in ({}, {"id": "theirs"}, {}):
            self.ok(self.decide(body, "other"), 201)
        for id in mine:
            if ":" in id:  # of a form that nobody may give
                self.is_problem(self.decide({"id": id}, "other"), 422)
            else:
                self.is_problem(self.decide({"id": id}, "other"), 409)
        self.ok(self.feedback({"id": "mine", "loss": 1}))
        self.ok(self.call("POST", "/v1/decisions/%s/cancel" % mine[0]))
        self.ok(self.call("POST", "/v1/decisions/%s/expire" % mine[2]))
        for name, pending in (("colours", 0), ("other", 3)):
            found = self.ok(self.call("GET",
                                      "/v1/experiments/%s/status" % name))
            self.assertEqual((found["round"], found["pending"]), (3, pending))
        # what one has done with its ids the other's rounds do not know
        self.assertEqual(self.ok(self.feedback(
            {"id": "theirs", "loss": 1}))["status"], "applied")
        for id in ("other:2", "colours:2", "other:4", "colours:0", ":1",
                   "colours:mine", "other:colours:1"):
            self.is_problem(self.feedback({"id": id, "loss": 1}), 404,
                            "unknown_id")

    def test_outcomes_in_a_list(self):
        many = self.ok(self.decide({"count": 4}), 201)["decisions"]
        ids = [d["id"] for d in many]
        found = self.ok(self.feedback([
            {"id": ids[0], "loss": 0.5}, {"id": ids[0], "loss": 0.5},
            {"id": ids[0], "loss": 0.25}, {"id": "nobody", "loss": 0},
            {"id": ids[1], "loss": 1.5}, {"id": ids[1], "reward": 1},
            {"id": ids[1]}, {"loss": 1}, 17, None,
            {"id": ids[1], "loss": "0"}, {"id": ids[1], "loss": -1}]))
        self.assertEqual([r["status"] for r in found["results"]],
                         ["applied", "duplicate", "conflict", "unknown",
                          "invalid", "invalid", "invalid", "invalid",
                          "invalid", "invalid", "invalid", "applied"])
        self.assertEqual([r["id"] for r in found["results"][:4]],
                         [ids[0], ids[0], ids[0], "nobody"])
        self.assertEqual(self.ok(self.feedback([])), {"results": []})
        item = {"id": "nobody", "loss": 0}
        self.assertEqual(len(self.ok(self.feedback([item] * 1000))
                             ["results"]), 1000)
        self.is_problem(self.feedback([item] * 1001), 422, "too_many")

    def test_outcomes_are_refused_with_a_reason(self):
        id = self.ok(self.decide(), 201)["id"]
        self.is_problem(self.feedback({"id": "nobody", "loss": 0}), 404,
                        "unknown_id")
        self.is_problem(self.feedback({"id": "colours:99", "loss": 0}), 404)
        self.is_problem(self.feedback({"id": "99", "loss": 0}), 404)
        for body in ({"loss": 1}, {"id": id}, {"id": id, "loss": 2},
                     {"id": id, "loss": "1"}, {"id": id, "loss": None},
                     {"id": id, "reward": 1}, {"id": id, "loss": 1, "x": 1},
                     {"id": id, "loss": 1, "reward": 1}, {"id": 7, "loss": 1},
                     {"id": id, "loss": True}, "text", 17):
            with self.subTest(body):
                self.is_problem(self.feedback(body), 422)
        for number in (b"NaN", b"Infinity", b"-Infinity", b"1e999"):
            with self.subTest(number):
                self.is_problem(self.feedback(
                    b'{"id":"%s","loss":%s}' % (id.encode(), number)), 422)
        for text in (b"{", b"", b"[1,]", b'{"id":"a","id":"b"}', b"{}x",
                     b'{"id":"\xff"}', b"\xef\xbb\xbf{}", b"nul", b"'a'",
                     b"[" * 5000, b"01", b'{"a":"\x00"}'):
            if text:
                with self.subTest(text[:20]):
                    self.is_problem(self.feedback(text), 400, "bad_json")
        self.assertEqual(self.ok(self.call(
            "GET", "/v1/experiments/colours/status"))["pending"], 1)
        self.ok(self.feedback({"id": id, "loss": 0.5}))
        self.is_problem(self.feedback({"id": id, "loss": 0.25}), 409)
        self.is_problem(self.feedback({"id": id, "loss": 2}), 422, "invalid")

    def test_a_whole_number_may_be_large(self):
        self.ok(self.server.create("wide", range=[0, 10 ** 23]), 201)
        self.ok(self.decide({"count": 2}, name="wide"), 201)
        self.is_problem(self.feedback({"id": "wide:1", "loss": 10 ** 24}), 422)
        for id, loss in (("wide:1", 10 ** 19), ("wide:2", 2 ** 64 + 1)):
            self.ok(self.feedback({"id": id, "loss": loss}))
            again = self.ok(self.feedback({"id": id, "loss": float(loss)}))
            self.assertEqual(again["status"], "duplicate")

    def test_refusals_are_text_wherever_they_are_cut(self):
        for begin in ("", "a", "aa", "aaa"):
            for body in ({begin + "\u20ac" * 400: 1},
                         {"id": "x", "loss": 0, begin + "\u20ac" * 400: 1}):
                self.is_problem(self.decide(body), 422)
                self.is_problem(self.feedback(body), 422)
            self.is_problem(self.feedback(
                ('{"id":x' + begin + "\u20ac" * 400).encode()), 400)
            self.is_problem(self.server.create("new", arms=[
                {"name": begin + "\u20ac" * 400}] * 2), 422)
            self.is_problem(self.server.create(
                "new", policy=begin + "\u20ac" * 400), 422)

    def test_rewards_where_they_belong(self):
        self.ok(self.server.create("up", objective="maximize", range=[0, 5]),
                201)
        id = self.ok(self.decide(name="up"), 201)["id"]
        self.is_problem(self.feedback({"id": id, "loss": 1}), 422)
        self.is_problem(self.feedback({"id": id, "reward": 6}), 422)
        self.ok(self.feedback({"id": id, "reward": 5}))
        lines = self.log("up")
        self.assertEqual(lines[-1]["reward"], 5)

    def log(self, name):
        answer = self.call("GET", "/v1/experiments/%s/log" % name)
        self.assertEqual(answer.status, 200)
        self.assertIn("ndjson", answer.headers["content-type"])
        return [json.loads(line) for line in answer.body.splitlines()]

    def test_ends_without_an_outcome(self):
        ids = [d["id"] for d in
               self.ok(self.decide({"count": 3}), 201)["decisions"]]
        path = "/v1/decisions/%s/%s"
        for _ in range(2):  # a repeated one is harmless
            self.assertEqual(self.ok(self.call(
                "POST", path % (ids[0], "cancel")))["status"], "cancelled")
            self.assertEqual(self.ok(self.call(
                "POST", path % (ids[1], "expire"), {}))["status"], "expired")
        self.is_problem(self.feedback({"id": ids[0], "loss": 0}), 409)
        self.assertEqual(self.ok(self.feedback(
            {"id": ids[1], "loss": 0}))["status"], "late")
        self.is_problem(self.call("POST", path % (ids[1], "cancel")), 409)
        self.is_problem(self.call("POST", path % ("nobody", "cancel")), 404)
        odd = self.ok(self.decide({"id": "a/b%c?d"}), 201)["id"]
        self.ok(self.call("POST", path % ("a%2Fb%25c%3Fd", "cancel")))
        self.assertEqual(odd, "a/b%c?d")

    def test_arms_come_and_go(self):
        arms = "/v1/experiments/colours/arms"
        new = {"name": "white", "features": [0.5, 0.5]}
        self.ok(self.call("POST", arms, new), 201)
        self.is_problem(self.call("POST", arms, new), 409, "exists")
        for bad in ({**new, "name": "x", "features": [1]}, {"name": "x"},
                    {"features": [1, 1]}, {**new, "name": ""},
                    {**new, "name": "x", "features": ["a", 1]}):
            self.is_problem(self.call("POST", arms, bad), 422)
        self.ok(self.call("DELETE", arms + "/light%20green"))
        self.is_problem(self.call("DELETE", arms + "/light%20green"), 404)
        self.is_problem(self.call("DELETE", arms + "/none"), 404)
        status = self.ok(self.call("GET", "/v1/experiments/colours/status"))
        self.assertEqual(status["arms"], ["red", "blue", "white"])

    def test_an_arm_has_a_name_that_a_path_can_have(self):
        path = "/v1/experiments/colours/arms"
        name = "\u00e9" * 255 + "x"
        self.ok(self.call("POST", path, {"name": name, "features": [1, 1]}),
                201)
        self.ok(self.call("DELETE", path + "/" + urllib.parse.quote(name)))
        self.is_problem(self.call("POST", path, {
            "name": name + "x", "features": [1, 1]}), 422, "invalid")
        for size, status in (511, 201), (512, 422):
            self.assertEqual(self.server.create("new", arms=[
                {"name": "x" * size, "features": [1]}]).status, status)

    def test_a_pause_is_kept(self):
        path = "/v1/experiments/colours/"
        self.ok(self.decide({"id": "before"}), 201)
        for _ in range(2):
            self.assertTrue(self.ok(self.call("POST", path + "pause"))
                            ["paused"])
        self.is_problem(self.decide(), 409, "paused")
        self.server.stop()
        self.server.start()
        self.is_problem(self.decide(), 409, "paused")
        self.is_problem(self.decide({"count": 3}), 409, "paused")
        self.ok(self.decide({"id": "before"}), 200)
        self.ok(self.feedback({"id": "before", "loss": 0}))
        self.assertTrue(self.ok(self.call("GET", path + "status"))["paused"])
        self.ok(self.call("POST", path + "resume", {}))
        self.ok(self.decide(), 201)
        self.ok(self.call("POST", path + "pause"))
        self.server.kill()
        self.server.start()
        self.is_problem(self.decide(), 409, "paused")
        self.ok(self.call("POST", path + "resume", {}))
        self.ok(self.decide(), 201)
        self.is_problem(self.call("POST", "/v1/experiments/no/pause"), 404)

    def test_pending_and_log(self):
        self.ok(self.decide({"id": "mine"}), 201)
        self.ok(self.decide({"count": 4}), 201)
        self.ok(self.feedback({"id": "mine", "loss": 0.125}))
        path = "/v1/experiments/colours/"
        found = self.ok(self.call("GET", path + "pending?limit=2"))
        self.assertEqual(found["count"], 4)
        self.assertEqual([p["id"] for p in found["pending"]],
                         ["colours:2", "colours:3"])
        self.assertEqual(set(found["pending"][0]),
                         {"id", "arm", "rounds", "seconds"})
        self.assertEqual(len(self.ok(self.call(
            "GET", path + "pending"))["pending"]), 4)
        for bad in ("limit=x", "limit=-1", "limit=1e9", "limits=2", "limit"):
            self.is_problem(self.call("GET", path + "pending?" + bad), 422)
        lines = self.log("colours")
        self.assertEqual([line["seq"] for line in lines],
                         list(range(1, len(lines) + 1)))
        self.assertEqual([line["event"] for line in lines],
                         ["admit"] * 3 + ["choose"] * 5 + ["observe"])
        self.assertEqual((lines[-1]["id"], lines[-1]["loss"]), ("mine", 0.125))
        self.assertEqual(lines[3]["id"], "mine")

    def test_of_many_that_are_pending_a_thousand_are_listed(self):
        self.ok(self.decide({"count": 1003}), 201)
        for query, listed in (("", 1000), ("?limit=1001", 1001),
                              ("?limit=10000", 1003)):
            found = self.ok(self.call(
                "GET", "/v1/experiments/colours/pending" + query))
            self.assertEqual(found["count"], 1003)
            self.assertEqual([p["id"] for p in found["pending"]],
                             ["colours:%d" % i for i in range(1, listed + 1)])

    def test_an_experiment_keeps_the_time_it_was_made(self):
        """Whoever asks, whenever, and after a restart."""
        before = time.time()
        made = self.ok(self.server.create("later"), 201)["created_at"]
        at = datetime.datetime.fromisoformat(made.replace("Z", "+00:00"))
        self.assertLessEqual(before - 0.001, at.timestamp())
        self.assertLessEqual(at.timestamp(), time.time())
        for _ in range(2):
            time.sleep(0.01)
            self.assertEqual(self.ok(self.call(
                "GET", "/v1/experiments/later"))["created_at"], made)
            listed = self.ok(self.call("GET", "/v1/experiments"))
            self.assertEqual(listed["experiments"][-1]["created_at"], made)
            self.assertEqual(self.server.stop()[0], 0)
            self.server.start()

    def test_a_long_log_comes_in_parts(self):
        self.ok(self.decide({"count": 5000}), 201)
        lines = self.log("colours")
        self.assertEqual(len(lines), 5003)
        self.assertEqual([line["seq"] for line in lines],
                         list(range(1, 5004)))
        for more in (b"", b"Connection: keep-alive\r\n"):
            with self.subTest(more), self.server.talk() as talk:
                talk.send(b"GET /v1/experiments/colours/log HTTP/1.0\r\n" +
                          more + b"\r\n")
                talk.until(b"\r\n\r\n")
                body = talk.rest
                talk.rest = b""
                while True:  # only the end of the connection tells its end
                    try:
                        talk.more()
                    except Closed:
                        break
                self.assertEqual((body + talk.rest).count(b"\n"), 5003)

    def test_what_is_not_there(self):
        for method, path in (("GET", "/nothing"), ("GET", "/v1"),
                             ("GET", "/v1/experiments/"),
                             ("GET", "/v1/experiments/none"),
                             ("GET", "/v1/experiments/none/status"),
                             ("GET", "/v1/experiments/none/pending"),
                             ("GET", "/v1/experiments/none/log"),
                             ("GET", "/../etc/passwd"),
                             ("GET", "/v1/experiments/%zz"),
                             ("GET", "/v1/experiments/%00"),
                             ("DELETE", "/v1/experiments/none/arms/a"),
                             ("POST", "/v1/decisions//cancel")):
            with self.subTest(path):
                self.is_problem(self.call(method, path), 404)
        self.is_problem(self.decide(name="none"), 404, "unknown_experiment")

    def test_an_id_that_is_no_text_is_nobodys(self):
        for id in ("%ff", "a%c3%28", "%ed%a0%80", "caf%c3%a9", "%01", "a%20b"):
            for end in ("cancel", "expire"):
                self.is_problem(self.call("POST", "/v1/decisions/%s/%s"
                                          % (id, end)), 404, "unknown_id")

    def test_methods(self):
        for method, path, allow in (
                ("GET", "/v1/feedback", "POST"),
                ("PUT", "/v1/experiments", "GET, HEAD, POST"),
                ("DELETE", "/v1/experiments/colours", "GET, HEAD"),
                ("POST", "/healthz", "GET, HEAD"),
                ("BREW", "/metrics", "GET, HEAD"),
                ("OPTIONS", "/v1/feedback", "POST")):
            with self.subTest(method + path):
                answer = self.call(method, path, {})
                self.is_problem(answer, 405)
                self.assertIn(answer.headers["allow"], (
                    allow, "POST, GET, HEAD"))
        head = self.call("HEAD", "/healthz")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertGreater(int(head.headers["content-length"]), 0)
        self.ok(self.decide({"count": 500}), 201)  # in parts, told or not
        with self.server.talk() as talk:
            talk.call("HEAD", "/v1/experiments/colours/log")
            self.assertEqual(talk.call("GET", "/healthz").status, 200)

    def test_health_and_metrics(self):
        self.assertEqual(self.ok(self.call("GET", "/healthz")),
                         {"status": "ok"})
        self.ok(self.call("GET", "/readyz"))
        ids = [d["id"] for d in
               self.ok(self.decide({"count": 3}), 201)["decisions"]]
        self.ok(self.feedback([{"id": ids[0], "loss": 0},
                               {"id": ids[0], "loss": 0},
                               {"id": "x", "loss": 0}]))
        answer = self.call("GET", "/metrics")
        self.assertIn("text/plain", answer.headers["content-type"])
        text = answer.body.decode()
        for line in ('tarry_decisions_total{experiment="colours"} 3',
                     'tarry_feedback_total{experiment="colours",'
                     'status="applied"} 1',
                     'tarry_feedback_total{experiment="colours",'
                     'status="duplicate"} 1',
                     'tarry_feedback_total{experiment="",status="unknown"} 1',
                     'tarry_pending{experiment="colours"} 2',
                     "tarry_feedback_delay_seconds_count 1",
                     'tarry_feedback_delay_seconds_bucket{le="+Inf"} 1',
                     'tarry_http_requests_total{route="POST /v1/feedback",'
                     'code="200"} 1'):
            self.assertIn(line + "\n", text)
        for name in ("tarry_pending_oldest_seconds",
                     "tarry_store_commit_seconds_bucket", "tarry_build_info"):
            self.assertIn(name + "{", text)
        seen = set()
        for line in text.splitlines():  # a metric's lines stand together
            if line.startswith("# HELP"):
                self.assertNotIn(line.split()[2], seen)
                seen.add(line.split()[2])

    def test_what_is_too_old_expires_by_itself(self):
        self.ok(self.server.create("brief", expire_after="300ms"), 201)
        self.ok(self.decide(name="brief"), 201)
        while self.log("brief")[-1]["event"] != "expire":
            time.sleep(0.1)

    def test_the_horizon(self):
        self.ok(self.server.create("short", horizon=2), 201)
        self.assertEqual(len(self.ok(self.decide({"count": 5}, "short"), 201)
                             ["decisions"]), 2)
        self.is_problem(self.decide(name="short"), 409, "horizon_reached")
        self.is_problem(self.decide({"count": 5}, "short"), 409,
                        "horizon_reached")
        self.ok(self.server.create("cut", horizon=2), 201)
        cut = self.ok(self.decide({"id": "cut", "count": 5}, "cut"), 201)
        self.assertEqual(self.ok(self.decide({"id": "cut", "count": 5},
                                             "cut")), cut)
        for count in (1, 2, 3, 4, 6):
            self.is_problem(self.decide({"id": "cut", "count": count}, "cut"),
                            409, "conflict")
        self.ok(self.call("POST", "/v1/experiments/cut/pause"))
        self.assertEqual(self.ok(self.decide({"id": "cut", "count": 5},
                                             "cut")), cut)
        self.is_problem(self.decide({"id": "new", "count": 5}, "cut"), 409,
                        "paused")
        self.ok(self.call("POST", "/v1/experiments/cut/resume"))
        noted = self.log("cut")[-3]
        self.assertEqual((noted["event"], noted["round"], noted["count"]),
                         ("lease", 1, 5))
        self.ok(self.server.create("full", horizon=3), 201)
        self.ok(self.decide({"id": "full", "count": 2}, "full"), 201)
        self.ok(self.decide(name="full"), 201)
        self.is_problem(self.decide({"id": "full", "count": 5}, "full"), 409,
                        "conflict")
        self.ok(self.server.create("past", horizon=3, beyond_horizon=True), 201)
        self.ok(self.decide({"id": "past", "count": 4}, "past"), 201)
        self.is_problem(self.decide({"id": "past", "count": 6}, "past"), 409,
                        "conflict")

    def test_what_is_to_come_is_refused(self):
        self.is_problem(self.decide({"arms": ARMS}), 422, "contextual")
        self.is_problem(self.call("POST", "/v1/experiments",
                                  {"name": "c", "dim": 3}), 422, "contextual")

    def test_a_request_has_a_name(self):
        own = self.call("GET", "/healthz", headers=["X-Request-Id: abc-1"])
        self.assertEqual(own.headers["x-request-id"], "abc-1")
        for good in ("!", "~", "x" * 63, "y" * 64):
            own = self.call("GET", "/healthz",
                            headers=["X-Request-Id: " + good])
            self.assertEqual(own.headers["x-request-id"], good)
        for bad in ('a"b', "a\\b", "a b", "", "x" * 65, "x" * 1000):
            made = self.call("GET", "/healthz",
                             headers=["X-Request-Id: " + bad])
            self.assertRegex(made.headers["x-request-id"], "^[0-9a-f]{16}$")

    def test_every_answer_has_its_fields_and_no_others(self):
        one, again = "/v1/experiments/colours", None
        page = {"cache-control": "no-cache",
                "referrer-policy": "no-referrer",
                "content-security-policy": "default-src 'self'; base-uri "
                "'none'; form-action 'none'; frame-ancestors 'none'"}
        for method, path, body, status, type, more in (
                ("GET", "/healthz", None, 200, "application/json", {}),
                ("HEAD", "/healthz", None, 200, "application/json", {}),
                ("GET", "/", None, 200, "text/html; charset=utf-8", page),
                ("GET", "/metrics", None, 200,
                 "text/plain; version=0.0.4; charset=utf-8", {}),
                ("POST", one + "/decisions", {}, 201, "application/json", {}),
                ("POST", "/v1/experiments",
                 {"name": "more", "arms": ARMS, "policy": "lints"}, 201,
                 "application/json", {"location": "/v1/experiments/more"}),
                ("GET", one + "/log", None, 200, "application/x-ndjson", {}),
                ("GET", "/nothing", None, 404, PROBLEM, {}),
                ("POST", "/healthz", {}, 405, PROBLEM, {"allow": "GET, HEAD"}),
                ("POST", "/v1/feedback", b"{", 400, PROBLEM, {}),
                ("POST", "/v1/feedback", {"id": "x", "loss": 1}, 404, PROBLEM,
                 {}),
                ("POST", "/v1/feedback", [{}] * 1001, 422, PROBLEM, {}),
                ("POST", "/v1/experiments",
                 {"name": "more", "arms": ARMS}, 409, PROBLEM, {})):
            with self.subTest(method + path), self.server.talk() as talk:
                answer = talk.call(method, path, body)
                self.assertEqual(answer.status, status, answer)
                told = dict(answer.headers)
                for name in ("date", "x-request-id"):
                    self.assertTrue(told.pop(name))
                size = int(told.pop("content-length"))
                self.assertEqual(size, len(answer.body) if method != "HEAD"
                                 else len(again.body))
                self.assertEqual(told, {
                    "content-type": type, "x-content-type-options": "nosniff",
                    "cache-control": "no-store", **more})
                self.assertEqual(answer.reason, {
                    200: "OK", 201: "Created", 400: "Bad Request",
                    404: "Not Found", 405: "Method Not Allowed",
                    409: "Conflict", 422: "Unprocessable Content"}[status])
                again = talk.call("GET", "/healthz")
                self.assertEqual(again.status, 200)
                self.assertNotEqual(again.headers["x-request-id"],
                                    answer.headers["x-request-id"])

        for head, status in ((b"GET / HTTP/2.0\r\n\r\n", 505),
                             (b"GET /\r\n\r\n", 400)):
            with self.server.talk() as talk:
                talk.send(head)
                answer = talk.read()
                self.assertEqual(answer.status, status)
                self.assertEqual(set(answer.headers), {
                    "date", "x-request-id", "content-length", "content-type",
                    "x-content-type-options", "cache-control", "connection"})
                self.assertEqual(answer.headers["connection"], "close")
                self.assertTrue(talk.ends())

    def test_answers_tell_the_time_of_day(self):
        told = []
        for _ in range(2):
            before = time.time()
            told.append(email.utils.parsedate_to_datetime(
                self.call("GET", "/healthz").headers["date"]).timestamp())
            self.assertLess(before - 3, told[-1])
            self.assertLess(told[-1], time.time() + 1)
            time.sleep(1.1)
        self.assertGreater(told[1], told[0])

    def test_the_log_has_a_line_per_request(self):
        self.server.stop()
        server = self.open("--log", "requests")
        good = server.call("POST", "/v1/experiments/colours/decisions", {})
        with server.talk() as talk:
            talk.send(b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n")
            bad = talk.read()
        server.stop()
        lines = [json.loads(line) for line in server.said().splitlines()]
        lines = {line.get("request_id"): line for line in lines}
        for answer, level, route in (
                (good, "info", "/v1/experiments/{name}/decisions"),
                (bad, "error", "")):
            line = lines[answer.headers["x-request-id"]]
            self.assertEqual(set(line), {
                "time", "level", "request_id", "method", "route", "status",
                "seconds"})
            self.assertEqual((line["level"], line["route"], line["status"]),
                             (level, route, answer.status))
            self.assertGreater(line["seconds"], 0)
            self.assertLess(line["seconds"], 60)

    def test_as_long_as_nothing_is_said_only_errors_are_logged(self):
        wrong = self.call("GET", "/v1/experiments/nobody")
        self.assertEqual(wrong.status, 404)
        with self.server.talk() as talk:
            talk.send(b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n")
            bad = talk.read()
        self.server.stop()
        said = [json.loads(line) for line in self.server.said().splitlines()]
        self.assertEqual([line["request_id"] for line in said
                          if "request_id" in line],
                         [bad.headers["x-request-id"]])

    def test_nobody_waits_for_the_reader_of_the_log(self):
        process = subprocess.Popen(
            [TARRY, "serve", "--listen", "127.0.0.1:0", "--store", "memory:",
             "--log", "requests"], stderr=subprocess.PIPE, text=True)
        where = json.loads(process.stderr.readline())["detail"]
        with process, Talk(int(where.rsplit(":", 1)[1])) as talk:
            for _ in range(1500):  # more lines than a pipe holds
                self.ok(talk.call("GET", "/healthz"))
            lines = [process.stderr.readline() for _ in range(200)]
            for _ in range(2):  # the first tells of those, the second of none
                self.ok(talk.call("GET", "/healthz"))
            process.terminate()
            lines += process.stderr.readlines()
        self.assertEqual(process.returncode, 0)
        asked = [line for line in map(json.loads, lines) if "status" in line]
        dropped = sum(line.get("dropped", 0) for line in asked)
        self.assertGreater(dropped, 0)
        self.assertEqual(len(asked) + dropped, 1502)

    def test_pages_of_others_may_not_change_anything(self):
        path = "/v1/experiments/colours/decisions"
        for header in ("Origin: http://evil.example",
                       "Origin: http://localhost.evil.example",
                       "Origin: http://localhost:1", "Origin: localhost",
                       "Origin: null", "Sec-Fetch-Site: cross-site",
                       "Sec-Fetch-Site: same-site", "Sec-Fetch-Site: other",
                       "Sec-Fetch-Site: "):
            self.is_problem(self.call("POST", path, {}, headers=[header]),
                            403, "foreign_origin")
        for header in ("Origin: http://localhost", "Sec-Fetch-Site: none",
                       "Sec-Fetch-Site: same-origin"):
            self.ok(self.call("POST", path, {}, headers=[header]), 201)

    def test_names_of_others_do_not_lead_here(self):
        """A page whose name was made to lead here passes for one of ours, and
        its browser sends that name."""
        def asked(server, host):
            with server.talk() as talk:
                talk.send(b"POST /v1/experiments/colours/decisions HTTP/1.1"
                          b"\r\nHost: %s\r\nOrigin: http://%s\r\n"
                          b"Content-Length: 2\r\n\r\n{}" % (host, host))
                return talk.read()
        named = self.open("--public-url", "http://Tarry.example:81/base",
                          store="memory:")
        self.ok(named.create(), 201)
        ours = (b"localhost", b"LocalHost:8377", b"127.0.0.1", b"127.3.2.1:1",
                b"[::1]", b"[::1]:8377")
        for host in ours:
            self.ok(asked(self.server, host), 201)
        for host in (*ours, b"tarry.example", b"tarry.example:8377"):
            self.ok(asked(named, host), 201)
        for host in (b"evil.example", b"evil.example:%d" % self.server.port,
                     b"localhost.evil.example", b"127.0.0.1.evil.example", b"",
                     b"[::1]evil.example", b"tarry.example", b"localhost:x"):
            with self.subTest(host):
                self.is_problem(asked(self.server, host), 403, "foreign_host")
        self.is_problem(asked(named, b"evil.example"), 403, "foreign_host")
        with self.server.talk() as talk:
            talk.send(b"GET /v1/experiments HTTP/1.1\r\nHost: evil\r\n\r\n")
            self.is_problem(talk.read(), 403, "foreign_host")
        with self.server.talk() as talk:  # no browser
            talk.send(b"GET /v1/experiments HTTP/1.0\r\n\r\n")
            self.ok(talk.read())

    def test_a_slow_reader_does_not_keep_it_from_ending(self):
        server = self.open("--request-timeout", "1", store="memory:")
        arms = [{"name": c * 200} for c in "ab"]
        self.ok(server.call("POST", "/v1/experiments", {
            "name": "long", "policy": "uniform", "arms": arms}), 201)
        for _ in range(5):  # more than sockets hold
            self.ok(server.call("POST", "/v1/experiments/long/decisions",
                                {"count": 10000}), 201)
        with server.talk() as talk:
            talk.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            talk.send(b"GET /v1/experiments/long/log HTTP/1.1\r\n"
                      b"Host: localhost\r\n\r\n")
            talk.until(b"\r\n\r\n")
            server.process.terminate()
            with self.assertRaises(Closed):  # before the last chunk
                while not talk.rest.endswith(b"\r\n0\r\n\r\n"):
                    talk.rest = talk.rest[-7:]
                    talk.more()
                    time.sleep(0.02)

    def test_restarts_go_on_where_it_was(self):
        with self.server.talk() as talk:
            path = "/v1/experiments/colours/decisions"
            before = [talk.call("POST", path, {}).json for _ in range(20)]
            for d in before[:10]:
                talk.call("POST", "/v1/feedback", {"id": d["id"], "loss": 0.1})
        self.assertEqual(self.server.stop()[0], 0)
        copy = os.path.join(self.folder, "copy.db")
        with open(self.server.store, "rb") as a, open(copy, "wb") as b:
            b.write(a.read())
        twin = self.open(store=copy)
        self.server.start()
        for server in (self.server, twin):
            status = server.call("GET", "/v1/experiments/colours/status").json
            self.assertEqual((status["round"], status["pending"]), (20, 10))
        for i in range(5):  # and both choose the same
            one, two = (s.call("POST", path, {}).json
                        for s in (self.server, twin))
            for key in ("id", "arm", "probability", "round"):
                self.assertEqual(one[key], two[key])
            self.server.kill()
            self.server.start()

    def test_the_store_is_for_one(self):
        self.refused("serve", "--store", self.server.store, "--listen",
                     "127.0.0.1:0", says=["process"], code=1)
        self.server.stop()
        found = tarry("store", "check", self.server.store)
        self.assertEqual(found.returncode, 0, found.stderr)
        self.server.start()


class Wire(ServeTest):
    """Framing, limits and slow clients."""
    options = ("--request-timeout", "2", "--max-body", "10000",
               "--max-connections", "300")

    def setUp(self):
        super().setUp()
        self.ok(self.server.create(), 201)

    def send(self, data):
        with self.server.talk() as talk:
            talk.send(data)
            answer = talk.read()
            if answer.status in (400, 413, 414, 417, 431, 501, 505):
                self.assertTrue(talk.ends(), data[:60])
                self.assertEqual(answer.headers["connection"], "close")
            return answer

    def test_what_can_be_read_in_two_ways_is_refused(self):
        post = b"POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
        host = b"Host: localhost\r\n"
        bad = {
            "bare LF": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
            "bare LF in the first line": b"GET /healthz HTTP/1.1\n" + host +
            b"\r\n",
            "bare LF after a field":
                b"GET /healthz HTTP/1.1\r\nHost: localhost\n\r\n",
            "bare LF at the end":
                b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\n",
            "bare CR":
                b"GET /healthz HTTP/1.1\r\nHost: localhost\rA: b\r\n\r\n",
            "bare CR at the end of a line":
                b"GET /healthz HTTP/1.1\rHost: localhost\r\n\r\n",
            "a blank line first": b"\r\nGET /healthz HTTP/1.1\r\n" + host +
            b"\r\n",
            "two lengths": post + host + b"Content-Length: 2\r\n"
            b"Content-Length: 2\r\n\r\n{}",
            "two different lengths": post + host + b"Content-Length: 2\r\n"
            b"Content-Length: 3\r\n\r\n{}",
            "a list of lengths": post + host +
            b"Content-Length: 2, 2\r\n\r\n{}",
            "length and coding": post + host + b"Content-Length: 2\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n{}",
            "coding and length": post + host + b"Transfer-Encoding: chunked"
            b"\r\nContent-Length: 2\r\n\r\n{}",
            "a sign": post + host + b"Content-Length: +2\r\n\r\n{}",
            "a negative length": post + host + b"Content-Length: -2\r\n\r\n",
            "a letter": post + host + b"Content-Length: 2x\r\n\r\n{}",
            "hex": post + host + b"Content-Length: 0x2\r\n\r\n{}",
            "no length": post + host + b"Content-Length:\r\n\r\n{}",
            "a fraction": post + host + b"Content-Length: 2.0\r\n\r\n{}",
            "a huge length": post + host + b"Content-Length: " + b"9" * 30 +
            b"\r\n\r\n",
            "a blank before the colon": post + host +
            b"Content-Length : 2\r\n\r\n{}",
            "a tab before the colon": post + host +
            b"Content-Length\t: 2\r\n\r\n{}",
            "a folded line": post + host + b" y\r\nContent-Length: 2\r\n\r\n{}",
            "a line folded by a tab": post + host + b"\ty\r\n\r\n",
            "a blank before the first field": post + b" " + host + b"\r\n",
            "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
            "two hosts": b"GET /healthz HTTP/1.1\r\n" + host + host + b"\r\n",
            "no colon": b"GET /healthz HTTP/1.1\r\nHost\r\n\r\n",
            "no name": b"GET /healthz HTTP/1.1\r\n" + host + b": x\r\n\r\n",
            "a name with a quote": b"GET /healthz HTTP/1.1\r\n" + host +
            b"A\"b: x\r\n\r\n",
            "a zero byte in a value": b"GET /healthz HTTP/1.1\r\n" + host +
            b"A: x\0y\r\n\r\n",
            "a zero byte in the path": b"GET /heal\0thz HTTP/1.1\r\n" + host +
            b"\r\n",
            "an escape in a value": b"GET /healthz HTTP/1.1\r\n" + host +
            b"A: \x1b[2J\r\n\r\n",
            "two blanks": b"GET  /healthz HTTP/1.1\r\n" + host + b"\r\n",
            "a blank at the end": b"GET /healthz HTTP/1.1 \r\n" + host +
            b"\r\n",
            "a tab for a blank": b"GET\t/healthz HTTP/1.1\r\n" + host +
            b"\r\n",
            "no version": b"GET /healthz\r\n" + host + b"\r\n",
            "a small version": b"GET /healthz http/1.1\r\n" + host + b"\r\n",
            "an odd version": b"GET /healthz HTTP/x\r\n" + host + b"\r\n",
            "no method": b" /healthz HTTP/1.1\r\n" + host + b"\r\n",
            "an odd method": b"G(T /healthz HTTP/1.1\r\n" + host + b"\r\n",
            "a long method": b"G" * 30 + b" /healthz HTTP/1.1\r\n" + host +
            b"\r\n",
            "an asterisk": b"OPTIONS * HTTP/1.1\r\n" + host + b"\r\n",
            "an absolute target": b"GET http://x/healthz HTTP/1.1\r\n" + host +
            b"\r\n",
            "an authority": b"CONNECT x:80 HTTP/1.1\r\n" + host + b"\r\n",
            "bytes beyond ASCII": b"GET /\xff HTTP/1.1\r\n" + host + b"\r\n",
            "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\n",
            "two codings": post + host + b"Transfer-Encoding: chunked\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "chunks without a size": post + host +
            b"Transfer-Encoding: chunked\r\n\r\n{}",
            "a chunk longer than its size": post + host +
            b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
            "a chunk with a bare LF": post + host +
            b"Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
            "a chunk with a sign": post + host +
            b"Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n",
            "chunks in HTTP/1.0": b"POST /v1/feedback HTTP/1.0\r\n" + host +
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "two tokens": b"GET /healthz HTTP/1.1\r\n" + host +
            b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
        }
        self.assertGreaterEqual(len(bad), 40)
        for what, data in bad.items():
            with self.subTest(what):
                self.is_problem(self.send(data), 400, "bad_request")
        self.assertEqual(self.call(
            "GET", "/v1/experiments/colours/status").json["round"], 0)

    def test_other_refusals_at_the_door(self):
        host = b"Host: localhost\r\n"
        post = b"POST /v1/feedback HTTP/1.1\r\n" + host
        for data, status in (
                (post + b"Transfer-Encoding: chunked\r\n\r\n2712\r\n", 413),
                (post + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"a" * 300,
                 431),
                (post + b"Transfer-Encoding: gzip\r\n\r\n", 501),
                (post + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
                (post + b"Content-Length: 10001\r\n\r\n", 413),
                (post + b"Content-Length: 999999999999\r\n\r\n", 413),
                (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + host + b"\r\n",
                 414),
                (post + b"Content-Length: 2\r\nExpect: wonders\r\n\r\n", 417),
                (b"GET / HTTP/1.1\r\n" + host + b"A: " + b"a" * 17000 +
                 b"\r\n\r\n", 431),
                (b"GET / HTTP/1.1\r\n" + host + b"A: b\r\n" * 101 + b"\r\n",
                 431),
                (b"GET / HTTP/2.0\r\n" + host + b"\r\n", 505)):
            with self.subTest(status=status):
                self.is_problem(self.send(data), status)
        with self.server.talk() as talk:
            talk.send(post + b"\r\n")  # without a body
            self.is_problem(talk.read(), 422)
            self.assertEqual(talk.call("GET", "/healthz").status, 200)

    def test_chunked_requests_follow_one_another(self):
        """In one piece and byte by byte; what lies behind a body is the next
        request."""
        post = (b"POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
                b"Host: localhost\r\nTransfer-Encoding: chunked\r\n")
        chunked = b"6;a=b\r\n{\"coun\r\n5\r\nt\":3}\r\n0\r\nX: y\r\n\r\n"
        for piece in (1, 7, 10000):
            with self.subTest(piece=piece), self.server.talk() as talk:
                data = (post + b"\r\n" + chunked) * 3
                for at in range(0, len(data), piece):
                    talk.send(data[at:at + piece])
                for _ in range(3):
                    answer = talk.read()
                    self.assertEqual(answer.status, 201)
                    self.assertEqual(len(answer.json["decisions"]), 3)
        with self.server.talk() as talk:
            talk.send(post + b"Expect: 100-continue\r\n\r\n")
            self.assertEqual(talk.until(b"\r\n\r\n"), b"HTTP/1.1 100 Continue")
            talk.send(chunked)
            self.assertEqual(talk.read().status, 201)
        with self.server.talk() as talk:  # as much as --max-body, and no more
            body = b'{"count":1' + b" " * 9989 + b"}"
            self.assertEqual(len(body), 10000)
            talk.send(post + b"\r\n" + b"2710\r\n" + body + b"\r\n0\r\n\r\n")
            self.assertEqual(talk.read().status, 201)
            talk.send(post + b"\r\n" + b"1000\r\n" + body[:4096] +
                      b"\r\n1711\r\n")
            self.is_problem(talk.read(), 413)

    def test_a_large_body_hears_why(self):
        with self.server.talk() as talk:
            talk.send(b"POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\n"
                      b"Content-Length: 3000000\r\n\r\n")
            try:
                for _ in range(30):
                    talk.send(b" " * 100000)
            except OSError:
                pass
            self.assertEqual(talk.read().status, 413)

    def test_what_is_unusual_but_right(self):
        post = (b"POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
                b"HOST:localhost\r\ncontent-LENGTH:   2  \r\n")
        with self.server.talk() as talk:
            talk.send(post + b"\r\n{}")
            self.assertEqual(talk.read().status, 201)
            talk.send(post + b"Connection: foo , CLOSE\r\n\r\n{}")
            answer = talk.read()
            self.assertEqual((answer.status, answer.headers["connection"]),
                             (201, "close"))
            self.assertTrue(talk.ends())
        with self.server.talk() as talk:  # byte by byte
            for i in range(len(post + b"\r\n{}")):
                talk.send((post + b"\r\n{}")[i:i + 1])
            self.assertEqual(talk.read().status, 201)
        with self.server.talk() as talk:
            talk.send(post + b"Expect: 100-continue\r\n\r\n")
            self.assertEqual(talk.until(b"\r\n\r\n"), b"HTTP/1.1 100 Continue")
            talk.send(b"{}")
            self.assertEqual(talk.read().status, 201)
        with self.server.talk() as talk:  # nothing to wait for
            talk.send(post + b"Expect: 100-continue\r\n\r\n{}")
            self.assertEqual(talk.until(b" "), b"HTTP/1.1")
            self.assertEqual(talk.until(b" "), b"201")
        with self.server.talk() as talk:  # who is old may stay, if he says so
            for _ in range(2):
                talk.send(b"GET /healthz HTTP/1.0\r\n"
                          b"Connection: keep-alive\r\n\r\n")
                answer = talk.read()
                self.assertEqual(
                    (answer.status, answer.headers["connection"]),
                    (200, "keep-alive"))
        with self.server.talk() as talk:
            talk.send(b"GET /healthz HTTP/1.0\r\n\r\n")
            self.assertEqual(talk.read().headers["connection"], "close")
            self.assertTrue(talk.ends())
        with self.server.talk() as talk:  # which knows no answer before one
            talk.send(post.replace(b"/1.1", b"/1.0") +
                      b"Expect: 100-continue\r\n\r\n")
            time.sleep(0.1)
            talk.send(b"{}")
            self.assertEqual(talk.until(b" "), b"HTTP/1.1")
            self.assertEqual(talk.until(b" "), b"201")
        with self.server.talk() as talk:  # half closed, and still answered
            talk.send(post + b"\r\n{}")
            talk.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(talk.read().status, 201)
            self.assertTrue(talk.ends())

    def test_requests_of_all_lengths_in_pieces_on_one_connection(self):
        """What one request left behind must not be felt by the next."""
        chance = random.Random(5)
        with self.server.talk() as talk:
            for i in range(60):
                note = b"X-Note: " + b"x" * chance.choice((0, 3, 700)) + b"\r\n"
                request, status = chance.choice((
                    (b"GET /healthz HTTP/1.1\r\nHost: [::1]\r\n%s\r\n", 200),
                    (b"GET /no/such HTTP/1.1\r\nHost: [::1]\r\n%s\r\n", 404),
                    (b"POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
                     b"Host: localhost\r\n%sContent-Length: 2\r\n\r\n{}", 201)))
                request %= note
                cut = chance.randrange(len(request))
                talk.send(request[:cut])
                time.sleep(0.003)
                talk.send(request[cut:])
                self.assertEqual(talk.read().status, status, (i, cut))

    def test_requests_behind_one_another(self):
        one = (b"POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
               b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}")
        with self.server.talk() as talk:
            talk.send(one * 50)
            rounds = [talk.read().json["round"] for _ in range(50)]
            self.assertEqual(rounds, list(range(1, 51)))
            talk.send(one + b"NONSENSE\r\n\r\n" + one)
            self.assertEqual(talk.read().status, 201)
            self.assertEqual(talk.read().status, 400)
            self.assertTrue(talk.ends())

    def test_who_asks_while_others_do_not_is_answered_at_once(self):
        """Those who were answered together need not ask again together."""
        server = self.open(store="memory:")
        self.ok(server.create(), 201)
        one = (b"POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
               b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}")
        talks = [server.talk() for _ in range(6)]

        def seconds():
            for talk in talks:
                talk.send(one)
            talks[-1].read()
            begins = time.monotonic()
            talks[-1].send(one)
            talks[-1].read()
            passed = time.monotonic() - begins
            for talk in talks[:-1]:
                self.assertEqual(talk.read().status, 201)
            return passed
        self.assertTrue(most_are_quick(seconds))
        for talk in talks:
            talk.socket.close()

    def flood(self, talk):
        """A process that sends decisions as fast as it can, for ever."""
        data = (b"POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
                b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}") * 10000
        room = bytearray(1 << 20)

        def drop_answers():
            while talk.socket.recv_into(room):
                pass
        child = os.fork()
        if child == 0:
            try:
                threading.Thread(target=drop_answers, daemon=True).start()
                while True:
                    talk.send(data)
            finally:
                os._exit(0)
        return child

    def test_many_requests_of_one_hold_nobody_up(self):
        server = self.open(store="memory:")
        self.ok(server.create(), 201)
        many = [server.talk() for _ in range(2)]
        children = [self.flood(talk) for talk in many]
        try:
            made = []  # decisions, when each answer left
            with server.talk() as talk:
                while len(made) < 51:
                    text = talk.call("GET", "/metrics").body.decode()
                    made.append(int(re.search(
                        r"^tarry_decisions_total\{[^}]*\} (\d+)$", text,
                        re.M)[1]))
                    if made[0] < 1000:  # the flood has yet to come
                        made.clear()
        finally:
            for child, talk in zip(children, many):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                talk.socket.close()
        meanwhile = sorted(b - a for a, b in zip(made, made[1:]))
        self.assertGreater(meanwhile[-1], 0)
        self.assertLess(meanwhile[12], 500)

    def test_the_time_before_a_request_is_not_its_own(self):
        self.server.stop()
        server = self.open("--request-timeout", "4")
        with server.talk() as talk:
            self.ok(talk.call("GET", "/healthz"))
            time.sleep(4.1)
            talk.send(b"GET /healthz HTTP/1.1\r\n")
            time.sleep(0.6)  # more than two looks at the clock
            talk.send(b"Host: localhost\r\n\r\n")
            self.ok(talk.read())

    def test_slow_clients_are_cut_off(self):
        begins = time.monotonic()
        head = b"POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\n"
        slow = [(self.server.talk(), text) for text in
                [head * 20, head + b"Content-Length: 500\r\n\r\n" + b" " * 99,
                 b""] for _ in range(20)]
        ended = [None] * len(slow)
        for i in range(200):
            for k, (talk, text) in enumerate(slow):
                try:
                    talk.send(text[i:i + 1])
                except OSError:
                    ended[k] = ended[k] or time.monotonic() - begins
            time.sleep(0.05)
            if i % 20 == 0:
                self.assertEqual(self.call("GET", "/healthz").status, 200)
            if time.monotonic() - begins > 5:
                break
        for talk, text in slow:
            if text:
                self.assertEqual(talk.read().status, 408)
            self.assertTrue(talk.ends())
            talk.socket.close()

    def test_a_client_that_does_not_read_is_cut_off(self):
        for _ in range(4):
            self.call("POST", "/v1/experiments/colours/decisions",
                      {"count": 10000})
        files = "/proc/%d/fd" % self.server.process.pid
        time.sleep(0.2)  # until those before are gone
        before = len(os.listdir(files))
        with self.server.talk() as talk:
            talk.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            talk.send(b"GET /v1/experiments/colours/log HTTP/1.1\r\n"
                      b"Host: localhost\r\n\r\n" * 3)
            talk.more()
            self.assertEqual(len(os.listdir(files)), before + 1)
            while len(os.listdir(files)) > before:
                time.sleep(0.1)

    def test_connections_too_many_are_turned_away(self):
        held = [self.server.talk() for _ in range(300)]
        for talk in held:
            self.assertEqual(talk.call("GET", "/healthz").status, 200)
        with self.server.talk() as talk:
            answer = talk.read()
            self.assertEqual(answer.status, 503)
            self.assertIn("retry-after", answer.headers)
        for talk in held:
            talk.socket.close()
        while True:
            try:
                if self.call("GET", "/healthz").status == 200:
                    break
            except Closed:
                pass
            time.sleep(0.1)

    def seconds_used(self, server):
        with open("/proc/%d/stat" % server.process.pid) as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def test_who_finds_no_file_left_waits_and_takes_no_time(self):
        few = 16  # of which the store and others have most
        server = self.open(store=self.path("few.db"), limits=lambda:
                           resource.setrlimit(resource.RLIMIT_NOFILE,
                                              (few, few)))
        self.ok(server.call("GET", "/healthz"))
        held = [server.talk() for _ in range(2 * few)]
        time.sleep(0.1)
        before = self.seconds_used(server)
        time.sleep(1)
        self.assertLess(self.seconds_used(server) - before, 0.3)
        for talk in held[:-1]:
            talk.socket.close()
        with held[-1] as last:
            self.ok(last.call("GET", "/healthz"))

    def test_few_files_do_not_let_in_more_than_was_said(self):
        few = 60
        server = self.open("--max-connections", "3",
                           store=self.path("few.db"), limits=lambda:
                           resource.setrlimit(resource.RLIMIT_NOFILE,
                                              (few, few)))
        held = [server.talk() for _ in range(3)]
        for talk in held:
            self.ok(talk.call("GET", "/healthz"))
        with server.talk() as talk:
            self.is_problem(talk.read(), 503, "overloaded")
        for talk in held:
            talk.socket.close()

    def seconds_for(self, server, ids):
        """Of the server's processor; all are asked for at once."""
        talks = [server.talk() for _ in ids]
        server.process.send_signal(signal.SIGSTOP)
        for talk, id in zip(talks, ids):
            body = json.dumps({"id": id})
            talk.send(("POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
                       "Host: localhost\r\nContent-Length: %d\r\n\r\n%s"
                       % (len(body), body)).encode())
        before = self.seconds_used(server)
        server.process.send_signal(signal.SIGCONT)
        answers = [talk.read() for talk in talks]
        seconds = self.seconds_used(server) - before
        for talk in talks:
            talk.socket.close()
        return seconds, answers

    def test_many_who_ask_for_one_id_do_not_wait_one_for_another(self):
        many = 3000
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limits[1] < many + 100:
            self.skipTest("files are too few")
        resource.setrlimit(resource.RLIMIT_NOFILE,
                           (max(limits[0], many + 100), limits[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        server = self.open(store="memory:")
        self.ok(server.create(), 201)
        apart, _ = self.seconds_for(server, ["a%d" % i for i in range(many)])
        together, answers = self.seconds_for(server, ["one"] * many)
        made = [answer.status for answer in answers]
        self.assertEqual((made.count(201), made.count(200)), (1, many - 1))
        self.assertEqual(len({answer.body for answer in answers}), 1)
        self.assertLess(together, 5 * apart + 0.5)

    def count_files(self):
        return len(os.listdir("/proc/%d/fd" % self.server.process.pid))

    def test_however_connections_end_nothing_is_left_of_them(self):
        """Those who are turned away too: a file each would be left."""
        asks = b"GET /v1/experiments HTTP/1.1\r\nHost: localhost\r\n"
        ends = [b"", asks[:20], asks + b"\r\n", b"nonsense\n\n",
                asks + b"Connection: close\r\n\r\n", asks * 300,
                asks + b"Content-Length: 99999\r\n\r\n",
                b"GET /v1/experiments/colours/log HTTP/1.1\r\n"
                b"Host: localhost\r\n\r\n"]
        self.call("GET", "/healthz")
        time.sleep(0.2)  # until that one is gone
        before = self.count_files()
        held = [self.server.talk() for _ in range(300)]
        for talk in held:
            self.assertEqual(talk.call("GET", "/healthz").status, 200)
        for _ in range(20):
            with self.server.talk() as talk:
                self.assertEqual(talk.read().status, 503)
        for i, talk in enumerate(held):
            talk.send(ends[i % len(ends)])
            talk.socket.close()
        while self.count_files() > before:
            time.sleep(0.05)

    def test_clients_that_go_away(self):
        post = (b"POST /v1/experiments/colours/decisions HTTP/1.1\r\n"
                b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}")
        for i in range(200):
            with self.server.talk() as talk:
                talk.send(post[:len(post) * i // 200 + 1])
                if i % 2:
                    talk.socket.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER,
                        b"\1\0\0\0\0\0\0\0")
        self.assertEqual(self.call("GET", "/healthz").status, 200)


class Tokens(ServeTest):

    def setUp(self):
        LabTest.setUp(self)
        self.token = {}
        lines = ["# tokens"]
        for scope in ("decide", "feedback", "read", "admin",
                      "decide,feedback,read,admin"):
            made = tarry("serve", "--new-token", scope).stdout.splitlines()
            self.token[scope.split(",")[-1] if "," not in scope else "all"] = \
                made[0].split()[-1]
            lines.append(made[1].split(": ")[1])
        self.file = self.write("tokens", "\n".join(lines) + "\n")
        self.server = self.open("--tokens", self.file)

    def try_all(self, method, path, scope, body=None):
        self.is_problem(self.call(method, path, body), 401)
        answer = self.call(method, path, body, token="tarry_wrong")
        self.is_problem(answer, 401, "no_token")
        self.assertEqual(answer.headers["www-authenticate"], "Bearer")
        for other in ("decide", "feedback", "read", "admin"):
            answer = self.call(method, path, body, token=self.token[other])
            if other == scope:
                self.assertNotIn(answer.status, (401, 403), answer)
            else:
                self.is_problem(answer, 403, "wrong_scope")
        self.assertNotIn(self.call(method, path, body,
                                   token=self.token["all"]).status, (401, 403))

    def test_scopes(self):
        one = "/v1/experiments/colours"
        self.try_all("POST", "/v1/experiments", "admin",
                     {"name": "colours", "arms": ARMS, "policy": "lints"})
        for method, path, scope, body in (
                ("GET", "/v1/experiments", "read", None),
                ("GET", one, "read", None),
                ("POST", one + "/decisions", "decide", {}),
                ("POST", "/v1/feedback", "feedback", []),
                ("POST", "/v1/decisions/colours:1/cancel", "decide", None),
                ("POST", "/v1/decisions/colours:2/expire", "feedback", None),
                ("POST", one + "/arms", "admin",
                 {"name": "n", "features": [1, 1]}),
                ("DELETE", one + "/arms/n", "admin", None),
                ("POST", one + "/pause", "admin", None),
                ("POST", one + "/resume", "admin", None),
                ("GET", one + "/status", "read", None),
                ("GET", one + "/pending", "read", None),
                ("GET", one + "/log", "read", None),
                ("GET", "/metrics", "read", None)):
            with self.subTest(path):
                self.try_all(method, path, scope, body)
        for path in ("/healthz", "/readyz"):
            self.ok(self.call("GET", path))

    def test_what_a_head_says_holds_while_its_body_comes(self):
        """A body that grows moves the head in memory."""
        self.ok(self.call("POST", "/v1/experiments",
                          {"name": "colours", "arms": ARMS, "policy": "lints"},
                          token=self.token["admin"]), 201)
        right = "Authorization: Bearer %s" % self.token["decide"]
        for fields, status in (
                ([right], 201),
                ([right, "Origin: http://localhost"], 201),
                ([right, "Origin: http://evil.example"], 403),
                ([right, "Sec-Fetch-Site: none"], 201),
                ([right, "Sec-Fetch-Site: cross-site"], 403),
                (["Authorization: Bearer %s" % self.token["read"]], 403),
                (["Authorization: Bearer tarry_wrong"], 401),
                ([], 401)):
            for size in (2, 2000, 5000, 300000):
                head = "\r\n".join([
                    "POST /v1/experiments/colours/decisions HTTP/1.1",
                    "Host: localhost", "X-Request-Id: mine-%d" % size,
                    "Content-Length: %d" % size, *fields, "", ""]).encode()
                with self.subTest(fields=fields[-1:], size=size), \
                        self.server.talk() as talk:
                    talk.send(head + b"{")
                    time.sleep(0.003)
                    talk.send(b"}".rjust(size - 1))
                    answer = talk.read()
                    self.assertEqual(answer.status, status, answer)
                    self.assertEqual(answer.headers["x-request-id"],
                                     "mine-%d" % size)

    def test_a_query_holds_while_a_body_comes(self):
        self.ok(self.call("POST", "/v1/experiments",
                          {"name": "colours", "arms": ARMS, "policy": "lints"},
                          token=self.token["admin"]), 201)
        for query, status in ("limit=1", 200), ("limit=none", 422):
            for size in (2, 2000, 300000):
                head = "\r\n".join([
                    "GET /v1/experiments/colours/pending?%s HTTP/1.1" % query,
                    "Host: localhost", "Content-Length: %d" % size,
                    "Authorization: Bearer %s" % self.token["read"], "", ""])
                with self.subTest(query=query, size=size), \
                        self.server.talk() as talk:
                    talk.send(head.encode() + b"{")
                    time.sleep(0.003)
                    talk.send(b"}".rjust(size - 1))
                    self.assertEqual(talk.read().status, status)

    def test_a_scheme_may_be_written_in_any_way(self):
        token = self.token["read"]
        for value, status in (
                ("Bearer " + token, 200), ("bearer " + token, 200),
                ("BEARER   " + token, 200), ("Bearer" + token, 401),
                ("Basic " + token, 401), ("Bearer " + token[:-1], 401),
                ("Bearer " + token.upper(), 401), (token, 401), ("", 401)):
            answer = self.call("GET", "/v1/experiments",
                               headers=["Authorization: " + value])
            self.assertEqual(answer.status, status, value)

    def test_with_tokens_any_host_will_do(self):
        with self.server.talk() as talk:
            talk.send(b"GET /v1/experiments HTTP/1.1\r\nHost: far.example\r\n"
                      b"Authorization: Bearer %s\r\n\r\n" %
                      self.token["read"].encode())
            self.ok(talk.read())

    def test_what_may_never_end_is_no_file(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        for file in pipe, "/dev/zero":
            self.refused("serve", "--tokens", file, "--listen", "127.0.0.1:0",
                         "--store", "memory:", says=[file, "not a file"])
        os.rename(pipe, self.file)  # then those before stay
        self.server.process.send_signal(signal.SIGHUP)
        self.until(lambda: "not read" in self.server.said())
        self.ok(self.call("GET", "/v1/experiments", token=self.token["all"]))

    def test_signals_do_not_wait_for_the_reader_of_the_log(self):
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [TARRY, "serve", "--listen", "127.0.0.1:0", "--store", "memory:",
             "--tokens", self.file], stderr=writer)
        where = json.loads(os.read(reader, 10000))["detail"]
        os.write(writer, b"x" * fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ))
        process.send_signal(signal.SIGHUP)
        with Talk(int(where.rsplit(":", 1)[1])) as talk:
            self.ok(talk.call("GET", "/healthz"))
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        os.close(reader)
        os.close(writer)

    def test_the_file_is_read_again(self):
        self.ok(self.call("GET", "/v1/experiments", token=self.token["read"]))
        with open(self.file) as file:
            lines = file.read().splitlines()
        self.write("tokens", "\n".join(l for l in lines if " read" not in l))
        self.server.process.send_signal(signal.SIGHUP)
        self.until(lambda: self.call(
            "GET", "/v1/experiments", token=self.token["read"]).status == 401)
        self.write("tokens", "nonsense\n")  # then those before stay
        self.server.process.send_signal(signal.SIGHUP)
        self.until(lambda: "not read" in self.server.said())
        self.ok(self.call("GET", "/v1/experiments", token=self.token["all"]))

    def until(self, condition):
        for _ in range(100):
            if condition():
                return
            time.sleep(0.05)
        self.fail("it does not come")

    def test_no_token_is_ever_told(self):
        self.call("GET", "/v1/experiments", token=self.token["all"])
        self.server.stop()
        with open(self.server.store, "rb") as file:
            found = file.read() + self.server.said().encode()
        for token in self.token.values():
            self.assertNotIn(token.encode(), found)

    def test_bad_files_are_refused(self):
        digest = "0" * 64
        for text, says in (("secret read\n", ":1"),
                           ("\n%s reed\n" % digest, ":2"),
                           ("%s\n" % digest, ":1")):
            file = self.write("bad", text)
            self.refused("serve", "--tokens", file, "--listen", "127.0.0.1:0",
                         "--store", self.path("new.db"), says=["bad" + says])
        self.refused("serve", "--tokens", self.path("none"), "--store",
                     self.path("new.db"), "--listen", "127.0.0.1:0",
                     says=["none"])
        self.assertEqual(glob.glob(self.path("new.db*")), [])
        self.refused("serve", "--new-token", "all", says=["'all'"])

    def test_others_need_a_token(self):
        self.refused("serve", "--listen", "0.0.0.0:0", "--store", "memory:",
                     says=["--tokens", "0.0.0.0:0"])


class Settings(LabTest):

    def show(self, *options, **environment):
        done = tarry("serve", *options, "--print-config",
                     env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.split(" = ", 1) for line in done.stdout.splitlines()
                    if not line.startswith("#"))

    def test_a_public_address_is_one(self):
        for url in ("tarry.example", "ftp://tarry.example", "nan",
                    "http://a b", "http://a\r\nSet-Cookie: a=b",
                    "http://\xfc.example", "http://" + 293 * "a"):
            with self.subTest(url):
                done = tarry("serve", "--listen", "127.0.0.1:0", "--store",
                             "memory:", "--public-url", url, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr,
                                 "^tarry: --public-url: [^\n]+\n$")

    def test_options_before_environment_before_file(self):
        file = self.write("config", "# a comment\nlisten = 127.0.0.1:1\n"
                          "max-body = 1e5 # too\n\nmax-arms=7\n")
        found = self.show("--config", file, "--max-arms", "9",
                          TARRY_MAX_BODY="77")
        self.assertEqual((found["listen"], found["max-body"],
                          found["max-arms"]), ("127.0.0.1:1", "77", "9"))
        again = self.write("again", "\n".join(
            "%s = %s" % pair for pair in found.items()))
        self.assertEqual(self.show(TARRY_CONFIG=again), found)

    def test_what_is_wrong_is_named(self):
        bad = self.write("bad", "listen = 127.0.0.1:1\ncolour = red\n")
        self.refused("serve", "--config", bad, says=["bad:2", "colour"])
        self.refused("serve", "--config", self.path("none"), says=["none"])
        self.refused("serve", "--listen", "here", says=["here"])
        self.refused("serve", "--log", "loud", says=["loud"])
        self.refused("serve", "--max-body", "much", says=["much"])
        for name, value in (("max-body", "much"), ("idle-timeout", "soon")):
            worse = self.write("worse", "log = errors\n%s = %s\n"
                               % (name, value))
            self.refused("serve", "--config", worse,
                         says=["worse:2: %s: " % name, "'%s'" % value])
            variable = "TARRY_" + name.upper().replace("-", "_")
            self.refused("serve", env={**os.environ, variable: value},
                         says=["environment, %s: " % name, "'%s'" % value])

    def test_tokens_of_no_file_let_nobody_in(self):
        """An unset variable of a shell is not a wish for none."""
        empty = self.write("empty", "tokens =\n")
        for words, environment in ((["--tokens", ""], {}),
                                   (["--config", empty], {}),
                                   ([], {"TARRY_TOKENS": ""})):
            self.refused("serve", "--listen", "127.0.0.1:0", "--store",
                         "memory:", *words, timeout=60,
                         env={**os.environ, **environment},
                         says=["--tokens: no file is named: ''"])

    def test_memory_has_no_name(self):
        for words in (["serve", "--listen", "127.0.0.1:0", "--store"],
                      ["store", "check"], ["pipe", "--arms", "3", "--store"]):
            self.refused(*words, "memory:x", timeout=60, says=["'memory:x'"])

    def test_limits_with_which_nobody_is_answered_are_refused(self):
        for name, values in (("request-timeout", ("0", "-5", "nan")),
                             ("idle-timeout", ("0", "-0.5", "inf")),
                             ("max-connections", ("0", "-1")),
                             ("max-queue", ("0", "1e99"))):
            for value in values:
                self.refused("serve", "--print-config", "--" + name, value,
                             says=["--" + name, "'%s'" % value])
            self.assertEqual(self.show("--" + name, "1")[name], "1")

    def test_a_socket_that_is_given(self):
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notes.bind(self.path("notify"))
        notes.settimeout(60)
        command = ("export LISTEN_FDS=1 LISTEN_PID=$$; exec 3<&%d; exec '%s' "
                   "serve --store memory:" % (listener.fileno(),
                                              os.environ["TARRY"]))
        server = subprocess.Popen(
            ["bash", "-c", command], pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "NOTIFY_SOCKET": self.path("notify")})
        self.assertEqual(notes.recv(100), b"READY=1")
        with Talk(port) as talk:
            self.assertEqual(talk.call("GET", "/healthz").status, 200)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(notes.recv(100), b"STOPPING=1")
        self.assertEqual(server.wait(), 0)
        listener.close()
        notes.close()

    def test_a_socket_that_is_for_another_process_is_left_alone(self):
        """What stands in the environment may be of who started us."""
        for fds, pid in (("1", "1"), ("1", "x"), ("2", "$$"), ("0", "$$")):
            with socket.create_server(("127.0.0.1", 0)) as listener:
                command = (
                    "export LISTEN_FDS=%s LISTEN_PID=%s; exec 3<&%d; exec '%s'"
                    " serve --store memory: --listen 127.0.0.1:0"
                    % (fds, pid, listener.fileno(), os.environ["TARRY"]))
                with subprocess.Popen(
                        ["bash", "-c", command], stderr=subprocess.PIPE,
                        pass_fds=[listener.fileno()], text=True) as server:
                    told = json.loads(server.stderr.readline())
                    server.terminate()
                    server.communicate()
                self.assertEqual((told["event"], server.returncode),
                                 ("listening", 0))
                self.assertNotIn(":%d" % listener.getsockname()[1],
                                 told["detail"])


class Storms(ServeTest):
    """Ends under load, and a disk without room."""

    def setUp(self):
        super().setUp()
        self.ok(self.server.create(), 201)

    def client(self, stop, found):
        try:
            with self.server.talk() as talk:
                while not stop.is_set():
                    answer = talk.call(
                        "POST", "/v1/experiments/colours/decisions", {})
                    found.append(answer.json["round"])
                    if answer.headers.get("connection") == "close":
                        return "closed"
        except (Closed, ConnectionError):
            return "dropped"
        return "stopped"

    def test_a_stop_drops_nothing(self):
        for _ in range(3 if BRIEF else 5):
            stop, found = threading.Event(), []
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                ends = [pool.submit(self.client, stop, found)
                        for _ in range(8)]
                time.sleep(0.5)
                code, error = self.server.stop()
                self.assertEqual(code, 0, error)
                stop.set()
                self.assertEqual({e.result() for e in ends}, {"closed"})
            self.server.start()
            rounds = self.call("GET", "/v1/experiments/colours/status"
                               ).json["round"]
            self.last = getattr(self, "last", 0)
            self.assertEqual(sorted(found),
                             list(range(self.last + 1, rounds + 1)))
            self.last = rounds

    def room(self, size):
        resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE,
                         (size, resource.RLIM_INFINITY))

    def test_a_store_that_was_moved_away_takes_nothing(self):
        path = "/v1/experiments/colours/decisions"
        self.assertEqual(self.call("POST", path, {}).status, 201)
        for name, copied in itertools.product(
                (self.server.store, self.server.store + "-wal"), (0, 1)):
            os.rename(name, name + "-away")
            if copied:  # it looks the same, and is another file
                shutil.copy(name + "-away", name)
            for _ in range(3):
                self.is_problem(self.call("POST", path, {}), 503,
                                "store_unavailable")
            self.is_problem(self.server.create("new"), 503)
            self.is_problem(self.call("GET", "/readyz"), 503)
            self.assertNotIn('"route":""', self.server.said())
            os.rename(name + "-away", name)
            self.assertEqual(self.call("POST", path, {}).status, 201)
        self.server.kill()
        self.server.start()
        self.assertEqual(self.call("POST", path, {}).json["round"], 6)

    @unittest.skipIf(SANITIZED, "takes its memory otherwise")
    def test_no_memory_is_never_a_wrong_request(self):
        pid = self.server.process.pid
        arms = [{"name": "a%d" % i, "features": [1, i]} for i in range(20000)]
        body = json.dumps({"name": "new", "policy": "nonsense", "arms": arms})
        found = set()
        for turn in range(30):
            with open("/proc/%d/statm" % pid) as file:
                size = int(file.read().split()[0]) * resource.getpagesize()
            resource.prlimit(pid, resource.RLIMIT_AS, (
                size + turn * 300000, resource.RLIM_INFINITY))
            found.add(self.call("POST", "/v1/experiments",
                                body.encode()).json["code"])
        self.assertLessEqual(found, {"out_of_memory", "overloaded", "invalid"})
        self.assertIn("out_of_memory", found)

    def test_who_has_knocked_before_the_stop_is_answered(self):
        """However many they are: the server sleeps while they come."""
        self.server.process.send_signal(signal.SIGSTOP)
        held = [self.server.talk() for _ in range(400)]
        for talk in held:
            talk.send(b"GET /v1/experiments HTTP/1.1\r\n"
                      b"Host: localhost\r\n\r\n")
        self.server.process.send_signal(signal.SIGTERM)
        self.server.process.send_signal(signal.SIGCONT)
        for i, talk in enumerate(held):
            try:
                self.assertEqual(talk.read().status, 200)
            except (Closed, OSError):
                self.fail("%d of %d are answered" % (i, len(held)))
            talk.socket.close()
        self.assertEqual(self.server.process.wait(60), 0)

    def test_no_room_is_told_and_passes(self):
        path = "/v1/experiments/colours/decisions"
        acknowledged = []
        with self.server.talk() as talk:
            for _ in range(3):
                acknowledged.append(talk.call("POST", path, {}).json["id"])
            for turn in range(4):
                self.room(1000)
                refused = [talk.call("POST", path, {}) for _ in range(20)]
                for answer in refused:
                    self.is_problem(answer, 503, "store_unavailable")
                    self.assertIn("retry-after", answer.headers)
                ready = talk.call("GET", "/readyz")
                self.is_problem(ready, 503, "store_unavailable")
                self.assertEqual(ready.headers["retry-after"], "1")
                if turn == 0:  # it tries by itself twice a second
                    time.sleep(0.8)
                    self.is_problem(talk.call("GET", "/readyz"), 503)
                self.assertIn(b"\ntarry_store_writable 0\n",
                              talk.call("GET", "/metrics").body)
                status = talk.call("GET", "/v1/experiments/colours/status")
                self.assertEqual(status.json["round"], len(acknowledged))
                self.is_problem(self.server.create("new"), 503)
                self.is_problem(talk.call("POST", "/v1/feedback", {
                    "id": acknowledged[0], "loss": 0.5}), 503)
                self.room(resource.RLIM_INFINITY)
                end = time.monotonic() + (60 if turn == 1 else 0)
                while (time.monotonic() < end and
                       talk.call("GET", "/readyz").status != 200):
                    time.sleep(0.05)
                if turn == 1:  # though nobody has asked for anything
                    self.assertEqual(talk.call("GET", "/readyz").status, 200)
                for _ in range(3):
                    answer = talk.call("POST", path, {})
                    self.assertEqual(answer.status, 201, answer)
                    acknowledged.append(answer.json["id"])
                self.assertEqual(talk.call("GET", "/readyz").status, 200)
                self.assertIn(b"\ntarry_store_writable 1\n",
                              talk.call("GET", "/metrics").body)
            told = talk.call("GET", "/metrics").body.decode()
            for line in ('tarry_decisions_total{experiment="colours"} %d'
                         % len(acknowledged),
                         'tarry_feedback_total{experiment="colours",'
                         'status="applied"} 0',
                         "tarry_feedback_delay_seconds_count 0"):
                self.assertIn(line + "\n", told)
        self.assertEqual(len(set(acknowledged)), len(acknowledged))
        self.server.kill()
        self.server.start()
        self.assertEqual(self.call("GET", "/v1/experiments/colours/status"
                                   ).json["round"], len(acknowledged))


if __name__ == "__main__":
    unittest.main()
