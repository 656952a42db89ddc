"""`tarry ask`: against a service whose every answer is scripted, for what goes
wrong on the way, and against `tarry serve`.

Needs TARRY, the program."""
import http.server
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from service import TARRY, Service

ARMS = "name,a,b\nred,1,0\nblue,0,1\n"


def ask(url, *words, stdin=None, token=None):
    """Exit code, output, errors."""
    environment = {k: v for k, v in os.environ.items() if k != "TARRY_TOKEN"}
    if token is not None:
        environment["TARRY_TOKEN"] = token
    done = subprocess.run([TARRY, "ask", url, *words], input=stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Scripted:
    """Answers requests one after another with (status, headers, body); None
    closes the connection without an answer."""

    def __init__(self, *answers):
        self.answers, self.seen = list(answers), []
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length).decode()
                script.seen.append((self.command, self.path,
                                    dict(self.headers), body))
                answer = script.answers.pop(0)
                if answer is None:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, headers, text = answer
                data = (text if isinstance(text, str)
                        else json.dumps(text)).encode()
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *unused):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True,
                         kwargs={"poll_interval": 0.01}).start()
        return self

    def __exit__(self, *unused):
        self.server.shutdown()
        self.server.server_close()


class Cut:
    """Answers every request with the same bytes, and closes."""

    def __init__(self, answer):
        self.answer, self.asked = answer.encode(), 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]

    def serve(self):
        while True:
            try:
                link = self.listener.accept()[0]
            except OSError:
                return
            self.asked += 1
            with link:
                link.recv(1 << 16)
                link.sendall(self.answer)

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


DECISION = (201, {}, {"id": "x", "arm": "red", "probability": 1})
PROBLEM = {"title": "no", "status": 409, "detail": "why not", "code": "no"}


class OnTheWay(unittest.TestCase):
    def test_a_lost_answer_is_asked_for_again_with_the_same_id(self):
        with Scripted(None, (503, {"Retry-After": "0"}, PROBLEM), DECISION) \
                as s:
            self.assertEqual(ask(s.url, "choose", "shop"), (0, "x red\n", ""))
            ids = [json.loads(body)["id"] for _, _, _, body in s.seen]
            self.assertEqual(len(ids), 3)
            self.assertEqual(len(set(ids)), 1)
            self.assertRegex(ids[0], "^[0-9a-f]{32}$")

    def test_what_a_proxy_lost_may_have_been_done(self):
        """Admitting an arm twice is not the same as once."""
        for status in 502, 504:
            with Scripted((status, {}, PROBLEM), DECISION) as s:
                self.assertEqual(ask(s.url, "choose", "shop")[0], 0)
            with Scripted((status, {}, PROBLEM), (201, {}, {})) as s:
                self.assertEqual(ask(s.url, "admit", "shop", "z", "1")[::2],
                                 (1, "tarry: %d no: why not\n" % status))
                self.assertEqual(len(s.seen), 1)

    def test_ids_that_are_made_up_are_no_numbers(self):
        """Which the service refuses."""
        with Scripted(*[DECISION] * 12) as s:
            for _ in range(12):
                ask(s.url, "choose", "shop")
            for _, _, _, body in s.seen:
                self.assertRegex(json.loads(body)["id"], "^[a-f]")

    def test_ids_that_are_made_up_differ(self):
        with Scripted(DECISION, DECISION) as s:
            ask(s.url, "choose", "shop")
            ask(s.url, "choose", "shop")
            self.assertEqual(len({seen[3] for seen in s.seen}), 2)

    def test_a_lease_with_an_id_is_asked_for_again(self):
        lease = (201, {}, {"decisions": [{"id": "l.0", "arm": 1}]})
        with Scripted(None, lease) as s:
            self.assertEqual(ask(s.url, "choose", "shop", "1", "--id", "l"),
                             (0, "l.0 1\n", ""))
            self.assertEqual([json.loads(seen[3]) for seen in s.seen],
                             [{"count": 1, "id": "l"}] * 2)

    def test_outcomes_of_other_owners_go_there_by_themselves(self):
        with Scripted((200, {}, {"results": [
                {"id": "a", "status": "applied"},
                {"id": "b", "status": "elsewhere"},
                {"id": "c", "status": "late"}]}),
                (307, {"Location": "/there"}, ""),
                (200, {}, {"id": "b", "status": "duplicate"})) as s:
            self.assertEqual(ask(s.url, "observe", "a", "1", "b", "2", "c",
                                 "3"), (0, "ok\nduplicate\nlate\n", ""))
            self.assertEqual([json.loads(seen[3]) for seen in s.seen][1:],
                             [{"id": "b", "loss": 2}] * 2)

    def test_what_has_no_id_is_not_sent_twice(self):
        for words in (["choose", "shop", "5"], ["withdraw", "shop", "red"],
                      ["admit", "shop", "green", "1", "2"]):
            with Scripted(None) as s:
                code, out, why = ask(s.url, *words)
                self.assertEqual((code, out, len(s.seen)), (1, "", 1), why)

    def test_who_is_busy_is_asked_again_whatever_it_is(self):
        busy = (503, {"Retry-After": "0"}, PROBLEM)
        for words, answer, told in [
                (["choose", "shop"], DECISION, "x red\n"),
                (["log", "shop"], (200, {}, '{"seq":1}\n'), '{"seq":1}\n'),
                (["metrics"], (200, {}, "a 1\n"), "a 1\n"),
                (["ready"], (200, {}, {}), "ok\n"),
                (["status", "shop"], (200, {}, {}), "{}\n"),
                (["pause", "shop"], (200, {}, {}), "ok\n"),
                (["observe", "x", "1"], (200, {}, {"id": "x",
                                                   "status": "late"}),
                 "late\n")]:
            with Scripted(busy, answer) as s:
                self.assertEqual(ask(s.url, *words), (0, told, ""), words)
                self.assertEqual(len(s.seen), 2)

    def test_who_says_when_to_come_again_is_not_asked_before(self):
        begun = time.monotonic()
        with Scripted((503, {"Retry-After": "1"}, PROBLEM), DECISION) as s:
            self.assertEqual(ask(s.url, "choose", "shop")[0], 0)
        self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_text_that_is_cut_short_is_printed_once(self):
        """What was printed cannot be taken back, so nothing is asked again."""
        text = "".join('{"seq":%d}\n' % i for i in range(1, 6))
        for frame in ("Content-Length: 999\r\n\r\n%s",
                      "Transfer-Encoding: chunked\r\n\r\n3e7\r\n%s",
                      "Transfer-Encoding: chunked\r\n\r\n32\r\n%s\r\n"):
            for words in (["log", "shop"], ["metrics"]):
                with Cut("HTTP/1.1 200 OK\r\n" + frame % text) as s:
                    code, out, error = ask(s.url, *words)
                self.assertEqual((code, out, s.asked), (1, text, 1))
                self.assertRegex(error, r"^tarry: [^\n]* ends early\n$")

    def test_one_redirection_is_followed_with_method_body_and_token(self):
        with Scripted(DECISION) as there:
            with Scripted((307, {"Location": there.url + "/v1/owner?x=1"},
                           "")) as s:
                self.assertEqual(
                    ask(s.url, "choose", "shop", "--id", "me", token="t0k"),
                    (0, "x red\n", ""))
            method, path, headers, body = there.seen[0]
            self.assertEqual((method, path, json.loads(body)),
                             ("POST", "/v1/owner?x=1", {"id": "me"}))
            self.assertEqual(headers["Authorization"], "Bearer t0k")

    def test_two_redirections_are_not_followed(self):
        with Scripted((307, {"Location": "/a"}, ""),
                      (307, {"Location": "/b"}, "")) as s:
            code, out, why = ask(s.url, "choose", "shop", "--retries", "0")
            self.assertEqual((code, out), (1, ""))
            self.assertIn("307", why)

    def test_refusals_have_a_reason_and_a_code(self):
        for status, code in ((400, 2), (401, 1), (403, 1), (404, 2), (409, 2),
                             (413, 2), (422, 2), (500, 1)):
            with Scripted((status, {}, PROBLEM)) as s:
                got, out, why = ask(s.url, "choose", "shop")
                self.assertEqual((got, out), (code, ""), status)
                self.assertEqual(why, "tarry: %d no: why not\n" % status)

    def test_a_service_that_is_not_there_is_exit_code_1(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d" % taken.getsockname()[1]
            code, out, why = ask(url, "choose", "shop", "--retries", "1")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("refused", why)

    def test_who_never_answers_is_given_up(self):
        with socket.create_server(("127.0.0.1", 0)) as mute:
            url = "http://127.0.0.1:%d" % mute.getsockname()[1]
            code, _, why = ask(url, "choose", "shop", "--timeout", "0.3",
                               "--retries", "1")
        self.assertEqual(code, 1)
        self.assertIn("timed out", why)

    def test_bad_usage_is_exit_code_2_and_asks_nobody(self):
        with Scripted() as s:
            for words in ([], ["dance"], ["choose"], ["choose", "a", "b", "c"],
                          ["choose", "a", "many"], ["observe", "a"],
                          ["observe", "a", "high"], ["admit", "a", "b", "c"],
                          ["create", "a"], ["status", "a", "--timeout", "0"],
                          ["create", "a", "--arms", "/nowhere.csv"],
                          ["status", "a", "--token", "two words"]):
                code, out, why = ask(s.url, *words)
                self.assertEqual((code, out), (2, ""), words)
                self.assertEqual(why.count("\n"), 1, words)
            self.assertEqual(s.seen, [])
        for url in ("https://h", "h:80", "http://h:x", "http://"):
            self.assertEqual(ask(url, "status", "a")[0], 2, url)

    def test_every_verb_asks_for_what_it_says(self):
        third = 1 / 3
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as arms:
            arms.write("x,%r,0\ny,-1e-300,0.1\n" % third)
            arms.flush()
            made = {"name": "e", "arms": [
                {"name": "x", "features": [third, 0]},
                {"name": "y", "features": [-1e-300, 0.1]}]}
            create = ["create", "e", "--arms", arms.name]
            for words, method, path, body in [
                    (create, "POST", "", made),
                    (create + ["--policy", "lints:lambda=2", "--horizon", "77",
                               "--confidence", "0.9", "--range", "-0.1,2.3",
                               "--maximize", "--expire-after", "3d", "--seed",
                               "9007199254740992"], "POST", "",
                     {**made, "policy": "lints:lambda=2", "horizon": 77,
                      "confidence": 0.9, "range": [-0.1, 2.3],
                      "objective": "maximize", "expire_after": "3d",
                      "seed": 2 ** 53}),
                    (create + ["--seed", "0"], "POST", "",
                     {**made, "seed": 0}),
                    (["choose", "e", "--id", "i"], "POST", "/e/decisions",
                     {"id": "i"}),
                    (["choose", "e", "3"], "POST", "/e/decisions",
                     {"count": 3}),
                    (["choose", "e", "3", "--id", "i"], "POST",
                     "/e/decisions", {"count": 3, "id": "i"}),
                    (["admit", "e", "z", repr(third), "-2"], "POST",
                     "/e/arms", {"name": "z", "features": [third, -2]}),
                    (["withdraw", "e", "z"], "DELETE", "/e/arms/z", None),
                    (["pause", "e"], "POST", "/e/pause", {}),
                    (["resume", "e"], "POST", "/e/resume", {}),
                    (["pending", "e"], "GET", "/e/pending", None),
                    (["pending", "e", "7"], "GET", "/e/pending?limit=7",
                     None),
                    (["status", "e"], "GET", "/e/status", None),
                    (["overview", "e"], "GET", "/e/overview", None),
                    (["log", "e"], "GET", "/e/log", None),
                    (["list"], "GET", "", None),
                    (["show", "e"], "GET", "/e", None),
                    (["ready"], "GET", "//readyz", None),
                    (["metrics"], "GET", "//metrics", None),
                    (["observe", "i", repr(third)], "POST", "//v1/feedback",
                     {"id": "i", "loss": third}),
                    (["reward", "i", "-5e-324"], "POST", "//v1/feedback",
                     {"id": "i", "reward": -5e-324}),
                    (["observe", "i", "1", "j", repr(third)], "POST",
                     "//v1/feedback", [{"id": "i", "loss": 1},
                                       {"id": "j", "loss": third}]),
                    (["cancel", "i"], "POST", "//v1/decisions/i/cancel", {}),
                    (["expire", "i"], "POST", "//v1/decisions/i/expire", {})]:
                with Scripted((200, {}, {"any": [1.5]})) as s:
                    code, out, why = ask(s.url, *words, "--json")
                    self.assertEqual((code, why), (0, ""), words)
                    self.assertEqual(json.loads(out), {"any": [1.5]}, words)
                    self.assertEqual(s.seen[0][:2], (
                        method, path[1:] if path[:2] == "//"
                        else "/v1/experiments" + path), words)
                    told = s.seen[0][3]
                    self.assertEqual(json.loads(told) if told else None, body,
                                     words)
                    self.assertEqual(len(s.seen), 1)

    def test_what_is_no_answer_of_a_service_is_called_so(self):
        """That of a proxy, perhaps, whose status is 200."""
        for body in ("", "<html>", "[]", "{}", {"decisions": [{}]},
                     {"id": "x"}, {"arm": 1}, {"pending": [{"id": "x"}]},
                     {"results": [{"id": "i", "status": "applied"}]}):
            for words in (["choose", "e"], ["choose", "e", "2"],
                          ["pending", "e"], ["observe", "i", "1"],
                          ["observe", "i", "1", "j", "2"]):
                with Scripted((200, {}, body)) as s:
                    code, out, why = ask(s.url, *words)
                self.assertEqual((code, out), (1, ""), (words, body))
                self.assertEqual(why.count("\n"), 1)

    def test_pending_lines_have_id_arm_and_seconds(self):
        with Scripted((200, {}, {"count": 9, "pending": [
                {"id": "a", "arm": "red", "seconds": 0},
                {"id": "b", "arm": 3, "seconds": 1234567.125}]})) as s:
            self.assertEqual(ask(s.url, "pending", "e"), (
                0, "a red 0\nb 3 1234567.125\nok 9\n", ""))

    def test_tries_are_counted(self):
        """So many after the first; only who is busy is asked again."""
        for status, code in ((429, 1), (502, 1), (503, 1), (504, 1)):
            for retries in (0, 1, 2):
                busy = (status, {"Retry-After": "0"}, PROBLEM)
                with Scripted(*[busy] * 4) as s:
                    got, out, _ = ask(s.url, "choose", "e", "--retries",
                                      str(retries))
                    self.assertEqual((got, out, len(s.seen)),
                                     (code, "", retries + 1), status)
        for status, code in ((405, 2), (501, 2), (500, 1), (401, 1), (410, 1)):
            with Scripted(*[(status, {}, PROBLEM)] * 5) as s:
                got, out, _ = ask(s.url, "choose", "e")
                self.assertEqual((got, out, len(s.seen)), (code, "", 1),
                                 status)

    def test_the_numbers_of_words_are_exact(self):
        with Scripted(*[(200, {}, {})] * 40) as s:
            for verb, least, most in (
                    ("create", 1, 1), ("choose", 1, 2), ("cancel", 1, 1),
                    ("expire", 1, 1), ("withdraw", 2, 2), ("pause", 1, 1),
                    ("resume", 1, 1), ("pending", 1, 2), ("status", 1, 1),
                    ("overview", 1, 1), ("log", 1, 1), ("list", 0, 0),
                    ("show", 1, 1), ("ready", 0, 0), ("metrics", 0, 0)):
                for n, says in ((least - 1, "too few"), (most + 1,
                                                         "too many")):
                    if n >= 0:
                        self.assertEqual(
                            ask(s.url, verb, *["1"] * n),
                            (2, "", "tarry: ask %s: %s words (see tarry ask "
                             "--help)\n" % (verb, says)))
            self.assertEqual(ask(s.url, "admit", "e", "z")[0], 2)
            self.assertEqual(ask(s.url, "choose", "e", "0")[0], 2)
            self.assertEqual(s.seen, [])

    def test_a_token_is_given_in_a_word_or_by_the_environment(self):
        for words, token, header in (
                ([], None, None), ([], "", None), ([], "env", "Bearer env"),
                (["--token", "w"], "env", "Bearer w"),
                (["--token", ""], "env", None)):
            with Scripted((200, {}, {})) as s:
                self.assertEqual(ask(s.url, "status", "e", *words,
                                     token=token)[0], 0)
                self.assertEqual(s.seen[0][2].get("Authorization"), header)

    def test_names_are_quoted(self):
        with Scripted((200, {}, {})) as s:
            ask(s.url, "withdraw", "a b", "x/y?")
            self.assertEqual(s.seen[0][:2], (
                "DELETE", "/v1/experiments/a%20b/arms/x%2Fy%3F"))


class Served(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().start()
        cls.arms = tempfile.NamedTemporaryFile("w", suffix=".csv")
        cls.arms.write(ARMS)
        cls.arms.flush()

    @classmethod
    def tearDownClass(cls):
        cls.service.stop()
        cls.arms.close()

    def ask(self, *words, stdin=None):
        code, out, why = ask(self.service.url, *words, stdin=stdin)
        self.assertEqual(code, 0, why)
        return out

    def made(self, name, *options):
        self.assertEqual(self.ask("create", name, "--arms", self.arms.name,
                                  *options), "ok\n")
        return name

    def test_decisions_and_outcomes_as_in_the_pipe(self):
        self.made("shop")
        id, arm = self.ask("choose", "shop").split()
        self.assertIn(arm, ("red", "blue"))
        self.assertEqual(self.ask("observe", id, "-0.25"), "ok\n")
        self.assertEqual(self.ask("observe", id, "-0.25"), "duplicate\n")
        code, out, why = ask(self.service.url, "observe", id, "0.5")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("409 conflict", why)
        self.assertEqual(self.ask("choose", "shop", "--id", "order-17"),
                         self.ask("choose", "shop", "--id", "order-17"))
        self.assertEqual(self.ask("cancel", "order-17"), "ok\n")
        status = json.loads(self.ask("status", "shop"))
        self.assertEqual((status["round"], status["pending"]), (2, 0))

    def test_what_is_given_is_told_also_if_it_is_0(self):
        for option in ("--horizon", "--confidence"):
            code, out, why = ask(self.service.url, "create", "none", "--arms",
                                 self.arms.name, option, "0")
            self.assertEqual((code, out), (2, ""))
            self.assertIn(option[2:], why)

    def test_many_at_once(self):
        self.made("many", "--range", "0,1", "--maximize", "--seed", "7",
                  "--policy", "lints", "--confidence", "0.9")
        lines = self.ask("choose", "many", "2500").splitlines()
        lease = self.ask("choose", "many", "20", "--id", "lease")
        self.assertEqual(self.ask("choose", "many", "20", "--id", "lease"),
                         lease)
        self.assertEqual(lease.splitlines()[19].split()[0], "lease.19")
        self.assertEqual(len({line.split()[0] for line in lines}), 2500)
        outcomes = "".join("%s %d\n" % (line.split()[0],
                                        line.split()[1] == "red")
                           for line in lines)
        out = self.ask("reward", "-", stdin=outcomes)
        self.assertEqual(out, "ok\n" * 2500)
        shown = json.loads(self.ask("show", "many"))
        self.assertEqual((shown["objective"], shown["range"], shown["seed"]),
                         ("maximize", [0, 1], 7))
        code, out, _ = ask(self.service.url, "reward", "-",
                           stdin="%s 0\nnobody 1\n" % lines[-1].split()[0])
        self.assertEqual(code, 2)
        self.assertIn("error unknown\n", out)
        code, _, why = ask(self.service.url, "reward", "-", stdin="a b c\n")
        self.assertEqual((code, why), (2, "tarry: -:1: not ID NUMBER\n"))

    def test_one_refusal_among_thousands_is_exit_code_2(self):
        """Wherever it stands: lines go a thousand at a time."""
        self.made("lots", "--seed", "3")
        lines = ["%s 0.5\n" % line.split()[0] for line in
                 self.ask("choose", "lots", "2002").splitlines()]
        self.ask("observe", "-", stdin="".join(lines))
        for at in (0, 999, 1000, 1999, 2000, 2001):
            with self.subTest(at=at):
                told = lines[:at] + ["nobody 0.5\n"] + lines[at + 1:]
                code, out, _ = ask(self.service.url, "observe", "-",
                                   stdin="".join(told))
                self.assertEqual(code, 2)
                self.assertEqual(out, "duplicate\n" * at + "error unknown\n" +
                                 "duplicate\n" * (2001 - at))

    def test_a_bad_line_is_refused_and_those_before_it_are_not(self):
        """A line without its end may be half of `ID 0.73`."""
        for bad, why in (("%s 0.", "the input ended inside a line"),
                         ("%s", "the input ended inside a line"),
                         ("%s 0.\n7", None), ("%s 0.5\0\n", "not ID NUMBER"),
                         ("\0\n", "not ID NUMBER"),
                         ("%s x\n", "loss of '%s': not a number: 'x'"),
                         ("%s 0.5" + " " * 5000 + "1\n", "not ID NUMBER")):
            name = "half%d" % len(bad) + (why or "")[:1]
            self.made(name, "--seed", "3")
            good, id = (line.split()[0] for line in
                        self.ask("choose", name, "2").splitlines())
            bad, why = (text and text.replace("%s", id) for text in (bad, why))
            code, out, error = ask(self.service.url, "observe", "-",
                                   stdin="\n%s 0.25\n%s" % (good, bad))
            with self.subTest(bad=bad[:50]):
                line = 4 if why is None else 3
                why = why or "the input ended inside a line"
                self.assertEqual((code, error),
                                 (2, "tarry: -:%d: %s\n" % (line, why)))
                self.assertEqual(out, "ok\n" * (line - 2))
                pending = json.loads(self.ask("status", name))["pending"]
                self.assertEqual(pending, 4 - line)

    def test_arms_pending_log_and_the_rest(self):
        self.made("rest")
        self.assertEqual(self.ask("admit", "rest", "green", "-0.5", ".5"),
                         "ok\n")
        self.assertEqual(self.ask("withdraw", "rest", "red"), "ok\n")
        ids = [self.ask("choose", "rest").split()[0] for _ in range(3)]
        lines = self.ask("pending", "rest", "2").splitlines()
        self.assertEqual([line.split()[0] for line in lines[:2]], ids[:2])
        self.assertEqual(lines[-1], "ok 3")
        self.assertEqual(self.ask("expire", ids[0]), "ok\n")
        log = [json.loads(line) for line in
               self.ask("log", "rest").splitlines()]
        self.assertGreaterEqual(len(log), 3)
        names = [e["name"] for e in
                 json.loads(self.ask("list", "--json"))["experiments"]]
        self.assertIn("rest", names)
        self.assertEqual(self.ask("ready"), "ok\n")
        self.assertIn('tarry_decisions_total{experiment="rest"} 3',
                      self.ask("metrics"))
        overview = json.loads(self.ask("overview", "rest"))
        self.assertEqual((overview["decisions"], overview["expired"]), (3, 1))

    def test_pausing(self):
        self.made("paused")
        self.assertEqual(self.ask("pause", "paused"), "ok\n")
        code, _, why = ask(self.service.url, "choose", "paused")
        self.assertEqual(code, 1)  # not now
        self.assertIn("409 paused", why)
        self.assertEqual(self.ask("resume", "paused"), "ok\n")
        self.ask("choose", "paused")

    def test_unnamed_arms_have_numbers(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
            f.write("1,0\n0,1\n")
            f.flush()
            self.ask("create", "numbers", "--arms", f.name)
        self.assertIn(self.ask("choose", "numbers").split()[1], ("0", "1"))

    def test_an_id_of_another_experiment_is_exit_code_2(self):
        for name in ("ours", "theirs"):
            self.service.create(name)
        self.assertEqual(ask(self.service.url, "choose", "ours", "--id",
                             "mine")[0], 0)
        code, out, why = ask(self.service.url, "choose", "theirs", "--id",
                             "mine")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("409 ", why)
        self.assertEqual(self.service.get(
            "/v1/experiments/theirs/status")["round"], 0)

    def test_unknown_things_are_exit_code_2(self):
        for words in (["choose", "nobody"], ["observe", "nobody:1", "0.5"],
                      ["cancel", "nobody:1"], ["status", "nobody"]):
            code, out, why = ask(self.service.url, *words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn("404 ", why)


if __name__ == "__main__":
    unittest.main()
