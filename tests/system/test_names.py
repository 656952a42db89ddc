"""Names that files share: all internal headers fit into one unit, and each
shared name tells its folder or the object of its header.

Needs TARRY_BUILD, a build folder (for its compiler's flags).
"""
import json
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SRC = os.path.join(ROOT, "src")
# Only for one kernel at a time: defines the width of its vectors.
APART = {"base/lanes.h"}
# Functions of <math.h>, by the same words: tarry__exp, tarry__pow.
AS_IN_C = "base/elementary.h"


def headers():
    for folder, _, names in os.walk(SRC):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), SRC)
            if name.endswith(".h") and path not in APART:
                yield path


def flags():
    with open(os.path.join(os.environ["TARRY_BUILD"],
                           "compile_commands.json")) as f:
        for entry in json.load(f):
            if entry["file"].endswith("src/cli/main.c"):
                words = entry["command"].split()
                return [w for i, w in enumerate(words)
                        if w.startswith(("-I", "-D", "-std")) or
                        words[i - 1] == "-isystem" or w == "-isystem"]
    raise AssertionError("main.c is not built")


def code(path):
    with open(os.path.join(SRC, path)) as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def words_of(path):
    """The names that may stand behind tarry__ in this header."""
    if path == AS_IN_C:
        yield from re.findall(r"^double tarry__(\w+)\(double", code(path), re.M)
    parts = path[:-2].split("/")
    for word in parts + [parts[-1].replace("_kernel", ""),
                         parts[-1].replace("_type", ""),
                         parts[-1].split("_")[0]]:
        yield word
        yield word + "s"


class Names(unittest.TestCase):
    def test_all_internal_headers_fit_into_one_unit(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = os.path.join(folder, "all.c")
            with open(unit, "w") as f:
                for path in headers():
                    f.write('#include "%s"\n' % path)
            done = subprocess.run(
                ["cc", "-fsyntax-only", "-Wall", "-Wextra", "-fopenmp",
                 "-Wno-unused-function", "-Werror", *flags(), unit],
                stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_shared_name_tells_where_it_lives(self):
        where = {}
        for path in headers():
            for name in re.findall(r"\b(?:tarry|TARRY)__(\w+)", code(path)):
                where.setdefault(name.lower(), set()).add(path)
        strays = {
            name: sorted(paths) for name, paths in where.items()
            if not any(name == word or name.startswith(word + "_")
                       for path in paths for word in words_of(path))}
        self.assertEqual(strays, {})


if __name__ == "__main__":
    unittest.main()
