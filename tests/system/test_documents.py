"""What the documents tell people to type works as typed, and what they give to
other programs can be read.

Needs TARRY, the program."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from ports import free_port
from service import ROOT, TARRY, Service

DOCS = os.path.join(ROOT, "docs")


def read(*path):
    with open(os.path.join(ROOT, *path)) as f:
        return f.read()


def typed(text):
    """The lines behind `    $ `."""
    return re.findall(r"^    \$ (.*)$", text, re.M)


class Tables(unittest.TestCase):
    def says(self, horizon):
        done = subprocess.run(
            [TARRY, "bound", "--json", "--delay", "none", "--policy",
             "phased-adversarial:constants=tight", "--horizon",
             str(int(horizon))], stdout=subprocess.PIPE, timeout=60)
        return json.loads(done.stdout)["upper"]["regret"]

    def test_horizons_from_which_a_bound_says_something_are_measured(self):
        row = re.search(r"^\| alone \| (\S+) \| (\S+) \|",
                        read("docs", "bounds.md"), re.M)
        some, much = map(float, row.groups())
        self.assertIsNone(self.says(0.98 * some))
        self.assertIsNotNone(self.says(1.02 * some))
        self.assertGreater(self.says(0.98 * much), 0.98 * much / 10)
        self.assertLess(self.says(1.02 * much), 1.02 * much / 10)


class Typed(unittest.TestCase):
    def play(self, lines, check):
        """Runs lines in one shell, on a port of their own, and hands the
        answer of each to `check`."""
        port = free_port()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(TARRY, os.path.join(folder, "tarry"))
            script = ["set -e"]
            for i, line in enumerate(lines):
                line = line.replace("8377", str(port))
                if line.endswith("&"):
                    script += [line + " trap 'kill $!; wait' EXIT",
                               "for i in $(seq 600); do curl -s -o /dev/null "
                               "localhost:%d/readyz && break; sleep 0.1; done"
                               % port]
                else:
                    script.append("(%s) > answer-%d" % (line, i))
            done = subprocess.run(
                ["bash", "-c", "\n".join(script)], cwd=folder, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                env={**os.environ, "PATH": folder + ":" + os.environ["PATH"],
                     "TARRY_LISTEN": "127.0.0.1:%d" % port})
            self.assertEqual(done.returncode, 0, done.stderr)
            for i, line in enumerate(lines):
                if not line.endswith("&"):
                    with open(os.path.join(folder, "answer-%d" % i)) as f:
                        check(line, f.read())

    def test_the_conversation_of_the_readme_is_one(self):
        """Requests and answers in turn, with the arms shown above them."""
        live = read("README.md").split("## Live")[1].split("\n## ")[0]
        arms, talk = re.findall(r"(?:^    .*\n)+", live, re.M)[:2]
        command, *lines = [line[4:] for line in talk.splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "routes.csv"), "w") as f:
                f.write(re.sub("^    ", "", arms, flags=re.M))
            done = subprocess.run(
                [TARRY, *command.split()[2:]], cwd=folder, text=True,
                input="".join(line + "\n" for line in lines[0::2]),
                stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(done.stdout.splitlines(), lines[1::2])

    def fine(self, line, answer):
        self.assertTrue(answer, line)
        if line.startswith("curl"):
            for one in answer.strip().splitlines():
                self.assertNotIn("code", json.loads(one), line)
        self.seen.append((line, answer))

    def test_the_quick_start(self):
        self.seen = []
        lines = typed(read("docs", "service-quickstart.md"))
        self.assertEqual(sum(line.startswith("curl") for line in lines), 9)
        self.play(lines, self.fine)
        answers = [answer for _, answer in self.seen]
        self.assertEqual(answers[1], answers[2])
        self.assertEqual(json.loads(answers[3])["status"], "applied")
        self.assertEqual(json.loads(answers[7])["round"], 4)

    def test_the_readme(self):
        self.seen = []
        text = read("README.md")
        part = text[text.index("## A decision service"):]
        part = part[:part.index("\n## ")]
        self.play(typed(part), self.fine)
        shown = re.findall(r"^    ({.*})$", part, re.M)
        got = [answer.strip() for line, answer in self.seen][1:]
        for one, other in zip(shown, got):
            one, other = json.loads(one), json.loads(other)
            one.pop("decided_at", None), other.pop("decided_at", None)
            self.assertEqual(one, other)
        self.assertEqual(len(shown), 2)

    def test_backup_and_restore_as_described(self):
        text = read("docs", "operations.md")
        part = text[text.index("## Backup"):text.index("## Upgrade")]
        blocks = re.findall(r"(?:^    .*\n)+", part, re.M)
        self.assertEqual(len(blocks), 3)
        *backups, restore = blocks
        for backup in backups:
            with self.subTest(backup), Service() as service:
                service.create("shop")
                ask = lambda n: service.ask(
                    "POST", "/v1/experiments/shop/decisions", {"count": n})[0]
                self.assertEqual(ask(500), 201)
                self.shell(backup, service.folder)
                self.shell("tarry store check copy.db", service.folder)
                self.shell("tarry store export tarry.db > log.csv; "
                           "test `wc -l < log.csv` = 501", service.folder)
                self.assertEqual(ask(70), 201)
                service.kill()
                self.shell(restore, service.folder)
                service.start()
                self.assertEqual(
                    service.get("/v1/experiments/shop")["decisions"], 500)
                self.assertEqual(ask(1), 201)

    def shell(self, block, folder):
        path = os.path.join(folder, "tarry")
        if not os.path.exists(path):
            os.symlink(TARRY, path)
        done = subprocess.run(
            ["bash", "-ec", block], cwd=folder, text=True, timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stdout)


class Board(unittest.TestCase):
    def test_grafana_asks_for_metrics_that_are_there(self):
        board = json.loads(read("deploy", "grafana.json"))
        asked = " ".join(target["expr"] for panel in board["panels"]
                         for target in panel["targets"])
        names = set(re.findall(r"\btarry_\w+", asked))
        with Service() as service:
            service.create("shop")
            service.ask("POST", "/v1/experiments/shop/decisions", {})
            text = service.ask("GET", "/metrics")[2]
        there = {re.match(r"\w+", line).group() for line in text.splitlines()
                 if line and not line.startswith("#")}
        self.assertGreater(len(names), 7)
        self.assertEqual(names - there, set())
        labels = dict(re.findall(r"by \((\w+)[^)]*\) \(rate\((\w+)", asked))
        for label, name in labels.items():
            self.assertRegex(text, r"(?m)^%s{[^}]*\b%s=" % (name, label))

    def test_panels_are_whole_and_do_not_overlap(self):
        board = json.loads(read("deploy", "grafana.json"))
        taken, numbers = set(), set()
        for panel in board["panels"]:
            numbers.add(panel["id"])
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24)
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                     for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells
            for target in panel["targets"]:
                for pair in ("()", "{}", "[]"):
                    self.assertEqual(target["expr"].count(pair[0]),
                                     target["expr"].count(pair[1]))
        self.assertEqual(len(numbers), len(board["panels"]))


class Units(unittest.TestCase):
    """Files for systemd and for containers."""

    def unit(self, name):
        """Lists of values by section and key."""
        found, section = {}, None
        for line in read("deploy", name).splitlines():
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                section = re.fullmatch(r"\[(\w+)\]", line).group(1)
                continue
            key, value = re.fullmatch(r"(\w+)=(.*)", line).groups()
            found.setdefault((section, key), []).append(value)
        return found

    def known(self, words):
        """Every option is one of tarry serve's."""
        help = subprocess.run([TARRY, "serve", "--help"], text=True,
                              stdout=subprocess.PIPE, check=True).stdout
        for word in words:
            if word.startswith("--"):
                self.assertIn("  %s " % word, help)

    def test_the_unit_starts_what_there_is(self):
        service, door = self.unit("tarry.service"), self.unit("tarry.socket")
        command = service["Service", "ExecStart"][0].split()
        self.assertEqual(os.path.basename(command[0]), "tarry")
        self.assertEqual(command[1], "serve")
        self.known(command)
        self.assertEqual(service["Unit", "Requires"], ["tarry.socket"])
        self.assertEqual(door["Socket", "ListenStream"], ["127.0.0.1:8377"])

    def test_systemd_understands_them(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd here")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tarry.service", "tarry.socket"):
                with open(os.path.join(folder, name), "w") as f:
                    f.write(read("deploy", name).replace(
                        "/usr/local/bin/tarry", TARRY))
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no",
                 os.path.join(folder, "tarry.service"),
                 os.path.join(folder, "tarry.socket")],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            about = [line for line in done.stdout.splitlines()
                     if "tarry." in line]
            self.assertEqual(about, [])

    def test_the_container_starts_what_there_is(self):
        lines = read("deploy", "Containerfile").replace("\\\n", " ").splitlines()
        words = {line.split()[0]: line.split(None, 1)[1] for line in lines
                 if line and not line.startswith("#")}
        self.assertEqual(json.loads(words["ENTRYPOINT"]), ["tarry"])
        self.known(json.loads(words["CMD"]))
        self.assertLessEqual(set(words), {
            "FROM", "COPY", "WORKDIR", "RUN", "USER", "VOLUME", "EXPOSE",
            "STOPSIGNAL", "ENTRYPOINT", "CMD"})


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        pages = ["README.md"] + ["docs/" + name for name in os.listdir(DOCS)
                                 if name.endswith(".md")]
        for page in pages:
            folder = os.path.dirname(os.path.join(ROOT, page))
            for link in re.findall(r"\]\(([^)#]+)[^)]*\)", read(page)):
                if not link.startswith("http"):
                    self.assertTrue(os.path.exists(os.path.join(folder, link)),
                                    "%s: %s" % (page, link))

    def test_files_and_functions_that_are_named_are_there(self):
        """Also Make targets, which is what the documents tell to type."""
        files, code = [], ""
        for folder, _, names in os.walk(ROOT):
            inside = os.path.relpath(folder, ROOT)
            if inside.startswith(("build", ".git")):
                continue
            files += ["/" + os.path.join(inside, name) for name in names]
            for name in names:
                if name.endswith((".c", ".h", ".py")) and "uplot" not in name:
                    code += read(inside, name)
        known = set(re.findall(r"\w+", code))
        targets = set(re.findall(r"^(\w[\w-]*):", read("Makefile"), re.M))
        pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
        pages += ["docs/" + name for name in os.listdir(DOCS)
                  if name.endswith(".md")]
        for page in pages:
            text = read(page)
            for word in re.findall(r"`([^`\n]+)`", text):
                if re.fullmatch(r"[\w/]+\.[ch]", word):
                    self.assertTrue(any(f.endswith("/" + word) for f in files),
                                    "%s: %s" % (page, word))
                for name in re.findall(r"\btarry__\w+[a-z]\b(?!_)", word):
                    self.assertIn(name, known, page)
            for target in re.findall(r"(?:`|^    )make ([a-z][\w-]*)", text,
                                     re.M):
                self.assertIn(target, targets, page)

    def test_every_page_stands_in_the_index(self):
        index = read("docs", "README.md")
        for name in os.listdir(DOCS):
            if name.endswith(".md") and name != "README.md":
                self.assertIn("(%s)" % name, index)


if __name__ == "__main__":
    unittest.main()
