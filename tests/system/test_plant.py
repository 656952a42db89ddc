"""tools/plant: defects that tests notice are told from those they do not."""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools/plant")

# A tree of one program, whose test sees that 2 + 3 is 5, and nothing of a sum
# that is read behind its end unless there are sanitizers.
BUILD = """cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES C)
enable_testing()
if(TARRY_SANITIZE)
    add_compile_options(-fsanitize=${TARRY_SANITIZE})
    add_link_options(-fsanitize=${TARRY_SANITIZE})
endif()
add_executable(small src/base/base.c)
add_test(NAME small COMMAND small 2 3 5)
add_test(NAME broken COMMAND small 2 3 6)
"""
SOURCE = """/* Adds two numbers. */
int tarry__planted(int);
#include <stdlib.h>
int main(int count, char **word)
{
    int sum = atoi(word[1]) + atoi(word[2]) + tarry__planted(0);
    if (sum > 1000 + tarry__planted(5))
        sum += tarry__planted(1);
    volatile int kept[2] = {sum};
    (void)kept[2 * tarry__planted(4)];
    if (count != 4 + 7 * tarry__planted(2))
        return 2;
    return sum != atoi(word[3]) && !tarry__planted(3);
}
"""
# One place of each kind; the array's size and the `case` are none.
PLACES = """static int table[3];
int judge(int a, double b)
{
    static const int limit = 4;
    table[1] = a;
    switch (a) {
    case 5:
        b += 0.25;
    }
    if (a < limit)
        return a && b;
    return 0;
}
"""


class Plant(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.tree)
        os.makedirs(os.path.join(self.tree, "src/base"))

    def write(self, name, text):
        with open(os.path.join(self.tree, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_what_is_noticed_is_told_from_what_is_not(self):
        self.write("CMakeLists.txt", BUILD)
        self.write("src/base/base.c", SOURCE)
        nothing = {key: value for key, value in os.environ.items()
                   if not key.startswith("TARRY_PLANTED")}
        done = subprocess.run([TOOL, "--tree", self.tree], env=nothing,
                              stdout=subprocess.PIPE, text=True, check=True)
        lines = done.stdout.splitlines()
        self.assertEqual([re.sub(r": src.*", "", line) for line in lines],
                         ["fails with nothing planted, not used: broken",
                          "0 found by small", "2 found by small",
                          "4 found by small", "1 MISSED by 0 tests",
                          "3 MISSED by 0 tests", "5 MISSED by 1 tests",
                          "3 found, 3 missed"])

    def test_every_kind_of_place_is_found_and_compiles(self):
        loader = importlib.machinery.SourceFileLoader("plant", TOOL)
        plant = importlib.util.module_from_spec(
            importlib.util.spec_from_loader("plant", loader))
        loader.exec_module(plant)
        self.write("judge.c", PLACES)
        source = PLACES.encode()
        found = plant.places(self.tree, "judge.c", source, [])
        self.assertEqual(sorted(d.what for d in found), sorted([
            "0 -> 0 + 1", "1 -> 1 + 1", "0.25 -> 2 * 0.25",
            "without table[1] = a", "without b += 0.25",
            "b += 0.25 -> b -= 0.25",
            "if (a < limit) never", "if (a < limit) always",
            "a < limit -> a <= limit", "a && b -> a || b",
            "return a && b -> return 0"]))
        command = "cc -o judge.o -c judge.c"
        for defect in found:
            planted = plant.with_defects(source, [(7, defect)])
            self.assertIn(b"tarry__planted(7)", planted)
            self.assertTrue(plant.compiles(self.tree, command, planted), defect)
        self.assertFalse(plant.compiles(self.tree, command, b"int f( {"))


if __name__ == "__main__":
    unittest.main()
