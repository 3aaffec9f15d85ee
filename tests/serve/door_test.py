"""Who is let in: addresses, keys and roles, TLS; settings, reload and drain under load.

RESMEM_RELOADS=1000 RESMEM_DRAINS=100 door_test.py RESMEM UnderLoad: so many of each.
"""
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import numpy as np

import harness
from harness import infer_json, rows

RELOADS, DRAINS = int(os.environ.get("RESMEM_RELOADS", 20)), int(os.environ.get("RESMEM_DRAINS", 3))
KEYS = {"kiosk": ("answer", "answer-key-0123456789a"), "phone": ("predict", "predict-key-0123456789"), "labels": ("teach", "teach-key-0123456789ab"),
        "boss": ("admin", "admin-key-0123456789ab")}


def bearer(name):
    return {"Authorization": f"Bearer {KEYS[name][1]}"}


def write_keys(path, keys):
    path.write_text("".join(f"{name} {role} {key}\n" for name, (role, key) in keys.items()))
    path.chmod(0o600)


def make_certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", f"/CN={name}", "-keyout", folder / "key.pem", "-out", folder / "chain.pem"],
                   check=True, capture_output=True)


class Roles(harness.ServerTest):
    words = ("--keys", "keys.txt", "--edit-rest", "0")

    @classmethod
    def prepare(cls):
        super().prepare()
        write_keys(cls.folder / "keys.txt", KEYS)

    def test_each_role_may_do_its_own_and_what_is_below(self):
        lesson = {**{k: v.tolist() for k, v in rows(1, 9).items()}}
        question = {name: lesson[name] for name in ("keys", "logits")}
        for method, path, body, needs in (("GET", "/v2", None, 0), ("POST", "/v2/models/m/infer", infer_json(rows(1)), 0),
                                          ("GET", "/metrics", None, 1),
                                          ("POST", "/v1/memories/m/neighbors", question, 1),
                                          ("POST", "/v1/memories/m/explain", question, 1), ("POST", "/v1/memories/m/learn", lesson, 2),
                                          ("GET", "/v1/memories/m/history", None, 2),
                                          ("POST", "/v1/admin/reload", None, 3),
                                          ("POST", "/v2/repository/models/m/load", None, 3)):
            for level, name in enumerate(KEYS):
                status, answer, _ = self.server.ask(method, path, body, bearer(name))
                self.assertEqual(status, 200 if level >= needs else 403, (path, name, answer))
            for headers in ({}, {"Authorization": "Bearer nonsense-nonsense-nonsense"},
                            {"Authorization": "Basic " + KEYS["boss"][1]}):
                status, _, answer = self.server.ask(method, path, body, headers)
                self.assertEqual((status, answer["WWW-Authenticate"]), (401, "Bearer"))

    def test_the_role_answer_gets_probabilities_by_the_memorys_own_settings_and_nothing_of_a_row(self):
        asked = infer_json(rows(1))
        for change, text in (({"parameters": {"k": 1}}, "parameters k"), ({"parameters": {"method": "knn"}}, "parameters k"),
                             ({"parameters": {"sigma": 0.001}}, "parameters k"),
                             ({"outputs": [{"name": "distance_percentile"}]}, "distance_percentile"),
                             ({"outputs": [{"name": "unknown"}]}, '"unknown"'),
                             ({"outputs": [{"name": "probabilities"}, {"name": "keys"}]}, '"keys"')):
            status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", {**asked, **change}, bearer("kiosk"))
            self.assertEqual(status, 400, (change, answer))
            self.assertIn(text, answer["error"])
            self.assertIn("this needs predict", answer["error"])
            self.assertNotIn("this needs predict", str(self.server.ask("POST", "/v2/models/m/infer", {**asked, **change},
                                                                       bearer("phone"))[1]))
        own = self.server.ask("POST", "/v2/models/m/infer", {**asked, "outputs": [{"name": "probabilities"}]}, bearer("kiosk"))
        self.assertEqual(own[0], 200, own[1])
        for name, more in (("kiosk", set()), ("phone", {"distance_percentile", "unknown"})):
            outputs = {output["name"] for output in self.server.ask("POST", "/v2/models/m/infer", asked, bearer(name))[1]["outputs"]}
            self.assertEqual(outputs, {"prediction", "probabilities"} | more)
        # Not by way of the shards' door, which hands out whole rows.
        self.assertEqual(self.server.ask("POST", "/v1/memories/m/parts", b"", bearer("kiosk"))[0], 403)

    def test_health_needs_no_key_and_edits_carry_the_keys_name(self):
        self.assertEqual(self.server.ask("GET", "/v2/health/live")[0], 200)
        self.server.ask("POST", "/v1/memories/m/learn", {k: v.tolist() for k, v in rows(1, 10).items()}, bearer("labels"))
        edits = self.server.ask("GET", "/v1/memories/m/history", headers=bearer("boss"))[1]["edits"]
        self.assertIn("labels", {edit["who"] for edit in edits})

    def test_a_body_is_not_read_before_the_key(self):
        with self.server.socket() as raw:
            raw.sendall(b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
            self.assertIn(b"401", raw.recv(4096))

    def test_reload_takes_new_keys_or_none_of_it(self):
        path = self.folder / "keys.txt"
        write_keys(path, {**KEYS, "new": ("predict", "new-key-0123456789abcdef")})
        self.assertEqual(self.server.ask("POST", "/v1/admin/reload", headers=bearer("boss"))[0], 200)
        new = {"Authorization": "Bearer new-key-0123456789abcdef"}
        self.assertEqual(self.server.ask("GET", "/v2", headers=new)[0], 200)
        path.write_text("broken\n")
        status, answer, _ = self.server.ask("POST", "/v1/admin/reload", headers=bearer("boss"))
        self.assertEqual(status, 400, answer)
        self.assertIn("line 1", answer["error"])
        self.assertEqual(self.server.ask("GET", "/v2", headers=new)[0], 200)
        write_keys(path, KEYS)
        self.assertEqual(self.server.ask("POST", "/v1/admin/reload", headers=bearer("boss"))[0], 200)
        self.assertEqual(self.server.ask("GET", "/v2", headers=new)[0], 401)

    def test_nothing_secret_is_logged(self):
        text = self.server.log_path.read_text()
        for _, key in KEYS.values():
            self.assertNotIn(key, text)


class Local(harness.ServerTest):
    def test_a_page_of_another_site_is_refused(self):
        port = self.server.port
        for headers, status in (({"Host": f"127.0.0.1:{port}"}, 200), ({"Host": f"localhost:{port}"}, 200),
                                ({"Host": "evil.example"}, 403), ({"Host": f"evil.example:{port}"}, 403),
                                ({"Origin": "http://evil.example"}, 403),
                                ({"Origin": "null"}, 403),
                                ({"Origin": f"http://127.0.0.1:{port}", "Host": f"127.0.0.1:{port}"}, 200)):
            self.assertEqual(self.server.ask("GET", "/v2", headers=headers)[0], status, headers)


class Tls(unittest.TestCase):
    def test_tls_from_1_2_on_with_a_new_certificate_while_running(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_tls_"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        harness.make_memory(folder, 100, tuned=False)
        make_certificate(folder, "first")
        server = harness.Server(folder, "--certificate", "chain.pem", "--private-key", "key.pem", tls=True)
        self.addCleanup(server.stop)
        old = server.connect()
        self.assertEqual(server.ask("POST", "/v2/models/m/infer", infer_json(rows(1)), connection=old)[0], 200)

        def name():
            context = ssl._create_unverified_context()
            with server.socket() as raw, context.wrap_socket(raw) as secure:
                der = secure.getpeercert(binary_form=True)
                return (b"first" in der, b"second" in der, secure.version())

        self.assertEqual(name()[:2], (True, False))
        self.assertIn(name()[2], ("TLSv1.2", "TLSv1.3"))
        context = ssl._create_unverified_context()
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
        with server.socket() as raw, self.assertRaises((ssl.SSLError, OSError)):
            context.wrap_socket(raw)
        with server.socket() as raw:  # plain HTTP to a TLS port
            raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertNotIn(b"200", raw.recv(100))
        make_certificate(folder, "second")
        server.process.send_signal(signal.SIGHUP)
        deadline = time.time() + 20
        while name()[:2] != (False, True):
            self.assertLess(time.time(), deadline)
            time.sleep(0.05)
        self.assertEqual(server.ask("GET", "/v2", connection=old)[0], 200)  # the old connection lives on
        (folder / "chain.pem").write_text("broken")
        status, answer, _ = server.ask("POST", "/v1/admin/reload")
        self.assertEqual(status, 400, answer)
        self.assertEqual(name()[:2], (False, True))


class Start(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_start_"))
        harness.make_memory(cls.folder, 100, tuned=False)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def run_serve(self, *words):
        return subprocess.run([harness.RESMEM, "serve", *words], cwd=self.folder, capture_output=True, text=True, timeout=60)

    def test_what_is_wrong_is_told_before_anything_is_served(self):
        (self.folder / "open.txt").write_text("a predict 0123456789abcdef\n")
        os.chmod(self.folder / "open.txt", 0o644)
        (self.folder / "bad.conf").write_text("memory = m.resmem\nprot = 1\n")
        shutil.copytree(self.folder / "m.resmem", self.folder / "broken.resmem", dirs_exist_ok=True)
        part = next((self.folder / "broken.resmem").glob("segment*"))
        data = bytearray(part.read_bytes())
        data[len(data) // 2] ^= 1
        part.write_bytes(data)
        for words, code, said in (((), 2, "no memory"), (("missing.resmem",), 3, "missing.resmem"),
                                  (("m.resmem", "--address", "0.0.0.0"), 2, "--keys"),
                                  (("m.resmem", "--keys", "open.txt"), 3, "chmod"),
                                  (("m.resmem", "--certificate", "x.pem"), 2, "--private-key"),
                                  (("m.resmem", "m.resmem"), 2, "two memories"),
                                  (("--config", "bad.conf"), 2, "bad.conf, line 2"),
                                  (("broken.resmem",), 3, "broken.resmem"),
                                  (("m.resmem", "--max-rows", "0"), 2, "--max-rows")):
            for check in ((), ("--check-config",)):
                done = self.run_serve(*words, *check)
                self.assertEqual(done.returncode, code, (words, done.stderr))
                self.assertIn(said, done.stderr)

    def test_check_config_ends_without_serving(self):
        (self.folder / "good.conf").write_text("memory = m=m.resmem\nport = 0\n# nothing else\n")
        done = self.run_serve("--config", "good.conf", "--check-config")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_options_win_over_the_file(self):
        (self.folder / "port.conf").write_text("memory = m=m.resmem\nport = 1\nmax-k = 3\n")
        server = harness.Server(self.folder, "--config", "port.conf", memory=None)  # --port 0
        self.addCleanup(server.stop)
        status, answer, _ = server.ask("POST", "/v2/models/m/infer", infer_json(rows(1), k=4))
        self.assertEqual(status, 400, answer)
        self.assertIn("allows 3", answer["error"])

    def test_a_port_in_use_is_an_error(self):
        server = harness.Server(self.folder)
        self.addCleanup(server.stop)
        done = self.run_serve("m.resmem", "--port", str(server.port))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--port", done.stderr)


class UnderLoad(unittest.TestCase):
    """Reloads and drains while clients ask: every request is answered, and rightly."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_load_"))
        harness.make_memory(cls.folder, 200, tuned=False)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def clients(self, server, results, stop):
        test = rows(1, seed=5)

        def client():
            connection = server.connect()
            while not stop.is_set():
                try:
                    status, answer, headers = server.ask("POST", "/v2/models/m/infer", infer_json(test),
                                                         connection=connection)
                    results.append((status, str(answer.get("outputs"))))
                    if headers["Connection"] == "close":
                        return
                except (OSError, ValueError, Exception) as error:  # noqa: BLE001
                    results.append(("broken", repr(error)))
                    return

        threads = [threading.Thread(target=client) for _ in range(6)]
        for thread in threads:
            thread.start()
        return threads

    def test_reloads_lose_no_request_and_show_what_has_changed(self):
        """Another program appends a row that lies on the question, and deletes it again."""
        server = harness.Server(self.folder)
        self.addCleanup(server.stop)
        test, folder = rows(1, seed=5), self.folder / "m.resmem"
        ask = lambda: str(server.ask("POST", "/v2/models/m/infer", infer_json(test))[1]["outputs"])  # noqa: E731
        answers = [ask()]
        label = (json.loads(answers[0].replace("'", '"'))[0]["data"][0] + 1) % harness.CLASSES
        np.savez(self.folder / "more.npz", ids=np.arange(5000, 5050), labels=np.full(50, label),
                 **{name: np.repeat(test[name], 50, 0) for name in ("keys", "logits")})
        results, stop = [], threading.Event()
        threads = self.clients(server, results, stop)
        try:
            for i in range(RELOADS):
                if i % 2:
                    harness.resmem("delete", folder, "--ids", ",".join(map(str, range(5000, 5050))), "--quiet")
                    server.process.send_signal(signal.SIGHUP)
                else:
                    harness.resmem("append", folder, "--data", self.folder / "more.npz", "--quiet")
                    self.assertEqual(server.ask("POST", "/v1/admin/reload")[0], 200)
                deadline = time.time() + 30
                while server.log_path.read_text().count('"event":"reloaded"') <= i:
                    self.assertLess(time.time(), deadline, "a reload did not come")
                    time.sleep(0.01)
                answers.append(ask())
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(answers, [answers[i % 2] for i in range(RELOADS + 1)])
        self.assertNotEqual(answers[0], answers[1])
        self.assertEqual({status for status, _ in results}, {200})
        self.assertEqual({answer for _, answer in results}, set(answers))

    def test_a_drain_answers_what_has_begun_and_ends(self):
        for _ in range(DRAINS):
            server = harness.Server(self.folder)
            idle = server.connect()
            self.assertEqual(server.ask("GET", "/v2", connection=idle)[0], 200)
            results, stop = [], threading.Event()
            threads = self.clients(server, results, stop)
            while len(results) < 20:
                time.sleep(0.01)
            self.assertEqual(server.stop(), 0)
            for thread in threads:
                thread.join()
            broken = [each for each in results if each[0] == "broken"]
            # A request that was sent into a connection as it closed was never begun.
            self.assertTrue(all("Remote" in words or "Refused" in words or "Reset" in words or "Broken" in words
                                for _, words in broken), broken)
            self.assertEqual({status for status, _ in results if status != "broken"}, {200})


if __name__ == "__main__":
    harness.main()
