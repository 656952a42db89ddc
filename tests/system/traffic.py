"""Clients of a running server that know what it must answer.

Each client decides, reports and asks on its own; nobody else uses its ids.  So
it knows the fate of each decision, and checks every answer when it comes.  A
request that was not answered can be asked again: it may be done already."""
import collections
import json

ALL = "decide,feedback,read,admin"
MOST_BODY = 60000  # bytes that the server takes
MOST_HEAD = 16384
LOSSES = (0, 0.25, 0.5, 1)


class Wrong(Exception):
    """The server did not answer as it must."""


def must(condition, *what):
    if not condition:
        raise Wrong(*what)


class Experiment:
    def __init__(self, name, maximize=False, ages=0, may_be_late=False,
                 **settings):
        self.name, self.maximize = name, maximize
        self.ages = ages  # rounds after which decisions expire, or 0
        self.may_be_late = may_be_late or ages
        self.arms = ["red", "green", "blue"]
        self.is_paused = False
        self.doubtful = 0  # decisions that may have been made, ids unknown
        self.settings = dict(settings, name=name, arms=[
            {"name": arm, "features": [1, i - 1]}
            for i, arm in enumerate(self.arms)])
        if maximize:
            self.settings["objective"] = "maximize"


class Decision:
    def __init__(self, experiment, id=None, told=None):
        self.experiment, self.told = experiment, told
        self.id = told["id"] if told else id
        self.loss = None
        self.is_cancelled = self.was_expired = False

    def tell(self, told):
        """What is said of it is the same each time."""
        must(told["id"] == self.id, told, self.id)
        must(self.told in (None, told), self.told, told)
        must(told["arm"] in self.experiment.arms or self.told, told)
        must(0 < told["probability"] <= 1 and told["round"] > 0, told)
        self.told = told


class Request:
    """Bytes, and what their answer must be.  check(answer, again) looks, and
    notes what has happened by it."""

    def __init__(self, method, path, body=None, check=None, scope=None,
                 fields=(), version="HTTP/1.1", ends=False, refused=False,
                 doubtful=None):
        self.method, self.path, self.body = method, path, body
        self.check, self.scope, self.fields = check, scope, list(fields)
        self.version = version
        self.ends = ends          # the connection, after the answer
        self.refused = refused    # at the door: it may not know its name
        self.doubtful = doubtful  # (experiment, count) if there is no answer
        self.name = None

    def bytes(self, tokens, name):
        self.name = name
        lines = ["%s %s %s" % (self.method, self.path, self.version),
                 "Host: localhost", "X-Request-Id: " + name]
        if self.scope in tokens:
            lines.append("Authorization: Bearer " + tokens[self.scope])
        data = b""
        if self.body is not None:
            data = self.body if isinstance(self.body, bytes) else \
                json.dumps(self.body).encode()
            lines.append("Content-Length: %d" % len(data))
        lines += self.fields
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def refusal(answer, status, code):
    must(answer.status == status, answer, status, code)
    must(answer.headers["content-type"] == "application/problem+json", answer)
    must(answer.json["code"] == code and answer.json["status"] == status,
         answer, code)


class Client:
    def __init__(self, number, random, experiments):
        self.number, self.random = number, random
        self.experiments = experiments
        self.made = []      # decisions, those that are only planned too
        self.leases = []    # (id, count, decisions)
        self.serial = self.limits = 0

    # ---- what a decision is answered with -----------------------------------

    def named(self):
        self.serial += 1
        return "c%d/%d" % (self.number, self.serial)

    def of(self, name, what):
        return "/v1/experiments/%s/%s" % (name, what)

    def decide(self):
        """Without an id, or with a count and without."""
        e = self.random.choice(self.experiments)
        count = self.random.choice((0, 0, 0, 1, 3, 20))

        def check(answer, again):
            if e.is_paused:
                return refusal(answer, 409, "paused")
            must(answer.status == 201, answer)
            told = answer.json["decisions"] if count else [answer.json]
            must(len(told) == max(count, 1), answer)
            for d in told:
                must(d["id"] == "%s:%d" % (e.name, d["round"]), d)
                must(d["arm"] in e.arms, d, e.arms)
                self.made.append(Decision(e, told=d))
        return Request("POST", self.of(e.name, "decisions"),
                       {"count": count} if count else {}, check, "decide",
                       doubtful=(e, max(count, 1)))

    def decide_own(self):
        e = self.random.choice(self.experiments)
        d = Decision(e, self.named())
        self.made.append(d)
        return self.ask_again(d)

    def ask_again(self, d):
        e = d.experiment

        def check(answer, again):
            if d.told is None and e.is_paused:
                return refusal(answer, 409, "paused")
            must(answer.status == 200 if d.told else answer.status == 201 or
                 again and answer.status == 200, answer, d.told)
            d.tell(answer.json)
        return Request("POST", self.of(e.name, "decisions"), {"id": d.id},
                       check, "decide")

    def ask_elsewhere(self, d):
        e = self.random.choice([e for e in self.experiments
                                if e is not d.experiment])

        return Request("POST", self.of(e.name, "decisions"), {"id": d.id},
                       lambda answer, again: refusal(answer, 409, "conflict"),
                       "decide")

    def lease(self):
        e, id = self.random.choice(self.experiments), self.named()
        count = self.random.choice((1, 2, 9, 60))
        lease = (e, id, count, [Decision(e, "%s.%d" % (id, i))
                                for i in range(count)])
        self.leases.append(lease)
        self.made += lease[3]
        return self.lease_again(lease)

    def lease_again(self, lease):
        e, id, count, made = lease

        def check(answer, again):
            if made[0].told is None and e.is_paused:
                return refusal(answer, 409, "paused")
            known = made[0].told is not None
            must(answer.status == 200 if known else answer.status == 201 or
                 again and answer.status == 200, answer)
            told = answer.json["decisions"]
            must(len(told) == count, answer)
            for d, t in zip(made, told):
                d.tell(t)
        return Request("POST", self.of(e.name, "decisions"),
                       {"id": id, "count": count}, check, "decide")

    # ---- outcomes and other ends --------------------------------------------

    def outcome(self, d, loss):
        e = d.experiment
        return {"id": d.id, "reward" if e.maximize else "loss": loss}

    def became(self, d, loss, again):
        """What may be said of an outcome."""
        if d.told is None:
            return {"unknown"}
        if loss > 1:
            return {"invalid"}
        if d.loss is not None:
            return {"duplicate"} if loss == d.loss else {"conflict"}
        if d.is_cancelled:
            return {"conflict"}
        said = {"late"} if d.was_expired else \
            {"applied", "late"} if d.experiment.may_be_late else {"applied"}
        return said | {"duplicate"} if again else said

    def note(self, d, loss, status):
        if status in ("applied", "late", "duplicate"):
            d.loss = loss

    def report(self, d):
        loss = self.random.choice(LOSSES + (7,))

        def check(answer, again):
            may = self.became(d, loss, again)
            for status, code, word in ((404, "unknown_id", "unknown"),
                                       (409, "conflict", "conflict"),
                                       (422, "invalid", "invalid")):
                if word in may:
                    return refusal(answer, status, code)
            must(answer.status == 200 and answer.json["id"] == d.id and
                 answer.json["status"] in may, answer, may)
            self.note(d, loss, answer.json["status"])
        return Request("POST", "/v1/feedback", self.outcome(d, loss), check,
                       "feedback")

    def report_many(self):
        count = self.random.choice((0, 1, 5, 40))
        items = [(d, self.random.choice(LOSSES + (7,))) for d in
                 (self.random.choice(self.made) for _ in range(count))]

        def check(answer, again):
            must(answer.status == 200, answer)
            results = answer.json["results"]
            must(len(results) == count, answer)
            for (d, loss), result in zip(items, results):
                may = self.became(d, loss, again)
                must(result["id"] == d.id and result["status"] in may, result,
                     may, answer)
                self.note(d, loss, result["status"])
        return Request("POST", "/v1/feedback",
                       [self.outcome(d, loss) for d, loss in items], check,
                       "feedback")

    def end(self, d, what):
        def check(answer, again):
            if d.told is None:
                return refusal(answer, 404, "unknown_id")
            is_settled = d.loss is not None or d.is_cancelled
            is_known = d.is_cancelled if what == "cancel" else d.was_expired
            if is_settled and not is_known:
                if what == "expire" and d.experiment.ages:
                    return must(answer.status in (200, 409), answer)
                return refusal(answer, 409, "conflict")
            if what == "cancel":
                d.is_cancelled = True
            else:
                d.was_expired = True
            must(answer.status == 200, answer, vars(d))
            must(answer.json == {"id": d.id, "status": {
                "cancel": "cancelled", "expire": "expired"}[what]}, answer)
        id = d.id.replace("/", "%2f")
        return Request("POST", "/v1/decisions/%s/%s" % (id, what), None, check,
                       {"cancel": "decide", "expire": "feedback"}[what])

    # ---- questions ----------------------------------------------------------

    def look(self):
        e = self.random.choice(self.experiments)
        told = sum(d.told is not None and d.experiment is e for d in self.made)
        what = self.random.choice(("status", "pending?limit=7", "log", "",
                                   "overview"))
        head = self.random.random() < 0.2

        def check(answer, again):
            must(answer.status == 200, answer)
            if head:
                return
            if what == "log":
                lines = [json.loads(line) for line in
                         answer.body.splitlines()]
                must([line["seq"] for line in lines] ==
                     list(range(1, len(lines) + 1)), lines[-3:])
                rounds = [line["round"] for line in lines
                          if line["event"] == "choose"]
                must(rounds == list(range(1, len(rounds) + 1)), rounds[-3:])
                must(len(rounds) >= told, len(rounds), told)
            elif what == "status":
                must(answer.json["round"] >= told and
                     answer.json["paused"] == e.is_paused, answer)
            elif what == "":
                must(answer.json["name"] == e.name and
                     answer.json["decisions"] >= told, answer)
            elif what != "overview":
                must(len(answer.json["pending"]) <=
                     min(7, answer.json["count"]), answer)
        return Request("HEAD" if head else "GET",
                       self.of(e.name, what).rstrip("/"), None, check, "read")

    def ask_plainly(self):
        path, scope, status, code = self.random.choice((
            ("/healthz", None, 200, None), ("/readyz", None, 200, None),
            ("/", None, 200, None), ("/openapi.json", None, 200, None),
            ("/metrics", "read", 200, None),
            ("/v1/experiments", "read", 200, None),
            ("/v1/nothing", None, 404, "no_such_path"),
            ("/v1/feedback", None, 405, "method_not_allowed"),
            ("/v1/experiments/nobody/status", "read", 404,
             "unknown_experiment")))
        method = self.random.choice(("GET", "GET", "HEAD"))

        def check(answer, again):
            must(answer.status == status, answer)
            if code and method == "GET":
                refusal(answer, status, code)
        return Request(method, path, None, check, scope)

    def misuse(self):
        """Understood, refused, and without effect."""
        e = self.random.choice(self.experiments)
        decisions = self.of(e.name, "decisions")
        never = {"id": self.named()}
        path, body, scope, status, code = self.random.choice((
            (decisions, never, "read", 403, "wrong_scope"),
            (decisions, never, "feedback", 403, "wrong_scope"),
            (decisions, never, None, 401, "no_token"),
            (decisions, b"{", "decide", 400, "bad_json"),
            (decisions, {**never, "arms": []}, "decide", 422, "contextual"),
            (decisions, {**never, "count": 0}, "decide", 422, "invalid"),
            (decisions, {"id": e.name + ":1"}, "decide", 422, "invalid"),
            (decisions, {**never, "extra": 1}, "decide", 422, "invalid"),
            ("/v1/feedback", {"id": "nobody", "loss": 0}, "feedback", 404,
             "unknown_id"),
            ("/v1/feedback", [0] * 1001, "feedback", 422, "too_many"),
            ("/v1/experiments", e.settings, "admin", 409, "exists"),
            (self.of(e.name, "arms"), {"name": e.arms[0], "features": [1, 1]},
             "admin", 409, "exists")))
        return Request("POST", path, body,
                       lambda answer, again: refusal(answer, status, code),
                       scope)

    def at_a_limit(self):
        """As much as is allowed, or a little more: each in turn."""
        self.limits += 1
        kind, more = divmod((self.limits + self.number) % 6, 2)
        r = Request("GET", "/healthz", None, lambda answer, again: must(
            answer.status == 200, answer))
        code = "header_too_large"
        if kind == 0:
            d = Decision(self.random.choice(self.experiments), self.named())
            r = self.ask_again(d)
            r.body = json.dumps({"id": d.id}).encode().rjust(MOST_BODY + more)
            code = "body_too_large"
            if not more:
                self.made.append(d)
        elif kind == 1:  # Host and X-Request-Id are there
            r.fields = ["X-%d: 1" % i for i in range(98 + more)]
        else:
            r.fields = ["X: "]
            size = len(r.bytes({}, "%012d" % 0))
            r.fields = ["X: " + "x" * (MOST_HEAD - size + more)]
        if more:
            r.check = lambda answer, again: refusal(
                answer, 431 if kind else 413, code)
            r.ends = r.refused = True
        return r

    def at_the_door(self):
        """What ends the connection."""
        r = self.random.choice((self.decide_own, self.ask_plainly))()
        kind = self.random.randrange(5)
        if kind == 0:
            r.fields.append("Connection: close")
        elif kind == 1:
            r.version = "HTTP/1.0"
        else:
            field, status, code = (
                ("Transfer-Encoding: chunked", 400, "bad_request") if r.body
                else ("Transfer-Encoding: gzip", 501, "transfer_coding"),
                ("Host: two", 400, "bad_request"),
                ("Expect: magic", 417, "expectation"))[kind - 2]
            r.fields.append(field)
            r.method = "POST"
            r.check = lambda answer, again: refusal(answer, status, code)
            r.refused = True
        r.ends = True
        return r

    # ---- bursts -------------------------------------------------------------

    def next(self):
        old = self.random.choice(self.made) if self.made else None
        kinds = {self.decide_own: 5, self.lease: 1, self.decide: 3,
                 self.look: 2, self.ask_plainly: 2, self.misuse: 2}
        if old is not None:
            kinds.update({
                (lambda: self.report(old)): 8, self.report_many: 1,
                (lambda: self.end(old, "cancel")): 2,
                (lambda: self.end(old, "expire")): 2})
            if ":" not in old.id and "." not in old.id:
                kinds[lambda: self.ask_again(old)] = 2
            if ":" not in old.id and old.told:
                kinds[lambda: self.ask_elsewhere(old)] = 1
        if self.leases:
            kinds[lambda: self.lease_again(
                self.random.choice(self.leases))] = 1
        request = self.random.choices(list(kinds), list(kinds.values()))[0]()
        if request.body is not None and self.random.random() < 0.1:
            request.fields.append("Expect: 100-continue")
        return request

    def burst(self, most):
        """Requests; only the last may end the connection."""
        requests = [self.next() for _ in range(self.random.randrange(1, most))]
        end = self.random.random()
        if end < 0.2:
            requests.append(self.at_a_limit())
        elif end < 0.35:
            requests.append(self.at_the_door())
        return requests


# ---- what is so, by the log -------------------------------------------------

def replay(lines):
    """The fates of decisions by id, as a log tells them; each event must be
    possible when it happens."""
    fates = collections.OrderedDict()
    for line in lines:
        event, id = line["event"], line.get("id")
        if event == "choose":
            must(id not in fates, "twice", line)
            fates[id] = dict(line, loss=None, is_cancelled=False,
                             was_expired=False)
            continue
        if id is None:
            continue
        fate = fates[id]
        must(not fate["is_cancelled"] and fate["loss"] is None, line, fate)
        if event == "observe":
            fate["loss"] = line.get("loss", line.get("reward"))
        elif event == "cancel":
            fate["is_cancelled"] = True
        elif event == "expire":
            must(not fate["was_expired"], line, fate)
            fate["was_expired"] = True
    return fates


def is_pending(fate):
    return fate["loss"] is None and not fate["is_cancelled"] and \
        not fate["was_expired"]
