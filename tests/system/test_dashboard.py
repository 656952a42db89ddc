"""The dashboard in a browser without a window: charts are drawn, its numbers
are those of the API, its buttons work, by mouse and by keyboard.

Needs TARRY, the program, and chromium."""
import collections
import hashlib
import json
import os
import random
import time
import unittest

from browser import Browser
from lab import SANITIZED
from service import WAIT_S, Service

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "src", "http", "page")
NAMES = ["red", "blue", "green", "a <b>&amp; tag", "long " * 12 + "name"]
of_the_page = unittest.skipIf(SANITIZED, "the page is the same")
CHARTS = ["shares", "certificate", "pending", "mean", "delays", "ages"]


def fill(service, name, decisions=400):
    """Decisions with outcomes; some stay out, one is cancelled, one expired."""
    draw = random.Random(17)
    arms = [{"name": n, "features": [float(i == j) for j in range(5)]}
            for i, n in enumerate(NAMES)]
    service.create(name, arms, range=[0, 1], objective="maximize", seed=1)
    ids = []
    for _ in range(4):
        _, _, body = service.ask("POST", "/v1/experiments/%s/decisions" % name,
                                 {"count": decisions // 4})
        ids += body["decisions"]
        _, _, body = service.ask("POST", "/v1/feedback", [
            {"id": d["id"], "reward": draw.random() *
             (0.2 + 0.2 * NAMES.index(d["arm"]))}
            for d in body["decisions"] if draw.random() < 0.8])
        assert all(r["status"] in ("applied", "late") for r in body["results"])
        time.sleep(0.4)  # so that there is something over time
    out = [p["id"] for p in service.get(
        "/v1/experiments/%s/pending" % name)["pending"]]
    service.ask("POST", "/v1/decisions/%s/cancel" % out[0], {})
    service.ask("POST", "/v1/decisions/%s/expire" % out[1], {})
    return out[2:]


class Files(unittest.TestCase):
    def test_what_others_wrote_is_as_they_published_it(self):
        with open(os.path.join(PAGE, "uplot-SHA256")) as f:
            lines = dict(reversed(line.split()) for line in f)
        self.assertEqual(set(lines), {"uplot.js", "uplot.css",
                                      "uplot-LICENSE"})
        for name, digest in lines.items():
            with open(os.path.join(PAGE, name), "rb") as f:
                self.assertEqual(hashlib.sha256(f.read()).hexdigest(), digest,
                                 name)
        with open(os.path.join(PAGE, "uplot-LICENSE")) as f:
            self.assertIn("MIT License", f.read())

    def test_nothing_is_inline_and_nothing_comes_from_elsewhere(self):
        with open(os.path.join(PAGE, "index.html")) as f:
            page = f.read()
        for word in ("<style", " style=", "onclick", "javascript:", "http:",
                     "https:", "<script>"):
            self.assertNotIn(word, page)
        with open(os.path.join(PAGE, "tarry.js")) as f:
            script = f.read()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(",
                     "document.write", "localStorage"):
            self.assertNotIn(word, script)


class Overview(unittest.TestCase):
    """Read from the log in parts, and again after a crash."""

    def look(self, service):
        for _ in range(100):
            seen = service.get("/v1/experiments/long/overview")
            if seen["events_read"] == seen["events"]:
                return seen
        self.fail("the log is never read to its end")

    def test_it_agrees_with_the_log_before_and_after_a_crash(self):
        with Service() as service:
            service.create("long", policy="uniform")
            for _ in range(3):
                made = service.ask("POST", "/v1/experiments/long/decisions",
                                   {"count": 2500})[2]["decisions"]
                service.ask("POST", "/v1/feedback", [
                    {"id": d["id"], "loss": 0.5 if d["arm"] == "red" else -0.5}
                    for d in made[:900]])
                self.look(service)
            before = self.look(service)
            log = [json.loads(line) for line in service.ask(
                "GET", "/v1/experiments/long/log")[2].splitlines()]
            kinds = collections.Counter(e["event"] for e in log)
            self.assertEqual(before["events"], len(log))
            self.assertEqual((before["decisions"], before["outcomes"]),
                             (kinds["choose"], kinds["observe"]))
            chosen = collections.Counter(e["arm"] for e in log
                                         if e["event"] == "choose")
            for arm in before["arms"]:
                self.assertEqual(arm["decisions"], chosen[arm["arm"]])
                self.assertEqual(arm["mean"],
                                 0.5 if arm["arm"] == "red" else -0.5)
            status = service.get("/v1/experiments/long/status")
            for key in ("pending", "pending_max"):
                self.assertEqual(before[key], status[key])
            self.assertEqual(sum(n for _, _, n in before["ages"]),
                             before["pending"])
            service.kill()
            after = self.look(service.start())
            for key in ("events", "decisions", "outcomes", "pending",
                        "pending_max", "time", "recent"):
                self.assertEqual(before[key], after[key], key)


class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().start()
        cls.out = fill(cls.service, "shop")
        cls.service.create("other")
        cls.browser = Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.service.stop()

    def ask(self, expression):
        return self.browser.ask(expression)

    def until(self, expression, why=None):
        """Waits until some JavaScript is true."""
        end = time.time() + WAIT_S
        while not self.ask("!!(%s)" % expression):
            if time.time() > end:
                self.fail(why or expression)
            time.sleep(0.05)

    def open(self, name="shop", **how):
        self.browser.open("about:blank")
        self.browser.open(self.service.url + "/#/" + name, **how)
        self.until("document.body.dataset.shown && "
                   "document.getElementById('name').textContent === '%s'"
                   % name)

    def press(self, key, code=None):
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key,
                              code=code or key, windowsVirtualKeyCode={
                                  "Tab": 9, "Enter": 13, "Escape": 27}[key],
                              **({"text": "\r"} if key == "Enter" and
                                 kind == "keyDown" else {}))

    def focused(self):
        return self.ask("document.activeElement.getAttribute('aria-label') ||"
                        "document.activeElement.textContent.trim()")

    def press_to(self, wanted):
        """Tabs until the focus is on what has this text."""
        for _ in range(80):
            if self.focused() == wanted:
                return
            self.press("Tab")
        self.fail("the keyboard does not reach " + wanted)

    # ---- what is shown ------------------------------------------------------

    def test_numbers_are_those_of_the_api(self):
        self.open()
        overview = self.service.get("/v1/experiments/shop/overview")
        status = self.service.get("/v1/experiments/shop/status")
        shown = self.ask("Object.fromEntries([...document.querySelectorAll("
                         "'#tiles dd')].map(d => [d.dataset.key, "
                         "[d.dataset.value, d.firstChild.textContent]]))")
        for key in ("decisions", "outcomes", "pending", "expired"):
            self.assertEqual(shown[key], [str(overview[key])] * 2, key)
        self.assertEqual(status["pending"], overview["pending"])
        self.assertEqual(status["pending_max"], overview["pending_max"])
        self.assertEqual(status["round"], overview["decisions"])
        self.assertIn("at most %d" % status["pending_max"], self.ask(
            "document.querySelector('[data-key=pending]').textContent"))
        dependence = self.ask("[document.getElementById('dependence').dataset"
                              ".verdict, document.getElementById("
                              "'dependence').textContent]")
        self.assertEqual(dependence[0], status["dependence"]["verdict"])
        self.assertIn(status["dependence"]["why"][1:], dependence[1])
        self.assertEqual(overview["decisions"], 400)
        self.assertEqual(overview["cancelled"], 1)
        rows = self.ask(
            "[...document.querySelectorAll('#arms tbody tr')].map(r => "
            "[r.dataset.arm, ...[...r.querySelectorAll('td[data-value]')]"
            ".map(c => [c.dataset.head, +c.dataset.value])])")
        self.assertEqual([r[0] for r in rows],
                         [a["arm"] for a in overview["arms"]])
        for row, arm in zip(rows, overview["arms"]):
            cells = dict(row[1:])
            self.assertEqual(cells["Decisions"], arm["decisions"])
            self.assertEqual(cells["Outcomes"], arm["outcomes"])
            self.assertEqual(cells["Out"], arm["pending"])
            self.assertAlmostEqual(cells["Mean"], arm["mean"], 12)
        self.assertEqual(sum(a["decisions"] for a in overview["arms"]), 400)
        recent = self.ask("[...document.querySelectorAll('#recent tbody tr')]"
                          ".map(r => r.dataset.id)")
        self.assertEqual(recent, [d["id"] for d in
                                  overview["recent"]][:len(recent)])
        self.assertEqual(len(recent), 16)

    @of_the_page
    def test_charts_are_drawn(self):
        self.open(width=1400)
        for name in CHARTS:
            pixels = self.ask(
                "(() => { const c = document.querySelector('#chart-%s canvas');"
                "if (!c) return null; const d = c.getContext('2d')"
                ".getImageData(0, 0, c.width, c.height).data; const seen = "
                "new Set(); for (let i = 0; i < d.length; i += 4) "
                "if (d[i + 3] > 200) seen.add(d[i] + ',' + d[i + 1] + ',' + "
                "d[i + 2]); return seen.size; })()" % name)
            self.assertIsNotNone(pixels, name)
            self.assertGreater(pixels, 3, name)
        drawn = self.ask("charts['chart-shares'].plot.data.length")
        self.assertEqual(drawn, 1 + len(NAMES))
        top = self.ask("charts['chart-shares'].plot.data[1]"
                       ".filter(x => x !== null)")
        self.assertTrue(all(abs(x - 1) < 1e-9 for x in top), top)

    @of_the_page
    def test_names_are_text_whatever_is_in_them(self):
        self.open()
        self.assertTrue(any(name.startswith(NAMES[3]) for name in self.ask(
            "[...document.querySelectorAll('#arms tbody th')]"
            ".map(t => t.textContent)")))
        self.assertEqual(self.ask("document.querySelectorAll("
                                  "'#arms tbody th b').length"), 0)

    @of_the_page
    def test_nobody_complains_and_nothing_is_fetched_elsewhere(self):
        for width in (1400, 390):
            for dark in (False, True):
                self.open(width=width, dark=dark)
                self.assertEqual(self.browser.complaints(), [])
                for url in self.browser.requests():
                    self.assertTrue(url.startswith(self.service.url) or
                                    url == "about:blank", url)

    def test_the_policy_of_contents_is_strict(self):
        _, headers, _ = self.service.ask("GET", "/")
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'self'", policy)
        self.assertNotIn("unsafe", policy)
        self.open()
        self.ask("document.body.append(Object.assign(document.createElement("
                 "'script'), {textContent: 'window.broken = 1'}))")
        self.assertFalse(self.ask("'broken' in window"))

    @of_the_page
    def test_a_phone_needs_no_sideways_scrolling(self):
        for dark in (False, True):
            self.open(width=390, height=800, dark=dark)
            self.ask("document.getElementById('access').open = true")
            self.assertLessEqual(
                self.ask("document.documentElement.scrollWidth"), 390)
            self.assertEqual(self.ask(
                "[...document.querySelectorAll('main *, nav, header *')]"
                ".filter(e => !e.closest('.hidden, .u-wrap, nav ul, pre') && "
                "e.getBoundingClientRect().right > 390.5)"
                ".map(e => e.tagName + ' ' + e.className + ' ' + "
                "e.textContent.slice(0, 40))"), [])

    @of_the_page
    def test_light_and_dark_can_be_read(self):
        """Contrast of text and its ground, as WCAG counts it: 4.5 and more."""
        ratio = ("(() => { const c = s => { const v = s.match(/[\\d.]+/g)"
                 ".slice(0, 3).map(x => { x /= 255; return x <= 0.03928 ? "
                 "x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return "
                 "0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };"
                 "const g = e => { for (; e; e = e.parentElement) { const b = "
                 "getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(b)) "
                 "return b; } return 'rgb(255,255,255)'; };"
                 "return Math.min(...[...document.querySelectorAll('h1, h2, p, "
                 "td, th, dt, dd, small, a, button, figcaption')].filter(e => "
                 "e.textContent.trim() && e.offsetParent).map(e => { const a = "
                 "c(getComputedStyle(e).color), b = c(g(e)); return (Math.max("
                 "a, b) + 0.05) / (Math.min(a, b) + 0.05); })); })()")
        grounds = set()
        for dark in (False, True):
            self.open(dark=dark)
            self.assertGreaterEqual(self.ask(ratio), 4.5, dark)
            grounds.add(self.ask(
                "getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(grounds), 2)

    # ---- what can be done ---------------------------------------------------

    @of_the_page
    def test_the_keyboard_reaches_everything(self):
        self.open()
        for wanted in ("To the experiment", "Token", "Pause", "Admit an arm",
                       "Cancel a decision", "Withdraw red"):
            self.press_to(wanted)
        outline = self.ask("getComputedStyle(document.activeElement)"
                           ".outlineStyle")
        self.assertEqual(outline, "solid")

    def test_an_arm_is_admitted_and_withdrawn_by_keyboard(self):
        self.service.create("arms")
        self.open("arms")
        self.press_to("Admit an arm")
        self.press("Enter")
        self.until("document.getElementById('dialog').open")
        self.browser.call("Input.insertText", text="green")
        self.press("Tab")
        self.browser.call("Input.insertText", text="0.5, -0.5")
        self.press("Enter")
        self.until("document.querySelector('[data-arm=green]')")
        self.press_to("Withdraw red")
        self.press("Enter")
        self.until("document.getElementById('dialog').open")
        self.assertEqual(self.focused(), "Leave it")
        self.press("Escape")
        self.until("!document.getElementById('dialog').open")
        self.assertIn("red", self.service.get(
            "/v1/experiments/arms/status")["arms"])
        self.press_to("Withdraw red")
        self.press("Enter")
        self.until("document.getElementById('dialog').open")
        self.press_to("Do it")
        self.press("Enter")
        self.until("document.querySelector('[data-arm=red].gone')")
        self.assertEqual(self.service.get(
            "/v1/experiments/arms/status")["arms"], ["blue", "green"])

    def test_a_refusal_is_shown_in_the_dialog(self):
        self.open("other")
        self.ask("document.getElementById('cancel').click()")
        self.until("document.getElementById('dialog').open")
        self.browser.call("Input.insertText", text="nobody:7")
        self.press("Enter")
        self.until("document.getElementById('dialog-error').textContent")
        self.press("Escape")

    def test_a_decision_is_cancelled(self):
        self.service.create("calls")
        _, _, made = self.service.ask(
            "POST", "/v1/experiments/calls/decisions", {"id": "call-1"})
        self.open("calls")
        self.ask("document.querySelector('#recent button').click()")
        self.until("document.getElementById('dialog').open")
        self.ask("document.getElementById('dialog-ok').click()")
        self.until("document.querySelector('[data-id=call-1]')"
                   ".textContent.includes('cancelled')")
        self.assertEqual(self.service.get(
            "/v1/experiments/calls/status")["cancelled"], 1)

    def test_it_is_paused_and_resumed(self):
        self.service.create("rest")
        self.open("rest")
        for label, status in (("Pause", 409), ("Resume", 201)):
            self.ask("document.getElementById('pause').click()")
            self.until("document.getElementById('dialog').open")
            self.ask("document.getElementById('dialog-ok').click()")
            self.until("document.getElementById('pause').textContent !== '%s'"
                       % label)
            self.assertEqual(self.service.ask(
                "POST", "/v1/experiments/rest/decisions", {})[0], status)

    def test_the_page_follows_what_happens(self):
        self.service.create("moving")
        self.open("moving")
        self.service.ask("POST", "/v1/experiments/moving/decisions",
                         {"count": 7})
        self.until("document.querySelector('[data-key=decisions]')"
                   ".dataset.value === '7'")

    @of_the_page
    def test_another_experiment_is_a_link_away(self):
        self.open("shop")
        self.ask("[...document.querySelectorAll('#experiments a')].find("
                 "a => a.dataset.name === 'other').click()")
        self.until("document.getElementById('name').textContent === 'other'")
        self.assertEqual(self.browser.complaints(), [])


class WithTokens(unittest.TestCase):
    def test_a_token_can_be_typed_in(self):
        import subprocess
        from service import TARRY
        made = subprocess.run([TARRY, "serve", "--new-token", "read"],
                              stdout=subprocess.PIPE, text=True, check=True)
        service = Service("--tokens", "tokens")
        token = write_token(service, made.stdout)
        with service, Browser() as browser:
            browser.open(service.url + "/")
            end = time.time() + WAIT_S
            while not browser.ask("document.getElementById('access').open"):
                self.assertLess(time.time(), end)
                time.sleep(0.05)
            browser.ask("document.getElementById('token').value = '%s'; "
                        "document.getElementById('token-form')"
                        ".requestSubmit()" % token)
            while browser.ask("document.getElementById('empty').hidden"):
                self.assertLess(time.time(), end)
                time.sleep(0.05)
            self.assertEqual(browser.ask("sessionStorage.getItem('token')"),
                             token)


def write_token(service, made):
    """Puts a new token's line into the file of a service; the token."""
    token, line = (text.split(": ", 1)[1] for text in made.splitlines()[:2])
    with open(os.path.join(service.folder, "tokens"), "a") as f:
        f.write(line + "\n")
    return token


if __name__ == "__main__":
    unittest.main()
