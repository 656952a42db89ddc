"""The report's page in a browser: complete, quiet, narrow, not fooled.

The page is made from invented results by `tarry plot --page`, and opened from
disk in Chromium."""
import csv
import json
import os
import unittest

import fabricated
from browser import Browser
from lab import LabTest, tarry

HOSTILE = ("<script>document.title='owned'</script>\"'&amp;<img src=x "
           "onerror=\"document.title='owned'\"> <!-- --> </style> %s")


def hostile(value):
    """The same results, but every text that is free is hostile."""
    free = {"title", "claim", "because", "name", "text", "note", "command",
            "label", "here", "symbol", "bandits", "prior", "version", "scale", "policy"}
    if isinstance(value, dict):
        return {key: HOSTILE if key in free and isinstance(part, str)
                else hostile(part) for key, part in value.items()}
    return [hostile(part) for part in value] if isinstance(value, list) \
        else value


FIGURES = """[...document.querySelectorAll('figure svg')].map(svg => {
  const box = svg.getBoundingClientRect();
  return {width: box.width, height: box.height,
          label: svg.getAttribute('aria-label'), role: svg.getAttribute('role'),
          marks: svg.querySelectorAll('use').length}})"""
TEXT = "document.body.innerText"


class Report(LabTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser().__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    def make(self, results, name="page"):
        source = self.write(name + ".json", json.dumps(results))
        done = tarry("plot", source, "--page", self.path(name))
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", ""))
        return "file://" + self.path(name) + "/index.html"

    def open(self, url, **how):
        """No complaints, and nothing fetched but the page itself."""
        self.browser.open(url, **how)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual([r for r in self.browser.requests()
                          if not r.startswith("data:")], [url])
        return self.browser.ask

    def figures(self, results):
        return [f for row in results["rows"] for f in row["figures"]]

    def test_all_is_there(self):
        results = fabricated.results()
        ask = self.open(self.make(results))
        shown = ask(FIGURES)
        self.assertEqual([f["label"] for f in shown],
                         [f["title"] for f in self.figures(results)])
        for figure in shown:
            self.assertEqual(figure["role"], "img")
            self.assertGreater(min(figure["width"], figure["height"]), 200)
            self.assertGreater(figure["marks"], 0)
        text = ask(TEXT)
        for row in results["rows"]:
            for part in (row["title"], row["claim"], row["because"]):
                self.assertIn(part, text)
        for part in ("0.982 ± 0.031", "0.610 ± 0.020", "E[d(a)]",
                     fabricated.COMMAND, "quick scale", "seed 1"):
            self.assertIn(part, text)
        self.assertEqual(ask("[...document.querySelectorAll('.tally b')]"
                             ".map(b => b.textContent)"), ["5", "1", "1"])
        self.assertEqual(ask("document.querySelectorAll('#table tbody tr')"
                             ".length"), 5)
        self.assertEqual(ask("document.querySelectorAll('#theorems tbody tr')"
                             ".length"), 2)

    def test_ids_occur_once_and_links_lead_somewhere(self):
        ask = self.open(self.make(fabricated.results()))
        ids = ask("[...document.querySelectorAll('[id]')].map(e => e.id)")
        self.assertEqual(len(ids), len(set(ids)))
        links = ask("[...document.querySelectorAll('a')]"
                    ".map(a => a.getAttribute('href'))")
        self.assertGreater(len(links), 20)
        for link in links:
            if link.startswith("#"):
                self.assertIn(link[1:], ids)
            else:
                self.assertTrue(os.path.getsize(
                    self.path(os.path.join("page", link))), link)

    def test_no_page_is_wider_than_its_window(self):
        for results in (fabricated.results(), hostile(fabricated.results())):
            url = self.make(results)
            for width in (320, 390, 820, 1200):
                for dark in (False, True):
                    ask = self.open(url, width=width, dark=dark)
                    self.assertLessEqual(
                        ask("document.documentElement.scrollWidth"), width)

    def test_every_verdict_has_a_sign_and_a_word(self):
        ask = self.open(self.make(fabricated.results()))
        words = ask("[...document.querySelectorAll('.verdict')]"
                    ".map(v => v.textContent)")
        self.assertGreater(len(words), 20)
        self.assertLessEqual(set(words), {"✓ supported", "? unresolved",
                                          "✗ contradicted"})

    def test_hostile_text_is_only_text(self):
        results = hostile(fabricated.results())
        ask = self.open(self.make(results))
        self.assertEqual(ask("document.title"),
                         "Linear bandits with delay, measured")
        self.assertEqual(ask("document.querySelectorAll('script, img').length"),
                         0)
        self.assertEqual(ask("document.querySelector('.claim').textContent"),
                         HOSTILE)
        self.assertEqual([f["label"] for f in ask(FIGURES)],
                         [HOSTILE] * len(self.figures(results)))
        self.assertEqual(ask("document.querySelectorAll('section.row').length"),
                         len(results["rows"]))

    def test_data_are_folded_and_limited(self):
        ask = self.open(self.make(fabricated.results()))
        self.assertEqual(ask("document.querySelectorAll('details[open]')"
                             ".length"), 0)
        self.assertEqual(ask("document.querySelector('details')"
                             ".querySelectorAll('tbody tr').length"), 40)
        self.assertIn("60 records",
                      ask("document.querySelector('summary').textContent"))

    def test_it_prints(self):
        self.open(self.make(fabricated.results()))
        self.browser.print(self.path("page.pdf"))
        with open(self.path("page.pdf"), "rb") as file:
            data = file.read()
        self.assertTrue(data.startswith(b"%PDF-"))
        self.assertGreater(len(data), 20000)

    def test_files_beside_the_page(self):
        results = fabricated.results()
        self.make(results)
        with open(self.path("page/results.json")) as file:
            self.assertEqual(json.load(file), results)
        names = sorted(f["id"] + ending for f in self.figures(results)
                       for ending in (".csv", ".pdf", ".png", ".svg"))
        self.assertEqual(sorted(os.listdir(self.path("page/figures"))), names)
        first = results["rows"][0]["figures"][0]
        path = self.path("page/figures/" + first["id"] + ".csv")
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        expected = [(s["name"], *map(float, p[:2])) for s in first["series"]
                    for p in s["points"]]
        self.assertEqual([(r["series"], float(r["x"]), float(r["y"]))
                          for r in rows], expected)

    def test_the_same_results_give_the_same_bytes(self):
        self.make(fabricated.results(), "one")
        self.make(fabricated.results(), "two")
        for folder, _, files in os.walk(self.path("one")):
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as one, \
                        open(path.replace("/one", "/two"), "rb") as two:
                    self.assertEqual(one.read(), two.read(), name)

    def test_bad_results_are_refused(self):
        def refused(change, says):
            results = fabricated.results()
            change(results)
            self.refused("plot", self.write("bad.json", json.dumps(results)),
                         "--page", self.path("bad"), says=["bad.json", says])
            self.assertFalse(os.path.exists(self.path("bad/index.html")))

        def twin(results):
            results["rows"][1]["id"] = results["rows"][0]["id"]

        def twin_figure(results):
            results["rows"][1]["figures"] = results["rows"][0]["figures"]
        refused(lambda r: r.pop("rows"), "no rows")
        refused(lambda r: r["rows"][2].update(verdict="likely"), "no verdict")
        refused(lambda r: r["rows"][2]["checks"][1].pop("verdict"),
                "check 1 of row 'adversarial' has no verdict")
        refused(twin, "two rows are called 'stochastic'")
        refused(twin_figure, "two figures are called 'stochastic-mean'")
        refused(lambda r: r["rows"][0]["figures"][0].update(id="../x"),
                "no name for a file")


if __name__ == "__main__":
    unittest.main()
