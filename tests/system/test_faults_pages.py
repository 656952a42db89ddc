"""Calls that fail while a page is written.  A page is many files: each is as
before or as it should be, and index.html, which comes last, is new only if all
are; so it is if the command says that all went well."""
import os
import re
import shutil
import unittest

from faults import ALL, ERROR, FaultTest
from lab import SANITIZED


def lasting(name, text):
    """A file without what depends on the clock; of pictures, whether they are
    whole."""
    if name.endswith(".png"):
        return "IEND" in text[-20:]
    if name.endswith(".pdf"):
        return "%%EOF" in text[-20:]
    text = re.sub(r'"seconds": ?[-+.e0-9]+', "", text)
    return re.sub(r"Computed in [0-9.]+ s", "", text)


@unittest.skipIf(SANITIZED, "sanitizers replace malloc themselves")
class Pages(FaultTest):
    some = 1
    most = 400  # a page of the paper takes many thousands of allocations

    def look(self, folder):
        return {name: lasting(name, text)
                for name, text in self.files_in(folder).items()
                if name != "trials.jsonl"}

    def attack(self, old, new, third):
        """Over a page that `old` makes, `new` makes another with each fault;
        both begin with the command and end with the folder.  Of the faults a
        third, unless all are tried: each page has another one."""
        page, before = new[-1], self.path("before")
        self.assertEqual(self.start(old).returncode, 0)
        shutil.copytree(page, before)
        self.assertEqual(self.start(new).returncode, 0)
        was, wanted = self.look(before), self.look(page)
        self.assertEqual(set(was), set(wanted))
        self.assertNotEqual(was["index.html"], wanted["index.html"])

        def prepare():
            shutil.rmtree(page)
            shutil.copytree(before, page)

        for number, fault in enumerate(self.ways(new, "", prepare)):
            if not ALL and number % 3 != third:
                continue
            with self.subTest(command=new[0], **fault):
                prepare()
                done = self.start(new, **fault)
                if done.returncode != 0:
                    self.assertRegex(done.stderr, ERROR)
                self.check_code(done, **fault)
                now = self.look(page)
                for name in set(now) | set(was):
                    self.assertIn(now.get(name), (was[name], wanted[name]),
                                  name)
                if done.returncode == 0 or (now["index.html"] ==
                                            wanted["index.html"]):
                    self.assertEqual(now, wanted)
                if ALL and done.returncode != 0:
                    self.assertEqual(self.start(new).returncode, 0)
                    self.assertEqual(self.look(page), wanted)

    def test_the_page_of_the_paper(self):
        page = self.path("page")
        command = ["paper", "--rows", "design", "--threads", "1", "--seed"]
        self.attack([*command, "1", "--out", page],
                    [*command, "2", "--out", page], 0)

    def test_the_page_of_results_again(self):
        page, results = self.path("page"), []
        for seed in ("1", "2"):
            made = self.path("made" + seed)
            self.assertEqual(self.start(
                ["paper", "--rows", "design", "--threads", "1", "--seed",
                 seed, "--out", made]).returncode, 0)
            results.append(os.path.join(made, "results.json"))
        self.attack(["plot", results[0], "--page", page],
                    ["plot", results[1], "--page", page], 1)

    def test_the_page_of_a_log(self):
        page, logs = self.path("page"), []
        for shift in (3, 7):
            logs.append(self.write("log%d.csv" % shift, (
                "id,arm,decided,reported,loss\n" + "".join(
                    "%d,%s,%d,%d,%g\n" % (i, "ab"[i % 2], i,
                                          i + shift + i % 5, (-1) ** i / 2)
                    for i in range(40)))))
        end = ["--runs", "0", "--threads", "1", "--page", page]
        self.attack(["examine", logs[0], *end], ["examine", logs[1], *end], 2)


if __name__ == "__main__":
    unittest.main()
