"""A client of the decision service `tarry serve`; standard library only.

    client = tarry.Client("http://127.0.0.1:8377", token="...")
    client.create("shop", arms={"red": [1, 0], "blue": [0, 1]}, range=(0, 1),
                  objective="maximize", confidence=0.99)
    d = client.decide("shop")             # d.id, d.arm, d.probability
    client.report(d.id, reward=1)         # "applied", "late", ...

What fails on the way is tried again, with the same id, so that nothing counts
twice.  With a spool file, outcomes that cannot be delivered wait there."""
from __future__ import annotations

import asyncio
import fcntl
import http.client
import json
import math
import os
import random
import threading
import time
import urllib.parse
import uuid
import warnings
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._errors import BadArgument, BadInput, Error

BATCH = 1000  # outcomes in one call
_REFUSED = {404: "unknown", 409: "conflict"}  # what a list says instead


class ServiceError(Error):
    """The service refuses: `status` (HTTP), `code`, `detail`."""

    def __init__(self, status: int, problem: Dict[str, Any]) -> None:
        self.status = status
        self.code: Optional[str] = problem.get("code")
        self.detail: Optional[str] = problem.get("detail")
        super().__init__(self.detail or problem.get("title") or
                         "HTTP status %d" % status)

    def __reduce__(self) -> Tuple[Any, ...]:
        return ServiceError, (self.status, {
            "code": self.code, "detail": self.detail, "title": str(self)})


class Unreachable(Error, ConnectionError):
    """The service could not be reached, or its store could not be written."""


ServiceError.__module__ = Unreachable.__module__ = "tarry"


class Decision(NamedTuple):
    """What to do: report the outcome under this id."""
    id: str
    arm: Any
    probability: Optional[float]
    round: Optional[int]
    decided_at: Optional[str]


def _decision(answer: Dict[str, Any]) -> Decision:
    return Decision(answer["id"], answer["arm"], answer.get("probability"),
                    answer.get("round"), answer.get("decided_at"))


class Client:
    """Client(url, token=None, timeout=10, retries=5, spool=None)

    `timeout` in seconds for each try; `retries` after the first; `spool` a file
    for outcomes that could not be delivered (see report and flush).  May be
    used from several threads."""

    def __init__(self, url: str = "http://127.0.0.1:8377",
                 token: Optional[str] = None, *, timeout: float = 10,
                 retries: int = 5, pause: float = 0.1,
                 spool: Union[str, "os.PathLike[str]", None] = None) -> None:
        self._scheme, self._host, self._port, self._base = _url(url)
        self._token = token
        self.timeout, self.retries, self._pause = timeout, retries, pause
        self._spool = None if spool is None else os.fspath(spool)
        self._local = threading.local()

    # ---- calls -------------------------------------------------------------

    def _connection(self) -> http.client.HTTPConnection:
        connection: Optional[http.client.HTTPConnection] = getattr(
            self._local, "connection", None)
        if connection is None or self._local.process != os.getpid():
            # what was open before a fork is the other process's
            connection = self._connect(self._host, self._port)
            self._local.connection = connection
            self._local.process = os.getpid()
        return connection

    def _connect(self, host: str, port: Optional[int]
                 ) -> http.client.HTTPConnection:
        if self._scheme == "https":
            return http.client.HTTPSConnection(host, port,
                                               timeout=self.timeout)
        return http.client.HTTPConnection(host, port, timeout=self.timeout)

    def close(self) -> None:
        """Closes this thread's connection; the next call opens another."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def _once(self, method: str, path: str, body: Optional[bytes]
              ) -> Tuple[int, Any, bytes]:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._token is not None:
            headers["Authorization"] = "Bearer " + self._token
        connection = self._connection()
        try:
            connection.request(method, self._base + path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
        except BaseException:
            self.close()
            raise
        if answer.status == 307:
            return self._elsewhere(answer.headers.get("Location", ""), method,
                                   self._base + path, body, headers)
        return answer.status, answer.headers, data

    def _elsewhere(self, location: str, method: str, path: str,
                   body: Optional[bytes], headers: Dict[str, str]
                   ) -> Tuple[int, Any, bytes]:
        """Asks where a 307 leads, the owner of an experiment; it is not asked
        whether that leads further."""
        here = "%s://%s%s" % (self._scheme, self._host if ":" not in self._host
                              else "[%s]" % self._host,
                              ":%d" % self._port if self._port else "")
        parts = urllib.parse.urlsplit(urllib.parse.urljoin(here + path,
                                                           location))
        if parts.scheme != self._scheme or not parts.hostname:
            raise Unreachable("%s%s redirects to '%s'; a redirection must lead "
                              "to %s://HOST" % (here, path, location,
                                                self._scheme))
        there = self._connect(parts.hostname, parts.port)
        try:
            there.request(method, parts.path + ("?" + parts.query
                                                if parts.query else ""),
                          body, headers)
            answer = there.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            there.close()

    def _wait(self, attempt: int, headers: Any) -> None:
        pause = self._pause * 2**attempt * random.uniform(0.5, 1)
        try:
            pause = max(pause, float(headers.get("Retry-After", 0)))
        except (AttributeError, ValueError):
            pass
        time.sleep(min(pause, 30))

    def _call(self, method: str, path: str, body: Any = None, *,
              again: bool = True) -> bytes:
        """`again`: whether a call whose answer was lost may be repeated."""
        data = None if body is None else _bytes(body)
        for attempt in range(self.retries + 1):
            headers = None
            try:
                status, headers, answer = self._once(method, path, data)
                if status < 300:
                    return answer
                why: Any = ServiceError(status, _problem(answer))
                # 307: who owns the experiment is not settled
                if status not in (307, 429, 502, 503, 504):
                    raise why
                if not again and status in (502, 504):
                    break  # of a proxy, for an answer that was lost
            except (OSError, http.client.HTTPException) as error:
                why = error
                if not again and not isinstance(error, ConnectionRefusedError):
                    break
            if attempt < self.retries:
                self._wait(attempt, headers)
        raise Unreachable("%s://%s:%s: %s" % (
            self._scheme, self._host, self._port or "", why)) from why

    def _json(self, method: str, path: str, body: Any = None, *,
              again: bool = True) -> Any:
        return json.loads(self._call(method, path, body, again=again)
                          or b"null")

    # ---- experiments -------------------------------------------------------

    def create(self, name: str, arms: Any = None, *,
               policy: Optional[str] = None,
               range: Optional[Sequence[float]] = None,
               objective: Optional[str] = None,
               horizon: Optional[float] = None,
               confidence: Optional[float] = None, seed: Optional[int] = None,
               expire_after: Optional[str] = None, dim: Optional[int] = None,
               beyond_horizon: Optional[bool] = None,
               intercept: Optional[str] = None,
               floor: Optional[float] = None,
               control: Optional[Dict[str, float]] = None,
               cap: Optional[Dict[str, float]] = None,
               default_outcome: Union[str, Dict[str, Any], None] = None
               ) -> Dict[str, Any]:
        """Creates an experiment.  `arms`: a dict from names to features, or a
        list of {"name", "features"}; `dim` for a contextual one.
        `default_outcome`: "0/7d", "0/500r/final" or {"value", "after",
        "final"}."""
        body: Dict[str, Any] = {
            "name": name, "arms": _arms(arms), "policy": policy,
            "range": None if range is None else _numbers("range", range),
            "objective": objective,
            "horizon": None if horizon is None else _whole("horizon", horizon),
            "confidence": None if confidence is None else _number(
                "confidence", confidence),
            "seed": None if seed is None else _whole("seed", seed),
            "expire_after": expire_after,
            "dim": None if dim is None else _whole("dim", dim),
            "beyond_horizon": beyond_horizon, "intercept": intercept,
            "floor": floor, "control": control, "cap": cap,
            "default_outcome": _rule(default_outcome)}
        answer: Dict[str, Any] = self._json("POST", "/v1/experiments", {
            key: value for key, value in body.items() if value is not None},
            again=False)
        return answer

    def experiments(self) -> Any:
        """All experiments."""
        return self._json("GET", "/v1/experiments")

    def experiment(self, name: str) -> Any:
        """One experiment with its settings and status."""
        return self._json("GET", _path(name))

    def status(self, name: str) -> Any:
        """What the experiment's policy knows."""
        return self._json("GET", _path(name, "status"))

    def pending(self, name: str, limit: Optional[int] = None) -> Any:
        """The oldest decisions whose outcome is outstanding."""
        return self._json("GET", _path(name, "pending") + (
            "" if limit is None else "?limit=%d" % _whole("limit", limit)))

    def log(self, name: str) -> Iterator[Dict[str, Any]]:
        """All decisions and outcomes, in order of commit."""
        for line in self._call("GET", _path(name, "log")).splitlines():
            if line.strip():
                yield json.loads(line)

    def admit(self, name: str, arm: str,
              features: Optional[Iterable[float]] = None) -> Any:
        """Adds an arm; without features where the first arms have none."""
        body: Dict[str, Any] = {"name": arm}
        if features is not None:
            body["features"] = _features(arm, features)
        return self._json("POST", _path(name, "arms"), body, again=False)

    def withdraw(self, name: str, arm: str) -> Any:
        """Takes an arm out."""
        return self._json("DELETE", _path(name, "arms", arm), again=False)

    def pause(self, name: str) -> Any:
        """No decisions until it is resumed; outcomes are taken."""
        return self._json("POST", _path(name, "pause"), {})

    def resume(self, name: str) -> Any:
        """Decisions are made again."""
        return self._json("POST", _path(name, "resume"), {})

    def overview(self, name: str) -> Any:
        """What the dashboard shows: figures over time, by arm and by delay."""
        return self._json("GET", _path(name, "overview"))

    # ---- decisions ---------------------------------------------------------

    def decide(self, name: str, id: Optional[str] = None, *, arms: Any = None
               ) -> Decision:
        """A decision.  `id` is your own text, or made up here: a repeated call
        with the same id gets the same answer.  `arms`: of a contextual
        experiment."""
        body: Dict[str, Any] = {"id": id if id is not None
                                else str(uuid.uuid4())}  # never a number
        if arms is not None:
            body["arms"] = _arms(arms)
        return _decision(self._json("POST", _path(name, "decisions"), body))

    def decide_many(self, name: str, count: int, id: Optional[str] = None
                    ) -> List[Decision]:
        """Many decisions in one call, a lease.  With your own `id` they are
        id.0, id.1 and so on, and a repeated call gets the same answer.  Without
        they have no ids before the answer, so that a call whose answer was
        lost is not repeated: Unreachable; the decisions then stand among the
        pending ones."""
        body: Dict[str, Any] = {"count": _whole("count", count)}
        if id is not None:
            body["id"] = id
        answer = self._json("POST", _path(name, "decisions"), body,
                            again=id is not None)
        return [_decision(one) for one in answer["decisions"]]

    def cancel(self, id: str) -> Any:
        """The decision was never carried out."""
        return self._json("POST", "/v1/decisions/%s/cancel" % _quoted(id), {})

    def expire(self, id: str) -> Any:
        """Its outcome is taken as never coming."""
        return self._json("POST", "/v1/decisions/%s/expire" % _quoted(id), {})

    # ---- outcomes ----------------------------------------------------------

    def report(self, id: str, loss: Optional[float] = None, *,
               reward: Optional[float] = None) -> str:
        """Reports an outcome: "applied", "late", "duplicate" or "corrected";
        with a spool "spooled" if the service cannot be reached."""
        item = _outcome(id, loss, reward)
        if self._spool is None:
            return str(self._json("POST", "/v1/feedback", item)["status"])
        try:
            self._send_waiting()
            return str(self._json("POST", "/v1/feedback", item)["status"])
        except Unreachable:
            self._keep([item])
            return "spooled"

    def report_many(self, outcomes: Iterable[Any], *, rewards: bool = False
                    ) -> List[Dict[str, Any]]:
        """Reports pairs (id, loss), or rewards; answers {"id", "status"} for
        each, also for those refused ("unknown", "conflict", "invalid")."""
        items = [_outcome(id, *((None, value) if rewards else (value, None)))
                 for id, value in _pairs(outcomes)]
        results: List[Dict[str, Any]] = []
        for at in range(0, len(items), BATCH):
            part = items[at:at + BATCH]
            try:
                self._send_waiting()
                results += self._deliver(part)
            except Unreachable:
                if self._spool is None:
                    raise
                self._keep(items[at:])
                return results + [{"id": item["id"], "status": "spooled"}
                                  for item in items[at:]]
        return results

    def _deliver(self, items: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """One call for all; what is for experiments of other owners then goes
        there by itself."""
        results: List[Dict[str, Any]] = self._json("POST", "/v1/feedback",
                                                   items)["results"]
        for i, result in enumerate(results):
            if result["status"] == "elsewhere":
                try:
                    results[i] = self._json("POST", "/v1/feedback", items[i])
                except ServiceError as refusal:
                    results[i] = {"id": items[i]["id"], "detail":
                                  refusal.detail, "status": _REFUSED.get(
                                      refusal.status, "invalid")}
        return results

    def _send_waiting(self) -> None:
        """What waits in the spool goes first; nobody looks at the answers, so
        what is refused is warned of."""
        refused = [result for result in self.flush() if result["status"]
                   not in ("applied", "late", "duplicate", "corrected")]
        if refused:
            warnings.warn("of the spool %d outcomes are refused, the first: "
                          "'%s' is %s" % (len(refused), refused[0]["id"],
                                          refused[0]["status"]), stacklevel=3)

    def flush(self) -> List[Dict[str, Any]]:
        """Delivers what waits in the spool; answers as report_many.  What
        cannot be delivered stays there, with what was, as to say it again is
        harmless: Unreachable."""
        if self._spool is None or not self._waiting():
            return []
        results: List[Dict[str, Any]] = []
        with open(self._spool, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            items = [self._read_line(number, line) for number, line
                     in enumerate(file, 1) if line.endswith(b"\n")]
            for at in range(0, len(items), BATCH):
                results += self._deliver(items[at:at + BATCH])
            file.truncate(0)
            os.fsync(file.fileno())
        return results

    def _read_line(self, number: int, line: bytes) -> Dict[str, Any]:
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        if not isinstance(item, dict) or "id" not in item:
            raise BadInput("%s:%d: a line of the spool must be a JSON object "
                           "with \"id\" and \"loss\" or \"reward\"" % (
                               self._spool, number))
        return item

    def _waiting(self) -> bool:
        assert self._spool is not None
        return os.path.exists(self._spool) and os.path.getsize(self._spool) > 0

    def _keep(self, items: List[Dict[str, Any]]) -> None:
        assert self._spool is not None
        with open(self._spool, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            if file.read(1) not in (b"", b"\n"):  # half a line of a crash
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
            file.write(b"".join(json.dumps(item).encode() + b"\n"
                                for item in items))
            file.flush()
            os.fsync(file.fileno())

    # ---- the service -------------------------------------------------------

    def is_ready(self) -> bool:
        """Whether the service takes decisions."""
        try:
            return self._once("GET", "/readyz", None)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def metrics(self) -> str:
        """Its metrics, as Prometheus reads them."""
        return self._call("GET", "/metrics").decode()


def _problem(answer: bytes) -> Dict[str, Any]:
    try:
        problem = json.loads(answer)
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else \
        {"title": answer.decode(errors="replace")[:200]}


def _quoted(text: str) -> str:
    return urllib.parse.quote(str(text), safe="")


def _path(name: str, *parts: str) -> str:
    return "/".join(["/v1/experiments"] + [_quoted(p) for p in (name,) + parts])


def _url(url: str) -> Tuple[str, str, Optional[int], str]:
    try:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            return (parts.scheme, parts.hostname, parts.port,
                    parts.path.rstrip("/"))
    except (AttributeError, TypeError, ValueError):
        pass
    raise BadArgument("url must be http://HOST:PORT or https://HOST:PORT; got "
                      "%s" % _shown(url))


# ---- what is given -------------------------------------------------------------

def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _number(what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):  # JSON has no others
        raise BadArgument("%s must be a finite number; got %s"
                          % (what, _shown(value)))
    return number


def _whole(what: str, value: Any) -> int:
    if not _number(what, value).is_integer():
        raise BadArgument("%s must be a whole number; got %s"
                          % (what, _shown(value)))
    return int(value)


def _numbers(what: str, values: Any) -> List[float]:
    try:
        listed = [] if isinstance(values, (str, bytes)) else list(values)
    except TypeError:
        listed = []
    if not listed:
        raise BadArgument("%s must be a list of numbers; got %s"
                          % (what, _shown(values)))
    return [_number("%s, entry %d," % (what, i), x)
            for i, x in enumerate(listed)]


def _features(arm: Any, features: Any) -> List[float]:
    return _numbers("features of arm %s" % _shown(arm), features)


def _pairs(outcomes: Any) -> Iterator[Tuple[Any, Any]]:
    for i, pair in enumerate(outcomes):
        try:
            id, value = pair
        except (TypeError, ValueError):
            raise BadArgument("outcome %d must be a pair (id, value); got %s"
                              % (i, _shown(pair))) from None
        yield id, value


def _bytes(body: Any) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise BadArgument("an argument cannot be written as JSON: %s"
                          % error) from None


def _arms(arms: Any) -> Any:
    if isinstance(arms, dict):
        arms = [{"name": str(name), "features": _features(name, features)}
                for name, features in arms.items()]
    return arms


def _rule(text: Union[str, Dict[str, Any], None]) -> Optional[Dict[str, Any]]:
    """VALUE/AFTER or VALUE/AFTER/final as the service takes it."""
    if text is None or isinstance(text, dict):
        return text
    value, after, *rest = (str(text) + "/" * ("/" not in text)).split("/")
    try:
        if rest not in ([], ["final"]):
            raise ValueError
        return {"value": float(value), "after": after, "final": bool(rest)}
    except ValueError:
        raise BadArgument("default_outcome: not VALUE/AFTER or "
                          "VALUE/AFTER/final: '%s'" % text)


def _outcome(id: str, loss: Optional[float], reward: Optional[float]
             ) -> Dict[str, Any]:
    if (loss is None) == (reward is None):
        raise BadArgument("an outcome must have a loss or a reward; got %s for "
                          "id %s" % ("neither" if loss is None else "both",
                                     _shown(id)))
    kind, value = ("loss", loss) if loss is not None else ("reward", reward)
    return {"id": id, kind: _number("%s of id %s" % (kind, _shown(id)), value)}


class AsyncClient:
    """The methods of Client as coroutines: await client.decide("shop").

    Calls run in threads, each with a connection of its own."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._client = Client(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        method: Any = None
        if not name.startswith("_"):
            method = getattr(self._client, name)
        if not callable(method):
            raise AttributeError(name)

        def call(*arguments: Any, **named: Any) -> Any:
            answer = method(*arguments, **named)
            # Client.log calls the service only when it is read.
            return list(answer) if name == "log" else answer

        async def wait(*arguments: Any, **named: Any) -> Any:
            return await asyncio.to_thread(call, *arguments, **named)
        return wait

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *unused: Any) -> None:
        self._client.close()
