"""Two processes on one store: `tarry ask`, the overview and the dashboard at the
one that does not own the experiment, and after the owner was killed.

Needs TARRY, the program, PostgreSQL and chromium."""
import http.client
import json
import subprocess
import time
import unittest

import postgres
from browser import Browser
from service import TARRY, Service
from test_openapi import operations


def setUpModule():
    global server
    if postgres.programs() is None:
        raise unittest.SkipTest("no PostgreSQL here")
    server = postgres.Server()
    unittest.addModuleCleanup(server.close)


class Elsewhere(unittest.TestCase):
    def setUp(self):
        place = server.place()
        self.owner = Service("--store", place).start()
        self.addCleanup(self.owner.__exit__)
        self.owner.create("shop")
        self.other = Service("--store", place).start()
        self.addCleanup(self.other.__exit__)

    def ask(self, *words):
        done = subprocess.run([TARRY, "ask", self.other.url, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_shell_finds_the_owner_and_who_comes_after_it(self):
        first = self.ask("choose", "shop", "--id", "a")
        self.assertEqual(self.ask("observe", "a", "0.5"), "ok\n")
        self.assertEqual(self.owner.get("/v1/experiments/shop")["decisions"],
                         1)
        self.assertIn('"decisions": 1', self.ask("overview", "shop"))
        self.owner.kill()
        self.assertEqual(self.ask("choose", "shop", "--id", "a", "--retries",
                                  "8"), first)
        overview = self.other.get("/v1/experiments/shop/overview")
        self.assertEqual((overview["decisions"], overview["outcomes"]), (1, 1))

    def test_whatever_is_asked_the_owner_is_named(self):
        self.owner.ask("POST", "/v1/experiments/shop/decisions", {"id": "a"})
        walked = 0
        for path, method, operation in operations():
            if "307" not in operation["responses"]:
                continue
            for key, value in (("name", "shop"), ("id", "a"), ("arm", "red")):
                path = path.replace("{%s}" % key, value)
            body = {"feedback": {"id": "a", "loss": 0.5}, "admit": {
                "name": "green", "features": [1, 1]}}.get(
                    operation["operationId"], {})
            link = http.client.HTTPConnection("127.0.0.1", self.other.port,
                                              timeout=30)
            link.request(method.upper(), path, json.dumps(body).encode())
            answer = link.getresponse()
            told = json.loads(answer.read())
            link.close()
            self.assertEqual(answer.status, 307, (operation, told))
            self.assertEqual(answer.headers["Location"],
                             self.owner.url + path)
            self.assertEqual(told["code"], "elsewhere")
            walked += 1
        self.assertGreater(walked, 10)

    def test_the_page_says_where_it_is_and_takes_over(self):
        self.owner.ask("POST", "/v1/experiments/shop/decisions", {"count": 5})
        with Browser() as browser:
            browser.open(self.other.url + "/")
            until(browser, "document.getElementById('state').textContent"
                           ".includes('Another process')")
            self.assertTrue(browser.ask(
                "document.getElementById('experiment').hidden"))
            self.assertEqual(browser.complaints(), [])
            self.owner.kill()
            until(browser, "!document.getElementById('experiment').hidden && "
                           "document.querySelector('[data-key=decisions]') && "
                           "document.querySelector('[data-key=decisions]')"
                           ".dataset.value === '5'")
            self.assertEqual(browser.complaints(), [])


def until(browser, expression):
    end = time.time() + 300
    while not browser.ask("!!(%s)" % expression):
        if time.time() > end:
            raise AssertionError(expression)
        time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
