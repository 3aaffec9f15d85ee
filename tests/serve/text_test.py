"""A memory of tokens is asked by text: the model of tests/text/lm_test.py, whose key of a token depends
on every token before it, and NumPy for what it must say."""
import pathlib
import subprocess
import sys
import unittest

import numpy as np

import harness
import openapi_test
from harness import infer_json, output, triton_arrays, triton_request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "text"))
import lm_test  # noqa: E402
from token_set_file import documents  # noqa: E402

TEXT = "the memory adds what a model was"


def prepare(folder):
    """A tokenizer, a language model and a memory of tokens -> the options that serve it by text."""
    def run(*words, check=True):
        return subprocess.run([harness.RESMEM, *words], cwd=folder, capture_output=True, text=True, check=check)

    (folder / "train.txt").write_text("\n\n".join(lm_test.text(1, 60)) + "\n")
    run("tokenizer", "train", "train.txt", "--pieces", "28", "-o", "t.model", "--quiet")
    run("lm", "tokens", "train.txt", "--form", "paragraphs", "--tokenizer", "t.model", "-o", "train.tokens", "--quiet")
    (folder / "lm.onnx").write_bytes(lm_test.model_file())
    (folder / "lm.json").write_text(lm_test.manifest(documents(folder / "train.tokens")[1]["tokenizer"]))
    done = run("lm", "memorize", "train.tokens", "--model", "lm.onnx", "--window", "24", "--stride",
               "16", "-o", "m.resmem", "--quiet", check=False)
    if done.returncode != 0:
        if "needs ONNX Runtime" in done.stderr:
            raise unittest.SkipTest("ONNX Runtime is not installed")
        raise AssertionError(done.stderr)
    return ("--models", "m=lm.onnx", "--tokenizers", "m=t.model")


def ids_of(folder, text):
    (folder / "one.txt").write_text(text)
    subprocess.run([harness.RESMEM, "lm", "tokens", "one.txt", "--tokenizer", "t.model", "-o", "one.tokens", "--quiet"],
                   cwd=folder, check=True, capture_output=True)
    return documents(folder / "one.tokens")[0][0][:-1]  # without the id that ends the document


class Text(harness.ServerTest):
    words = ["--edit-rest", "0"]

    @classmethod
    def prepare(cls):
        cls.words = [*Text.words, *prepare(cls.folder)]
        embeddings, head = lm_test.weights_of_the_model()
        cls.ids = ids_of(cls.folder, TEXT)
        keys = np.tanh(np.cumsum(embeddings[cls.ids].astype(np.float64), axis=0))
        cls.query = {"keys": keys.astype(np.float32), "logits": (keys @ head).astype(np.float32)}

    def infer(self, body, headers=None):
        status, answer, headers = self.server.ask("POST", "/v2/models/m/infer", body, headers or {})
        self.assertEqual(status, 200, answer)
        return answer, headers

    def test_text_is_answered_as_its_arrays_are(self):
        metadata = self.server.ask("GET", "/v2/models/m")[1]
        self.assertIn({"name": "text", "datatype": "BYTES", "shape": [-1]}, metadata["inputs"])
        body, headers = triton_request({"text": [TEXT.encode(), b"the"]}, ["scores", "prediction"])
        data, headers = self.infer(body, headers)
        _, arrays = triton_arrays(data, headers)
        expected, _ = self.infer(infer_json(self.query, len(self.ids) - 1, len(self.ids), ["scores", "prediction"]))
        self.assertTrue(np.allclose(arrays["scores"][0], output(expected, "scores")[0], atol=1e-4))
        self.assertEqual(arrays["prediction"][0], output(expected, "prediction")[0])
        # In JSON, and the usual outputs are short.
        answer, _ = self.infer({"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": [TEXT]}]})
        self.assertEqual([each["name"] for each in answer["outputs"]], ["prediction", "class_name"])
        names = self.server.ask("GET", "/v2/models/m?class_names=all")[1]["parameters"]["class_names"]
        self.assertEqual(output(answer, "class_name")[0], names[output(answer, "prediction")[0]])
        self.assertEqual(metadata["parameters"]["class_names"], [])

    def test_what_follows_each_token(self):
        status, read, _ = self.server.ask("POST", "/v1/memories/m/tokens", {"text": TEXT, "last": 5, "top": 64})
        self.assertEqual(status, 200, read)
        self.assertEqual(openapi_test.check(read, {"$ref": "#/components/schemas/Tokens"}), [])
        self.assertEqual(read["head"] + "".join(each["text"] for each in read["tokens"]), TEXT)
        self.assertEqual([each["token"] for each in read["tokens"]], self.ids[-5:].tolist())
        expected, _ = self.infer(infer_json(self.query, len(self.ids) - 5, len(self.ids), ["probabilities"]))
        probabilities = output(expected, "probabilities")
        for i, token in enumerate(read["tokens"]):
            logits = self.query["logits"][len(self.ids) - 5 + i].astype(np.float64)
            base = np.exp(logits - logits.max())
            base /= base.sum()
            for name, wanted in (("base", base), ("memory", probabilities[i])):
                told = {each["token"]: each["probability"] for each in token[name]}
                self.assertTrue(np.allclose([told[c] for c in range(lm_test.CLASSES)], wanted, atol=1e-4), name)
                best = [each["probability"] for each in token[name]]
                self.assertEqual(best, sorted(best, reverse=True))
            if i + 1 < len(read["tokens"]):
                self.assertEqual(token["next"], read["tokens"][i + 1]["token"])
                self.assertAlmostEqual(token["next_memory"], probabilities[i][token["next"]], delta=1e-4)
            else:
                self.assertNotIn("next", token)

    def test_a_neighbor_shows_the_text_it_is_from(self):
        status, answer, _ = self.server.ask("POST", "/v1/memories/m/explain", {"text": TEXT})
        self.assertEqual(status, 200, answer)
        train = (self.folder / "train.txt").read_text().split("\n\n")
        for line in answer["ledger"]["lines"]:
            context = line["source"].removeprefix("… ").split(" (train.txt")[0].strip()
            self.assertTrue(any(context in document for document in train), line["source"])
        status, near, _ = self.server.ask("POST", "/v1/memories/m/neighbors", {"text": TEXT, "k": 1})
        self.assertEqual(near["neighbors"][0][0]["source"], answer["ledger"]["lines"][0]["source"])

    def test_a_next_token_is_taught_by_its_text(self):
        ask = {"text": "was seen before what the"}
        names = self.server.ask("GET", "/v2/models/m?class_names=all")[1]["parameters"]["class_names"]
        before = self.server.ask("POST", "/v1/memories/m/tokens", ask)[1]["tokens"][0]["memory"]
        label = next(i for i, name in enumerate(names) if name.strip() and i not in {each["token"] for each in before})
        lesson = {"text": [ask["text"]] * 30, "labels": [names[label]] * 30}
        status, done, _ = self.server.ask("POST", "/v1/memories/m/learn", lesson)
        self.assertEqual(status, 200, done)
        after = self.server.ask("POST", "/v1/memories/m/tokens", ask)[1]["tokens"][0]["memory"]
        self.assertEqual(after[0]["token"], label)
        self.assertEqual(self.server.ask("POST", "/v1/memories/m/undo", {"edit": done["edit"]["edit"]})[0], 200)
        again = self.server.ask("POST", "/v1/memories/m/tokens", ask)[1]["tokens"][0]["memory"]
        self.assertEqual(again, before)

    def test_mistakes_are_told(self):
        for path, body, words in (("tokens", {"text": ""}, "no token"), ("tokens", {}, '"text"'),
                                  ("tokens", {"text": TEXT, "last": 65}, "from 1 to 64"),
                                  ("explain", {"text": [1]}, "list of texts"),
                                  ("explain", {"image": "AAAA"}, "does not read images"),
                                  ("learn", {"text": TEXT, "label": "nowhere"}, "no class named")):
            status, answer, _ = self.server.ask("POST", f"/v1/memories/m/{path}", body)
            self.assertEqual(status, 400, (body, answer))
            self.assertIn(words, answer["error"])
        plain = harness.Server(self.folder)
        self.addCleanup(plain.stop)
        status, answer, _ = plain.ask("POST", "/v1/memories/m/tokens", {"text": TEXT})
        self.assertEqual(status, 501)
        self.assertIn("--tokenizers", answer["error"])
        done = subprocess.run([harness.RESMEM, "serve", "m=m.resmem", "--tokenizers", "m=t.model", "--check-config"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--models m=FILE.onnx", done.stderr)


if __name__ == "__main__":
    harness.main()
