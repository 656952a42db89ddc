"""Rough handling from outside: closed streams, lost pipes, limits, folders in
the place of files, bytes that are no text, narrow terminals."""
import fcntl
import itertools
import os
import pty
import re
import resource
import struct
import subprocess
import termios
import unittest

import lab
from lab import SANITIZED, TARRY, LabTest, answer, tarry

RUN = ["run", "--instance", "sphere:dim=2,arms=4", "--horizon", "1000",
       "--runs", "2", "--policy", "uniform", "--policy", "lints"]
ONE_LINE = r"^tarry: [^\n]+\n$"


def closed(*descriptors):
    def close():
        for fd in descriptors:
            os.close(fd)
    return close


class Streams(LabTest):

    def start(self, *arguments, **more):
        return subprocess.run([TARRY, *arguments], timeout=60, **more)

    def test_a_closed_stdout_is_an_error_and_spoils_no_file(self):
        journal, good = self.path("journal"), self.path("good")
        self.assertEqual(tarry(*RUN, "--resume", good).returncode, 0)
        done = self.start(*RUN, "--resume", journal, stderr=subprocess.PIPE,
                          preexec_fn=closed(1))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), ONE_LINE)
        with open(journal) as file, open(good) as other:
            self.assertEqual(file.readline(), other.readline())
            self.assertNotIn("policy   ", file.read())
        self.assertEqual(tarry(*RUN, "--resume", journal).returncode, 0)

    def test_what_a_closed_stderr_would_say_spoils_no_file(self):
        journal = self.path("journal")
        with open("/dev/full", "wb") as full:
            done = self.start(*RUN, "--resume", journal, stdout=full,
                              preexec_fn=closed(2))
        self.assertEqual(done.returncode, 1)
        with open(journal) as file:
            self.assertNotIn("tarry:", file.read())
        self.assertEqual(tarry(*RUN, "--resume", journal).stderr, "")

    def test_an_export_to_a_full_disk_says_so(self):
        arms, store = self.write("arms.csv", "a,1,0\nb,0,1\n"), self.path("s")
        self.assertEqual(tarry("pipe", "--arms", arms, "--policy", "uniform",
                               "--confidence", "0.9", "--store", store,
                               input="choose 300\n").returncode, 0)
        for form in ((), ("--json",)):
            with open("/dev/full", "wb") as full:
                done = self.start("store", "export", *form, store, stdout=full,
                                  stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, b"tarry: cannot write to standard "
                             b"output: No space left on device\n")

    def test_closed_streams_of_any_kind_are_survived(self):
        for fds in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            with self.subTest(fds):
                csv = self.path("out.csv")
                done = self.start(*RUN, "--csv", csv, preexec_fn=closed(*fds),
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 1 if 1 in fds else 0)
                if os.path.exists(csv):
                    with open(csv) as file:
                        self.assertRegex(file.readline(), "^policy,run,")
                    os.remove(csv)
        done = self.start("design", "-", preexec_fn=closed(0),
                          capture_output=True)
        self.assertEqual(done.returncode, 2)

    def test_a_lost_pipe_is_an_error_not_a_death(self):
        for arguments in (["list"], [*RUN, "--json"]):
            read, write = os.pipe()
            os.close(read)
            done = self.start(*arguments, stdout=write, stderr=subprocess.PIPE)
            os.close(write)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), "Broken pipe")
            self.assertRegex(done.stderr.decode(), ONE_LINE)

    @unittest.skipIf(SANITIZED, "the sanitizers write files too")
    def test_a_limit_on_files_is_an_error_not_a_death(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        csv = self.path("out.csv")
        done = self.start(*RUN, "--csv", csv, preexec_fn=limit,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), "File too large")
        self.assertEqual(os.listdir(self.folder), [])


class Memory(LabTest):

    @unittest.skipIf(SANITIZED, "sanitizers need all of the address space")
    def test_a_small_address_space_gives_an_answer_or_one_line(self):
        arms = self.write("arms.csv", "1,0\n0,1\n1,1\n")
        seen = set()
        for megabytes, kind in itertools.product(
                (16, 22, 24, 26, 28, 30, 40, 60, 100, 400),
                (resource.RLIMIT_AS, resource.RLIMIT_DATA)):
            def limit():
                size = megabytes << 20
                resource.setrlimit(kind, (size, size))
            for arguments in (["--version"], ["list"], ["run", "--help"],
                              ["design", arms], RUN):
                done = subprocess.run([TARRY, *arguments], preexec_fn=limit,
                                      capture_output=True, timeout=60)
                self.assertIn(done.returncode, (0, 1, 127), megabytes)
                if megabytes >= 60 and arguments[-1] in ("--version", "list",
                                                          "--help"):
                    self.assertEqual(done.returncode, 0)
                if done.returncode == 1:
                    self.assertRegex(done.stderr.decode(), ONE_LINE)
                seen.add(done.returncode)
        self.assertTrue({0, 1} <= seen)

    @unittest.skipIf(SANITIZED, "sanitizers need all of the address space")
    def test_nobody_waits_for_memory_that_never_comes(self):
        large = [*RUN, "--instance", "sphere:dim=40,arms=80", "--horizon",
                 "100", "--policy", "recommended", "--threads", "9"]
        codes = set()
        for megabytes, kind in itertools.product(
                (24, 26, 28, 30, 34, 50, 100, 700),
                (resource.RLIMIT_AS, resource.RLIMIT_DATA)):
            def limit():
                size = megabytes << 20
                resource.setrlimit(kind, (size, size))
            done = subprocess.run([TARRY, *large], preexec_fn=limit,
                                  capture_output=True, timeout=60)
            self.assertIn(done.returncode, (0, 1))
            if done.returncode == 1:
                self.assertRegex(done.stderr.decode(), ONE_LINE)
            codes.add(done.returncode)
        self.assertEqual(codes, {0, 1})

    @unittest.skipIf(SANITIZED, "sanitizers need larger stacks")
    def test_a_small_stack_is_raised_or_one_line_says_it_cannot_be(self):
        for most, code in ((1 << 30, 0), (1 << 20, 0), (64 << 10, 1)):
            def limit():
                resource.setrlimit(resource.RLIMIT_STACK, (32 << 10, most))
            for arguments in (["bound"], [*RUN, "--threads", "2"]):
                done = subprocess.run([TARRY, *arguments], preexec_fn=limit,
                                      capture_output=True, timeout=60)
                self.assertEqual(done.returncode, code, done.stderr)
                if code != 0:
                    self.assertRegex(done.stderr.decode(), r"ulimit -s")
                    self.assertRegex(done.stderr.decode(), ONE_LINE)

    def test_more_threads_than_openmp_bears_are_not_started(self):
        done = subprocess.run(
            [TARRY, *RUN], capture_output=True, timeout=60,
            env=dict(os.environ, OMP_NUM_THREADS="100000"))
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Input(LabTest):

    def test_a_folder_in_the_place_of_a_file_is_called_so(self):
        for arguments in (["design", "/"], ["run", "/"],
                          ["plot", "/", "--out", "x.svg"],
                          ["pipe", "--restore", "/"],
                          ["run", "--delay", "empirical:file=/"],
                          [*RUN, "--csv", "/tmp"], [*RUN, "--resume", "/tmp"]):
            with self.subTest(arguments):
                self.refused(*arguments, says=["Is a directory"])

    def test_what_never_ends_is_refused_and_named(self):
        for path in ("/dev/zero", "/dev/urandom"):
            for arguments in (["design"], ["run"], ["plot", "--out", "x.svg"],
                              ["examine"], ["pipe", "--restore"],
                              ["pipe", "--arms"], ["run", "--resume"],
                              ["pipe", "--store"], ["serve", "--tokens"],
                              ["serve", "--config"]):
                with self.subTest(arguments):
                    self.refused(*arguments, path, says=path,
                                 cwd=self.folder, timeout=60,
                                 env={**os.environ,
                                      "TARRY_LISTEN": "127.0.0.1:0"})
        self.refused("run", "--delay", "script:file=/dev/zero", "--resume",
                     self.path("journal"), says="/dev/zero", timeout=60)

    def test_a_pipe_that_nobody_writes_to_is_empty(self):
        os.mkfifo(self.path("pipe"))
        for command in ("design", "run", "examine"):
            self.refused(command, self.path("pipe"), says=self.path("pipe"),
                         timeout=60)

    def test_who_waits_for_a_reader_can_be_stopped(self):
        os.mkfifo(self.path("pipe"))
        job = subprocess.Popen([TARRY, "run", "--horizon", "100", "--runs", "1",
                                "--policy", "uniform", "--csv",
                                self.path("pipe")],
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
        self.addCleanup(job.kill)
        with self.assertRaises(subprocess.TimeoutExpired):
            job.wait(2)
        job.terminate()
        _, says = job.communicate(timeout=60)
        self.assertIn(job.returncode, (1, 130, 143))
        self.assertRegex(says.decode(), ONE_LINE)

    def test_a_line_that_never_ends_is_refused(self):
        arms = self.write("arms.csv", "1,0\n0,1\n")
        done = subprocess.run([TARRY, "pipe", "--arms", arms], timeout=60,
                              input=b"choose\n" + b"x" * (17 << 20),
                              capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertRegex(done.stderr.decode(), ONE_LINE)
        self.assertIn("more than 16 MB", done.stderr.decode())

    def test_a_pipe_beside_a_store_is_refused(self):
        arms = self.write("arms.csv", "1,0\n0,1\n")
        store = self.path("store.db")
        done = tarry("pipe", "--arms", arms, "--store", store, input="choose\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        os.mkfifo(store + "-wal")
        for arguments in (["store", "check", store], ["pipe", "--store", store],
                          ["examine", store]):
            self.refused(*arguments, says=store + "-wal: not a file",
                         timeout=60)

    def test_a_shell_can_give_pipes_for_files(self):
        files = {"arms": "1,0\n0,1\n",
                 "log": "arm,decided,reported,loss\n" + "".join(
                     f"{i % 2},{i},{i + 1 + i % 7},{i % 3 / 4}\n"
                     for i in range(600))}
        for command, name in (("design", "arms"),
                              ("examine --runs 2 --horizon 100", "log")):
            path = self.write(name, files[name])
            plain, piped = (
                subprocess.run(["bash", "-c", f"{TARRY} {command} {source}"],
                               capture_output=True, text=True)
                for source in (path, f"<(cat {path})"))
            self.assertEqual(piped.returncode, 0, piped.stderr)
            self.assertEqual(len(piped.stdout.splitlines()),
                             len(plain.stdout.splitlines()))

    def test_bytes_that_are_no_text_are_called_so(self):
        bad = b"lints:v=\xff"
        done = subprocess.run([TARRY, *RUN, "--policy", bad],
                              capture_output=True)
        self.assertEqual(done.returncode, 2)
        experiment = self.path("experiment.json")
        with open(experiment, "wb") as file:
            file.write(b'{"policy": "\xff\xfe"}')
        done = tarry("run", experiment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("decode", done.stderr)
        self.assertNotIn("memory", done.stderr)
        done = subprocess.run([TARRY, *RUN, "--json", "--instance",
                               b"file:arms=\xff"], capture_output=True)
        self.assertEqual(done.returncode, 2)

    def test_terminals_are_not_commanded(self):
        ugly = "a\x1b[31mb\x9b31mc\x07"
        for arguments in ([ugly], ["run", "--policy", ugly], ["design", ugly],
                          ["run", "--" + ugly]):
            done = tarry(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertNotRegex(done.stderr, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        arms = self.write("arms.csv", "\x1b[31mred,1,0\ngr\x9ben,0,1\nü,1,1\n")
        done = tarry("design", arms)
        self.assertEqual(done.returncode, 0)
        self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")

    def test_messages_about_numbers_do_not_speak_of_arms_only(self):
        import numpy
        path = self.path("delays.npy")
        numpy.save(path, numpy.zeros((2, 2, 2)))
        done = tarry("run", "--delay", "empirical:file=" + path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("numbers", done.stderr)


def on_terminal(columns, *arguments):
    """What the program shows on a terminal so wide."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen([TARRY, *arguments], stdin=slave, stdout=slave,
                             stderr=slave)
    os.close(slave)
    out = b""
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        out += more
    os.close(master)
    return child.wait(), out.decode()


class Terminal(LabTest):

    def test_tables_and_bars_fit_into_a_narrow_terminal(self):
        for columns in (20, 40, 80, 132):
            code, out = on_terminal(columns, *RUN[:4], "2e6", *RUN[5:])
            self.assertEqual(code, 0)
            bars = re.findall(r"\r(\[[^\r\n]*?)\x1b\[K", out)
            self.assertTrue(bars)
            for bar in bars:
                self.assertLessEqual(len(bar), max(columns, 12))
            table = out[out.rindex("\x1b[K") + 3:].split("\r\n\r\n")[1]
            self.assertEqual(len(table.splitlines()), 3)
            for line in table.splitlines():
                self.assertLessEqual(len(line), columns)

    def test_one_run_has_no_interval(self):
        done = tarry(*RUN[:5], "--runs", "1", *RUN[7:])
        row = [line for line in done.stdout.splitlines()
               if line.startswith("lints")][0].split()
        self.assertEqual((row[2], row[4]), ("-", "-"))
        said = answer(*RUN[:5], "--runs", "1", *RUN[7:])["policies"][0]
        self.assertIsNone(said["regret"]["ci95"])
        self.assertIsNone(said["above_best"]["ci95"])

    def test_numbers_are_in_one_notation(self):
        done = tarry("run", "--instance", "sphere:dim=2,arms=4", "--horizon",
                     "1e5", "--runs", "3", "--policy", "uniform")
        self.assertEqual(done.returncode, 0)
        row = [line for line in done.stdout.splitlines()
               if line.startswith("uniform")][0].split()
        self.assertNotIn("e", "".join(row[1:9]))

    def test_the_same_policy_twice_is_run_once(self):
        result = lab.run(*RUN[1:], "--policy", "lints", "--policy", "uniform")
        self.assertEqual([p["name"] for p in result["policies"]],
                         ["uniform", "lints"])


class PublicFunctions(unittest.TestCase):

    def test_every_exported_function_has_met_nonsense(self):
        library = os.path.join(os.environ["TARRY_BUILD"], "libtarry.so")
        names = subprocess.run(["nm", "-D", "--defined-only", library],
                               capture_output=True, text=True).stdout
        exported = set(re.findall(r" T (tarry_[a-z0-9_]+)", names))
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "api", "test_nonsense.c")) as file:
            called = set(re.findall(r"\b(tarry_[a-z0-9_]+)\(", file.read()))
        self.assertEqual(exported - called, set())

    @unittest.skipIf(SANITIZED, "of release builds")
    def test_release_builds_are_hardened(self):
        for name in ("tarry", "libtarry.so"):
            path = os.path.join(os.environ["TARRY_BUILD"], name)
            dynamic = subprocess.run(["readelf", "-Wdl", path],
                                     capture_output=True, text=True).stdout
            self.assertIn("GNU_RELRO", dynamic)
            self.assertRegex(dynamic, "BIND_NOW|NOW")
            self.assertNotRegex(dynamic, r"GNU_STACK.*RWE")
            symbols = subprocess.run(["nm", "-D", path], capture_output=True,
                                     text=True).stdout
            self.assertIn("__stack_chk_fail", symbols)
            self.assertRegex(symbols, r"__\w+_chk\b")


if __name__ == "__main__":
    unittest.main()
