"""The client against `tarry serve` itself, with answers that get lost on the
way, a service that is killed, and one that is somewhere else."""
import asyncio
import json
import os
import random
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import tarry

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tests", "system"))
from service import Service  # noqa: E402

ARMS = {"red": [1, 0], "blue": [0, 1], "green": [0.5, 0.5]}


@pytest.fixture
def service():
    with Service() as s:
        yield s


@pytest.fixture
def client(service):
    with tarry.Client(service.url, pause=0.001) as c:
        c.create("shop", ARMS, range=(0, 1), objective="maximize", seed=3)
        yield c


class Lossy:
    """Hands requests on to a service; some answers never arrive."""

    def __init__(self, port, lost, seed=5):
        self.port, self.lost, self.draw = port, lost, random.Random(seed)
        self.drops = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.relay, args=(near,),
                             daemon=True).start()

    def relay(self, near):
        with near, socket.create_connection(("127.0.0.1", self.port)) as far:
            while True:
                request = near.recv(1 << 20)
                if not request:
                    return
                head, _, body = request.partition(b"\r\n\r\n")
                size = int(dict(line.lower().split(b": ", 1) for line in
                                head.split(b"\r\n")[1:]).get(
                                    b"content-length", 0))
                while len(body) < size:
                    more = near.recv(1 << 20)
                    request, body = request + more, body + more
                far.sendall(request)
                answer = far.recv(1 << 20)
                if self.draw.random() < self.lost:
                    self.drops += 1  # it was done, but nobody is told
                    return
                near.sendall(answer)


def test_the_whole_contract(client):
    d = client.decide("shop", "order-17")
    assert d.id == "order-17" and d.arm in ARMS and 0 < d.probability <= 1
    assert client.decide("shop", "order-17") == d
    assert client.report(d.id, reward=1) == "applied"
    assert client.report(d.id, reward=1) == "duplicate"
    with pytest.raises(tarry.ServiceError) as refusal:
        client.report(d.id, reward=0)
    assert (refusal.value.status, refusal.value.code) == (409, "conflict")
    with pytest.raises(tarry.ServiceError) as refusal:
        client.report(d.id, loss=0.5)
    assert refusal.value.status == 422
    first, second, third = (client.decide("shop").id for _ in range(3))
    client.cancel(first)
    client.expire(second)
    assert [p["id"] for p in client.pending("shop", 10)["pending"]] == [third]
    client.admit("shop", "grey", [0.1, 0.2])
    client.withdraw("shop", "red")
    assert client.status("shop")["arms"] == ["blue", "green", "grey"]
    shown = client.experiment("shop")
    assert shown["objective"] == "maximize" and shown["decisions"] == 4
    assert [e["name"] for e in client.experiments()["experiments"]] == ["shop"]
    assert client.overview("shop")["cancelled"] == 1
    assert len(list(client.log("shop"))) == len(ARMS) + 4 + 1 + 2 + 2
    assert client.is_ready() and "tarry_decisions_total" in client.metrics()
    with pytest.raises(tarry.ServiceError) as refusal:
        client.decide("nobody")
    assert refusal.value.status == 404


def test_lost_answers_count_once(service, client):
    """Every third answer is lost, of 150 decisions and their outcomes."""
    relay = Lossy(service.port, 1 / 3)
    with tarry.Client(relay.url, pause=0.001, retries=30) as far:
        ids = [far.decide("shop").id for _ in range(130)]
        for i in range(10):
            ids += [d.id for d in far.decide_many("shop", 2, "lease-%d" % i)]
        results = [far.report(id, reward=0.5) for id in ids]
    relay.listener.close()
    assert relay.drops > 50
    assert len(set(ids)) == 150
    assert set(results) <= {"applied", "late", "duplicate"}
    assert "duplicate" in results
    status = client.status("shop")
    assert (status["round"], status["pending"]) == (150, 0)
    assert client.overview("shop")["outcomes"] == 150


def test_batches(client):
    decisions = client.decide_many("shop", 2500)
    assert len({d.id for d in decisions}) == 2500
    lease = client.decide_many("shop", 50, "lease")
    assert client.decide_many("shop", 50, "lease") == lease
    assert lease[49].id == "lease.49"
    results = client.report_many([(d.id, 0.5) for d in decisions] +
                                 [("nobody", 0.5), (decisions[0].id, 1.0),
                                  (decisions[0].id, 0.5)], rewards=True)
    assert len(results) == 2503
    assert {r["status"] for r in results[:2500]} <= {"applied", "late"}
    assert [r["status"] for r in results[2500:]] == \
        ["unknown", "conflict", "duplicate"]


def test_the_spool_survives_an_outage(service, client, tmp_path):
    spool = tmp_path / "spool"
    with tarry.Client(service.url, pause=0.001, retries=1, spool=spool) as c:
        ids = [c.decide("shop").id for _ in range(40)]
        assert c.report(ids[0], reward=1) != "spooled"
        service.kill()
        assert [c.report(id, reward=1) for id in ids[1:30]] == ["spooled"] * 29
        assert {r["status"] for r in c.report_many(
            [(id, 1) for id in ids[30:]], rewards=True)} == {"spooled"}
        with pytest.raises(tarry.Unreachable):
            c.flush()
        service.start()
        # Another process would find the same file.
        with tarry.Client(service.url, spool=spool) as other:
            results = other.flush()
        assert [r["id"] for r in results] == ids[1:]
        assert {r["status"] for r in results} <= {"applied", "late"}
        assert c.flush() == [] and spool.stat().st_size == 0
        assert c.status("shop")["pending"] == 0
        assert c.overview("shop")["outcomes"] == 40


def test_the_asynchronous_client(service, client):
    async def play():
        async with tarry.AsyncClient(service.url, pause=0.001) as c:
            made = await asyncio.gather(*(c.decide("shop", "a%d" % i)
                                          for i in range(60)))
            results = await asyncio.gather(*(c.report(d.id, reward=0.25)
                                             for d in made))
            return [d.id for d in made], results
    ids, results = asyncio.run(play())
    assert ids == ["a%d" % i for i in range(60)]
    assert set(results) <= {"applied", "late"}
    assert client.status("shop")["round"] == 60


class Doorman(BaseHTTPRequestHandler):
    """Sends everybody to the owner."""
    protocol_version = "HTTP/1.1"
    owner = ""

    def log_message(self, *unused):
        pass

    def send_on(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(307)
        self.send_header("Location", self.owner + self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_DELETE = send_on


def test_the_owner_is_found(service, client):
    Doorman.owner = service.url
    door = ThreadingHTTPServer(("127.0.0.1", 0), Doorman)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d" % door.server_port
    with tarry.Client(url, pause=0.001, retries=1) as c:
        d = c.decide("shop")
        assert c.report(d.id, reward=1) == "applied"
        assert c.pending("shop", 3)["count"] == 0
        Doorman.owner = url  # one that only sends on is not followed
        with pytest.raises(tarry.Unreachable):
            c.decide("shop")
    door.shutdown()
    door.server_close()
    assert client.status("shop")["round"] == 1


class Divided(BaseHTTPRequestHandler):
    """Owns nothing: every outcome of a list is somebody else's."""
    protocol_version = "HTTP/1.1"
    owner = ""

    def log_message(self, *unused):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = b""
        if isinstance(body, list):
            data = json.dumps({"results": [
                {"id": item["id"], "status": "elsewhere"}
                for item in body]}).encode()
        self.send_response(200 if data else 307)
        self.send_header("Location", self.owner + self.path)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def test_outcomes_of_many_owners_all_arrive(service, client, tmp_path):
    Divided.owner = service.url
    door = ThreadingHTTPServer(("127.0.0.1", 0), Divided)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    ids = [d.id for d in client.decide_many("shop", 5)]
    url = "http://127.0.0.1:%d" % door.server_port
    with tarry.Client(url, pause=0.001, spool=tmp_path / "spool") as c:
        results = c.report_many([(id, 0.5) for id in ids[:3]] +
                                [("nobody", 0.5), (ids[0], 0.25), (ids[3], 7)],
                                rewards=True)
        assert [r["status"] for r in results] == \
            ["applied"] * 3 + ["unknown", "conflict", "invalid"]
        c._keep([{"id": ids[4], "reward": 0.5}])
        assert [r["status"] for r in c.flush()] == ["applied"]
    door.shutdown()
    door.server_close()
    assert client.status("shop")["pending"] == 1


def test_the_program_that_takes_the_place_of_thompson_sampling(service):
    """Both programs of docs/moving.md, as they stand there."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                        "docs", "moving.md")
    with open(path) as file:
        text = file.read()
    text = text[text.index("## Thompson sampling of your own"):]
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    second = lines.index("import tarry")
    old, new = {}, {}
    exec("\n".join(lines[:second]), old)
    exec("\n".join(lines[second:]).replace("http://127.0.0.1:8377",
                                           service.url), new)
    for i in range(40):
        old["observe"](old["choose"]("abc"), i % 2)
        d = new["choose"]()
        assert d.arm in "abc"
        new["observe"](d.id, i % 2)
    assert sum(old["wins"].values()) + sum(old["losses"].values()) == 40
    status = new["client"].status("offers")
    assert (status["round"], status["pending"]) == (40, 0)
