"""Talks to `tarry pipe` for the tests in this folder."""
import json
import os
import subprocess
import tempfile

TARRY = os.path.abspath(os.environ.get("TARRY", "build/tarry"))
POLICIES = ["phased-stochastic", "phased-adversarial", "phased-loss-dependent",
            "phased-mab"]
BATCH = 500  # lines on the way at a time: less than the pipe's buffer holds


def run(*arguments, **options):
    """A whole run of the program: exit code, standard output and error."""
    done = subprocess.run([TARRY, *map(str, arguments)], capture_output=True,
                          **options)
    return done.returncode, done.stdout, done.stderr.decode()


class Folder(tempfile.TemporaryDirectory):
    """A folder that goes away, with paths and arm files in it."""

    def __enter__(self):
        return self

    def path(self, name):
        return os.path.join(self.name, name)

    def arms(self, rows, name="arms.csv"):
        with open(self.path(name), "w") as file:
            for row in rows:
                file.write(",".join(repr(float(x)) for x in row) + "\n")
        return self.path(name)


class Pipe:
    """One running `tarry pipe`."""

    def __init__(self, *options, cwd=None, env=None):
        self.process = subprocess.Popen(
            [TARRY, "pipe", *map(str, options)], cwd=cwd, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def ask(self, lines):
        """Sends lines in batches; gives their answers."""
        answers = []
        for start in range(0, len(lines), BATCH):
            batch = lines[start:start + BATCH]
            self.send("".join(line + "\n" for line in batch).encode())
            answers += [self.answer() for _ in batch]
        return answers

    def one(self, line):
        return self.ask([line])[0]

    def many(self, line):
        """The answers to a line that has many, to its `ok COUNT`."""
        answers = [self.one(line)]
        while not answers[-1].startswith(("ok ", "error ")):
            answers.append(self.answer())
        return answers

    def choose(self, count):
        """`count` choices, as pairs (id, arm)."""
        return [tuple(map(int, answer.split()))
                for answer in self.ask(["choose"] * count)]

    def status(self):
        return json.loads(self.one("status"))

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), "no answer, but %r; %s" % (
            line, self.process.stderr.read().decode())
        return line[:-1].decode(errors="backslashreplace")

    def end(self):
        """Ends the input: exit code, left-over output and error text."""
        with self.process as process:  # closes the pipes and waits
            process.stdin.close()
            out, error = process.stdout.read(), process.stderr.read()
        return process.returncode, out, error.decode()

    def kill(self):
        self.process.kill()
        self.end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.kill()
