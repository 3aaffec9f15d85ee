"""The Open Inference Protocol over real HTTP: answers are the library's bits."""
import base64
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

import numpy as np

import harness
import fixtures
from harness import infer_json, output, rows, triton_arrays, triton_request


def helpful_rows(count, seed):
    """Rows whose keys tell classes apart where the logits hardly do, so that a blend is adopted."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, count)
    return {"keys": (2 * np.eye(4, 8)[labels] + random.standard_normal((count, 8))).astype(np.float32),
            "logits": (0.5 * np.eye(4)[labels] + random.standard_normal((count, 4))).astype(np.float32),
            "labels": labels.astype(np.int32)}


class Protocol(harness.ServerTest):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.test = rows(60, seed=3)
        np.savez(cls.folder / "test.npz", **cls.test)
        harness.resmem("predict", cls.folder / "m.resmem", "--data", cls.folder / "test.npz", "--scores",
                       cls.folder / "scores.npy", "-o", cls.folder / "lines.csv", "--quiet")
        cls.scores = np.load(cls.folder / "scores.npy")

    def test_json_answers_are_the_librarys_bits(self):
        status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", infer_json(
            self.test, 0, 60, ["scores", "prediction", "probabilities", "base_prediction"]))
        self.assertEqual(status, 200, answer)
        scores = output(answer, "scores")
        self.assertEqual(scores.tobytes(), self.scores.tobytes())
        self.assertTrue((output(answer, "prediction") == self.scores.argmax(1)).all())
        self.assertTrue((output(answer, "base_prediction") == self.test["logits"].argmax(1)).all())
        self.assertTrue(np.allclose(output(answer, "probabilities").sum(1), 1, atol=1e-5))

    def test_binary_answers_are_the_librarys_bits(self):
        body, headers = triton_request({"keys": self.test["keys"], "logits": self.test["logits"]},
                                       ["scores", "prediction"], "42")
        status, data, answer_headers = self.server.ask("POST", "/v2/models/m/infer", body, headers)
        self.assertEqual(status, 200, data)
        head, arrays = triton_arrays(data, answer_headers)
        self.assertEqual((head["id"], head["model_name"]), ("42", "m"))
        self.assertEqual(arrays["scores"].tobytes(), self.scores.tobytes())

    def test_usual_outputs_come_in_binary_where_all_are_asked_for(self):
        body, headers = triton_request({"keys": self.test["keys"][:1], "logits": self.test["logits"][:1]})
        status, data, answer_headers = self.server.ask("POST", "/v2/models/m/versions/1/infer", body, headers)
        self.assertEqual(status, 200, data)
        _, arrays = triton_arrays(data, answer_headers)
        self.assertEqual(set(arrays), {"prediction", "probabilities", "distance_percentile", "unknown"})

    def test_a_tuned_memory_says_how_far_a_row_lies_and_whether_it_is_unknown(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_far_"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        for name, seed in (("train", 0), ("held", 5)):
            np.savez(folder / f"{name}.npz", **helpful_rows(400, seed))
        asked = helpful_rows(60, 9)
        asked["keys"][7] += 50  # far from everything
        np.savez(folder / "asked.npz", **asked)
        memory = folder / "m.resmem"
        harness.resmem("memorize", "--data", folder / "train.npz", "-o", memory, "--quiet")
        harness.resmem("tune", memory, "--data", folder / "held.npz", "--quiet")
        server = harness.Server(folder)
        self.addCleanup(server.stop)
        self.assertIn({"name": "unknown", "datatype": "BOOL", "shape": [-1]},
                      server.ask("GET", "/v2/models/m")[1]["outputs"])
        for rate in (None, 0.25):
            how = {} if rate is None else {"unknown_rate": rate}
            harness.resmem("predict", memory, "--data", folder / "asked.npz", "--format", "jsonl", "-o",
                           folder / "lines.jsonl", *([] if rate is None else ["--unknown-rate", rate]), "--quiet")
            lines = [json.loads(line) for line in (folder / "lines.jsonl").read_text().splitlines()]
            status, answer, _ = server.ask("POST", "/v2/models/m/infer", {**infer_json(asked, 0, 60), "parameters": how})
            self.assertEqual(status, 200, answer)
            found = {each["name"]: each["data"] for each in answer["outputs"]}
            self.assertEqual(list(found), ["prediction", "probabilities", "distance_percentile", "unknown"])
            self.assertEqual(found["unknown"], [line["unknown"] for line in lines])
            self.assertEqual(np.float32(found["distance_percentile"]).tolist(),
                             np.float32([line["distance_percentile"] for line in lines]).tolist())
            self.assertTrue(found["unknown"][7])
            far = sum(found["unknown"])
            self.assertTrue(1 <= far <= 5 if rate is None else 8 <= far <= 24, far)
            # In bytes, and by an answer that looks at fewer neighbors than the distance does.
            body, headers = triton_request({"keys": asked["keys"], "logits": asked["logits"]}, ["unknown"],
                                           parameters={**how, "method": "base"})
            _, data, answered = server.ask("POST", "/v2/models/m/infer", body, headers)
            self.assertEqual(triton_arrays(data, answered)[1]["unknown"].tolist(), found["unknown"])
            for row in (3, 7):
                _, document, _ = server.ask("POST", "/v1/memories/m/explain", {
                    "keys": asked["keys"][row].tolist(), "logits": asked["logits"][row].tolist(), **how})
                ledger = document["ledger"]
                self.assertEqual((ledger["unknown"], np.float32(ledger["distance_percentile"])),
                                 (found["unknown"][row], np.float32(found["distance_percentile"][row])))
                self.assertEqual(np.float32(ledger["probability"]).tolist(),
                                 np.float32(found["probabilities"]).reshape(60, -1)[row].tolist())
        for wrong in (-0.1, 1.5, "much"):
            status, answer, _ = server.ask("POST", "/v2/models/m/infer",
                                           {**infer_json(asked), "parameters": {"unknown_rate": wrong}})
            self.assertEqual(status, 400)
            self.assertIn("unknown_rate", answer["error"])
        status, answer, _ = server.ask("POST", "/v1/memories/m/explain", {
            "keys": asked["keys"][0].tolist(), "logits": asked["logits"][0].tolist(), "method": "knn"})
        self.assertEqual(status, 501)
        self.assertIn("no ledger", answer["error"])

    def test_a_memory_without_a_blend_cannot_tell_what_is_unknown(self):
        harness.resmem("memorize", "--data", self.folder / "train.npz", "-o", self.folder / "plain.resmem", "--quiet")
        server = harness.Server(self.folder, memory="m=plain.resmem")
        self.addCleanup(server.stop)
        status, answer, _ = server.ask("POST", "/v2/models/m/infer", infer_json(self.test, outputs=["unknown"]))
        self.assertEqual(status, 404, answer)
        self.assertNotIn("unknown", [each["name"] for each in server.ask("GET", "/v2/models/m")[1]["outputs"]])
        answer = server.ask("POST", "/v2/models/m/infer", infer_json(self.test))[1]
        self.assertEqual([each["name"] for each in answer["outputs"]], ["prediction", "probabilities"])

    def test_requests_one_behind_the_other_are_all_answered(self):
        body, headers = triton_request({"keys": self.test["keys"][:1], "logits": self.test["logits"][:1]}, ["scores"])
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        asked = (f"POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{fields}\r\n"
                 .encode() + body)
        chunks = b"".join(b"%x\r\n" % len(body[i:i + 100]) + body[i:i + 100] + b"\r\n" for i in range(0, len(body), 100))
        chunked = (f"POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n{fields}\r\n"
                   .encode() + chunks + b"0\r\n\r\n")
        alive = b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
        all_of_them = (asked + alive + chunked) * 5
        for piece in (len(all_of_them), 1000, 37):
            with self.server.socket() as raw:
                for at in range(0, len(all_of_them), piece):
                    raw.sendall(all_of_them[at:at + piece])
                raw.shutdown(socket.SHUT_WR)
                data = b""
                while more := raw.recv(1 << 16):
                    data += more
            self.assertEqual(data.count(b"HTTP/1.1 200 OK"), 15, piece)
            self.assertEqual(data.count(self.scores[:1].tobytes()), 10, piece)

    def test_batches_of_many_clients_change_no_bit(self):
        failures = []

        def client(first):
            connection = self.server.connect()
            for i in range(40):
                row = (first * 7 + i) % 60
                body, headers = triton_request({"keys": self.test["keys"][row:row + 1],
                                                "logits": self.test["logits"][row:row + 1]}, ["scores"])
                status, data, answer_headers = self.server.ask("POST", "/v2/models/m/infer", body, headers, connection)
                if status != 200 or triton_arrays(data, answer_headers)[1]["scores"].tobytes() != \
                        self.scores[row:row + 1].tobytes():
                    failures.append((status, row))
            connection.close()

        threads = [threading.Thread(target=client, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        requests = self.server.metric("resmem_batch_requests_sum")
        self.assertGreater(requests, self.server.metric("resmem_batch_requests_count"), "no batch was made")

    def test_parameters_of_a_request_are_used(self):
        _, base, _ = self.server.ask("POST", "/v2/models/m/infer", infer_json(
            self.test, 0, 60, ["scores", "base_prediction", "prediction"], k=0))
        self.assertTrue((output(base, "prediction") == output(base, "base_prediction")).all())
        _, resmem, _ = self.server.ask("POST", "/v2/models/m/infer", infer_json(
            self.test, 0, 60, ["scores"], method="resmem", k=5, sigma=0.5, temperature=1.0))
        harness.resmem("predict", self.folder / "m.resmem", "--data", self.folder / "test.npz", "--method", "resmem",
                       "--k", 5, "--sigma", 0.5, "--temperature", 1, "--scores", self.folder / "other.npy", "-o",
                       self.folder / "other.csv", "--quiet")
        self.assertEqual(output(resmem, "scores").tobytes(), np.load(self.folder / "other.npy").tobytes())

    def test_health_metadata_and_repository(self):
        ask = self.server.ask
        self.assertEqual(ask("GET", "/v2/health/live")[0], 200)
        self.assertEqual(ask("GET", "/v2/health/ready")[0], 200)
        self.assertIn("binary_tensor_data", ask("GET", "/v2")[1]["extensions"])
        for path in ("/v2/models/m", "/v2/models/m/versions/1"):
            metadata = ask("GET", path)[1]
            self.assertEqual(metadata["inputs"][0], {"name": "keys", "datatype": "FP32", "shape": [-1, harness.DIM]})
        self.assertEqual(ask("GET", "/v2/models/m/ready")[0], 200)
        self.assertEqual(ask("GET", "/v2/models/none")[0], 404)
        # As tritonclient sends it: a POST without Content-Length.
        with self.server.socket() as raw:
            raw.sendall(b"POST /v2/repository/index HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = raw.recv(65536)
        self.assertIn(b"200 OK", answer)
        self.assertIn(b'"READY"', answer)
        self.assertEqual(ask("POST", "/v2/repository/models/m/unload")[0], 200)
        self.assertEqual(ask("GET", "/v2/health/ready")[0], 503)
        status, answer, headers = ask("POST", "/v2/models/m/infer", infer_json(self.test))
        self.assertEqual((status, headers["Retry-After"]), (503, "1"), answer)
        self.assertEqual(ask("POST", "/v2/repository/models/m/load")[0], 200)
        self.assertEqual(ask("POST", "/v2/models/m/infer", infer_json(self.test))[0], 200)

    def test_mistakes_are_told(self):
        good = infer_json(self.test)
        for change, words in (
                ({"inputs": good["inputs"][:1]}, "keys"),
                ({"inputs": [{**good["inputs"][0], "shape": [1, 3], "data": [1, 2, 3]}, good["inputs"][1]]}, "columns"),
                ({"outputs": [{"name": "nonsense"}]}, "nonsense"),
                ({"parameters": {"k": 10 ** 9}}, "--max-k"),
                ({"parameters": {"sigma": 0}}, "sigma"),
                ({"parameters": {"method": "magic"}}, "magic")):
            status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", {**good, **change})
            self.assertIn(status, (400, 404), change)
            self.assertIn(words, answer["error"])
        many = rows(5000)
        status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", infer_json(many, 0, 5000))
        self.assertEqual(status, 400)
        self.assertIn("--max-rows", answer["error"])

    def test_a_request_id_is_handed_through(self):
        _, _, headers = self.server.ask("GET", "/v2", headers={"X-Request-Id": "abc-1"})
        self.assertEqual(headers["X-Request-Id"], "abc-1")
        _, _, headers = self.server.ask("GET", "/v2", headers={"X-Request-Id": 'x"}{'})
        self.assertRegex(headers["X-Request-Id"], "^[0-9a-f]{16}$")

    def test_metrics_are_sound_prometheus_text(self):
        self.server.ask("POST", "/v2/models/m/infer", infer_json(self.test, 0, 60))
        text = self.server.ask("GET", "/metrics")[1].decode()
        self.assertEqual(check_metrics(text), [])
        for name in ("resmem_request_seconds", "resmem_batch_rows", "resmem_queue", "resmem_memory_rows",
                     "resmem_distance_percentile", "resmem_unknown_rows_total", "resmem_agreed_rows_total"):
            self.assertIn(f"# TYPE {name} ", text)
        self.assertEqual(self.server.metric("resmem_memory_rows"), 300)

    def test_head_and_wrong_methods(self):
        status, data, headers = self.server.ask("HEAD", "/v2")
        self.assertEqual((status, data), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 10)
        self.assertEqual(self.server.ask("POST", "/v2")[0], 405)
        self.assertEqual(self.server.ask("GET", "/v3")[0], 404)


def check_metrics(text):
    """What is wrong with it, in sentences."""
    problems, kinds, buckets = [], {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE"):
            _, _, name, kind = line.split(" ")
            if name in kinds:
                problems.append(f"{name} comes twice")
            kinds[name] = kind
            continue
        if line.startswith("#"):
            continue
        name = line.split("{")[0].split(" ")[0]
        family = next((name.removesuffix(end) for end in ("", "_bucket", "_sum", "_count")
                       if name.endswith(end) and name.removesuffix(end) in kinds), None)
        if family is None:
            problems.append(f"{name} has no type")
        value = float(line.rsplit(" ", 1)[1])
        if name.endswith("_bucket"):
            series = line.split(',le="')[0].split('{le="')[0]
            if value < buckets.get(series, 0):
                problems.append(f"{line}: buckets fall")
            buckets[series] = value
    return problems


class Images(harness.ServerTest):
    """Pixels, through the memory's own model."""
    words = ("--images", "m=photos.npy")

    @classmethod
    def prepare(cls):
        fixtures.write(cls.folder)
        words = ["model", "prepare", "image.onnx", "-o", "net8.onnx", "--classes", "animals.txt"]
        done = subprocess.run([harness.RESMEM, *words], cwd=cls.folder, capture_output=True, text=True)
        if "ONNX Runtime" in done.stderr and done.returncode != 0:
            raise unittest.SkipTest("ONNX Runtime is not installed")
        for words in (["memorize", "--model", "net8.onnx", "--images", "photos.npy", "--labels", "photo_labels.npy",
                       "--rows", "0:200", "-o", "m.resmem"],
                      ["predict", "m.resmem", "--images", "photos.npy", "--rows", "200:220", "--scores", "scores.npy",
                       "-o", "lines.csv"], ["bundle", "m.resmem"]):
            subprocess.run([harness.RESMEM, *words, "--quiet"], cwd=cls.folder, check=True, capture_output=True)
        for name in ("net8.onnx", "net8.json"):  # the memory carries its model
            (cls.folder / name).unlink()
        cls.images = np.ascontiguousarray(np.load(cls.folder / "photos.npy")[200:220])
        cls.scores = np.load(cls.folder / "scores.npy")

    def test_answers_are_those_of_the_command(self):
        metadata = self.server.ask("GET", "/v2/models/m")[1]
        self.assertEqual(metadata["inputs"][2], {"name": "image", "datatype": "UINT8",
                                                 "shape": [-1, *self.images.shape[1:]]})
        body, headers = triton_request({"image": self.images}, ["scores"])
        status, data, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers)
        self.assertEqual(status, 200, data)
        self.assertEqual(triton_arrays(data, answer)[1]["scores"].tobytes(), self.scores.tobytes())
        as_json = {"inputs": [{"name": "image", "datatype": "UINT8", "shape": [1, *self.images.shape[1:]],
                               "data": self.images[:1].tolist()}], "outputs": [{"name": "class_name"}]}
        status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", as_json)
        self.assertEqual(status, 200, answer)
        self.assertIn(output(answer, "class_name")[0], metadata["parameters"]["class_names"])

    def test_a_png_file_is_answered_as_its_pixels_are(self):
        files = [harness.png(each) for each in self.images]
        body, headers = triton_request({"image_file": files}, ["scores"])
        status, data, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers)
        self.assertEqual(status, 200, data)
        self.assertEqual(triton_arrays(data, answer)[1]["scores"].tobytes(), self.scores.tobytes())
        packed = base64.b64encode(files[0]).decode()
        status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", {"inputs": [
            {"name": "image_file", "datatype": "BYTES", "shape": [1], "data": [packed]}], "outputs": [{"name": "scores"}]})
        self.assertEqual(status, 200, answer)
        self.assertEqual(output(answer, "scores").tobytes(), self.scores[:1].tobytes())
        # The same in our own endpoints.
        status, answer, _ = self.server.ask("POST", "/v1/memories/m/explain",
                                            {"image": "data:image/png;base64," + packed, "method": "resmem"})
        self.assertEqual(status, 200, answer)
        self.assertEqual(np.float32(answer["ledger"]["score"]).tobytes(), self.scores[0].tobytes())

    def test_the_image_of_a_row_is_the_one_it_was_made_of(self):
        photos = np.ascontiguousarray(np.load(self.folder / "photos.npy")[:200])
        self.assertTrue(self.server.ask("GET", "/v2/models/m")[1]["parameters"]["row_images"])
        for row in (0, 7, 199):
            status, png, headers = self.server.ask("GET", f"/v1/memories/m/rows/{row}/image")
            self.assertEqual((status, headers["Content-Type"], png[:4]), (200, "image/png", b"\x89PNG"))
            scores = []
            for name, array in (("image", photos[row:row + 1]), ("image_file", [png])):
                body, headers = triton_request({name: array}, ["scores"])
                _, data, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers)
                scores.append(triton_arrays(data, answer)[1]["scores"].tobytes())
            self.assertEqual(scores[0], scores[1])

    def test_no_source_of_a_learned_row_leads_to_another_file(self):
        (self.folder / "other.png").write_bytes(harness.png(self.images[0]))
        shape = [each["shape"][1] for each in self.server.ask("GET", "/v2/models/m")[1]["inputs"][:2]]
        query = {"keys": [0.5] * shape[0], "logits": [0.0] * shape[1], "label": 0}
        for source in (str(self.folder / "other.png"), "other.png", "photos.npy:9999", "../photos.npy:"):
            done = self.server.ask("POST", "/v1/memories/m/learn", {**query, "sources": [source]})[1]
            row = done["edit"]["ids"][0]
            status, answer, _ = self.server.ask("GET", f"/v1/memories/m/rows/{row}/image")
            self.assertEqual(status, 404, answer)
            self.server.ask("POST", "/v1/memories/m/undo", {"edit": done["edit"]["edit"]})

    def test_files_that_are_no_sound_image_are_refused(self):
        shape = self.images.shape[1:]
        flat = np.zeros((5000, 5000, 1), np.uint8)  # 25 million pixels in a few thousand bytes
        for file, words in ((b"GIF89a", "no PNG, JPEG or WebP"), (harness.png(self.images[0])[:-40], "damaged"),
                            (harness.png(np.zeros((shape[0] + 1, *shape[1:]), np.uint8)), "pixels"),
                            (harness.png(flat), "at most"), (b"", "empty")):
            body, headers = triton_request({"image_file": [harness.png(self.images[0]), file]})
            status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", body, headers)
            self.assertIn(status, (400, 409), answer)
            self.assertIn("image 1", answer["error"])
            self.assertIn(words, answer["error"])

    def test_an_answer_to_an_image_can_be_corrected(self):
        body, headers = triton_request({"image": self.images[:1]})
        _, _, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers)
        status, done, _ = self.server.ask("POST", "/v1/memories/m/correct", {
            "request": answer["X-Request-Id"], "label": "dog"})
        self.assertEqual(status, 200, done)
        self.assertEqual(self.server.ask("POST", "/v1/memories/m/undo", {"edit": done["edit"]["edit"]})[0], 200)

    def test_images_of_another_size_are_refused(self):
        body, headers = triton_request({"image": self.images[:, :3]})
        status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", body, headers)
        self.assertEqual(status, 400)
        self.assertIn("values a row", answer["error"])


class Regression(harness.ServerTest):
    @classmethod
    def prepare(cls):
        random = np.random.default_rng(5)
        keys = random.standard_normal((200, 3)).astype(np.float32)
        np.savez(cls.folder / "train.npz", keys=keys, targets=np.sin(keys[:, :2]), predictions=0.5 * keys[:, :2])
        harness.resmem("memorize", "--data", cls.folder / "train.npz", "-o", cls.folder / "m.resmem",
                       "--task", "regression", "--quiet")

    def test_answers_predictions_and_learns_targets(self):
        query = {"keys": np.full((1, 3), 9, np.float32), "logits": np.zeros((1, 2), np.float32)}
        status, answer, _ = self.server.ask("POST", "/v2/models/m/infer", infer_json(query))
        self.assertEqual((status, [each["name"] for each in answer["outputs"]]), (200, ["scores"]))
        status, done, _ = self.server.ask("POST", "/v1/memories/m/learn", {
            "keys": query["keys"].tolist(), "logits": [[0, 0]], "targets": [[5, 7]]})
        self.assertEqual(status, 200, done)
        _, answer, _ = self.server.ask("POST", "/v2/models/m/infer", infer_json(query, k=1))
        self.assertEqual(output(answer, "scores").tolist(), [[5, 7]])
        status, undone, _ = self.server.ask("POST", "/v1/memories/m/forget", {"ids": done["edit"]["ids"]})
        self.assertEqual(self.server.ask("POST", "/v1/memories/m/undo", {"edit": undone["edit"]["edit"]})[0], 200)
        _, answer, _ = self.server.ask("POST", "/v2/models/m/infer", infer_json(query, k=1))
        self.assertEqual(output(answer, "scores").tolist(), [[5, 7]])


if __name__ == "__main__":
    harness.main()
