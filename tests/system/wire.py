"""A server under test, and a client that speaks HTTP byte by byte."""
import json
import os
import signal
import socket
import subprocess
import threading

from lab import TARRY

ARMS = [{"name": "red", "features": [1, 0]},
        {"name": "light green", "features": [0, 1]},
        {"name": "blue", "features": [0.6, 0.8]}]


def most_are_quick(seconds, least=40):
    """Whether at least half of the calls of `seconds` answer less than 0.05,
    be it after ten times as many: on a busy machine any of them may wait for
    a processor, while a tick of the server delays most of them."""
    quick = tries = 0
    while tries < least or (2 * quick < tries and tries < 10 * least):
        tries += 1
        quick += seconds() < 0.05
    return 2 * quick >= tries


class Closed(Exception):
    """The server closed the connection before it answered."""


class Answer:
    def __init__(self, status, headers, body, reason=""):
        self.status, self.headers, self.body = status, headers, body
        self.reason = reason

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return "%d %r" % (self.status, self.body[:300])


class Talk:
    """One connection."""

    def __init__(self, port, timeout=60, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def more(self):
        try:
            part = self.socket.recv(1 << 16)
        except ConnectionResetError:
            part = b""
        if not part:
            raise Closed()
        self.rest += part

    def until(self, mark):
        while mark not in self.rest:
            self.more()
        part, self.rest = self.rest.split(mark, 1)
        return part

    def exactly(self, size):
        while len(self.rest) < size:
            self.more()
        part, self.rest = self.rest[:size], self.rest[size:]
        return part

    def chunks(self):
        body = b""
        while True:
            size = int(self.until(b"\r\n"), 16)
            body += self.exactly(size)
            self.exactly(2)
            if size == 0:
                return body

    def read(self, head=False):
        """The next answer; one of 100 is passed over."""
        lines = self.until(b"\r\n\r\n").decode().split("\r\n")
        version, status, reason = lines[0].split(" ", 2)
        assert version == "HTTP/1.1", lines[0]
        if status == "100":
            return self.read(head)
        headers = {}
        for line in lines[1:]:
            name, value = line.split(": ", 1)
            assert name.lower() not in headers, line
            headers[name.lower()] = value
        if head:
            body = b""
        elif headers.get("transfer-encoding") == "chunked":
            body = self.chunks()
        else:
            body = self.exactly(int(headers["content-length"]))
        return Answer(int(status), headers, body, reason)

    def ends(self):
        """Whether the server closes, with nothing more to say."""
        try:
            while not self.rest:
                self.more()
            return False
        except Closed:
            return True

    def call(self, method, path, body=None, token=None, headers=()):
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: localhost"]
        data = b""
        if body is not None:
            data = body if isinstance(body, bytes) else \
                json.dumps(body).encode()
            lines.append("Content-Length: %d" % len(data))
        if token is not None:
            lines.append("Authorization: Bearer " + token)
        lines.extend(headers)
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        return self.read(method == "HEAD")


class Server:
    """`tarry serve` on a port of its own, in the background.  Memory that it
    has freed, or not written yet, is full of nonsense."""

    def __init__(self, folder, *options, store=None, environment=None,
                 limits=None):
        self.store = store or os.path.join(folder, "store.db")
        self.options = options
        self.environment = {"MALLOC_PERTURB_": "165", **os.environ,
                            **(environment or {})}
        self.limits = limits
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [TARRY, "serve", "--listen", "127.0.0.1:0", "--store", self.store,
             *self.options], stderr=subprocess.PIPE, text=True,
            env=self.environment, preexec_fn=self.limits)
        line = self.process.stderr.readline()
        if not line.startswith("{"):
            raise AssertionError("serve: " + line +
                                 self.process.stderr.read())
        self.port = int(json.loads(line)["detail"].rsplit(":", 1)[1])
        self.lines = [line]
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()

    def listen(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def talk(self, **more):
        return Talk(self.port, **more)

    def call(self, *arguments, **named):
        with self.talk() as talk:
            return talk.call(*arguments, **named)

    def create(self, name="colours", **more):
        body = {"name": name, "arms": ARMS, "policy": "lints", **more}
        return self.call("POST", "/v1/experiments", body)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.end()

    def end(self):
        self.reader.join()
        self.process.stderr.close()

    def said(self):
        """What it has said on stderr so far."""
        return "".join(self.lines)

    def stop(self):
        """Ends it as a system would; answers the exit code and stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.end()
        return self.process.returncode, self.said()
