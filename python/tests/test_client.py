"""The client against a small service that keeps the contract, and loses
answers, refuses and goes away on demand."""
import asyncio
import json
import os
import signal
import socket
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import tarry


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *unused):
        pass

    def answer(self, status, body, **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def problem(self, status, code, detail, **headers):
        self.answer(status, {"type": "about:blank", "title": code,
                             "status": status, "detail": detail, "code": code},
                    Content_Type="application/problem+json", **headers)

    def do_GET(self):
        self.serve(None)

    def do_DELETE(self):
        self.serve(None)

    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        self.serve(json.loads(self.rfile.read(size) or b"null"))

    def serve(self, body):
        s = self.server
        with s.lock:
            s.calls.append((self.command, self.path, body))
            trouble = s.troubles.pop(0) if s.troubles else None
            if trouble == "busy":
                return self.problem(503, "store", "disk full", Retry_After=0)
            if isinstance(trouble, int):
                return self.problem(trouble, "trouble", "of this kind")
            if s.token and self.headers.get("Authorization") != \
                    "Bearer " + s.token:
                return self.problem(401, "unauthorized", "no token")
            status, answer = s.handle(self.command, self.path, body)
        if trouble == "lost":  # done, but nobody is told
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif isinstance(answer, dict) and "code" in answer:
            self.problem(status, answer["code"], answer["detail"])
        else:
            self.answer(status, answer)


class Fake(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Service)
        self.lock, self.calls, self.troubles = threading.Lock(), [], []
        self.decisions, self.outcomes, self.token = {}, {}, None
        threading.Thread(target=self.serve_forever, args=(0.01,),
                         daemon=True).start()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.server_port

    def decide(self, id):
        new = id not in self.decisions
        if new:
            self.decisions[id] = {
                "id": id, "arm": "red", "probability": 0.5,
                "round": len(self.decisions) + 1, "decided_at": "now"}
        return new, self.decisions[id]

    def take(self, item):
        value = item.get("loss", item.get("reward"))
        if item["id"] not in self.decisions:
            return "unknown"
        if not 0 <= value <= 1:
            return "invalid"
        known = self.outcomes.setdefault(item["id"], value)
        status = "applied" if item["id"] not in self.told else \
            "duplicate" if known == value else "conflict"
        self.told.add(item["id"])
        return status

    told = set()

    def handle(self, method, path, body):
        if path == "/v1/experiments" and method == "POST":
            return 201, body
        if path.endswith("/decisions") and "count" in body:
            start = len(self.decisions)
            return 201, {"decisions": [self.decide("shop:%d" % (start + i))[1]
                                       for i in range(body["count"])]}
        if path.endswith("/decisions"):
            new, decision = self.decide(body["id"])
            return 201 if new else 200, decision
        if path == "/v1/feedback" and isinstance(body, list):
            return 200, {"results": [{"id": item["id"],
                                      "status": self.take(item)}
                                     for item in body]}
        if path == "/v1/feedback":
            status = self.take(body)
            codes = {"unknown": 404, "conflict": 409, "invalid": 422}
            if status in codes:
                return codes[status], {"code": status, "detail": status}
            return 200, {"id": body["id"], "status": status}
        if path.endswith("/log"):
            return 200, b'{"a": 1}\n{"a": 2}\n'
        if path == "/readyz" or path == "/metrics":
            return 200, b"tarry_build_info 1\n"
        return 200, {"path": path}


@pytest.fixture
def service():
    Fake.told = set()
    fake = Fake()
    yield fake
    fake.shutdown()
    fake.server_close()


@pytest.fixture
def client(service):
    return tarry.Client(service.url, pause=0.001)


def test_a_decision_and_its_outcome(service, client):
    client.create("shop", {"red": [1, 0], "blue": [0, 1]}, range=(0, 1),
                  objective="maximize", horizon=1e6)
    body = service.calls[-1][2]
    assert body["arms"][0] == {"name": "red", "features": [1, 0]}
    assert body["horizon"] == 1000000 and "seed" not in body
    d = client.decide("shop")
    assert d.arm == "red" and d.probability == 0.5
    assert client.report(d.id, reward=1) == "applied"
    assert client.report(d.id, reward=1) == "duplicate"
    with pytest.raises(tarry.ServiceError) as error:
        client.report(d.id, reward=0)
    assert error.value.status == 409 and error.value.code == "conflict"


def test_what_was_lost_is_asked_again_with_the_same_id(service, client):
    service.troubles = ["lost", "busy", "lost"]
    d = client.decide("shop")
    ids = [body["id"] for _, _, body in service.calls]
    assert len(ids) == 4 and set(ids) == {d.id}
    assert len(service.decisions) == 1
    service.troubles = ["lost"]
    assert client.report(d.id, 0.5) == "duplicate"  # the first one counted
    assert service.outcomes == {d.id: 0.5}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_will_pass_is_waited_for(service, client, status):
    service.troubles = [status]
    assert client.decide("shop", id="a").id == "a"
    assert len(service.calls) == 2
    service.troubles = [status] * 9
    with pytest.raises(tarry.Unreachable, match="of this kind"):
        client.report("a", 0.5)
    assert len(service.calls) == 8  # the first try and five more


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415,
                                    422, 500, 501])
def test_what_will_not_pass_is_said_at_once(service, client, status):
    service.troubles = [status]
    with pytest.raises(tarry.ServiceError, match="of this kind") as error:
        client.decide("shop", id="a")
    assert error.value.status == status and error.value.code == "trouble"
    assert len(service.calls) == 1


def test_an_id_of_ones_own_is_sent_as_it_is(service, client):
    for id in ("", "0", "a b/c", "\u00e9"):
        assert client.decide("shop", id=id).id == id


def test_a_batch_of_decisions_is_not_asked_for_twice(service, client):
    service.troubles = ["busy"]
    assert len(client.decide_many("shop", 3)) == 3
    service.troubles = ["lost"]
    with pytest.raises(tarry.Unreachable):
        client.decide_many("shop", 3)
    assert len(service.decisions) == 6  # they are pending there


def test_batches_of_outcomes_are_cut_and_refusals_said(service, client):
    ids = [d.id for d in client.decide_many("shop", 2500)]
    before = len(service.calls)
    results = client.report_many([(id, 0.5) for id in ids] + [("x", 0.5),
                                                              (ids[0], 7)])
    assert len(service.calls) - before == 3
    assert [r["status"] for r in results[:2500]] == ["applied"] * 2500
    assert [r["status"] for r in results[2500:]] == ["unknown", "invalid"]


def test_outcomes_survive_an_outage_in_the_spool(service, tmp_path):
    spool = tmp_path / "spool"
    port = service.server_port
    client = tarry.Client(service.url, retries=1, pause=0.001, spool=spool)
    ids = [client.decide("shop").id for _ in range(4)]
    service.shutdown()
    service.server_close()
    client.close()
    assert client.report(ids[0], 0.25) == "spooled"
    assert [r["status"] for r in client.report_many(
        [(ids[1], 0.5), (ids[2], 0.75)])] == ["spooled"] * 2
    with pytest.raises(tarry.Unreachable):
        client.flush()
    assert len(spool.read_text().splitlines()) == 3
    later = Fake(port)
    later.decisions = service.decisions
    fresh = tarry.Client(service.url, retries=1, pause=0.001, spool=spool)
    assert fresh.report(ids[3], 1) == "applied"  # after those that waited
    assert later.outcomes == dict(zip(ids, [0.25, 0.5, 0.75, 1]))
    assert spool.read_text() == "" and fresh.flush() == []
    later.shutdown()
    later.server_close()


@pytest.mark.parametrize("done", [0, 1, 2])
def test_an_outage_within_a_list_spools_all_that_is_left(service, tmp_path,
                                                         done):
    spool = tmp_path / "spool"
    client = tarry.Client(service.url, retries=0, pause=0.001, spool=spool)
    ids = [d.id for d in client.decide_many("shop", 2500)]
    service.told = set()
    service.troubles = [None] * done + ["busy"]
    results = client.report_many([(id, 0.25) for id in ids])
    assert [r["id"] for r in results] == ids
    assert [r["status"] for r in results] == \
        ["applied"] * (1000 * done) + ["spooled"] * (2500 - 1000 * done)
    assert list(service.outcomes) == ids[:1000 * done]
    assert {r["status"] for r in client.flush()} == {"applied"}
    assert service.outcomes == dict.fromkeys(ids, 0.25)


def test_half_a_line_of_a_crash_is_not_grown_on(service, tmp_path):
    spool = tmp_path / "spool"
    client = tarry.Client(service.url, retries=0, pause=0.001, spool=spool)
    ids = [client.decide("shop").id for _ in range(3)]
    spool.write_text('{"id": "%s", "loss": 0.25}\n{"id": "' % ids[0])
    service.troubles = ["busy"]
    assert client.report(ids[1], 0.5) == "spooled"
    assert client.report(ids[2], 0.75) == "applied"
    assert service.outcomes == dict(zip(ids, (0.25, 0.5, 0.75)))
    assert spool.read_bytes() == b""


def test_a_damaged_spool_is_named_and_kept(service, tmp_path):
    spool = tmp_path / "spool"
    client = tarry.Client(service.url, retries=0, pause=0.001, spool=spool)
    for damage in (b"zonk\n", b"[]\n", b"\xff\n", b"{}\n", b"\n"):
        text = b'{"id": "a", "loss": 1}\n' + damage
        spool.write_bytes(text)
        with pytest.raises(tarry.BadInput, match="spool:2: "):
            client.report("b", 0.5)
        assert spool.read_bytes() == text


def test_an_outage_within_the_spool_leaves_it_as_it_is(service, tmp_path):
    spool = tmp_path / "spool"
    client = tarry.Client(service.url, retries=0, pause=0.001, spool=spool)
    ids = [d.id for d in client.decide_many("shop", 2500)]
    lines = "".join('{"id": "%s", "loss": 0.25}\n' % id for id in ids)
    spool.write_text(lines)
    service.troubles = [None, "busy"]
    with pytest.raises(tarry.Unreachable):
        client.flush()
    assert spool.read_text() == lines
    assert len(client.flush()) == 2500
    assert list(service.outcomes) == ids and spool.read_text() == ""


def test_ids_that_are_made_up_are_no_numbers(service, client, monkeypatch):
    """Which the service refuses; of 32 digits one in millions is one."""
    monkeypatch.setattr("uuid.uuid4", lambda: uuid.UUID(
        "12345678-1234-4123-8123-123456789012"))
    assert not client.decide("shop").id.isdigit()


@pytest.mark.skipif(
    bool(os.environ.get("TARRY_SANITIZE")),
    reason="a sanitizer's allocator may hang in a fork beside threads")
def test_a_forked_process_has_a_connection_of_its_own(service, client):
    client.decide("shop", id="before")
    children = []
    for k in range(4):
        children.append(os.fork())
        if children[-1] == 0:
            signal.alarm(20)
            try:
                for i in range(10):
                    id = "child-%d-%d" % (k, i)
                    if client.decide("shop", id=id).id != id:
                        os._exit(1)
                os._exit(0)
            finally:
                os._exit(2)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4


def test_lists_send_the_spool_first_and_refusals_are_warned_of(service,
                                                              tmp_path):
    spool = tmp_path / "spool"
    client = tarry.Client(service.url, retries=1, pause=0.001, spool=spool)
    ids = [client.decide("shop").id for _ in range(3)]
    spool.write_text("".join('{"id": "%s", "loss": 0.25}\n' % id
                             for id in (ids[0], "nobody")))
    with pytest.warns(UserWarning, match="1 outcomes .* 'nobody' is unknown"):
        results = client.report_many([(ids[1], 0.5), (ids[2], 0.75)])
    assert [r["status"] for r in results] == ["applied"] * 2
    assert list(service.outcomes) == ids and spool.read_text() == ""


def test_tokens_and_problems(service, client):
    service.token = "secret"
    with pytest.raises(tarry.ServiceError, match="no token") as error:
        client.experiments()
    assert error.value.status == 401 and len(service.calls) == 1
    ok = tarry.Client(service.url, token="secret")
    assert ok.experiment("a b/c")["path"] == "/v1/experiments/a%20b%2Fc"
    assert ok.pending("shop", 5)["path"].endswith("/pending?limit=5")
    assert list(ok.log("shop")) == [{"a": 1}, {"a": 2}]
    assert ok.is_ready() and "tarry_build_info" in ok.metrics()


def test_a_service_that_is_not_there_is_named():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d" % s.getsockname()[1]
        client = tarry.Client(url, retries=1, pause=0.001)
        with pytest.raises(tarry.Unreachable, match=url):
            client.experiments()
        assert not client.is_ready()
        with pytest.raises(ConnectionError):
            client.report("x", 0.5)


def test_the_asynchronous_client(service):
    async def work():
        async with tarry.AsyncClient(service.url) as client:
            decisions = await asyncio.gather(
                *(client.decide("shop") for _ in range(20)))
            results = await asyncio.gather(
                *(client.report(d.id, 0.5) for d in decisions))
            log = await client.log("shop")
            return decisions, results, log
    decisions, results, log = asyncio.run(work())
    assert len({d.id for d in decisions}) == 20
    assert set(results) == {"applied"} and len(log) == 2


def test_an_outcome_is_a_loss_or_a_reward(client):
    with pytest.raises(tarry.BadArgument):
        client.report("x")
    with pytest.raises(tarry.BadArgument):
        client.report("x", 0.5, reward=0.5)
    with pytest.raises(ValueError):
        client.report("x", float("nan"))
