"""Results have the same bits on every processor: of the C library's
mathematical functions only those are called that are exact everywhere.

Needs TARRY_BUILD.
"""
import glob
import os
import re
import subprocess
import unittest

BUILD = os.environ["TARRY_BUILD"]
# Exact, or correctly rounded by IEEE 754, in every variant.
EXACT = {"ceil", "copysign", "fabs", "floor", "fmax", "fmin", "fmod", "frexp",
         "ilogb", "ldexp", "llrint", "llround", "lrint", "lround", "modf",
         "nearbyint", "nextafter", "remainder", "rint", "round", "scalbln",
         "scalbn", "sqrt", "trunc"}


def symbols(path, which):
    lines = subprocess.run(["nm", "-D", which, path], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def library_of_math(path):
    needed = subprocess.run(["ldd", path], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return re.search(r"libm\.so\.\S+ => (\S+)", needed)[1]


class Symbols(unittest.TestCase):
    def test_mathematical_functions_of_the_c_library_are_exact_ones(self):
        paths = [os.path.join(BUILD, name) for name in
                 ("libtarry.so", "tarry", "tarry-mpi")] + \
            glob.glob(os.path.join(BUILD, "python", "tarry", "_tarry*.so"))
        offered = symbols(library_of_math(paths[0]), "--defined-only")
        self.assertLess(EXACT | {"exp", "pow", "sincos"}, offered)
        for path in filter(os.path.exists, paths):
            with self.subTest(os.path.basename(path)):
                taken = symbols(path, "--undefined-only") & offered
                self.assertEqual(taken - EXACT, set(),
                                 "base/elementary.h has its own of these")


if __name__ == "__main__":
    unittest.main()
