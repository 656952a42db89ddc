"""Chromium without a window, driven over its debugging pipe.

Messages are JSON ended by a zero byte: file descriptor 3 takes commands, 4
gives answers and events.  Nothing is needed but Debian's chromium."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

WAIT_S = 300  # for one answer, on a busy machine


class Browser:
    def __enter__(self):
        self.profile = tempfile.mkdtemp()
        self.said = tempfile.TemporaryFile()
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", f"exec chromium --headless --no-sandbox "
             "--disable-gpu --disable-dev-shm-usage --no-first-run "
             f"--user-data-dir={self.profile} --remote-debugging-pipe "
             f"about:blank 3</proc/self/fd/{commands} "
             f"4>/proc/self/fd/{answers}"],
            pass_fds=[commands, answers], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.said)
        os.close(commands)
        os.close(answers)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        return self

    def __exit__(self, *unused):
        os.close(self.commands)  # it ends when the pipe does
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
        self.said.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        deadline = time.monotonic() + WAIT_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [],
                                        max(0, deadline - time.monotonic()))
            data = os.read(self.answers, 1 << 16) if ready else b""
            if not data:
                self.said.seek(0)
                raise AssertionError("chromium does not answer (%s): %s" % (
                    self.process.poll(), self.said.read()[-2000:]))
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, width=1200, height=900, dark=False):
        """Loads a page at a width; its events are those after this call."""
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired"
                      for e in self.events):
            self.events.append(self.receive())

    def named(self, method):
        return [e["params"] for e in self.events if e.get("method") == method]

    def complaints(self):
        """What the console shows, and errors that nobody caught."""
        return (self.named("Runtime.consoleAPICalled") +
                self.named("Runtime.exceptionThrown") +
                self.named("Log.entryAdded"))

    def requests(self):
        return [e["request"]["url"]
                for e in self.named("Network.requestWillBeSent")]

    def ask(self, expression):
        """The value of some JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer}")
        return answer["result"].get("value")

    def screenshot(self, path):
        """The whole page as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        self.save(path, shot["data"])

    def print(self, path):
        self.save(path, self.call("Page.printToPDF",
                                  preferCSSPageSize=True)["data"])

    @staticmethod
    def save(path, data):
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
