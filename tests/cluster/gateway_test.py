"""A gateway and its shards on loopback: the answers of one memory bit for bit, and what happens when shards
are slow, gone, of another version, or lie."""
import http.server
import pathlib
import shutil
import signal
import struct
import tempfile
import threading
import time
import unittest

import numpy as np

import shards
from shards import ask, harness


def write_list(path, version, addresses, contents=None, **settings):
    """A gateway's list; `addresses`: of each shard, ports or host:port."""
    contents = contents or version.contents
    lines = ["name = m", f"answers = {version.whole}", *(f"{key} = {value}" for key, value in settings.items())]
    for content, (begin, end), places in zip(contents, version.bounds, addresses):
        words = " ".join(f"127.0.0.1:{each}" for each in places)
        lines.append(f"shard = {content} {end - begin} {words}")
    path.write_text("\n".join(lines) + "\n")
    return path


class FakeShard(http.server.ThreadingHTTPServer):
    """Answers /parts with what `body` says, after `wait` seconds; ready always."""
    daemon_threads = True

    def __init__(self, body=b"", wait=0.0, status=200):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length", 0))
                question = self.rfile.read(length)
                if self.command == "POST":
                    self.server.asked += 1
                    time.sleep(wait)
                data = body(question) if callable(body) else body
                self.send_response(200 if self.command == "GET" else status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            do_GET = do_POST = answer

            def log_message(self, *words):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *words):
        pass  # who asked has left: another attempt was quicker

    @property
    def port(self):
        return self.server_address[1]


class Gateway(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_gateway_"))
        cls.old, cls.new = (shards.Version(cls.folder / name, shards=3, count=400, seed=seed)
                            for name, seed in (("old", 1), ("new", 7)))
        for version in (cls.old, cls.new):
            version.names = version.config("cluster", "--replicas", "1")
            version.contents = [name.split(".")[1] for name in version.names]
        cls.queries = harness.rows(64, seed=9)
        cls.servers = []
        cls.one = cls.start("--read-only", f"old={cls.old.whole}", f"new={cls.new.whole}")
        # Every replica has both versions of its shard.
        cls.replicas = [[cls.start_replica(s) for _ in range(2)] for s in range(3)]
        cls.ports = [[server.port for server in each] for each in cls.replicas]
        cls.file = write_list(cls.folder / "shards.conf", cls.old, cls.ports)
        cls.gateway = cls.start("--shards", cls.file)

    @classmethod
    def start(cls, *words):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="server", dir=cls.folder))
        cls.servers.append(harness.Server(folder, *words, memory=None))
        return cls.servers[-1]

    @classmethod
    def start_replica(cls, shard):
        return cls.start("--read-only", *(f"{version.names[shard]}={version.shards[shard]}"
                                          for version in (cls.old, cls.new)))

    @classmethod
    def tearDownClass(cls):
        codes = [server.stop() for server in cls.servers]
        shutil.rmtree(cls.folder, ignore_errors=True)
        if any(code not in (0, -signal.SIGKILL) for code in codes):
            raise AssertionError(f"servers ended with {codes}")

    def expect_old(self, gateway, begin=0, end=1, **parameters):
        got = ask(gateway, self.queries, begin, end, **parameters)
        self.assertEqual(got, ask(self.one, self.queries, begin, end, name="old", **parameters))
        self.assertEqual(got[0], 200)

    def test_answers_are_those_of_one_memory_bit_for_bit(self):
        for row in range(20):
            self.expect_old(self.gateway, row, row + 1)
        self.expect_old(self.gateway, 0, 64)
        for parameters in ({"k": 1}, {"k": 0}, {"k": 399}, {"k": 1000}, {"k": 5, "sigma": 0.2}):
            self.expect_old(self.gateway, 3, 40, **parameters)
        for method in ("base", "knn", "knn-lm", "resmem", "blend"):
            inputs = [ask(server, self.queries, 0, 9, name=name, method=method)
                      for server, name in ((self.gateway, "m"), (self.one, "old"))]
            self.assertEqual(inputs[0], inputs[1], method)

    def test_requests_that_come_together_share_a_question(self):
        results = [None] * 48

        def work(first):
            for row in range(first, 48, 8):
                results[row] = ask(self.gateway, self.queries, row, row + 1)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for row in range(48):
            self.assertEqual(results[row], ask(self.one, self.queries, row, row + 1, name="old"))

    def test_it_describes_the_whole_memory(self):
        meta = [server.ask("GET", f"/v2/models/{name}")[1] for server, name in ((self.gateway, "m"), (self.one, "old"))]
        self.assertEqual(meta[0]["inputs"], meta[1]["inputs"])
        self.assertEqual(meta[0]["outputs"], meta[1]["outputs"])
        for each in ("rows", "k", "sigma", "answer", "tuned"):
            self.assertEqual(meta[0]["parameters"][each], meta[1]["parameters"][each], each)
        self.assertEqual(self.gateway.ask("GET", "/v2/health/ready")[0], 200)
        self.assertEqual(self.gateway.ask("GET", "/v2/models/m/ready")[0], 200)
        self.assertIn('resmem_shard_questions_total{memory="m",shard="3"}', self.gateway.ask("GET", "/metrics")[1].decode())

    def test_what_needs_rows_is_answered_501(self):
        for method, path in (("POST", "explain"), ("POST", "neighbors"), ("POST", "learn"), ("POST", "tune"),
                             ("GET", "rows?ids=1"), ("GET", "history"), ("POST", "parts")):
            status, answer, _ = self.gateway.ask(method, f"/v1/memories/m/{path}", "{}" if method == "POST" else None)
            self.assertEqual(status, 501, path)
            self.assertIn("gateway", answer["error"])
        status, words, _ = ask(self.gateway, self.queries, method="nearest-class-mean")
        self.assertEqual(status, 501, words)
        status, words, _ = ask(self.gateway, self.queries, k=5000)
        self.assertEqual(status, 400, words)

    def test_a_read_only_memory_refuses_edits_and_writes_nothing(self):
        before = sorted(self.old.folder.iterdir())
        for path in ("learn", "forget", "correct", "undo", "tune"):
            status, answer, _ = self.one.ask("POST", f"/v1/memories/old/{path}", {"ids": [1]})
            self.assertEqual((status, "read-only" in answer["error"]), (501, True), path)
        self.assertEqual(sorted(self.old.folder.iterdir()), before)

    def test_a_memory_of_other_content_than_its_name_does_not_start(self):
        for words, sentence in ((("--read-only", f"{self.old.names[0]}={self.new.shards[0]}"), "its content is"),
                                ((f"{self.old.names[0]}={self.old.shards[0]}",), "--read-only")):
            with self.assertRaisesRegex(AssertionError, sentence):
                self.start(*words)

    def test_one_replica_killed_or_hung_costs_no_answer(self):
        pairs = [[self.start_replica(s) for _ in range(2)] for s in range(3)]
        file = write_list(self.folder / "pairs.conf", self.old, [[each.port for each in pair] for pair in pairs],
                          **{"deadline-ms": 20000})
        gateway = self.start("--shards", file)
        self.expect_old(gateway)
        pairs[1][0].process.send_signal(signal.SIGSTOP)
        try:
            for row in range(12):
                self.expect_old(gateway, row, row + 1)
        finally:
            pairs[1][0].process.send_signal(signal.SIGCONT)
        self.assertGreater(gateway.metric("resmem_shard_resent_total"), 0)
        pairs[2][1].stop(signal.SIGKILL)
        for row in range(12):
            self.expect_old(gateway, row, row + 1)

    def test_a_missing_shard_is_said_and_left_out_only_where_that_is_allowed(self):
        alone = self.start_replica(1)
        file = write_list(self.folder / "missing.conf", self.old, [self.ports[0], [alone.port], self.ports[2]],
                          **{"deadline-ms": 400})
        gateway = self.start("--shards", file)
        alone.stop(signal.SIGKILL)
        status, words, _ = ask(gateway, self.queries)
        self.assertEqual((status, words), (503, "shard 2 of 3 did not answer in time"))
        status, got, parameters = ask(gateway, self.queries, 0, 30, allow_partial=True)
        self.assertEqual((status, parameters), (200, {"partial": True, "missing": [2]}))
        # What one memory of the other rows answers, asked in the same way.
        rest = self.old.without(1)
        same = {"method": "resmem", "k": 20, "sigma": 0.5, "temperature": 1.5}
        server = self.start(f"rest={rest}")
        wanted = ask(server, self.queries, 0, 30, name="rest", **same)[1]
        got = ask(gateway, self.queries, 0, 30, allow_partial=True, **same)[1]
        for output in ("scores", "prediction"):  # probabilities are tuned
            self.assertEqual(got[output], wanted[output])
        deadline = time.time() + 30
        while gateway.ask("GET", "/v2/health/ready")[0] == 200 and time.time() < deadline:
            time.sleep(0.05)
        status, answer, _ = gateway.ask("GET", "/v2/health/ready")
        self.assertEqual(status, 503)
        self.assertIn("shard 2", answer["error"])
        self.assertEqual(ask(gateway, self.queries, allow_partial=3)[0], 400)

    def test_reload_swaps_to_a_version_that_is_whole_and_to_no_other(self):
        file = write_list(self.folder / "rolling.conf", self.old, self.ports)
        gateway = self.start("--shards", file)
        self.expect_old(gateway)
        wrong = ["0" * 32] + self.new.contents[1:]
        write_list(file, self.new, self.ports, contents=wrong)
        status, answer, _ = gateway.ask("POST", "/v1/admin/reload")
        self.assertEqual(status, 503)
        self.assertIn("shard 1", answer["error"])
        self.expect_old(gateway)
        file.write_text("name = m\n")
        self.assertEqual(gateway.ask("POST", "/v1/admin/reload")[0], 400)
        self.expect_old(gateway)
        answers, stop = [], threading.Event()

        def load():
            while not stop.is_set():
                answers.append(ask(gateway, self.queries, 5, 9))
        threads = [threading.Thread(target=load) for _ in range(3)]
        for thread in threads:
            thread.start()
        write_list(file, self.new, self.ports)
        time.sleep(0.2)
        self.assertEqual(gateway.ask("POST", "/v1/admin/reload")[0], 200)
        time.sleep(0.2)
        stop.set()
        for thread in threads:
            thread.join()
        old, new = (ask(self.one, self.queries, 5, 9, name=name) for name in ("old", "new"))
        self.assertNotEqual(old, new)
        for answer in answers:
            self.assertIn(answer, (old, new))
        self.assertEqual(ask(gateway, self.queries, 5, 9), new)

    def parts(self, shard, rows=slice(0, 1), k=53):
        keys = np.ascontiguousarray(self.queries["keys"][rows])
        body = b"resmemQ1" + struct.pack("<qqq", len(keys), keys.shape[1], k) + keys.tobytes()
        return body, self.replicas[shard][0].ask("POST", f"/v1/memories/{self.old.names[shard]}/parts", body)

    def test_a_shard_answers_questions_and_nothing_else(self):
        body, (status, data, headers) = self.parts(0)
        self.assertEqual((status, headers["Content-Type"], data[:8]), (200, "application/octet-stream", b"resmemA2"))
        name = self.old.names[0]
        dim = self.queries["keys"].shape[1]
        for broken in (b"", body[:-1], body + b"x", b"resmemQ2" + body[8:],
                       b"resmemQ1" + struct.pack("<qqq", 1, dim + 1, 5) + bytes(4 * dim + 4),
                       b"resmemQ1" + struct.pack("<qqq", 1, dim, 10 ** 6) + bytes(4 * dim),
                       b"resmemQ1" + struct.pack("<qqq", 2 ** 61, 2 ** 61, 1),
                       b"resmemQ1" + struct.pack("<qqq", 1, dim, 5) + np.full(dim, np.nan, np.float32).tobytes()):
            self.assertEqual(self.replicas[0][0].ask("POST", f"/v1/memories/{name}/parts", broken)[0], 400, broken[:40])

    def test_a_shard_that_lies_gives_an_error_and_no_answer(self):
        _, (_, true, _) = self.parts(0, k=5)
        flipped = [true[:at] + bytes([true[at] ^ 255]) + true[at + 1:] for at in range(0, len(true), 97)]
        _, (_, other, _) = self.parts(2, k=5)
        for body in (b"", b"resmemA2", true[:-1], true[:100], b"x" * 300, *flipped, other, b"resmemA2" + b"\xff" * 500):
            fake = FakeShard(body)
            file = write_list(self.folder / "lies.conf", self.old, [[fake.port], *self.ports[1:]], **{"deadline-ms": 2000})
            gateway = getattr(self, "liar", None)
            if gateway is None:
                gateway = type(self).liar = self.start("--shards", file)
            else:
                self.assertEqual(gateway.ask("POST", "/v1/admin/reload")[0], 200)
            status, words, _ = ask(gateway, self.queries, k=5)
            if status == 200:  # the flipped bit is one that counts for nothing
                self.assertEqual(words, ask(self.one, self.queries, name="old", k=5)[1])
            else:
                self.assertEqual(status, 500, words)
                self.assertIn("shard", words)
            fake.shutdown()
            fake.server_close()

    def test_a_slow_shard_is_asked_again_but_not_without_end(self):
        fake = FakeShard(b"no", wait=0.3, status=500)
        file = write_list(self.folder / "slow.conf", self.old, [[fake.port], *self.ports[1:]],
                          **{"deadline-ms": 1500, "resend-ms": 20})
        gateway = self.start("--shards", file)
        begin = time.time()
        status, words, _ = ask(gateway, self.queries)
        self.assertEqual((status, words), (503, "shard 1 of 3 did not answer in time"))
        self.assertLess(time.time() - begin, 30)
        self.assertGreater(fake.asked, 1)
        self.assertLess(fake.asked, 40)
        fake.shutdown()

    def test_a_shard_that_usually_takes_longer_is_not_asked_twice_each_time(self):
        path = f"/v1/memories/{self.old.names[0]}/parts"
        fake = FakeShard(lambda question: self.replicas[0][0].ask("POST", path, question)[1] if question else b"", wait=0.05)
        file = write_list(self.folder / "usual.conf", self.old, [[fake.port], *self.ports[1:]],
                          **{"deadline-ms": 20000, "resend-ms": 5})
        gateway = self.start("--shards", file)
        for row in range(60):
            self.expect_old(gateway, row, row + 1)
        # What may be sent again, 100 and a tenth of the questions, is not used up: it learns how long the shard takes.
        resent = gateway.metric('resmem_shard_resent_total{memory="m",shard="1"}')
        self.assertTrue(10 < resent < 90, resent)
        fake.shutdown()

    def test_lists_that_are_wrong_are_refused_with_the_line(self):
        for text, sentence in (("name = m\nanswers = a\nshard = 1 2 3\n", "line 3"), ("nam = m\n", "line 1"),
                               ("name = m\n", "has no name, no answers")):
            path = self.folder / "wrong.conf"
            path.write_text(text)
            with self.assertRaisesRegex(AssertionError, sentence):
                self.start("--shards", path)
        with self.assertRaisesRegex(AssertionError, "cannot be read"):
            self.start("--shards", self.folder / "none.conf")


if __name__ == "__main__":
    harness.main()
