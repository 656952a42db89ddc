"""openapi.json: whole in itself, and true: every status code that it names is
provoked in a live service (307 in test_owned_elsewhere.py), and every answer
fits its schema.

Needs TARRY, the program."""
import glob
import json
import os
import re
import resource
import socket
import subprocess
import unittest

from service import TARRY, Service

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
with open(os.path.join(ROOT, "src", "http", "page", "openapi.json")) as f:
    TEXT = f.read()
DOC = json.loads(TEXT)
METHODS = {"get", "post", "put", "delete", "patch"}
SCOPES = ("decide", "feedback", "read", "admin")


def resolve(node):
    while isinstance(node, dict) and "$ref" in node:
        found = DOC
        for part in node["$ref"][2:].split("/"):
            found = found[part]
        node = found
    return node


def operations():
    for path, item in DOC["paths"].items():
        for method, operation in item.items():
            if method in METHODS:
                yield path, method, operation


def walk(node):
    yield node
    for child in (node.values() if isinstance(node, dict) else
                  node if isinstance(node, list) else ()):
        yield from walk(child)


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "integer": int, "number": (int, float), "null": type(None)}


def is_a(value, name):
    return isinstance(value, TYPES[name]) and (
        name in ("boolean", "object", "array", "string", "null") or
        not isinstance(value, bool))


def misfit(value, schema, at="$"):
    """Why a value does not fit a schema; None if it does.  What is not known
    in an answer is a misfit too, so that nothing goes without description."""
    schema = resolve(schema)
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_a(value, kind) for kind in kinds):
        return "%s: %r is no %s" % (at, value, "/".join(kinds))
    if "enum" in schema and value not in schema["enum"]:
        return "%s: %r is none of %s" % (at, value, schema["enum"])
    for word, bad in (("minimum", lambda a, b: a < b),
                      ("maximum", lambda a, b: a > b),
                      ("exclusiveMaximum", lambda a, b: a >= b)):
        if word in schema and bad(value, schema[word]):
            return "%s: %r against %s %r" % (at, value, word, schema[word])
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return "%s: %r against %s" % (at, value, schema["pattern"])
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            why = misfit(item, schema["items"], "%s[%d]" % (at, i))
            if why:
                return why
    if isinstance(value, dict) and "properties" in schema:
        for key in schema.get("required", ()):
            if key not in value:
                return "%s: no %s" % (at, key)
        for key, item in value.items():
            if key not in schema["properties"]:
                if schema.get("additionalProperties"):
                    continue
                return "%s: %s is not described" % (at, key)
            why = misfit(item, schema["properties"][key], at + "." + key)
            if why:
                return why
    elif isinstance(value, dict):
        for key in schema.get("required", ()):
            if key not in value:
                return "%s: no %s" % (at, key)
    if "oneOf" in schema:
        whys = [misfit(value, one, at) for one in schema["oneOf"]]
        if whys.count(None) != 1:
            return "%s: fits %d of them: %s" % (at, whys.count(None), whys)
    return None


class Lint(unittest.TestCase):
    def test_there_are_no_double_keys(self):
        def check(pairs):
            keys = [key for key, _ in pairs]
            self.assertEqual(len(keys), len(set(keys)), keys)
            return dict(pairs)
        json.loads(TEXT, object_pairs_hook=check)

    def test_all_references_lead_somewhere_and_all_parts_are_used(self):
        used = set()
        for node in walk(DOC):
            if isinstance(node, dict) and "$ref" in node:
                self.assertEqual(list(node), ["$ref"])
                self.assertTrue(node["$ref"].startswith("#/"))
                resolve(node)
                used.add(node["$ref"])
        there = {"#/components/%s/%s" % (kind, name)
                 for kind, parts in DOC["components"].items()
                 for name in parts if kind != "securitySchemes"}
        self.assertEqual(used, there)

    def test_operations_are_complete(self):
        names = set()
        for path, method, operation in operations():
            where = "%s %s" % (method, path)
            self.assertNotIn(operation["operationId"], names)
            names.add(operation["operationId"])
            self.assertTrue(operation["summary"], where)
            self.assertTrue(set(operation["tags"]) <=
                            {tag["name"] for tag in DOC["tags"]}, where)
            declared = {resolve(p)["name"] for p in
                        DOC["paths"][path].get("parameters", []) +
                        operation.get("parameters", [])
                        if resolve(p)["in"] == "path"}
            self.assertEqual(declared, set(re.findall(r"{(\w+)}", path)),
                             where)
            codes = set(operation["responses"])
            self.assertTrue(codes & {"200", "201"}, where)
            secured = "security" not in operation
            self.assertEqual({"401", "403"} <= codes, secured, where)
            self.assertEqual(operation.get("x-scope") in SCOPES, secured)
            self.assertEqual("422" in codes, path not in (
                "/", "/openapi.json"), where)
            for code, answer in operation["responses"].items():
                answer = resolve(answer)
                self.assertTrue(answer["description"])
                for kind, content in answer["content"].items():
                    self.assertIn("schema", content)
                    self.assertEqual(kind == "application/problem+json",
                                     int(code) >= 300, where)

    def test_request_field_with_a_default_is_not_required(self):
        """Generators make fields with the word `default` required."""
        for node in walk(DOC):
            self.assertFalse(isinstance(node, dict) and "default" in node, node)

    def test_security_allows_a_server_without_tokens(self):
        self.assertEqual(DOC["security"], [{"token": []}, {}])

    def test_code_in_the_sources_is_described_with_its_status(self):
        """Either with a response of that status, or for all requests."""
        found = {("422", "refused")}
        for folder in "service", "http":
            for path in glob.glob(os.path.join(ROOT, "src", folder, "*.c")):
                with open(path) as file:
                    found |= set(re.findall(
                        r'\b([345]\d\d),\s*"([a-z_]+)"', file.read()))
        self.assertGreater(len(found), 30)
        for status, code in sorted(found):
            text = DOC["info"]["description"] + DOC["components"][
                "responses"].get(status, {"description": ""})["description"]
            self.assertIn("`%s`" % code, text, status)

    def test_examples_fit_their_schemas(self):
        seen = 0
        for _, _, operation in operations():
            for content in operation.get("requestBody", {}).get(
                    "content", {}).values():
                if "example" in content:
                    self.assertIsNone(misfit(content["example"],
                                             content["schema"]))
                    seen += 1
        self.assertGreater(seen, 3)

    def test_the_linter_sees_what_is_wrong(self):
        decision = {"id": "a", "arm": 1, "probability": None, "round": 1,
                    "decided_at": "2026-01-01T00:00:00Z"}
        schema = {"$ref": "#/components/schemas/Decision"}
        self.assertIsNone(misfit(decision, schema))
        for change in ({"id": 3}, {"round": 1.5}, {"arm": True}, {"more": 1}):
            self.assertIsNotNone(misfit({**decision, **change}, schema))
        self.assertIsNotNone(misfit({"id": "a"}, schema))
        outcome = {"$ref": "#/components/schemas/Outcome"}
        self.assertIsNotNone(misfit({"id": "a", "loss": 1, "reward": 1},
                                    outcome))
        self.assertIsNotNone(misfit({"id": "a"}, outcome))


# ---- the live service -------------------------------------------------------

GOOD = {  # a body that would do
    "createExperiment": {"name": "new", "arms": [
        {"name": "a", "features": [1.0]}, {"name": "b", "features": [2.0]}]},
    "decide": {}, "feedback": {"id": "open-1", "loss": 0.5},
    "admit": {"name": "green", "features": [1, 1]},
}
BAD = {  # JSON that cannot be done
    "createExperiment": {"name": "a name", "arms": [{"features": [1]}]},
    "decide": {"count": 0}, "feedback": {"id": "open-1", "loss": 7},
    "admit": {"name": "green", "features": [1]},
}


class Live(unittest.TestCase):
    """One service with tokens for each test: what is provoked stays there."""

    def setUp(self):
        self.service = Service("--tokens", "tokens")
        self.tokens = {}
        for scope in SCOPES + (",".join(SCOPES),):
            made = subprocess.run([TARRY, "serve", "--new-token", scope],
                                  stdout=subprocess.PIPE, text=True,
                                  check=True).stdout.splitlines()
            self.tokens[scope] = made[0].split(": ")[1]
            with open(os.path.join(self.service.folder, "tokens"), "a") as f:
                f.write(made[1].split(": ")[1] + "\n")
        self.all = self.tokens[",".join(SCOPES)]
        self.service.start()
        self.addCleanup(self.service.__exit__)
        for name in ("shop", "last", "rest"):
            arms = [{"name": "red", "features": [1, 0]},
                    {"name": "blue", "features": [0, 1]}]
            self.fine("POST", "/v1/experiments", {
                "name": name, "arms": arms if name == "shop" else arms[:1]})
        for id in ("open-1", "open-2", "open-3", "done-1"):
            self.fine("POST", "/v1/experiments/shop/decisions", {"id": id})
        self.fine("POST", "/v1/feedback", {"id": "done-1", "loss": 0.25})
        self.fine("POST", "/v1/experiments/rest/pause", {})

    def fine(self, method, path, body):
        status, _, answer = self.service.ask(method, path, body, self.all)
        self.assertLess(status, 300, answer)
        return answer

    def check(self, operation, code, answer):
        """The answer is the one that the description promises."""
        status, headers, body = answer
        where = "%s %d: %s" % (operation["operationId"], code, body)
        self.assertEqual(status, code, where)
        promised = resolve(operation["responses"][str(code)])
        kind = headers["Content-Type"].split(";")[0]
        self.assertIn(kind, promised["content"], where)
        if kind.endswith("json"):
            why = misfit(body, promised["content"][kind]["schema"])
            self.assertIsNone(why, where)
        for header in promised.get("headers", ()):
            self.assertIn(header, headers, where)
        if code >= 400:
            self.assertEqual(body["status"], code)
            named = re.findall(r"`(\w+)`", promised["description"])
            self.assertTrue(not named or body["code"] in named,
                            where + " is none of " + str(named))
        self.walked.add((operation["operationId"], str(code)))

    def call(self, operation, path, method, body=None, token=None, **names):
        for key, value in {"name": "shop", "id": "open-1", "arm": "blue",
                           **names}.items():
            path = path.replace("{%s}" % key, value)
        if body is None and method == "post":
            body = GOOD.get(operation["operationId"], {})
        return self.service.ask(method.upper(), path, body,
                                self.all if token is None else token)

    def raw(self, path, fields, data=b""):
        """A POST that urllib would not send, on a socket of its own."""
        with socket.create_connection(("127.0.0.1", self.service.port)) as s:
            s.sendall(("POST %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                       "%s\r\nConnection: close\r\n%s\r\n"
                       % (path, self.all, fields)).encode() + data)
            data = b""
            while True:
                more = s.recv(65536)
                if not more:
                    break
                data += more
        head, _, body = data.decode().partition("\r\n\r\n")
        lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        return int(lines[0].split()[1]), headers, json.loads(body)

    # What each operation needs to answer 409, or 404 in its own way.
    CONFLICTS = {
        "createExperiment": dict(body={**GOOD["createExperiment"],
                                       "name": "shop"}),
        "decide": dict(body={"id": "done-1"}, name="last"),
        "feedback": dict(body={"id": "done-1", "loss": 0.5}),
        "cancel": dict(id="done-1"), "expire": dict(id="done-1"),
        "admit": dict(body={"name": "red", "features": [1, 1]}),
    }
    UNKNOWN = {"feedback": dict(body={"id": "nobody", "loss": 0.5}),
               "cancel": dict(id="nobody"), "expire": dict(id="nobody"),
               "withdraw": dict(arm="nobody")}
    WRONG = {"withdraw": dict(name="last", arm="red")}
    RIGHT = {"cancel": dict(id="open-2"), "expire": dict(id="open-3"),
             "pause": dict(name="last"), "resume": dict(name="rest")}

    def provoke(self, path, method, operation, code):
        name = operation["operationId"]
        if code == 401:
            return self.call(operation, path, method, token="wrong")
        if code == 403:
            other = self.tokens["read" if operation["x-scope"] != "read"
                                else "decide"]
            answer = self.call(operation, path, method, token=other)
            self.assertIn('the scope "%s"' % operation["x-scope"],
                          answer[2]["detail"])
            return answer
        if code == 404:
            return self.call(operation, path, method, **self.UNKNOWN.get(
                name, {"name": "nobody"}))
        if code == 400:
            return self.call(operation, path, method, body=b"{")
        if code == 409:
            return self.call(operation, path, method, **self.CONFLICTS[name])
        if code == 413:
            return self.call(operation, path, method,
                             body=b" " * (5 << 20) + b"{}")
        if code == 422:
            if name not in BAD and name not in self.WRONG:
                path += "?limit=x" if name == "pending" else "?more=1"
            return self.call(operation, path, method, **self.WRONG.get(
                name, {"body": BAD.get(name)}))
        if code == 200 and name == "decide":
            return self.call(operation, path, method, body={"id": "open-1"})
        return self.call(operation, path, method, **self.RIGHT.get(name, {}))

    def test_every_code_is_answered_as_described(self):
        self.walked = set()
        for path, method, operation in operations():
            # What changes nothing comes first.
            for code in sorted(map(int, operation["responses"]), reverse=True):
                if code not in (307, 503):
                    self.check(operation, code, self.provoke(
                        path, method, operation, code))
        documented = {(operation["operationId"], code)
                      for _, _, operation in operations()
                      for code in operation["responses"]
                      if code not in ("307", "503")}
        self.assertEqual(self.walked, documented)

    def test_unknown_query_parameter_is_refused_on_every_route(self):
        self.walked = set()
        for path, method, operation in operations():
            if "422" in operation["responses"]:
                self.check(operation, 422, self.call(
                    operation, path + "?after=3", method))

    def test_optional_body_may_be_missing(self):
        self.walked = set()
        posts = [(path, operation) for path, method, operation in operations()
                 if method == "post" and not operation.get(
                     "requestBody", {}).get("required")]
        self.assertEqual(len(posts), 5)
        for path, operation in posts:
            names = {"name": "shop", "id": "open-1", **self.RIGHT.get(
                operation["operationId"], {})}
            self.check(operation, 201 if operation["operationId"] == "decide"
                       else 200, self.raw(path.format(**names), ""))

    def test_missing_body_of_other_operations_is_an_empty_object(self):
        for path in ("/v1/experiments", "/v1/feedback",
                     "/v1/experiments/shop/arms"):
            status, _, answer = self.raw(path, "")
            self.assertEqual((status, answer["code"]), (422, "invalid"))

    def test_chunked_body_is_answered_like_one_with_a_length(self):
        self.walked = set()
        for path, method, operation in operations():
            if "requestBody" not in operation:
                continue
            body = json.dumps(GOOD[operation["operationId"]]).encode()
            chunks = b"".join(b"1;x\r\n%c\r\n" % c for c in body)
            self.check(operation, int(min(
                operation["responses"], key=lambda c: (c != "201", c))),
                self.raw(path.format(name="shop"),
                         "Transfer-Encoding: chunked\r\n",
                         chunks + b"0\r\nA: b\r\n\r\n"))
        status, _, answer = self.raw(
            "/v1/feedback", "Transfer-Encoding: chunked\r\n",
            b"%x\r\n" % (5 << 20))
        self.assertEqual((status, answer["code"]), (413, "body_too_large"))

    def test_a_store_that_cannot_be_written_is_503(self):
        """A limit on the size of files, as a full disk."""
        self.walked = set()
        pid = self.service.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, before[1]))
        last = []
        for path, method, operation in operations():
            if "503" not in operation["responses"]:
                continue
            if method == "get":
                last.append((path, method, operation))
                continue
            self.check(operation, 503, self.call(
                operation, path, method,
                **self.RIGHT.get(operation["operationId"], {})))
        for path, method, operation in last:
            self.check(operation, 503, self.call(operation, path, method))
        self.assertGreater(len(self.walked), 5)
        for path, method, operation in operations():  # what only reads goes on
            if method == "get" and "503" not in operation["responses"]:
                self.check(operation, 200, self.call(operation, path, method))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        self.assertEqual(self.call({"operationId": "decide"}, "/v1/experiments"
                                   "/{name}/decisions", "post")[0], 201)

    def test_lists_fit_too(self):
        self.walked = set()
        by_name = {o["operationId"]: (p, m, o) for p, m, o in operations()}
        path, method, operation = by_name["decide"]
        self.check(operation, 201, self.call(operation, path, method,
                                             body={"count": 3}))
        path, method, operation = by_name["feedback"]
        self.check(operation, 200, self.call(operation, path, method, body=[
            {"id": "open-1", "loss": 0.5}, {"id": "nobody", "loss": 0.5},
            {"id": "done-1", "loss": 0.75}, {"id": "open-2", "loss": 9}]))


if __name__ == "__main__":
    unittest.main()
