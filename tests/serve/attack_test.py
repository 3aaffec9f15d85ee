"""It does not fall over: slow clients, huge bodies, malformed requests, floods.

    attack_test.py RESMEM                     the tests, some thousand malformed requests
    attack_test.py RESMEM --requests 1000000  only the malformed requests, so many of them
    RESMEM_HELD=1000 attack_test.py RESMEM Attack   so many slow clients at a time
"""
import json
import os
import pathlib
import random
import shutil
import socket
import sys
import tempfile
import time
import unittest

import harness
from harness import infer_json, rows, triton_request

REQUESTS = int(sys.argv.pop(sys.argv.index("--requests") + 1)) if "--requests" in sys.argv else 3000
HELD = int(os.environ.get("RESMEM_HELD", 200))
ONLY_MALFORMED = "--requests" in sys.argv
if ONLY_MALFORMED:
    sys.argv.remove("--requests")


def read_all(raw):
    data = b""
    try:
        while True:
            more = raw.recv(65536)
            if not more:
                return data
            data += more
    except (ConnectionResetError, BrokenPipeError):
        return data


def head(length=None, path="/v2/models/m/infer", more=""):
    text = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{more}"
    return (text + (f"Content-Length: {length}\r\n" if length is not None else "") + "\r\n").encode()


@unittest.skipIf(ONLY_MALFORMED, "only the malformed requests")
class Attack(harness.ServerTest):
    words = ("--header-seconds", "1", "--body-seconds", "1", "--idle-seconds", "2", "--write-seconds", "2",
             "--max-body", "1", "--max-bodies", "8", "--max-connections", str(HELD + 100), "--max-header", "8")

    def healthy(self):
        status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", infer_json(rows(1)))
        self.assertEqual(status, 200, answer)

    def test_slow_clients_keep_nobody_waiting_and_are_ended(self):
        before = self.server.resident_mb()
        held = [self.server.socket() for _ in range(HELD)]
        for i, raw in enumerate(held):
            raw.sendall((b"GET /v2 HT", head(1000) + b"{", b"G")[i % 3])
        begin = time.time()
        for _ in range(5):
            self.healthy()
        self.assertLess(time.time() - begin, 10)
        deadline = time.time() + 20
        while self.server.metric("resmem_connections") > 20:
            self.assertLess(time.time(), deadline, "slow clients are still there")
            time.sleep(0.1)
        for raw in held:
            raw.close()
        self.assertLess(self.server.resident_mb() - before, 50)
        self.assertGreater(self.server.metric("resmem_timeouts_total"), 100)

    def test_a_trickle_is_no_way_around_a_deadline(self):
        with self.server.socket(10) as raw:
            begin = time.time()
            data = b""
            try:
                for byte in b"GET /v2 HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 1000:
                    raw.sendall(bytes([byte]))
                    time.sleep(0.02)
                    if time.time() - begin > 8:
                        break
                data = read_all(raw)
            except (ConnectionResetError, BrokenPipeError):
                pass
            self.assertLess(time.time() - begin, 8, data)

    def test_a_client_that_never_reads_is_ended(self):
        body = json.dumps(infer_json(rows(2000), 0, 2000, ["scores", "probabilities"])).encode()
        held = []
        for _ in range(10):
            raw = socket.socket()
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.connect(("127.0.0.1", self.server.port))
            raw.sendall((head(len(body)) + body) * 1)
            held.append(raw)
        self.healthy()
        deadline = time.time() + 30
        while self.server.metric("resmem_connections") > 1 or self.server.metric("resmem_held_bytes") > 0:
            self.assertLess(time.time(), deadline, "clients that never read are held")
            time.sleep(0.1)
        for raw in held:
            raw.close()

    def test_a_gigabyte_is_refused_by_its_length_and_in_chunks(self):
        before = self.server.resident_mb()
        with self.server.socket() as raw:
            raw.sendall(head(10 ** 9))
            self.assertIn(b" 413 ", raw.recv(4096))
        for _ in range(3):
            with self.server.socket() as raw:
                raw.sendall(head(more="Transfer-Encoding: chunked\r\n"))
                sent, chunk = 0, b"10000\r\n" + b"x" * 65536 + b"\r\n"
                try:
                    while sent < 10 ** 9:
                        raw.sendall(chunk)
                        sent += 65536
                except (ConnectionResetError, BrokenPipeError):
                    pass
                self.assertLess(sent, 50 * 10 ** 6)
        with self.server.socket() as raw:  # a header without end
            raw.sendall(b"GET /v2 HTTP/1.1\r\nX: " + b"x" * 100_000)
            self.assertIn(b" 431 ", read_all(raw)[:100])
        self.healthy()
        self.assertLess(self.server.resident_mb() - before, 50)

    def test_bodies_are_held_within_a_budget(self):
        # Each sends almost a megabyte and then nothing; the budget is eight.
        held = []
        for _ in range(20):
            raw = self.server.socket()
            try:
                raw.sendall(head(1_000_000) + b" " * 990_000)
            except OSError:
                pass
            held.append(raw)
        time.sleep(0.5)
        self.assertLess(self.server.metric("resmem_held_bytes"), 9 << 20)
        answers = [read_all(raw)[:20] for raw in held]
        self.assertTrue(any(b" 503 " in answer for answer in answers), answers)
        for raw in held:
            raw.close()
        self.healthy()

    def test_a_flood_of_connections_is_refused_and_passes(self):
        held = []
        for _ in range(HELD + 400):
            try:
                held.append(self.server.socket(5))
            except OSError:
                pass
        for raw in held:
            raw.setblocking(False)
        refused, deadline = set(), time.time() + 20
        while len(refused) <= 100 and time.time() < deadline:  # the server answers in its own time
            time.sleep(0.05)
            for raw in set(held) - refused:
                try:
                    if b"503" in raw.recv(200):
                        refused.add(raw)
                except OSError:
                    pass
        for raw in held:
            raw.close()
        self.assertGreater(len(refused), 100)
        deadline = time.time() + 10
        while True:
            try:
                self.healthy()
                break
            except (OSError, AssertionError, ValueError):
                self.assertLess(time.time(), deadline)
                time.sleep(0.1)

    def test_deep_and_wide_json_is_refused_cheaply(self):
        before = self.server.resident_mb()
        for body in (b"[" * 500_000, b'{"a":' * 100_000, b'{"inputs":[' + b'"",' * 300_000 + b'""]}',
                     b'{"inputs":[' + b"{}," * 300_000 + b"{}]}", b'"' + b"\\u0000" * 100_000 + b'"',
                     b"[" + b"0," * 400_000 + b"0]"):
            status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", body)
            self.assertEqual(status, 400, body[:20])
            self.assertLess(len(answer["error"]), 500)
        self.assertLess(self.server.resident_mb() - before, 150)

    def test_smuggled_and_odd_requests_are_refused(self):
        for request in (head(5, more="Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n",
                        b"GET /v2 HTTP/1.1\r\n\r\n", b"GET /v2 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                        b"GET http://x/v2 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /v2 HTTP/2.0\r\nHost: localhost\r\n\r\n",
                        head("-1"), head("1e3"), head("99999999999999999999"), b"\r\n\r\n\0\0\0",
                        b"GET /v2 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"):
            with self.server.socket(5) as raw:
                raw.sendall(request)
                raw.shutdown(socket.SHUT_WR)
                self.assertNotIn(b" 200 ", read_all(raw)[:20], request)
        self.healthy()


class CutFile(unittest.TestCase):
    def test_a_file_that_gets_shorter_is_an_error_of_its_memory_alone(self):
        with tempfile.TemporaryDirectory(prefix="resmem_cut_") as name:
            folder = pathlib.Path(name)
            harness.make_memory(folder, 20_000)
            shutil.copytree(folder / "m.resmem", folder / "n.resmem")
            server = harness.Server(folder, "n=n.resmem")
            try:
                ask = lambda memory: server.ask("POST", f"/v2/models/{memory}/infer", infer_json(rows(3)))
                self.assertEqual(ask("m")[0], 200)
                for segment in (folder / "m.resmem").glob("segment-*"):
                    os.truncate(segment, 4096)
                for _ in range(3):
                    status, answer, _ = ask("m")
                    self.assertEqual(status, 500)
                    self.assertIn("has become shorter", answer["error"])
                    self.assertEqual(ask("n")[0], 200)
            finally:
                server.stop()


class Malformed(harness.ServerTest):
    """Sound requests with bytes changed, cut, doubled: an answer or an end, never a crash."""
    words = ("--max-body", "1", "--header-seconds", "2", "--body-seconds", "2", "--edit-rest", "0")

    def seeds(self):
        arrays = rows(3)
        binary, headers = triton_request({"keys": arrays["keys"], "logits": arrays["logits"]}, ["scores"], "1")
        length = headers["Inference-Header-Content-Length"]
        yield head(len(binary), more=f"Inference-Header-Content-Length: {length}\r\n") + binary
        lesson = {name: value.tolist() for name, value in arrays.items()}
        for path, body in (("/v2/models/m/infer", infer_json(arrays, 0, 3)), ("/v1/memories/m/neighbors", lesson),
                           ("/v1/memories/m/explain", {k: v[0] for k, v in lesson.items()}),
                           ("/v1/memories/m/forget", {"ids": [10 ** 9]}), ("/v1/memories/m/undo", {"edit": 10 ** 9}),
                           ("/v1/memories/m/preview", {"learn": lesson})):
            text = json.dumps(body).encode()
            yield head(len(text), path) + text
        yield b"GET /v1/memories/m/history?limit=3&before=9 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        yield head(path="/v2/repository/index")
        yield head(more="Transfer-Encoding: chunked\r\n") + b"5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n"

    def mutate(self, dice, seed):
        data = bytearray(seed)
        body = seed.find(b"\r\n\r\n") + 4
        # Half of the time the header stays sound, so that the parsers behind it are reached.
        low = body if dice.random() < 0.5 and body < len(data) else 0
        for _ in range(dice.choice((1, 1, 2, 5))):
            at = dice.randrange(low, len(data))
            what = dice.randrange(5)
            if what == 0:
                data[at] = dice.randrange(256)
            elif what == 1:
                del data[at:at + dice.choice((1, 4, 50))]
            elif what == 2:
                data[at:at] = dice.choice((b"[" * 50, b"-1", b"1e999", b'"', b"null", b"\0", b"18446744073709551615", b"{}"))
            elif what == 3:
                piece = data[at:at + 20]
                data[at:at] = piece
            else:
                data[at:at + 1] = dice.choice((b",", b":", b"]", b"}", b"0", b"\xff"))
            low = min(low, len(data) - 1)
            if len(data) <= low or not data:
                return b"x"
        if low and dice.random() < 0.7:  # with the right length again
            text = bytes(data[body:])
            first = bytes(data[:body]).split(b"Content-Length: ")
            tail = first[-1].split(b"\r\n", 1)
            if len(first) >= 2 and len(tail) == 2:  # the end of that line may be gone
                first[-1] = str(len(text)).encode() + b"\r\n" + tail[1]
                return b"Content-Length: ".join(first) + text
        return bytes(data)

    def test_malformed_requests_do_no_harm(self):
        dice, seeds, statuses = random.Random(20), list(self.seeds()), {}
        before = None
        for number in range(REQUESTS):
            request = self.mutate(dice, dice.choice(seeds))
            with self.server.socket(20) as raw:
                try:
                    raw.sendall(request)
                    raw.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                status = read_all(raw)[9:12].decode("latin-1")
            statuses[status] = statuses.get(status, 0) + 1
            if self.server.process.poll() is not None:
                self.fail(f"request {number} ended the server: {request!r}")
            if number == min(1000, REQUESTS // 2):
                before = self.server.resident_mb()
        self.assertLess(self.server.resident_mb() - before, 60)
        self.assertNotIn("500", statuses, statuses)
        self.assertEqual(self.server.ask("POST", "/v2/models/m/infer", infer_json(rows(1)))[0], 200)
        print(f"{REQUESTS} malformed requests: {statuses}, {self.server.resident_mb():.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    harness.main()
