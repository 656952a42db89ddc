"""`tarry design`, driven as a user would drive it; NumPy is the judge.

Needs TARRY, the program; TARRY_SANITIZE says whether sanitizers are in it.
"""
import io
import json
import math
import os
import pty
import re
import resource
import signal
import subprocess
import tempfile
import unittest
import zlib

import numpy as np

TARRY = os.path.abspath(os.environ["TARRY"])
SANITIZE = os.environ.get("TARRY_SANITIZE", "")
KEYS = {"arms", "dim", "rank", "g", "support", "min_weight", "passes",
        "seconds"}
OPTIONS = ["--rule", "--tol", "--rank-tol", "--max-support", "--threads",
           "--seed", "--json", "--help"]


def tarry(*arguments, **more):
    usual = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
             "input": b"", "timeout": 100}
    return subprocess.run([TARRY, *map(str, arguments)], **{**usual, **more})


# ---- arm sets ---------------------------------------------------------------

def gauss(random, arms, dim):
    return random.normal(size=(arms, dim))


def sphere(random, arms, dim):
    a = gauss(random, arms, dim)
    return a / np.linalg.norm(a, axis=1, keepdims=True)


def ball(random, arms, dim):
    return sphere(random, arms, dim) * random.uniform(size=(arms, 1)) ** (1 / dim)


def cube(random, arms, dim):
    return np.array([[1.0 - 2 * (k >> j & 1) for j in range(dim)]
                     for k in range(2 ** dim)])


def grid(random, arms, dim):
    return np.round(1.5 * gauss(random, arms, dim))


def one_hot(random, arms, dim):
    return np.eye(dim)[random.integers(dim, size=arms)]


def flat(random, arms, dim):
    return gauss(random, arms, dim // 3) @ gauss(random, dim // 3, dim)


def duplicates(random, arms, dim):
    return np.repeat(gauss(random, arms // 3, dim), 3, axis=0)


def opposites(random, arms, dim):
    a = gauss(random, arms // 2, dim)
    return np.concatenate([a, -a])


def with_zeros(random, arms, dim):
    return gauss(random, arms, dim) * (np.arange(arms) % 3 == 1)[:, None]


def tiny(random, arms, dim):
    return 1e-150 * gauss(random, arms, dim)


def huge(random, arms, dim):
    return 1e150 * gauss(random, arms, dim)


def one_giant(random, arms, dim):
    a = gauss(random, arms, dim)
    a[arms // 3] *= 1e8
    return a


def bad_columns(random, arms, dim):
    return gauss(random, arms, dim) * np.logspace(0, -8, dim)


def longest_last(random, arms, dim):
    a = gauss(random, arms, dim)
    return a[np.argsort(np.linalg.norm(a, axis=1))]


def simplex(random, arms, dim):
    corners = np.eye(dim + 1) - 1 / (dim + 1)
    return corners @ np.linalg.svd(corners)[2][:dim].T


# name: maker, arms, dimensions, rank
KINDS = {
    "gauss": (gauss, 3000, 7, 7),
    "gauss, many": (gauss, 40000, 5, 5),
    "gauss, wide": (gauss, 400, 40, 40),
    "fewer arms than dimensions": (gauss, 6, 15, 6),
    "as many arms as dimensions": (gauss, 8, 8, 8),
    "one dimension": (gauss, 300, 1, 1),
    "two dimensions": (gauss, 500, 2, 2),
    "one arm": (gauss, 1, 4, 1),
    "one number": (gauss, 1, 1, 1),
    "flat": (flat, 2000, 9, 3),
    "flat, wide": (flat, 12000, 66, 22),
    "duplicates": (duplicates, 900, 6, 6),
    "a and -a": (opposites, 900, 6, 6),
    "zero rows": (with_zeros, 900, 6, 6),
    "tiny": (tiny, 1000, 5, 5),
    "huge": (huge, 1000, 5, 5),
    "one giant": (one_giant, 2000, 5, 5),
    "bad columns": (bad_columns, 2000, 8, 8),
    "longest last": (longest_last, 20000, 4, 4),
    "sphere": (sphere, 3000, 6, 6),
    "ball": (ball, 3000, 6, 6),
    "cube": (cube, 512, 9, 9),
    "grid": (grid, 3000, 4, 4),
    "one-hot": (one_hot, 500, 10, 10),
    "simplex": (simplex, 11, 10, 10),
}


def make(name):
    maker, arms, dim, _ = KINDS[name]
    return maker(np.random.default_rng(zlib.crc32(name.encode())), arms, dim)


# ---- the judge --------------------------------------------------------------

def lower_solve(low, b):
    """L^-1 b in whatever precision b has."""
    y = b.copy()
    for i in range(len(low)):
        y[i] = (y[i] - low[i, :i] @ y[:i]) / low[i, i]
    return y


def cholesky(v):
    low = np.zeros_like(v)
    for j in range(len(v)):
        low[j:, j] = v[j:, j] - low[j:, :j] @ low[j, :j]
        low[j:, j] /= np.sqrt(low[j, j])
    return low


def worst_variance(arms, support, weight, rank):
    """g, with extended precision in coordinates that make V about 1."""
    a = arms / np.abs(arms).max()
    _, s, vt = np.linalg.svd(np.sqrt(weight)[:, None] * a[support],
                             full_matrices=False)
    basis = (vt[:rank] / s[:rank, None]).astype(np.longdouble)
    x = basis @ a.T.astype(np.longdouble)
    low = cholesky((x[:, support] * weight) @ x[:, support].T)
    return float((lower_solve(low, x) ** 2).sum(axis=0).max())


def numeric_rank(arms):
    s = np.linalg.svd(arms / np.abs(arms).max(), compute_uv=False)
    return int((s > 1e-11 * s[0]).sum())


class Design(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, content, name="arms.csv"):
        with open(self.path(name), "wb") as f:
            f.write(content)
        return self.path(name)

    def npy(self, arms):
        np.save(self.path("arms.npy"), arms)
        return self.path("arms.npy")

    def solve(self, *arguments, code=0, **more):
        """The answer of a solve, whose exit code must be `code`."""
        done = tarry("design", *arguments, "--json", **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), code)
        self.assertEqual(done.stdout.count(b"\n"), 1)
        return json.loads(done.stdout)

    def refuses(self, *arguments, says=(), code=2, **more):
        """One line on stderr that says all this, nothing on stdout."""
        done = tarry(*arguments, **more)
        line = done.stderr.decode()
        self.assertEqual(done.returncode, code, line)
        self.assertEqual(done.stdout or b"", b"")
        self.assertRegex(line, r"\Atarry: [^\n]+\n\Z")
        for text in says:
            self.assertIn(text, line)

    def check(self, arms, rank, answer):
        """Everything the answer says, against the arms themselves."""
        self.assertLessEqual(KEYS, set(answer))
        self.assertEqual((answer["arms"], answer["dim"]), arms.shape)
        self.assertEqual(answer["rank"], rank)
        support = [entry["arm"] for entry in answer["support"]]
        weight = np.array([entry["weight"] for entry in answer["support"]])
        self.assertEqual(support, sorted(set(support)))
        self.assertTrue(0 <= support[0] and support[-1] < len(arms))
        self.assertGreater(weight.min(), 0)
        self.assertAlmostEqual(math.fsum(weight), 1, delta=1e-12)
        self.assertEqual(answer["min_weight"], weight.min())
        self.assertGreaterEqual(answer["seconds"], 0)
        self.assertGreaterEqual(answer["passes"], 1)
        g = worst_variance(arms, support, weight, rank)
        self.assertAlmostEqual(answer["g"] / g, 1, delta=1e-9)

    # ---- promises

    def test_near_designs_keep_their_promise(self):
        for name in KINDS:
            arms, rank = make(name), KINDS[name][3]
            self.assertEqual(numeric_rank(arms), rank)
            path = self.npy(arms)
            for tol in 1e-3, 1e-6, 1e-9:
                with self.subTest(name, tol=tol):
                    answer = self.solve(path, "--tol", tol)
                    self.check(arms, rank, answer)
                    self.assertLessEqual(answer["g"], (1 + tol) * rank)

    def test_paper_designs_keep_their_promise(self):
        for name in KINDS:
            with self.subTest(name):
                arms, rank = make(name), KINDS[name][3]
                answer = self.solve(self.npy(arms), "--rule", "paper")
                self.check(arms, rank, answer)
                psi = len(answer["support"])
                loglog = math.log(math.log(rank)) if rank > 2 else 0
                self.assertLessEqual(psi, 16 + 4 * rank * max(0, loglog))
                self.assertGreaterEqual(answer["min_weight"],
                                        1 / (2 * psi) * (1 - 1e-12))
                self.assertLessEqual(answer["g"], 4 * rank)

    def test_the_default_is_a_near_design_within_a_thousandth(self):
        path = self.npy(make("gauss"))
        chosen = self.solve(path, "--rule", "near", "--tol", "1e-3")
        for answer in chosen, self.solve(path):
            del answer["seconds"]
            self.assertEqual(answer, chosen)

    def test_arms_that_are_all_zero_have_rank_zero(self):
        for rule in "near", "paper":
            answer = self.solve(self.file(b"0,0\n0,0\n"), "--rule", rule)
            self.assertEqual((answer["rank"], answer["g"]), (0, 0))
            self.assertEqual(answer["support"], [{"arm": 0, "weight": 1}])

    def test_the_rank_tolerance_is_an_option(self):
        arms = np.diag([1, 2.385, 1e-7])
        for tol, rank in (1e-8, 3), (1e-6, 2):
            answer = self.solve(self.npy(arms), "--rank-tol", tol)
            self.assertEqual(answer["rank"], rank)

    def test_the_support_can_be_limited(self):
        arms = make("sphere")
        path = self.npy(arms)
        answer = self.solve(path, "--tol", 1e-6, "--max-support", 21)
        self.check(arms, 6, answer)
        self.assertLessEqual(len(answer["support"]), 21)
        self.assertLessEqual(answer["g"], 6 * (1 + 1e-6))

    def test_a_limit_too_small_for_the_target_fails_with_its_answer(self):
        arms = make("sphere")
        answer = self.solve(self.npy(arms), "--tol", 1e-6, "--max-support", 9,
                            code=1)
        self.check(arms, 6, answer)
        self.assertLessEqual(len(answer["support"]), 9)
        self.assertGreater(answer["g"], 6 * (1 + 1e-6))

    def test_a_limit_below_the_rank_fails_with_its_answer(self):
        answer = self.solve(self.npy(np.eye(5)), "--max-support", 2, code=1)
        self.check(np.eye(5), 5, answer)

    def test_each_of_few_important_arms_can_be_given_up(self):
        arms = make("simplex")  # 11 arms of weight 1/11
        answer = self.solve(self.npy(arms), "--max-support", 10, code=1)
        self.check(arms, 10, answer)
        self.assertEqual(len(answer["support"]), 10)

    def test_the_number_of_threads_does_not_change_a_byte(self):
        for name in "gauss, many", "flat, wide", "ball", "one giant":
            path = self.npy(make(name))
            for rule in "near", "paper":
                seen = set()
                for threads, default in (1, 1), (2, 1), (5, 1), (0, 1), (0, 3):
                    environment = {"OMP_NUM_THREADS": str(default)}
                    done = tarry("design", path, "--json", "--rule", rule,
                                 "--tol", "1e-6", "--threads", threads,
                                 env={**os.environ, **environment})
                    seen.add(re.sub(rb'"seconds": [^,]*', b"", done.stdout))
                with self.subTest(name, rule=rule):
                    self.assertEqual(len(seen), 1)

    # ---- files

    def test_every_kind_of_file_gives_the_same_design(self):
        arms = make("gauss")[:200].astype(np.float32).astype(float)
        lines = [",".join(map(repr, map(float, a))) for a in arms]
        header = ",".join("x%d" % j for j in range(arms.shape[1]))
        text = "\n".join(lines)
        names = "\n".join('"arm, %d",%s' % item for item in enumerate(lines))
        single = io.BytesIO()
        np.save(single, arms.astype(np.float32))
        files = {
            "plain": text, "ended": text + "\n\n",
            "header": header + "\n" + text,
            "crlf": (header + "\n" + text + "\n").replace("\n", "\r\n"),
            "mark": "\ufeff" + text, "spaces": text.replace(",", " ,\t"),
            "names": names, "names, header": "arm," + header + "\n" + names}
        files = {name: text.encode() for name, text in files.items()}
        files["float32"] = single.getvalue()
        expected = self.solve(self.npy(arms))["support"]
        for name, content in files.items():
            with self.subTest(name):
                answer = self.solve(self.file(content))
                self.check(arms, 7, answer)
                for entry in answer["support"]:
                    if "names" in name:
                        self.assertEqual(entry.pop("name"),
                                         "arm, %d" % entry["arm"])
                self.assertEqual(answer["support"], expected)
                answer = self.solve("-", input=content)
                self.assertEqual(answer["arms"], 200)

    def test_names_need_not_be_utf_8(self):
        answer = self.solve(self.file(b"gr\xfc\xdf,1,2\nb\xe9,3,4\n"))
        names = [entry["name"] for entry in answer["support"]]
        self.assertEqual(names, ["gr\xfc\xdf", "b\xe9"])

    def test_a_table_is_printed_for_people(self):
        done = tarry("design", self.file(b"left,2.385,0\nright,0,1\nno,1,0\n"))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = done.stdout.decode()
        self.assertIn("3 arms in 2 dimensions, span of rank 2", text)
        self.assertRegex(text, r"0 +0\.500000 +left\n")
        self.assertRegex(text, r"1 +0\.500000 +right\n")

    def test_the_table_says_how_many_arms_it_leaves_out(self):
        done = tarry("design", self.npy(make("one-hot")[:100]))
        self.assertNotIn(b"more", done.stdout)
        done = tarry("design", self.npy(np.eye(30)))
        self.assertIn(b"and 18 more", done.stdout)

    def test_files_that_are_not_arms_are_refused_with_their_place(self):
        for content, *says in BAD_FILES:
            with self.subTest(content=content[:60]):
                path = self.file(content)
                says[0] = path + says[0]
                self.refuses("design", path, says=says)
                self.refuses("design", "-", "--json", input=content,
                             says=says[1:] + ["<stdin>"])

    def test_npy_files_that_are_not_arms_are_refused(self):
        for array, says in bad_arrays():
            with self.subTest(says):
                path = self.npy(array)
                self.refuses("design", path, says=[path + ": ", says])

    def test_damaged_npy_files_are_refused(self):
        whole = io.BytesIO()
        np.save(whole, np.eye(3))
        whole = whole.getvalue()
        damaged = [(whole[:7], "cut off"), (whole[:9], "cut off"),
                   (whole[:40], "cut off"), (whole[:-1], "cut off"),
                   (whole + b"\0", "too long"),
                   (whole.replace(b"\x93NUMPY\1", b"\x93NUMPY\7"), "7.0"),
                   (whole.replace(b"descr", b"cesrd"), "malformed"),
                   (whole.replace(b"(3, 3)", b"(9, 9)"), "cut off"),
                   (whole.replace(b"(3, 3)", b"(3,3 )"), None)]
        for content, says in damaged:
            with self.subTest(says):
                path = self.file(content, "damaged.npy")
                if says is None:
                    self.solve(path)
                else:
                    self.refuses("design", path, says=[path + ": ", says])

    def test_what_cannot_be_read_is_refused(self):
        for path in self.path("nowhere.csv"), self.folder, "two\nlines", "":
            self.refuses("design", path, says=[path.replace("\n", "?")])

    def test_too_many_dimensions_are_refused_with_the_reason(self):
        path = self.npy(np.ones((1, 20001)))
        self.refuses("design", path, says=[path, "dimension", "20000"])

    # ---- the command line

    def test_bad_usage_is_refused(self):
        path = self.npy(np.eye(3))
        for arguments, *says in BAD_USAGE:
            with self.subTest(arguments):
                self.refuses(*[path if a == "ARMS" else a for a in arguments],
                             says=says)

    def test_options_may_be_written_in_every_usual_way(self):
        self.file(b"1,2\n3,4\n", "-arms.csv")
        for arguments in (["--tol=1e-6", "./-arms.csv"],
                          ["--max-support", "1e6", "./-arms.csv"],
                          ["./-arms.csv", "--threads=2e0", "--seed", "2.5e3"],
                          ["--rule=paper", "--rule", "near", "./-arms.csv"]):
            with self.subTest(arguments):
                answer = self.solve(*arguments, cwd=self.folder)
                self.assertEqual(answer["arms"], 2)

    def test_help_exits_well_and_mentions_every_option(self):
        for arguments in ["--help"], ["-h"], ["help"]:
            done = tarry(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"design", done.stdout)
        for arguments in (["--help"], ["-h"], ["arms.csv", "--help"],
                          ["--tol", "1e-3", "--help"]):
            done = tarry("design", *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            for option in OPTIONS:
                self.assertIn("  %s " % option, done.stdout.decode())

    def test_the_version_is_printed(self):
        done = tarry("--version")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(), r"\Atarry \d+\.\d+\.\d+\n\Z")

    # ---- when the world is hostile

    def test_a_full_disk_is_an_error(self):
        path = self.npy(np.eye(30))
        for arguments in (["design", path], ["design", path, "--json"],
                          ["--help"], ["design", "--help"], ["--version"]):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                self.refuses(*arguments, code=1, stdout=full,
                             says=["No space left on device"])

    def test_a_closed_standard_output_is_an_error(self):
        self.refuses("design", self.npy(np.eye(3)), code=1, stdout=None,
                     preexec_fn=lambda: os.close(1),
                     says=["standard output"])

    def test_an_interrupt_ends_a_solve(self):
        path = self.npy(ball(np.random.default_rng(5), 120000, 40))
        for number in signal.SIGINT, signal.SIGTERM:
            code, shown, answer = interrupt_when_solving(path, number)
            self.assertEqual(code, 1)
            self.assertEqual(answer, b"")
            self.assertIn(b"%", shown)  # a progress bar
            self.assertTrue(shown.endswith(b"tarry: interrupted\r\n"), shown)

    @unittest.skipIf(SANITIZE, "sanitizers need all the address space")
    def test_too_little_memory_is_said(self):
        small, large = self.npy(make("flat")), self.path("large.npy")
        np.lib.format.open_memmap(large, "w+", np.float32, (50_000_000, 2))
        least = least_memory()
        for path, codes in (small, {0, 1}), (large, {1}):
            for threads in 1, 5:
                for more in range(0, 400 << 20, 40 << 20):
                    done = tarry("design", path, "--threads", threads,
                                 **limited(least + more))
                    self.assertIn(done.returncode, codes, done.stderr)
                    if done.returncode == 1:
                        self.assertEqual(done.stderr.decode(),
                                         "tarry: %s: out of memory\n" % path)


# ---- what is refused --------------------------------------------------------

# content, then what the error line says: the place after the file's name, ...
BAD_FILES = [
    (b"", ": ", "empty"),
    (b"\n\n", ": ", "empty"),
    (b"\xef\xbb\xbf", ": ", "empty"),
    (b"x,y\n", ":1:1: ", "header", "'x,y'"),
    (b"1 2\n3 4\n", ":2:1: ", "'3 4'"),
    (b"1,2\n3\n", ":2:1: ", "columns", "'3'"),
    (b"1,2\n3,4,5\n", ":2:3: ", "columns", "'3,4,5'"),
    (b"x,y\n1,2,3\n", ":2:3: ", "columns"),
    (b"x,y,z\n1,2\n", ":2:2: ", "columns"),
    (b"a,1\nb\n", ":2:1: ", "columns"),
    (b"1,2,\n3,4,\n", ":1:3: ", "empty field"),
    (b"1,2\n3,\n", ":2:2: ", "empty field"),
    (b"1,2\n,4\n", ":2:1: ", "empty field"),
    (b"1,,2\n", ":1:2: ", "empty field"),
    (b"1,2\n\n3,4\n", ":2:1: ", "empty line"),
    (b"1,2\nabc,4\n", ":2:1: ", "'abc'"),
    (b"1,2\n3,abc\n", ":2:2: ", "'abc'"),
    (b"1,2\n3,4x\n", ":2:2: ", "'4x'"),
    (b"1,2\n3,0x1F\n", ":2:2: ", "'0x1F'"),
    (b"1,2\n3,1_000\n", ":2:2: ", "'1_000'"),
    (b"1,2\n3,1.2.3\n", ":2:2: ", "'1.2.3'"),
    (b"1,2\n3,1e\n", ":2:2: ", "'1e'"),
    (b"1,2\n3,--4\n", ":2:2: ", "'--4'"),
    (b"1,2\n3,\"4\"\n", ":2:2: ", "'\"4\"'"),
    (b"1,2\n3,NA\n", ":2:2: ", "'NA'"),
    (b"1,2\n3,#N/A\n", ":2:2: ", "'#N/A'"),
    (b"1,2\n3,1+2j\n", ":2:2: ", "'1+2j'"),
    (b"1,2\n3,nan\n", ":2:2: ", "'nan'"),
    (b"1,2\n3,-NaN\n", ":2:2: ", "'-NaN'"),
    (b"1,2\n3,inf\n", ":2:2: ", "'inf'"),
    (b"1,2\n-Infinity,4\n", ":2:1: ", "'-Infinity'"),
    (b"1,2\n3,1e999\n", ":2:2: ", "'1e999'"),
    (b"a,1\n\"b,2\n", ":2:1: ", "quote"),
    (b"a,1\nb\"c,2\n", ":2:1: ", "quote"),
    (b"a,1\n,2\n", ":2:1: ", "empty field"),
    (b"1,2\n3,4\0\n", ":2:2: ", "'4?'"),
    (b"1,2\r3,4\r", ":1:2: ", "'2?3'"),
    (b"1,2\n3,\x1b[31mred\n", ":2:2: ", "'?[31mred'"),
    (b"1,2\n3,\xff\xfe\n", ":2:2: ", "'??'"),
    (b"1,2\n3," + 999 * b"z", ":2:2: ", "zzz...'"),
    (b"PK\3\4\x14\0\0\0\0\0", ":1:1: ", "PK"),
    (bytes(range(256)), ":"),
]


def bad_arrays():
    bad = np.eye(3)
    bad[2, 1] = np.nan
    far = np.eye(3, dtype=np.float32)
    far[1, 2] = -np.inf
    return [(np.arange(6).reshape(2, 3).astype(">i8"), "'>i8'"),
            (np.eye(3).astype(">f8"), "'>f8'"),
            (np.eye(3, dtype=np.float16), "'<f2'"),
            (np.eye(3, dtype=complex), "'<c16'"),
            (np.array([["a", "b"]]), "'<U1'"),
            (np.zeros(2, dtype=[("x", "<f8"), ("y", "<f8")]), "malformed"),
            (np.zeros((2, 2, 2)), "2 dimensions"),
            (np.array(2.385), "2 dimensions"),
            (np.zeros((0, 3)), "(0, 3)"), (np.zeros((3, 0)), "(3, 0)"),
            (bad, "row 2, column 1, counted from 0: not a finite number: "),
            (far, "row 1, column 2, counted from 0: not a finite number: ")]


BAD_USAGE = [
    ([], "command"),
    (["desing"], "'desing'"),
    (["--json"], "'--json'"),
    (["two\nlines"], "two"),
    (["design"], "ARMS"),
    (["design", "--json"], "ARMS"),
    (["design", "ARMS", "more.csv"], "'more.csv'"),
    (["design", "ARMS", "--fast"], "'--fast'"),
    (["design", "ARMS", "--two\nlines"], "two"),
    (["design", "ARMS", "-v"], "'-v'"),
    (["design", "ARMS", "--json=yes"], "--json"),
    (["design", "ARMS", "--tol"], "--tol", "value"),
    (["design", "ARMS", "--tol", "small"], "--tol", "'small'"),
    (["design", "ARMS", "--tol", ""], "--tol", "''"),
    (["design", "ARMS", "--tol", "1e-3x"], "--tol", "'1e-3x'"),
    (["design", "ARMS", "--tol", "0x1p-4"], "--tol", "'0x1p-4'"),
    (["design", "ARMS", "--tol", "nan"], "--tol", "'nan'"),
    (["design", "ARMS", "--tol", "1e999"], "--tol", "'1e999'"),
    (["design", "ARMS", "--tol", "9e-10"], "tolerance", "1e-9", "--tol 9e-10"),
    (["design", "ARMS", "--tol", "-1"], "tolerance", "1e-9"),
    (["design", "ARMS", "--rank-tol", "0"], "rank tolerance"),
    (["design", "ARMS", "--rank-tol", "1"], "rank tolerance", "-rank-tol 1:"),
    (["design", "ARMS", "--rule", "best"], "--rule", "'best'"),
    (["design", "ARMS", "--rule", ""], "--rule", "''"),
    (["design", "ARMS", "--rule", "two\nlines"], "--rule", "two"),
    (["design", "ARMS", "--rule"], "--rule", "value"),
    (["design", "ARMS", "--threads", "-1"], "--threads", "'-1'"),
    (["design", "ARMS", "--threads", "1.5"], "--threads", "'1.5'"),
    (["design", "ARMS", "--threads", "1e6"], "--threads", "1000000"),
    (["design", "ARMS", "--max-support", "many"], "--max-support", "'many'"),
    (["design", "ARMS", "--max-support", "1e17"], "--max-support", "'1e17'"),
    (["design", "ARMS", "--seed", "-7"], "--seed", "'-7'"),
]


# ---- a hostile world --------------------------------------------------------

def limited(size_bytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (size_bytes, size_bytes))
    return {"preexec_fn": limit}


def least_memory():
    """Address space that suffices to start."""
    size_bytes = 40 << 20
    while True:
        try:
            done = tarry("--version", timeout=5, **limited(size_bytes))
            if done.returncode == 0:
                return size_bytes
        except subprocess.TimeoutExpired:
            pass
        size_bytes += size_bytes // 2


def interrupt_when_solving(path, number):
    """Sends the signal when the first progress shows on the terminal.
    Answers exit code, what the terminal has shown, and standard output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([TARRY, "design", path, "--tol", "1e-9"],
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = os.read(ours, 1)
    process.send_signal(number)
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        shown += more
    os.close(ours)
    answer = process.communicate()[0]
    return process.returncode, shown, answer


if __name__ == "__main__":
    unittest.main()
