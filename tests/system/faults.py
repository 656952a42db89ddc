"""Commands whose k-th call fails: what tests of faults share.

By default some k are tried; TARRY_CAMPAIGN=1 tries all."""
import errno
import os
import re
import subprocess

from lab import CAMPAIGN as ALL
from lab import TARRY, LabTest

LIBRARY = os.path.join(os.environ["TARRY_BUILD"], "tests", "libfaults.so")
SHORT = 0
ERROR = r"^(tarry: |\n?libgomp: )[^\n]+\n$"
#: what may fail, and how; a short write is none of the caller's business
FAULTS = [(call, code, ever)
          for call, codes in (
              ("alloc", (errno.ENOMEM,)),
              ("open", (errno.EIO, errno.EMFILE, errno.EINTR)),
              ("read", (errno.EIO, errno.EINTR, SHORT)),
              ("write", (errno.EIO, errno.ENOSPC, errno.EINTR, SHORT)),
              ("fsync", (errno.EIO, errno.ENOSPC, errno.EINTR)),
              ("rename", (errno.EIO, errno.ENOSPC)),
              ("close", (errno.EIO, errno.ENOSPC, errno.EINTR)))
          for code in codes for ever in (False, True)
          if not (ever and code == errno.EINTR)]


def timeless(text):
    """What a command printed, without what depends on the clock."""
    return re.sub(r'"(rounds_per_second|seconds)": ?[-+.e0-9]+', "", text)


def content(path):
    if not os.path.exists(path):
        return None
    with open(path, errors="replace") as file:
        return file.read()


def counts_in(path):
    """What tests/faults.c has counted: calls of each kind."""
    with open(path) as file:
        return {call: int(n) for call, n in map(str.split, file)}


class FaultTest(LabTest):
    some = 5        #: k of each fault, unless all are tried
    most = 10 ** 9  #: k of each fault at most, also if all are tried

    @staticmethod
    def environment(**fault):
        return {**os.environ, "LD_PRELOAD": LIBRARY,
                "OMP_NUM_THREADS": "1",
                **{"FAULT_" + key.upper(): str(value)
                   for key, value in fault.items()}}

    def start(self, arguments, input="", **fault):
        return subprocess.run([TARRY, *arguments], input=input, text=True,
                              capture_output=True, timeout=120,
                              env=self.environment(**fault))

    def count(self, arguments, input):
        """How many calls of each kind a run without faults makes."""
        name = self.path("count")
        self.start(arguments, input, at=0, count=name)
        counts = counts_in(name)
        os.remove(name)
        return counts

    def ways(self, arguments, input, prepare):
        """Every fault that there is a call for, as settings."""
        prepare()
        counts = self.count(arguments, input)
        for number, (call, code, ever) in enumerate(FAULTS):
            n = counts[call]
            step = max(1, n / (self.most if ALL else self.some))
            # faults of one call begin at different k
            tried = step * (number % 5) / 5 if step > 1 else 0.0
            while tried < n:
                yield {"call": call, "at": int(tried) + 1, "error": code,
                       **({"ever": 1} if ever else {})}
                tried += step

    def check_code(self, done, call, error, **_):
        """What can be tried again is; what may not be on the disk is no
        success, be it a file or the folder it stands in."""
        self.assertIn(done.returncode, (0, 1) if call == "alloc" else (0, 1, 2),
                      done.stderr)
        if error in (SHORT, errno.EINTR) and call in ("write", "fsync",
                                                      "close"):
            self.assertEqual(done.returncode, 0, done.stderr)
        elif call == "fsync":
            self.assertNotEqual(done.returncode, 0)

    def files_in(self, folder):
        """What stands in a folder, by name."""
        return {os.path.relpath(os.path.join(where, name), folder):
                content(os.path.join(where, name))
                for where, _, names in os.walk(folder) for name in names}
