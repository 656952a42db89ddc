"""`tarry serve` in a folder of its own, for tests."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from ports import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TARRY = os.path.abspath(os.environ["TARRY"])
WAIT_S = 300  # until it is ready, on a busy machine


class Service:
    """With options of its own; `before` comes before the program's name."""

    def __init__(self, *options, before=()):
        self.folder = tempfile.mkdtemp()
        self.port = free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        self.command = [*before, TARRY, "serve", "--listen",
                        "127.0.0.1:%d" % self.port, *options]
        if "--store" not in options:
            self.command += ["--store", "sqlite:" + os.path.join(
                self.folder, "tarry.db")]
        self.process = None

    def start(self):
        self.log = open(os.path.join(self.folder, "log"), "a")
        self.process = subprocess.Popen(self.command, cwd=self.folder,
                                        stdout=self.log, stderr=self.log)
        end = time.time() + WAIT_S
        while True:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return self
            except OSError:
                pass
            if self.process.poll() is not None or time.time() > end:
                with open(self.log.name) as log:
                    raise AssertionError("it does not start: " + log.read())
            time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def stop(self):
        """Ends it as an init system would; it must end well."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=WAIT_S)
        self.log.close()
        with open(self.log.name) as log:
            said = log.read()
        shutil.rmtree(self.folder, ignore_errors=True)
        if code != 0:
            raise AssertionError("exit code %d: %s" % (code, said[-4000:]))

    def __enter__(self):
        return self.start()

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.stop()

    def ask(self, method, path, body=None, token=None, headers=()):
        """Status, headers, and the body as JSON if it is."""
        data = body if body is None or isinstance(body, bytes) \
            else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, dict(headers),
                                         method=method)
        if token is not None:
            request.add_header("Authorization", "Bearer " + token)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                return (answer.status, answer.headers,
                        parsed(answer.headers, answer.read()))
        except urllib.error.HTTPError as answer:
            return (answer.code, answer.headers,
                    parsed(answer.headers, answer.read()))

    def get(self, path):
        status, _, body = self.ask("GET", path)
        assert status == 200, (path, status, body)
        return body

    def create(self, name, arms=None, **more):
        arms = arms or [{"name": "red", "features": [1, 0]},
                        {"name": "blue", "features": [0, 1]}]
        status, _, body = self.ask("POST", "/v1/experiments",
                                   {"name": name, "arms": arms, **more})
        assert status == 201, body


def parsed(headers, data):
    if re.search(r"\bjson\b", headers.get("Content-Type", "")) and data:
        return json.loads(data)
    return data.decode(errors="replace")
