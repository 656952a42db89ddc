"""The client against a small service that keeps the contract, and loses
answers, refuses and goes away on demand."""
import asyncio
import copy
import fcntl
import http.client
import json
import math
import os
import pickle
import signal
import socket
import threading
import uuid
import warnings
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
            s.headers.append(dict(self.headers))
            if s.meanwhile is not None:
                s.meanwhile()
            trouble = s.troubles.pop(0) if s.troubles else None
            if trouble == "busy":
                return self.problem(503, "store", "disk full", Retry_After=0)
            if isinstance(trouble, tuple):  # (status, body, headers)
                return self.answer(trouble[0], trouble[1], **trouble[2])
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
        self.headers, self.meanwhile = [], None
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


@pytest.mark.parametrize("status", [300, 301, 302, 303, 308, 400, 401,
                                    403, 404, 405, 409, 413, 415,
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


def test_a_log_that_is_slow_does_not_stop_the_loop(service):
    go_on = threading.Event()

    def stall():
        service.meanwhile = None
        assert go_on.wait(60)

    async def work():
        async with tarry.AsyncClient(service.url) as client:
            service.meanwhile = stall
            log = asyncio.ensure_future(client.log("shop"))
            while service.meanwhile is not None:
                await asyncio.sleep(0.001)
            go_on.set()
            return await log
    assert len(asyncio.run(work())) == 2


def test_an_outcome_is_a_loss_or_a_reward(client):
    with pytest.raises(tarry.BadArgument):
        client.report("x")
    with pytest.raises(tarry.BadArgument):
        client.report("x", 0.5, reward=0.5)
    with pytest.raises(ValueError):
        client.report("x", float("nan"))


# ---- the spool, by several at once -----------------------------------------


def while_one_sends(service, monkeypatch, do):
    """A thread that begins to `do` something while the service reads the next
    request, which goes on once that is done or waits for a lock."""
    arrived, lock = threading.Event(), fcntl.flock

    def run():
        do()
        arrived.set()
    other = threading.Thread(target=run)

    def flock(file, how):
        if threading.current_thread() is other:
            arrived.set()
        lock(file, how)

    def meanwhile():
        service.meanwhile = None
        other.start()
        assert arrived.wait(60)
    monkeypatch.setattr("fcntl.flock", flock)
    service.meanwhile = meanwhile
    return other


def test_what_is_kept_while_another_sends_the_spool_is_not_lost(
        service, tmp_path, monkeypatch):
    """The other has read the spool, and will empty it."""
    spool = tmp_path / "spool"
    sender, keeper = (tarry.Client(service.url, retries=0, pause=0.001,
                                   spool=spool) for _ in range(2))
    first, second = (sender.decide("shop").id for _ in range(2))
    sender._keep([{"id": first, "loss": 0.25}])
    other = while_one_sends(service, monkeypatch, lambda: keeper._keep(
        [{"id": second, "loss": 0.5}]))
    assert [r["id"] for r in sender.flush()] == [first]
    other.join()
    assert [r["id"] for r in keeper.flush()] == [second]
    assert service.outcomes == {first: 0.25, second: 0.5}


def test_two_that_send_the_spool_do_so_one_after_the_other(
        service, tmp_path, monkeypatch):
    spool = tmp_path / "spool"
    one, two = (tarry.Client(service.url, retries=0, pause=0.001, spool=spool)
                for _ in range(2))
    ids = [one.decide("shop").id for _ in range(3)]
    one._keep([{"id": id, "loss": 0.25} for id in ids])
    came = []
    other = while_one_sends(service, monkeypatch,
                            lambda: came.extend(two.flush()))
    assert [r["status"] for r in one.flush()] == ["applied"] * 3
    other.join()
    assert came == [] and spool.read_bytes() == b""


def test_the_spool_is_on_disk_before_anybody_is_told(service, tmp_path,
                                                     monkeypatch):
    spool, seen, sync = tmp_path / "spool", [], os.fsync
    client = tarry.Client(service.url, retries=0, pause=0.001, spool=spool)
    id = client.decide("shop").id

    def fsync(file):
        seen.append(spool.read_bytes())
        sync(file)
    monkeypatch.setattr("os.fsync", fsync)
    service.troubles = ["busy"]
    assert client.report(id, 0.5) == "spooled"
    line = spool.read_bytes()
    assert seen == [line] and json.loads(line) == {"id": id, "loss": 0.5}
    assert len(client.flush()) == 1 and seen == [line, b""]


@pytest.mark.parametrize("value", [float("nan"), float("inf"),
                                   -float("inf")])
def test_what_is_no_number_never_gets_into_the_spool(service, tmp_path, value):
    spool = tmp_path / "spool"
    client = tarry.Client(service.url, retries=0, pause=0.001, spool=spool)
    id = client.decide("shop").id
    service.troubles = ["busy"] * 9
    assert client.report(id, 0.5) == "spooled"
    line = spool.read_bytes()
    for refused in (lambda: client.report(id, value),
                    lambda: client.report(id, reward=value),
                    lambda: client.report_many([(id, 0.5), (id, value)])):
        with pytest.raises(tarry.BadArgument, match="must be a finite number"):
            refused()
        assert spool.read_bytes() == line
    service.troubles = []
    assert [r["status"] for r in client.flush()] == ["applied"]


def test_a_spool_may_hold_rewards_and_any_text(service, tmp_path):
    client = tarry.Client(service.url, retries=0, pause=0.001,
                          spool=tmp_path / "spool")
    ids = [client.decide("shop", id).id
           for id in ("a\nb", "\u00e9 \U0001f642", '"', "x" * 5000)]
    service.troubles = ["busy"] * 4
    values = [1 / 3, 0.1 + 0.2, 5e-324, 1.0]
    for id, value in zip(ids, values):
        assert client.report(id, reward=value) == "spooled"
    service.calls.clear()
    assert [r["id"] for r in client.flush()] == ids
    assert service.calls[0][2] == [{"id": id, "reward": value}
                                   for id, value in zip(ids, values)]


@pytest.mark.parametrize("status", ["applied", "late", "duplicate"])
def test_outcomes_that_are_taken_are_not_warned_of(service, tmp_path, status):
    client = tarry.Client(service.url, retries=0, pause=0.001,
                          spool=tmp_path / "spool")
    client._keep([{"id": "a", "loss": 0.5}])
    service.decide("b")
    service.troubles = [(200, {"results": [{"id": "a", "status": status}]},
                         {})]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert client.report("b", 0.5) == "applied"


# ---- what is sent ----------------------------------------------------------


CALLS = [  # what is asked for, and what is sent
    (lambda c: c.create("n"), "POST", "", {"name": "n"}),
    (lambda c: c.create("n", [{"name": "a", "features": [1]}], policy="p",
                        range=(0, 2), objective="o", horizon=1e3,
                        confidence=0.9, seed=0, expire_after="7d", dim=3,
                        beyond_horizon=False, intercept="no",
                        default_outcome="0.5/7d"),
     "POST", "", {"name": "n", "arms": [{"name": "a", "features": [1]}],
                  "policy": "p", "range": [0.0, 2.0], "objective": "o",
                  "horizon": 1000, "confidence": 0.9, "seed": 0,
                  "expire_after": "7d", "dim": 3,
                  "beyond_horizon": False, "intercept": "no",
                  "default_outcome": {"value": 0.5, "after": "7d",
                                      "final": False}}),
    (lambda c: c.create("n", default_outcome="0/500r/final"), "POST", "",
     {"name": "n", "default_outcome": {"value": 0.0, "after": "500r",
                                       "final": True}}),
    (lambda c: c.experiments(), "GET", "", None),
    (lambda c: c.experiment("n/\u00e9"), "GET", "/n%2F%C3%A9", None),
    (lambda c: c.status("n"), "GET", "/n/status", None),
    (lambda c: c.pending("n"), "GET", "/n/pending", None),
    (lambda c: c.pending("n", 0), "GET", "/n/pending?limit=0", None),
    (lambda c: list(c.log("n")), "GET", "/n/log", None),
    (lambda c: c.overview("n"), "GET", "/n/overview", None),
    (lambda c: c.admit("n", "a", (1, 0.5)), "POST", "/n/arms",
     {"name": "a", "features": [1.0, 0.5]}),
    (lambda c: c.withdraw("n", "a/b?"), "DELETE", "/n/arms/a%2Fb%3F", None),
    (lambda c: c.pause("n"), "POST", "/n/pause", {}),
    (lambda c: c.resume("n"), "POST", "/n/resume", {}),
    (lambda c: c.decide("n", "i", arms={"a": (1, 2)}), "POST", "/n/decisions",
     {"id": "i", "arms": [{"name": "a", "features": [1.0, 2.0]}]}),
    (lambda c: c.decide_many("n", 2.0), "POST", "/n/decisions", {"count": 2}),
    (lambda c: c.decide_many("n", 2, "i"), "POST", "/n/decisions",
     {"count": 2, "id": "i"}),
    (lambda c: c.cancel("a/b"), "POST", "/v1/decisions/a%2Fb/cancel", {}),
    (lambda c: c.expire("a b"), "POST", "/v1/decisions/a%20b/expire", {}),
    (lambda c: c.report_many([("a", 1)]), "POST", "/v1/feedback",
     [{"id": "a", "loss": 1.0}]),
    (lambda c: c.report_many([("a", 1)], rewards=True), "POST", "/v1/feedback",
     [{"id": "a", "reward": 1.0}]),
    (lambda c: c.metrics(), "GET", "/metrics", None),
    (lambda c: c.is_ready(), "GET", "/readyz", None)]


@pytest.mark.parametrize("ask, method, path, body", CALLS)
def test_every_call_is_sent_as_it_is_meant(service, client, ask, method, path,
                                           body):
    ask(client)
    if not path.startswith(("/v1", "/metrics", "/readyz")):
        path = "/v1/experiments" + path
    assert service.calls == [(method, path, body)]


#: whether a second time would do no harm
AGAIN = [(lambda c: c.create("n"), False),
         (lambda c: c.admit("n", "a", [1]), False),
         (lambda c: c.withdraw("n", "a"), False),
         (lambda c: c.decide_many("n", 2), False),
         (lambda c: c.decide_many("n", 2, "i"), True),
         (lambda c: c.decide("n"), True), (lambda c: c.status("n"), True),
         (lambda c: c.cancel("i"), True), (lambda c: c.expire("i"), True),
         (lambda c: c.pause("n"), True), (lambda c: c.resume("n"), True),
         (lambda c: c.report_many([("a", 1)]), True)]


@pytest.mark.parametrize("ask, harmless", AGAIN)
def test_only_what_does_no_harm_is_said_again(service, client, ask, harmless):
    service.troubles = ["lost"]
    if harmless:
        ask(client)
    else:
        with pytest.raises(tarry.Unreachable):
            ask(client)
    assert len(service.calls) == 1 + harmless


@pytest.mark.parametrize("error", [
    TimeoutError(), ConnectionResetError(), BrokenPipeError(), OSError(),
    http.client.BadStatusLine(""), http.client.IncompleteRead(b"")], ids=repr)
@pytest.mark.parametrize("ask, harmless", AGAIN)
def test_an_answer_may_be_lost_in_many_ways(service, client, monkeypatch, ask,
                                            harmless, error):
    """The service has done it, whatever the client gets to see."""
    answer, errors = http.client.HTTPConnection.getresponse, [error]

    def getresponse(self):
        response = answer(self)
        if errors:
            response.read()
            raise errors.pop()
        return response
    monkeypatch.setattr("http.client.HTTPConnection.getresponse", getresponse)
    if harmless:
        ask(client)
    else:
        with pytest.raises(tarry.Unreachable):
            ask(client)
    assert len(service.calls) == 1 + harmless


@pytest.mark.parametrize("status", [502, 504])
@pytest.mark.parametrize("ask, harmless", AGAIN)
def test_a_proxy_that_lost_an_answer(service, client, ask, harmless, status):
    service.troubles = [status]
    if harmless:
        ask(client)
    else:
        with pytest.raises(tarry.Unreachable, match="of this kind$"):
            ask(client)
    assert len(service.calls) == 1 + harmless


def test_an_async_client_can_be_copied():
    one = tarry.AsyncClient("http://127.0.0.1:1")
    assert copy.copy(one)._client is one._client
    with pytest.raises(AttributeError):
        one.nonsense


def test_headers_and_the_path_of_the_address(service):
    with tarry.Client(service.url + "/below/", token="s e", timeout=7) as c:
        assert c._connection().timeout == 7
        safe = tarry.Client(service.url.replace("http:", "https:"), timeout=3)
        assert safe._connection().timeout == 3
        c.pause("n"), c.status("n")
    assert [path for _, path, _ in service.calls] == \
        ["/below/v1/experiments/n/pause", "/below/v1/experiments/n/status"]
    post, get = service.headers
    for sent in (post, get):
        assert sent["Authorization"] == "Bearer s e"
        assert sent["Accept"] == "application/json"
    assert post["Content-Type"] == "application/json"
    assert "Content-Type" not in get


def test_tokens_go_along_where_another_owns_the_experiment(service, client):
    client = tarry.Client(service.url, token="secret")
    service.token = "secret"
    service.troubles = [(307, b"", {"Location": "/v1/experiments/n/status?a=1",
                                    "Connection": "close"})]
    service.lock = threading.RLock()
    assert client.status("n")["path"] == "/v1/experiments/n/status?a=1"
    service.troubles = [(307, b"", {"Location": "ftp://127.0.0.1/"})]
    with pytest.raises(tarry.Unreachable, match="ftp://127.0.0.1/"):
        tarry.Client(service.url, retries=0).status("n")


def test_one_connection_serves_many_calls(service, client, monkeypatch):
    made, connect = [], client._connect
    monkeypatch.setattr(client, "_connect", lambda *address: made.append(
        connect(*address)) or made[-1])
    for _ in range(5):
        client.status("n")
    assert len(made) == 1
    client.close()
    client.close()
    assert made[0].sock is None
    client.status("n")
    assert len(made) == 2
    with client:
        pass
    assert made[1].sock is None


# ---- what is answered ------------------------------------------------------


def test_pauses_grow_and_are_as_long_as_the_service_asks(service, monkeypatch):
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    client = tarry.Client(service.url, retries=9, pause=0.25)
    service.troubles = [503] * 10
    with pytest.raises(tarry.Unreachable):
        client.status("n")
    assert len(slept) == 9
    for attempt, pause in enumerate(slept):
        whole = 0.25 * 2**attempt
        assert min(whole / 2, 30) <= pause <= min(whole, 30)
    assert slept[8] == 30
    slept.clear()
    for asked in ("7", "7.5", "100", "soon", "-3"):
        service.troubles = [(503, {}, {"Retry-After": asked})]
        client.status("n")
    assert slept[:3] == [7, 7.5, 30]
    assert len(slept) == 5 and 0.125 <= min(slept[3:]) <= max(slept) == 30


@pytest.mark.parametrize("body, text, code, detail", [
    ({"detail": "d", "title": "t", "code": "c"}, "d", "c", "d"),
    ({"title": "t"}, "t", None, None), ({}, "HTTP status 422", None, None),
    ([1], "[1]", None, None), (b"", "HTTP status 422", None, None),
    (b"<p>\xff" + b"x" * 300, "<p>\ufffd" + "x" * 196, None, None)])
def test_refusals_are_told_in_the_services_words(service, client, body, text,
                                                 code, detail):
    service.troubles = [(422, body, {})]
    with pytest.raises(tarry.ServiceError) as error:
        client.status("n")
    for one in (error.value, pickle.loads(pickle.dumps(error.value))):
        assert (str(one), one.status, one.code, one.detail) == \
            (text, 422, code, detail)


def test_a_decision_has_all_that_the_service_says(service, client):
    whole = {"id": "a", "arm": "red", "probability": 0.25, "round": 3,
             "decided_at": "then"}
    service.troubles = [(201, whole, {}), (201, {"id": "a", "arm": "b"}, {})]
    assert client.decide("n")._asdict() == whole
    assert client.decide("n") == ("a", "b", None, None, None)


def test_a_service_that_is_not_ready_says_so(service, client):
    service.troubles = [503]
    assert client.is_ready() is False and client.is_ready() is True
    assert len(service.calls) == 2
    assert tarry.Client("http://127.0.0.1:1").is_ready() is False


def test_the_asynchronous_client_has_the_methods_of_the_other(service):
    client = tarry.AsyncClient(service.url)
    for name in ("_call", "timeout", "nothing"):
        with pytest.raises(AttributeError):
            getattr(client, name)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8377", "ftp://a", "http://",
                                 "http:///x"])
def test_addresses_are_checked(url):
    with pytest.raises(tarry.BadArgument, match="url"):
        tarry.Client(url)


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(service):
    go_on = threading.Event()

    def stall():
        service.meanwhile = None
        assert go_on.wait(60)
    client = tarry.Client(service.url, timeout=0.05, retries=0)
    service.meanwhile = stall
    with pytest.raises(tarry.Unreachable):
        client.status("late")
    go_on.set()
    client.timeout = 60
    for name in ("a", "b"):
        assert client.status(name)["path"] == \
            "/v1/experiments/%s/status" % name


# ---- without a spool, elsewhere, and what is left behind -------------------


def test_without_a_spool_an_outage_is_said(service, client):
    ids = [client.decide("shop").id for _ in range(2)]
    client.retries = 0
    for report in (lambda: client.report(ids[0], 0.5),
                   lambda: client.report_many([(id, 0.5) for id in ids])):
        service.troubles = ["busy"]
        with pytest.raises(tarry.Unreachable, match="disk full"):
            report()
    assert service.outcomes == {} and client.flush() == []


@pytest.mark.parametrize("url, location, there, asked", [
    ("http://[::1]:1/p", "/q?a=1", ("::1", 1), "/q?a=1"),
    ("http://a/p", "q", ("a", None), "/p/v1/experiments/n/q"),
    ("http://a:7/p", "http://b/", ("b", None), "/"),
    ("https://a:7", "//b:8/q", ("b", 8), "/q")])
def test_where_a_redirection_leads(monkeypatch, url, location, there, asked):
    """The owner is asked once, with all that the other was told, and no
    connection to it stays open."""
    log = []

    class Connection:
        def __init__(self, *address):
            self.address = address

        def request(self, *what):
            log.append((self.address,) + what)

        def getresponse(self):
            self.status = 307 if len(log) == 1 else 200
            self.headers = {"Location": location}
            return self

        def read(self):
            return b"{}"

        def close(self):
            log.append(self.address)
    client = tarry.Client(url, token="t", retries=0)
    monkeypatch.setattr(client, "_connect", lambda *to: Connection(*to))
    assert client.pause("n") == {}
    first, second, closed = log
    assert second == (there, "POST", asked) + first[3:] and closed == there
    assert first[3] == b"{}" and first[4]["Authorization"] == "Bearer t"


def test_a_warning_names_the_line_that_reports(service, tmp_path):
    client = tarry.Client(service.url, spool=tmp_path / "spool")
    id = client.decide("shop").id
    for report in (lambda: client.report(id, 0.5),
                   lambda: client.report_many([(id, 0.5)])):
        client._keep([{"id": "unknown", "loss": 0.5}])
        with pytest.warns(UserWarning, match="1 .*'unknown' is unknown") as w:
            report()
        assert [one.filename for one in w
                if one.category is UserWarning] == [__file__]


def test_an_empty_answer_is_none(service, client):
    service.troubles = [(200, b"", {})]
    assert client.resume("n") is None


def test_what_belongs_to_others_is_reported_to_each_by_itself(service, client):
    """With the words of a list, and why."""
    ids = ["mine", "theirs", "unknown", "conflict", "invalid", "other"]
    service.troubles = [(200, {"results": [
        {"id": id, "status": "elsewhere" if i else "applied"}
        for i, id in enumerate(ids)]}, {}),
        (200, {"id": "theirs", "status": "late"}, {}), 404, 409, 422, 403]
    results = client.report_many([(id, 0.5) for id in ids])
    assert results[:2] == [{"id": "mine", "status": "applied"},
                           {"id": "theirs", "status": "late"}]
    assert results[2:] == [
        {"id": id, "status": status, "detail": "of this kind"} for id, status
        in zip(ids[2:], ["unknown", "conflict", "invalid", "invalid"])]
    assert [body for _, _, body in service.calls[1:]] == [
        {"id": id, "loss": 0.5} for id in ids[1:]]


@pytest.mark.parametrize("status", [401, 404, 409, 422, 500])
def test_what_is_refused_does_not_wait_in_the_spool(service, tmp_path, status):
    spool = tmp_path / "spool"
    client = tarry.Client(service.url, spool=spool)
    for report in (lambda: client.report("a", 0.5),
                   lambda: client.report_many([("a", 0.5)])):
        service.troubles = [status]
        with pytest.raises(tarry.ServiceError, match="of this kind"):
            report()
    assert len(service.calls) == 2 and not spool.exists()


@pytest.mark.parametrize("call, text", [
    (lambda c: c.create("e", {"a": None}),
     "features of arm 'a' must be a list of numbers; got None"),
    (lambda c: c.create("e", {"a": "12"}),
     "features of arm 'a' must be a list of numbers; got '12'"),
    (lambda c: c.create("e", {"a": [1, None]}),
     "features of arm 'a', entry 1, must be a finite number; got None"),
    (lambda c: c.create("e", {"a": [1, math.nan]}),
     "features of arm 'a', entry 1, must be a finite number; got nan"),
    (lambda c: c.create("e", {"a": [1]}, range=1),
     "range must be a list of numbers; got 1"),
    (lambda c: c.create("e", {"a": [1]}, range=(0, "x")),
     "range, entry 1, must be a finite number; got 'x'"),
    (lambda c: c.create("e", {"a": [1]}, horizon="long"),
     "horizon must be a finite number; got 'long'"),
    (lambda c: c.create("e", {"a": [1]}, seed=1.5),
     "seed must be a whole number; got 1.5"),
    (lambda c: c.create("e", {"a": [1]}, confidence=[1]),
     "confidence must be a finite number; got [1]"),
    (lambda c: c.create("e", [{"name": "a", "features": {1}}]),
     "an argument cannot be written as JSON: Object of type set is not JSON "
     "serializable"),
    (lambda c: c.admit("e", "a", 3),
     "features of arm 'a' must be a list of numbers; got 3"),
    (lambda c: c.decide_many("e", None),
     "count must be a finite number; got None"),
    (lambda c: c.decide("e", id=b"x"),
     "an argument cannot be written as JSON: Object of type bytes is not JSON "
     "serializable"),
    (lambda c: c.pending("e", limit="x"),
     "limit must be a finite number; got 'x'"),
    (lambda c: c.report("a"),
     "an outcome must have a loss or a reward; got neither for id 'a'"),
    (lambda c: c.report("a", 1, reward=1),
     "an outcome must have a loss or a reward; got both for id 'a'"),
    (lambda c: c.report("a", "x"),
     "loss of id 'a' must be a finite number; got 'x'"),
    (lambda c: c.report_many([("a", 1), "b"]),
     "outcome 1 must be a pair (id, value); got 'b'"),
    (lambda c: c.report_many([("a", {})], rewards=True),
     "reward of id 'a' must be a finite number; got {}"),
    (lambda c: tarry.Client("localhost:8377"),
     "url must be http://HOST:PORT or https://HOST:PORT; got 'localhost:8377'"),
    (lambda c: tarry.Client("http://localhost:x"),
     "url must be http://HOST:PORT or https://HOST:PORT; got "
     "'http://localhost:x'"),
    (lambda c: tarry.Client(None),
     "url must be http://HOST:PORT or https://HOST:PORT; got None"),
])
def test_argument_that_cannot_be_sent_is_named(call, text):
    """Before anything is sent: nothing listens there."""
    client = tarry.Client("http://127.0.0.1:9", retries=0)
    with pytest.raises(tarry.BadArgument) as error:
        call(client)
    assert str(error.value) == text
