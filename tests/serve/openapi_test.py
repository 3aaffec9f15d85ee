"""Every address and status of server/openapi.json, asked of a real server; no address is left out."""
import json
import pathlib
import re
import shutil
import struct

import harness
import api_page
from door_test import KEYS, bearer, write_keys
from harness import infer_json, rows

DOCUMENT = json.loads((api_page.ROOT / "server/openapi.json").read_text())


def check(value, schema, where="answer"):
    """What of `value` the schema does not allow, in sentences."""
    if "$ref" in schema:
        return check(value, DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], where)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
    kind = schema.get("type")
    if kind and (not isinstance(value, kinds[kind]) or (kind in ("integer", "number") and isinstance(value, bool))):
        return [f"{where} is not of type {kind}: {value!r}"[:200]]
    problems = []
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{where} is none of {schema['enum']}: {value!r}")
    if kind == "array":
        for i, item in enumerate(value):
            problems += check(item, schema["items"], f"{where}[{i}]")
    if kind == "object":
        problems += [f"{where} has no {name}" for name in schema.get("required", ()) if name not in value]
        known = schema.get("properties", {})
        for name, member in value.items():
            if name in known:
                problems += check(member, known[name], f"{where}.{name}")
            elif known and set(known) != {"schema"}:
                problems.append(f"{where}.{name} is not documented")
    return problems


class OpenApi(harness.ServerTest):
    words = ("--keys", "keys.txt", "--edit-rest", "0", "--max-body", "1", "--max-header", "8", "--body-seconds", "1")
    memory = None

    @classmethod
    def prepare(cls):
        super().prepare()
        write_keys(cls.folder / "keys.txt", KEYS)
        shutil.copytree(cls.folder / "m.resmem", cls.folder / "gone.resmem")
        cls.words += tuple(f"{name}={name}.resmem" for name in ("m", "gone"))

    def lesson(self, count=1, seed=5, **more):
        return {**{name: array.tolist() for name, array in rows(count, seed).items()}, **more}

    def cases(self):
        """{(method, path): {status: (memory, body)}} of everything that is documented."""
        infer, lesson = infer_json(rows(1)), self.lesson()
        image = {"inputs": [{"name": "image", "shape": [1, 1], "datatype": "UINT8", "data": [1]}]}
        query = {"keys": lesson["keys"], "logits": lesson["logits"]}
        none, gone = ("none", None), ("gone", None)
        read = {"200": ("m", None), "404": none, "503": gone}
        elsewhere = ("text", None)  # by protocol_test.py, text_test.py or trouble_test.py
        infers = {"200": ("m", infer), "400": ("m", {}), "404": ("none", infer), "409": elsewhere, "501": ("m", image),
                  "503": ("gone", infer)}
        label = int(rows(300)["labels"][3])
        asks = {"200": ("m", query), "400": ("m", {}), "404": ("none", query), "503": ("gone", query)}
        learns = {"200": ("m", lesson), "400": ("m", {}), "404": ("none", lesson), "409": ("m", self.lesson(ids=[1000])),
                  "503": ("gone", lesson)}
        parts = b"resmemQ1" + struct.pack("<qqq", 1, harness.DIM, 5) + bytes(4 * harness.DIM)
        once = {"200": (None, None)}
        return {
            ("get", "/v2/health/live"): once, ("get", "/v2/health/ready"): {**once, "503": (None, "unloaded")},
            ("get", "/v2"): once, ("get", "/v2/models/{name}"): read, ("get", "/v2/models/{name}/versions/1"): read,
            ("get", "/v2/models/{name}/ready"): read, ("get", "/v2/models/{name}/versions/1/ready"): read,
            ("post", "/v2/models/{name}/infer"): infers, ("post", "/v2/models/{name}/versions/1/infer"): infers,
            ("post", "/v2/repository/index"): once,
            ("post", "/v2/repository/models/{name}/load"): {"200": ("m", None), "404": none, "409": elsewhere},
            ("post", "/v2/repository/models/{name}/unload"): {"200": ("gone", None), "404": none},
            ("get", "/v1/memories"): once,
            ("post", "/v1/memories/{name}/explain"): asks, ("post", "/v1/memories/{name}/neighbors"): asks,
            ("post", "/v1/memories/{name}/parts"): {"200": ("m", parts), "400": ("m", b"x"), "404": ("none", parts),
                                                    "503": ("gone", parts)},
            ("post", "/v1/memories/{name}/held"): {"200": ("m", {"ids": [1005, 1]}), "400": ("m", {"ids": "x"}),
                                                   "404": ("none", {}), "503": ("gone", {})},
            ("post", "/v1/memories/{name}/tokens"): {
                "200": elsewhere,
                "400": ("m", None), "404": ("none", {"text": "a"}), "501": ("m", {"text": "a"}), "503": ("gone", {"text": "a"})},
            ("get", "/v1/memories/{name}/rows"): {"200": ("m?ids=1005", None), "400": ("m?ids=x", None),
                                                  "404": ("m?ids=1", None), "503": ("gone?ids=1005", None)},
            ("get", "/v1/memories/{name}/rows/{id}/image"): {
                "200": elsewhere,
                "400": ("m", "x"), "404": ("m", None), "503": gone},
            ("get", "/v1/memories/{name}/queries"): {**read, "400": ("m?limit=0", None)},
            ("get", "/v1/memories/{name}/queries/{request}"): read,
            ("get", "/v1/memories/{name}/map"): read, ("get", "/v1/memories/{name}/review"): read,
            ("post", "/v1/memories/{name}/learn"): learns, ("post", "/v1/memories/{name}/correct"): learns,
            ("post", "/v1/memories/{name}/forget"): {"200": ("m", {"ids": [1001]}), "400": ("m", {}),
                                                     "404": ("m", {"ids": [1]}), "503": ("gone", {"ids": [1000]})},
            ("post", "/v1/memories/{name}/relabel"): {
                "200": ("m", {"ids": [1003], "label": (label + 1) % 4}), "409": ("m", {"ids": [1003], "label": (label + 1) % 4}),
                "400": ("m", {}), "404": ("m", {"ids": [1], "label": 1}), "503": ("gone", {"ids": [1003], "label": 1})},
            ("post", "/v1/memories/{name}/undo"): {"200": ("m", {"edit": 1}), "409": ("m", {"edit": 1}), "400": ("m", {}),
                                                   "404": ("m", {"edit": 10 ** 6}), "503": ("gone", {"edit": 1})},
            ("post", "/v1/memories/{name}/preview"): {"200": ("m", {"forget": [1002]}), "400": ("m", {}),
                                                      "404": ("m", {"forget": [1]}),
                                                      "503": ("gone", {"forget": [1002]})},
            ("get", "/v1/memories/{name}/history"): {**read, "400": ("m?limit=0", None)},
            ("post", "/v1/memories/{name}/doctor"): {"200": ("m", {}), "400": ("m", {"keys": 1}), "404": ("none", {}),
                                                     "503": ("gone", {})},
            ("post", "/v1/memories/{name}/tune"): {"200": ("m", self.lesson(120, 6)), "400": ("m", {}),
                                                   "404": ("none", {}), "409": elsewhere, "503": ("gone", {})},
            ("post", "/v1/admin/reload"): {**once, "400": (None, "broken keys"), "409": elsewhere},
            ("get", "/metrics"): once, ("get", "/openapi.json"): once,
        }

    def test_every_documented_status_is_given_with_the_documented_body(self):
        cases = self.cases()
        documented = {(method, path): {status for status, response in spec["responses"].items() if "$ref" not in response}
                      for path, methods in DOCUMENT["paths"].items() for method, spec in methods.items()}
        self.assertEqual({key: set(statuses) for key, statuses in cases.items()}, documented)
        self.server.ask("POST", "/v1/memories/m/learn", self.lesson(), bearer("boss"))  # edit 1
        self.server.ask("POST", "/v2/models/m/infer", infer_json(rows(1)), {**bearer("boss"), "X-Request-Id": "asked"})
        problems = []
        loaded = sorted(cases, key=lambda key: "unload" in key[1])
        for phase in ("loaded", "unloaded"):
            if phase == "unloaded":
                self.server.ask("POST", "/v2/repository/models/gone/unload", None, bearer("boss"))
            for key in loaded:
                for status, (name, body) in cases[key].items():
                    if (status == "503") == (phase == "unloaded"):
                        problems += self.ask_case(*key, status, name, body)
        self.assertEqual(problems, [])

    def ask_case(self, method, path, status, name, body):
        suffix = ""
        if name == "text":
            return []
        if name and "?" in name:
            name, suffix = name.split("?")[0], "?" + name.split("?")[1]
        if body == "broken keys":
            (self.folder / "keys.txt").write_text("x\n")
        text = None if isinstance(body, str) else body
        row = body if path.endswith("/image") and body else "1005"
        address = path.replace("{name}", name or "").replace("{request}", "asked").replace("{id}", row) + suffix
        got, answer, headers = self.server.ask(method.upper(), address, text, bearer("boss"))
        if body == "broken keys":
            write_keys(self.folder / "keys.txt", KEYS)
        spec = DOCUMENT["paths"][path][method]
        kind, content = next(iter(spec["responses"][status]["content"].items()))
        where = f"{method} {path} {status}"
        if "requestBody" in spec and status == "200":
            content_sent = spec["requestBody"]["content"].get("application/json")
            sent = content_sent and check(body, content_sent["schema"], where + " body")
            if sent:
                return sent
        if str(got) != status:
            return [f"{where}: got {got} {str(answer)[:200]}"]
        if headers["Content-Type"] != kind:
            return [f"{where}: has the type {headers['Content-Type']}"]
        return check(answer, content["schema"], where) if kind == "application/json" else []

    def test_every_address_wants_its_role(self):
        levels = ["none", *(role for role, _ in KEYS.values())]
        for path, methods in DOCUMENT["paths"].items():
            for method, spec in methods.items():
                needs = levels.index(spec["x-role"])
                for level, headers in enumerate([{}, *(bearer(name) for name in KEYS)]):
                    # A memory that is not there, so that nothing is changed.
                    status = self.server.ask(method.upper(), path.replace("{name}", "none"), None, headers)[0]
                    allowed = status not in (401, 403)
                    self.assertEqual(allowed, level >= needs, (method, path, headers, status))

    def raw(self, head, body=b""):
        """-> the status of an answer whose body must be that of an error"""
        with self.server.socket() as raw:
            raw.sendall(head + b"\r\nAuthorization: Bearer " + KEYS["boss"][1].encode() + b"\r\n\r\n" + body)
            answer = b""
            while b"}\n" not in answer and (data := raw.recv(4096)):
                answer += data
        head, _, text = answer.partition(b"\r\n\r\n")
        self.assertEqual(check(json.loads(text), {"$ref": "#/components/schemas/Error"}), [])
        return int(head.split()[1])

    def test_what_every_address_may_answer(self):
        """401 and 403: below.  429, 500 and 503: trouble_test.py.  501: text_test.py."""
        shared = {response["$ref"].rsplit("/", 1)[1]: status for methods in DOCUMENT["paths"].values()
                  for spec in methods.values() for status, response in spec["responses"].items() if "$ref" in response}
        self.assertEqual(set(shared) | {"OtherMethod"}, set(DOCUMENT["components"]["responses"]))
        problems = []
        for path, methods in DOCUMENT["paths"].items():
            address = re.sub(r"{\w+}", "none", path).encode()
            for method, spec in methods.items():
                line = method.upper().encode() + b" " + address + b" HTTP/1.1\r\nHost: localhost"
                got = {"431": self.raw(line + b"\r\nX-Long: " + b"x" * 10_000)}
                other = b"GET " if method == "post" else b"POST "
                if len(methods) == 1:
                    self.assertEqual(self.raw(other + address + b" HTTP/1.1\r\nHost: localhost"), 405, path)
                if method == "post":
                    got["413"] = self.raw(line + b"\r\nContent-Length: 1048577")
                if path == "/v2/models/{name}/infer":  # takes a second, and is no matter of the address
                    got["408"] = self.raw(line + b"\r\nContent-Length: 10", b"{")
                problems += [(path, status, told) for status, told in got.items()
                             if str(told) != status or "$ref" not in spec["responses"].get(status, {})]
                if spec["x-role"] != "none" and not {"401", "403"} <= set(spec["responses"]):
                    problems.append((path, "401, 403"))
        self.assertEqual(problems, [])

    def test_the_routes_of_the_program_are_those_of_the_document(self):
        text = (api_page.ROOT / "server/service/routes.cc").read_text()
        routes = {(method.lower(), pattern) for method, pattern in re.findall(r'\{"(GET|POST)", "([^"]+)"', text)}
        routes -= {("get", "/"), ("get", "/page/{}")}  # the page, for people
        documented = {(method, re.sub(r"{\w+}", "{}", path)) for path, methods in DOCUMENT["paths"].items()
                      for method in methods}
        self.assertEqual(routes, documented)

    def test_the_document_is_served_with_a_tag(self):
        status, answer, headers = self.server.ask("GET", "/openapi.json")
        self.assertEqual((status, answer), (200, DOCUMENT))
        status, data, _ = self.server.ask("GET", "/openapi.json", headers={"If-None-Match": headers["ETag"]})
        self.assertEqual((status, data), (304, b""))
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])

    def test_the_page_in_docs_is_current(self):
        self.assertEqual(pathlib.Path(api_page.PAGE).read_text(), api_page.page())


if __name__ == "__main__":
    harness.main()
