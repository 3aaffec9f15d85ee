"""The disk is full, files are damaged: what the service says, and what it has lost, which is nothing acknowledged."""
import json
import os
import pathlib
import resource
import shutil
import signal
import tempfile
import threading
import time
import unittest

import numpy as np

import harness
from harness import infer_json, rows, triton_request
from openapi_test import check


ERROR = {"$ref": "#/components/schemas/Error"}


def lesson(count, seed, **more):
    return {**{name: array.tolist() for name, array in rows(count, seed).items()}, **more}


class Trouble(unittest.TestCase):
    count = 200

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_trouble_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        harness.make_memory(self.folder, self.count)

    def serve(self, *words, **more):
        server = harness.Server(self.folder, "--edit-rest", "0", *words, **more)
        self.addCleanup(server.stop, signal.SIGKILL)
        return server

    def post(self, server, what, body, status=200):
        got, answer, _ = server.ask("POST", f"/v1/memories/m/{what}", body)
        self.assertEqual(got, status, answer)
        return answer

    def log(self, server, event, count):
        """As many lines of this event, which come a moment after the answer."""
        deadline = time.time() + 20
        while True:
            lines = [json.loads(line) for line in server.log_path.read_text().splitlines()]
            found = [line for line in lines if line["event"] == event]
            if len(found) >= count or time.time() > deadline:
                break
            time.sleep(0.05)
        self.assertEqual(len(found), count)
        return found


class FullDisk(Trouble):
    """Writes stop in the middle of a line of the journal, as on a full disk: its process may not make a file longer."""

    def test_an_edit_that_was_acknowledged_afterwards_is_there_after_sigkill(self):
        journal = self.folder / "m.resmem.edits/journal.jsonl"
        journal.parent.mkdir()
        with open(journal, "w") as file:  # longer than all other files, so that it alone meets the limit
            for number in range(1, 3001):
                file.write(json.dumps({"edit": number, "kind": "learn", "who": "x" * 100, "ids": [number]},
                                      separators=(",", ":")) + f'\n{{"edit":{number},"done":false}}\n')
        server = self.serve()
        before = journal.stat().st_size
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (before + 30, resource.RLIM_INFINITY))
        refused = self.post(server, "learn", lesson(1, 5, token="twice"), 503)
        self.assertIn("nothing was changed", refused["error"])
        self.assertEqual(journal.stat().st_size, before)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        done = self.post(server, "learn", lesson(1, 5, token="twice"))
        server.stop(signal.SIGKILL)
        server = self.serve()
        history = server.ask("GET", "/v1/memories/m/history?limit=2")[1]["edits"]
        self.assertEqual([edit["edit"] for edit in history], [3001, 3000])
        self.assertEqual(history[0]["ids"], done["edit"]["ids"])
        self.assertTrue(self.post(server, "learn", lesson(1, 5, token="twice"))["repeated"])
        self.assertEqual(self.post(server, "undo", {"edit": done["edit"]["edit"]})["edit"]["edit"], 3002)


class HalfMade(Trouble):
    def test_a_row_whose_relabeling_was_cut_in_two_is_restored(self):
        server = self.serve()
        stored = lambda: server.ask("GET", "/v1/memories/m/rows?ids=1010")[1]["rows"][0]  # noqa: E731
        before = stored()
        done = self.post(server, "relabel", {"ids": [1010], "label": (before["label"] + 1) % 4})
        self.assertEqual(done["edit"]["edit"], 1)
        server.stop()
        folder = self.folder / "m.resmem.edits"  # as if the process had ended between the two changes of edit 2
        after = json.loads((folder / "rows-1.json").read_text())
        after["labels"] = [(before["label"] + 1) % 4]
        (folder / "rows-2.json").write_text(json.dumps(after))
        with open(folder / "journal.jsonl", "a") as file:
            file.write('{"edit":2,"kind":"relabel","time":"","who":"a","request":"","kept":true,"ids":[1010]}\n')
        harness.resmem("delete", self.folder / "m.resmem", "--ids", "1010", "--quiet")
        server = self.serve()
        self.assertEqual(stored(), {**before, "label": after["labels"][0], "residual": stored()["residual"]})
        edits = server.ask("GET", "/v1/memories/m/history")[1]["edits"]
        self.assertEqual([(edit["edit"], edit["done"]) for edit in edits], [(2, False), (1, True)])
        self.post(server, "undo", {"edit": 1})
        self.assertEqual(stored(), before)
        # Without the file that tells what the row was, nothing is made up.
        server.stop()
        with open(folder / "journal.jsonl", "a") as file:
            file.write('{"edit":4,"kind":"relabel","time":"","who":"a","request":"","kept":true,"ids":[1010]}\n')
        server = self.serve()
        self.log(server, "edit_not_settled", 1)
        self.assertEqual(stored(), before)
        self.assertEqual(self.post(server, "learn", lesson(1, 3))["edit"]["edit"], 5)


class Damaged(Trouble):
    count = 20_000

    def cut(self, name="m.resmem"):
        for segment in (self.folder / name).glob("segment-*"):
            os.truncate(segment, 4096)

    def test_a_damaged_memory_is_logged_and_not_ready_until_it_is_restored(self):
        copy = self.folder / "copy.resmem"
        shutil.copytree(self.folder / "m.resmem", copy)
        server = self.serve("n=copy.resmem")
        for path in ("/v2/health/ready", "/v2/models/m/ready"):
            self.assertEqual(server.ask("GET", path)[0], 200)
        kept = self.folder / "kept"
        shutil.copytree(self.folder / "m.resmem", kept)
        self.cut()
        status, answer, headers = server.ask("POST", "/v2/models/m/infer", infer_json(rows(3)))
        self.assertEqual(status, 500, answer)
        self.assertEqual(check(answer, ERROR), [])
        failed = self.log(server, "failed", 1)[0]
        self.assertEqual((failed["request"], failed["status"], failed["path"]),
                         (headers["X-Request-Id"], 500, "/v2/models/m/infer"))
        self.assertIn("segment-", failed["reason"])
        self.log(server, "memory_damaged", 1)
        for path, ready in (("/v2/health/ready", 503), ("/v2/models/m/ready", 503), ("/v2/models/n/ready", 200),
                            ("/v2/health/live", 200)):
            self.assertEqual(server.ask("GET", path)[0], ready, path)
        self.assertEqual(server.metric("resmem_memory_damaged"), 1)
        index = {each["name"]: each for each in server.ask("POST", "/v2/repository/index")[1]}
        self.assertEqual((index["m"]["state"], index["n"]["state"]), ("UNAVAILABLE", "READY"))
        self.assertIn("segment-", index["m"]["reason"])
        shutil.rmtree(self.folder / "m.resmem")
        shutil.move(kept, self.folder / "m.resmem")
        self.assertEqual(server.ask("POST", "/v1/admin/reload")[0], 200)
        self.assertEqual(server.ask("POST", "/v2/models/m/infer", infer_json(rows(3)))[0], 200)
        for path in ("/v2/health/ready", "/v2/models/m/ready"):
            self.assertEqual(server.ask("GET", path)[0], 200)

    def test_a_reload_of_a_damaged_memory_changes_nothing(self):
        server = self.serve()
        ask = lambda: server.ask("POST", "/v2/models/m/infer", infer_json(rows(3)))  # noqa: E731
        before = ask()[1]
        for segment in (self.folder / "m.resmem").glob("segment-*"):  # another file: the mapped one stays as it is
            data = bytearray(segment.read_bytes())
            data[len(data) // 2] ^= 1
            other = self.folder / "other"
            other.write_bytes(data)
            other.replace(segment)
        for address in ("/v1/admin/reload", "/v2/repository/models/m/load"):
            status, answer, _ = server.ask("POST", address)
            self.assertEqual((status, check(answer, ERROR)), (409, []), answer)
            self.assertIn("segment-", answer["error"])
            self.assertIn("goes on answering", answer["error"])
        server.process.send_signal(signal.SIGHUP)
        self.log(server, "not_reloaded", 3)
        (self.folder / "m.resmem").rename(self.folder / "away.resmem")
        for address in ("/v1/admin/reload", "/v2/repository/models/m/load"):
            self.assertEqual(server.ask("POST", address)[0], 409)
        status, answer, _ = ask()
        self.assertEqual((status, answer["outputs"]), (200, before["outputs"]))
        self.assertEqual(server.ask("GET", "/v2/health/ready")[0], 200)

    def test_a_bit_that_flips_while_it_is_served_never_gets_a_right_checksum(self):
        """What was checked when it was read is not read again: the flip is found by whatever reads the file anew."""
        segment = next((self.folder / "m.resmem").glob("segment-*"))
        sound = segment.read_bytes()
        for place in (len(sound) // 5, len(sound) - len(sound) // 9):  # of the keys, and of the logits
            with self.subTest(place=place):
                server = self.serve()
                with open(segment, "r+b") as file:
                    file.seek(place)
                    file.write(bytes([sound[place] ^ 64]))
                self.post(server, "learn", lesson(1, 3, ids=[424242]))
                self.post(server, "forget", {"ids": [424242], "keep_for_undo": False})  # compacts, if it can
                time.sleep(0.5)
                status, answer, _ = server.ask("POST", "/v1/admin/reload")
                self.assertEqual((status, check(answer, ERROR)), (409, []), answer)
                self.assertIn(segment.name, answer["error"])
                server.stop()
                with self.assertRaisesRegex(AssertionError, segment.name):
                    harness.resmem("verify", self.folder / "m.resmem")
                shutil.rmtree(self.folder / "m.resmem.edits")
                shutil.rmtree(self.folder / "m.resmem")
                harness.make_memory(self.folder, self.count)


class Overload(Trouble):
    """One thread, which others keep busy."""
    count = 20_000

    def keep_busy(self, server, clients):
        test = rows(2000, 3)
        body, headers = triton_request({name: test[name] for name in ("keys", "logits")}, ["prediction"])
        stop = threading.Event()
        answers = []

        def client():
            connection = server.connect(300)
            while not stop.is_set():
                answers.append(server.ask("POST", "/v2/models/m/infer", body, headers, connection))

        threads = [threading.Thread(target=client) for _ in range(clients)]
        for thread in threads:
            thread.start()

        def end():
            stop.set()
            for thread in threads:
                thread.join()

        self.addCleanup(end)
        return answers

    def refused(self, status, words, ask):
        deadline = time.time() + 60
        while True:
            got, answer, headers = ask()
            if got == status:
                break
            self.assertLess(time.time(), deadline, f"no {status}: {got} {answer}")
        self.assertEqual(check(answer, ERROR), [])
        self.assertIn(words, answer["error"])
        self.assertEqual(headers["Retry-After"], "1")

    def test_what_is_above_the_queue_is_refused(self):
        server = self.serve("--workers", "1", "--max-queue", "1", "--batch-requests", "1", "--queue-seconds", "600")
        answers = self.keep_busy(server, 4)
        for what in ("explain", "neighbors"):
            self.refused(429, "too many requests wait",
                         lambda: server.ask("POST", f"/v1/memories/m/{what}", lesson(1, 4)))  # noqa: B023
        deadline = time.time() + 60  # the clients' own first answers may still be on their way
        while 429 not in {status for status, _, _ in answers}:
            self.assertLess(time.time(), deadline, "no client was refused")
            time.sleep(0.01)
        self.assertLessEqual({status for status, _, _ in answers}, {200, 429})

    def test_what_waits_too_long_is_refused(self):
        server = self.serve("--workers", "1", "--batch-requests", "1", "--queue-seconds", "0.01")
        self.keep_busy(server, 3)
        for what, body in (("explain", lesson(1, 4)), ("neighbors", lesson(1, 4)), ("preview", {"forget": [1000]}),
                           ("learn", lesson(1, 4))):
            self.refused(503, "waited too long",
                         lambda: server.ask("POST", f"/v1/memories/m/{what}", body))  # noqa: B023
        self.refused(503, "waited too long", lambda: server.ask("POST", "/v2/models/m/infer", infer_json(rows(1))))
        reviews = [threading.Thread(target=server.ask, args=("GET", "/v1/memories/m/review")) for _ in range(2)]
        for thread in reviews:
            thread.start()
        self.refused(503, "waited too long", lambda: server.ask("POST", "/v1/memories/m/doctor", {}))
        for thread in reviews:
            thread.join()

    def test_a_request_may_say_how_long_it_waits(self):
        server = self.serve()
        one = {"keys": lesson(1, 4)["keys"], "logits": lesson(1, 4)["logits"]}
        for address, body in (("/v1/memories/m/explain", {**one, "timeout": 1}),
                              ("/v1/memories/m/neighbors", {**one, "timeout": 1}),
                              ("/v2/models/m/infer", infer_json(rows(1), timeout=1))):
            status, answer, headers = server.ask("POST", address, body)
            self.assertEqual((status, headers["Retry-After"]), (503, "1"), answer)
            self.assertIn("longer than its timeout", answer["error"])


class Logs(Trouble):
    def test_no_query_and_no_label_is_in_them(self):
        server = self.serve("--access-log")
        number = 0.73512846
        row = {"keys": [number] * harness.DIM, "logits": [number] * harness.CLASSES}
        tensor = infer_json({name: np.float32([value]) for name, value in row.items()})
        needles = (str(number)[2:8], "needle")
        asked = {}
        for address, body, status in (
                ("/v2/models/m/infer", tensor, 200), ("/v1/memories/m/explain", row, 200),
                ("/v1/memories/m/learn", {**row, "label": "needle"}, 400),
                ("/v1/memories/m/learn", {**row, "label": 1, "sources": ["needle"], "token": "needle"}, 200),
                ("/v1/memories/m/correct", {**row, "label": 2}, 200), ("/v1/memories/m/tokens", {"text": "needle"}, 501),
                ("/v1/memories/m/explain", {"text": "needle"}, 501), ("/v1/memories/m/explain", {**row, "method": "needle"}, 400),
                ("/v2/models/m/infer", {"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": ["needle"]}]}, 501)):
            got, answer, headers = server.ask("POST", address + "?q=needle", body)
            self.assertEqual(got, status, (address, answer))
            asked[headers["X-Request-Id"]] = (address, status)
        self.assertEqual(server.stop(), 0)
        lines = {line["request"]: (line["path"], line["status"]) for line in self.log(server, "access", len(asked))}
        self.assertEqual(lines, asked)
        self.log(server, "failed", 3)
        for needle in needles:
            self.assertNotIn(needle, server.log_path.read_text())


class Tuning(Trouble):
    """Tuning takes long here; nobody waits for it."""
    count = 20_000

    def tune_in_background(self, server):
        answer = []
        thread = threading.Thread(target=lambda: answer.append(
            server.ask("POST", "/v1/memories/m/tune", lesson(2000, 8), connection=server.connect(600))))
        begin = time.time()
        thread.start()
        self.addCleanup(thread.join)
        while server.metric("resmem_queue") > 0 or time.time() < begin + 0.5:
            time.sleep(0.05)
        self.assertEqual(answer, [], "tuning is too quick to be tested here")
        return thread, answer, begin

    def test_edits_and_reloads_do_not_wait_for_it_and_it_takes_their_rows(self):
        server = self.serve()
        thread, answer, begin = self.tune_in_background(server)
        learned = self.post(server, "learn", lesson(1, 9))
        self.assertEqual(server.ask("POST", "/v1/admin/reload")[0], 200)
        self.assertEqual(server.ask("GET", "/v1/memories/m/review")[0], 200)
        others = time.time() - begin
        self.assertEqual(answer, [], "tuning was the first to end")
        before = server.ask("GET", "/v2/models/m")[1]["parameters"]
        thread.join()
        self.assertEqual(answer[0][0], 200, answer)
        self.assertGreater(time.time() - begin, others)
        after = server.ask("GET", "/v2/models/m")[1]["parameters"]
        self.assertGreater(after["state"], before["state"])
        self.assertEqual(after["rows"], self.count + 1)
        self.assertEqual(self.post(server, "neighbors", {**lesson(1, 9), "k": 1})["neighbors"][0][0]["id"],
                         learned["edit"]["ids"][0])

    def test_a_memory_that_was_tuned_meanwhile_is_left_as_it_is(self):
        server = self.serve()
        thread, answer, _ = self.tune_in_background(server)
        np.savez(self.folder / "other.npz", **rows(120, 77))
        harness.resmem("tune", self.folder / "m.resmem", "--data", self.folder / "other.npz", "--quiet")
        self.assertEqual(server.ask("POST", "/v1/admin/reload")[0], 200)
        self.assertEqual(answer, [])
        thread.join()
        self.assertEqual(answer[0][0], 409, answer)
        self.assertIn("nothing was changed", answer[0][1]["error"])

    def test_a_drain_does_not_wait_for_it_and_its_client_is_told(self):
        server = self.serve("--drain-seconds", "10")
        thread, answer, _ = self.tune_in_background(server)
        begin = time.time()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.time() - begin, 8)
        thread.join()
        self.assertEqual(answer[0][0], 503, answer)
        self.assertIn("stopping", answer[0][1]["error"])


if __name__ == "__main__":
    harness.main()
