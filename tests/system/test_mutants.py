"""A few wrong algorithms: the rows of `tarry paper` notice them."""
import os
import subprocess
import unittest

from lab import SANITIZED

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


class Mutants(unittest.TestCase):
    def test_every_text_to_be_replaced_is_there_once(self):
        done = subprocess.run([os.path.join(ROOT, "tools/mutants/run"),
                               "--check"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipIf(SANITIZED, "a row takes its time there")
    def test_rows_notice(self):
        done = subprocess.run([os.path.join(ROOT, "tools/mutants/run"),
                               "--quick", os.environ["TARRY_BUILD"]],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
