"""A tiny language model through every command of `resmem lm`, against NumPy.

    lm_test.py RESMEM

The model's embedding of a token depends on every token that its window has read before: a wrong
window, row or label shows in the keys.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "cli"), str(HERE.parent / "numpy")]
import definitions as d
import onnx_files as onnx
from token_set_file import documents

RESMEM = None
SKIPPED = 77
DIM, CLASSES, WINDOW, STRIDE, TOP, K, SIGMA = 6, 64, 24, 16, 7, 9, 0.8
INT64 = 7


def weights_of_the_model():
    random = np.random.default_rng(7)
    return (random.standard_normal((CLASSES, DIM)).astype("<f4"),
            (1.5 * random.standard_normal((DIM, CLASSES))).astype("<f4"))


def model_file():
    """ids (n x t) -> Gather, CumSum over t, Tanh: embedding -> MatMul: logits."""
    embeddings, head = weights_of_the_model()
    axis = onnx.message(5, onnx.number(2, INT64), onnx.message(8, "axis"),
                        onnx.message(9, np.array(1, "<i8").tobytes()))
    ids = onnx.message(11, onnx.message(1, "ids"), onnx.message(2, onnx.message(
        1, onnx.number(1, INT64), onnx.message(2, onnx.message(1, onnx.message(2, "n")),
                                               onnx.message(1, onnx.message(2, "t"))))))
    return onnx.model(onnx.node("Gather", ["table", "ids"], "vectors"),
                      onnx.node("CumSum", ["vectors", "axis"], "sums"),
                      onnx.node("Tanh", ["sums"], "embedding"),
                      onnx.node("MatMul", ["embedding", "head"], "logits"),
                      onnx.weights("table", embeddings), onnx.weights("head", head), axis, ids,
                      onnx.value_info(12, "embedding", ["n", "t", DIM]),
                      onnx.value_info(12, "logits", ["n", "t", CLASSES]))


def manifest(tokenizer):
    return json.dumps({"resmem_model": 1, "network": "a test",
                       "input": {"name": "ids", "context": 32, "tokenizer": tokenizer},
                       "embedding": {"name": "embedding", "dim": DIM},
                       "logits": {"name": "logits", "classes": CLASSES}, "class_names": []})


def rows(path):
    """Keys, logits, labels and the document of every row, by the definition of windows."""
    embeddings, head = weights_of_the_model()
    keys, labels, places = [], [], []
    for number, ids in enumerate(documents(path)[0]):
        covered, begin = 0, 0
        while covered < len(ids) - 1:
            window = ids[begin:min(begin + WINDOW, len(ids) - 1)]
            h = np.tanh(np.cumsum(embeddings[window].astype(np.float64), axis=0))
            for i in range(covered - begin, len(window)):
                keys.append(h[i])
                labels.append(ids[begin + i + 1])
                places.append(number)
            covered, begin = begin + len(window), begin + STRIDE
    keys = np.array(keys)
    return keys.astype(np.float32), (keys @ head).astype(np.float32), np.array(labels), np.array(places)


def text(seed, count):
    random = np.random.default_rng(seed)
    words = ["the", "memory", "of", "a", "model", "adds", "what", "was", "seen", "before"]
    for _ in range(count):
        yield " ".join(random.choice(words, random.integers(1, 60)))


class LanguageModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        for name, seed, count in (("train", 1, 60), ("test", 2, 12)):
            (cls.folder / f"{name}.jsonl").write_text(
                "".join(json.dumps({"text": t, "title": f"{name} {i}"}) + "\n"
                        for i, t in enumerate(text(seed, count))))
        cls.run_resmem("tokenizer", "train", "train.jsonl", "--pieces", "28", "-o", "t.model")
        for name in ("train", "test"):
            cls.run_resmem("lm", "tokens", f"{name}.jsonl", "--tokenizer", "t.model", "-o", f"{name}.tokens")
        (cls.folder / "lm.onnx").write_bytes(model_file())
        (cls.folder / "lm.json").write_text(manifest(documents(cls.folder / "train.tokens")[1]["tokenizer"]))
        cls.memorize = ["lm", "memorize", "train.tokens", "--model", "lm.onnx", "--window", str(WINDOW),
                        "--stride", str(STRIDE), "--top", str(TOP), "--k", str(K), "--sigma", str(SIGMA)]
        if "CI" not in os.environ and "needs ONNX Runtime" in cls.run_resmem(
                *cls.memorize, "-o", "probe.resmem", check=False).stderr:
            print("skipped: ONNX Runtime is not here, ./setup installs it")
            sys.exit(SKIPPED)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_resmem(cls, *words, check=True):
        done = subprocess.run([RESMEM, *words], cwd=cls.folder, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise AssertionError(done.stderr)
        return done

    def test_memory_and_evaluation_are_those_of_numpy(self):
        self.run_resmem(*self.memorize, "--key-type", "float32", "-o", "exact.resmem")
        keys, logits, labels, _ = rows(self.folder / "train.tokens")
        queries, query_logits, truth, places = rows(self.folder / "test.tokens")
        info = json.loads(self.run_resmem("info", "exact.resmem", "--json").stdout)
        self.assertEqual(info["memory"]["rows"], len(keys))
        done = self.run_resmem("lm", "eval", "exact.resmem", "--tokens", "test.tokens", "--model", "lm.onnx",
                               "--window", str(WINDOW), "--stride", str(STRIDE), "--lambdas", "0.3,1", "--json")
        result = json.loads(done.stdout)
        self.assertEqual(result["rows"], len(queries))
        # Without numbers, the windows are those of the memory.
        bare = json.loads(self.run_resmem("lm", "eval", "exact.resmem", "--tokens", "test.tokens", "--model", "lm.onnx",
                                          "--lambdas", "0.3,1", "--json").stdout)
        self.assertEqual(bare["calibration"], result["calibration"])
        other = json.loads(self.run_resmem("lm", "eval", "exact.resmem", "--tokens", "test.tokens", "--model", "lm.onnx",
                                           "--window", "8", "--lambdas", "0.3,1", "--json").stdout)
        self.assertNotEqual(other["calibration"], result["calibration"])

        residuals = d.keep_largest(d.residuals(logits, labels, 1.0), TOP).astype(np.float16).astype(np.float64)
        near, distances = d.nearest(keys, queries, K)
        base = d.softmax(query_logits, 1.0)
        resmem = base + d.correction(residuals, near, distances, SIGMA)
        knn = d.correction(np.eye(CLASSES)[labels], near, distances, SIGMA)
        expected = {("base", None): base, ("knn", None): knn, ("knn-lm", 0.3): 0.7 * base + 0.3 * knn,
                    ("knn-lm", 1.0): knn, ("resmem", None): resmem}
        methods = [m for m in result["methods"] if m["method"] != "nearest-class-mean"]
        self.assertEqual({(m["method"], m.get("lambda")) for m in methods}, set(expected))
        for m in methods:
            answers, close = d.answers(expected[m["method"], m.get("lambda")])
            self.assertAlmostEqual(m["accuracy"]["correct"], int((answers == truth).sum()), delta=int(close.sum()))
        self.assertGreater(result["gain"]["fixed"], 0)
        for name, p in (("base", base), ("resmem", d.clip(resmem))):
            self.assertAlmostEqual(result["calibration"][name]["nll"], d.nll(p, truth), places=4)
        # The same neighbors and what is stored of them, as arrays.
        shape = ["--tokens", "test.tokens", "--model", "lm.onnx", "--window", str(WINDOW), "--stride", str(STRIDE)]
        self.run_resmem("lm", "neighbors", "exact.resmem", *shape, "-o", "neighbors.npz")
        self.run_resmem("export", "exact.resmem", "-o", "memory.npz")
        with np.load(self.folder / "neighbors.npz") as found, np.load(self.folder / "memory.npz") as stored:
            np.testing.assert_allclose(found["distances"], distances, atol=1e-4)
            np.testing.assert_array_equal(found["labels"], labels[found["rows"]])
            self.assertEqual(len(found["query_ids"]), len(queries))
            kept = np.zeros((len(keys), CLASSES))
            np.put_along_axis(kept, stored["top_classes"], stored["top_values"], axis=1)
            np.testing.assert_allclose(kept, residuals, atol=1e-3)
        # Perplexity of every method; below 2^-23 a probability counts as that.
        for m in methods:
            p = d.clip(resmem) if m["method"] == "resmem" else expected[m["method"], m.get("lambda")]
            label = p[np.arange(len(truth)), truth]
            self.assertAlmostEqual(m["nll"], -np.log(np.maximum(label, 2.0**-23)).mean(), places=4)
            self.assertEqual(m["floored"], int((label < 2.0**-23).sum()))
        knn_alone = next(m for m in methods if m["method"] == "knn")
        self.assertGreater(knn_alone["floored"], 0)
        self.assertGreater(knn_alone["nll"], next(m for m in methods if m.get("lambda") == 0.3)["nll"])
        # Intervals draw whole documents.
        totals, before, after = (np.array([s[f] for s in result["slices"]])
                                 for f in ("total", "base_correct", "resmem_correct"))
        drawn = np.random.default_rng(5).integers(len(totals), size=(4000, len(totals)))
        gains = (after - before)[drawn].sum(axis=1) / totals[drawn].sum(axis=1)
        for end, share in (("low", 0.025), ("high", 0.975)):
            self.assertAlmostEqual(result["gain"][end], np.quantile(gains, share), delta=0.01)
            self.assertEqual(result["gain"][end], methods[-1]["against_base"][end])
        # So do those of two methods against each other, in accuracy and in NLL.
        nll = lambda p: -np.log(np.maximum(p[np.arange(len(truth)), truth], 2.0**-23))
        pair = next(p for p in result["pairs"] if p["left"] == 0 and p["right"] == len(result["methods"]) - 1)
        self.assertEqual(pair["gain"]["low"], result["gain"]["low"])
        less = np.bincount(places, nll(base) - nll(d.clip(resmem)))
        means = less[drawn].sum(axis=1) / totals[drawn].sum(axis=1)
        self.assertAlmostEqual(pair["nll_gain"], less.sum() / totals.sum(), places=4)
        for end, share in (("nll_low", 0.025), ("nll_high", 0.975)):
            self.assertAlmostEqual(pair[end], np.quantile(means, share), delta=0.03)
        # Every document is a slice, with its own rows.
        self.assertEqual([s["total"] for s in result["slices"]], np.bincount(places).tolist())

    def test_a_row_takes_the_bytes_that_are_promised(self):
        self.run_resmem(*self.memorize, "-o", "half.resmem")
        info = json.loads(self.run_resmem("info", "half.resmem", "--json").stdout)["memory"]
        overhead = 8192  # headers, tables and the manifest
        self.assertLessEqual(info["bytes_on_disk"], info["rows"] * (TOP * 4 + DIM * 2 + 16) + overhead)
        self.assertEqual((info["key_type"], info["form"]), ("float16", "sparse"))

    def test_killed_work_goes_on_to_the_same_bytes(self):
        small = [*self.memorize, "--segment-rows", "30"]
        self.run_resmem(*small, "-o", "whole.resmem")
        process = subprocess.Popen([RESMEM, *small, "-o", "cut.resmem"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        partial = self.folder / "cut.resmem.partial"
        while process.poll() is None and len(list(partial.glob("segment-*.resmem"))) < 4:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertFalse((self.folder / "cut.resmem").exists(), "it was done before it could be killed")
        # Another request does not go on with this work.
        other = self.run_resmem(*small, "--key-type", "int8", "-o", "cut.resmem", check=False)
        self.assertEqual(other.returncode, 2, other.stderr)
        self.assertIn("cut.resmem.partial: was begun with another model, text or options", other.stderr)
        done = self.run_resmem(*small, "-o", "cut.resmem")
        self.assertIn("kept from an earlier run", done.stdout)
        self.assertFalse(partial.exists())
        files = sorted(p.name for p in (self.folder / "whole.resmem").glob("segment-*"))
        self.assertGreater(len(files), 6)
        self.assertEqual(files, sorted(p.name for p in (self.folder / "cut.resmem").glob("segment-*")))
        for name in files:
            self.assertEqual((self.folder / "whole.resmem" / name).read_bytes(),
                             (self.folder / "cut.resmem" / name).read_bytes(), name)
        self.run_resmem("verify", "cut.resmem")

    def test_tuning_writes_a_choice_that_is_not_worse(self):
        self.run_resmem(*self.memorize, "-o", "tuned.resmem")
        shape = ["--model", "lm.onnx", "--window", str(WINDOW), "--stride", str(STRIDE)]
        tune = ["lm", "tune", "tuned.resmem", "--method", "resmem", "--tokens", "test.tokens", *shape]
        dry = json.loads(self.run_resmem(*tune, "--dry-run", "--json").stdout)
        self.assertFalse(json.loads(self.run_resmem("info", "tuned.resmem", "--json").stdout)["memory"]["tuned"])
        done = self.run_resmem(*tune)
        self.assertIn("written into tuned.resmem", done.stderr)
        judged = json.loads(self.run_resmem("lm", "eval", "tuned.resmem", "--tokens", "test.tokens", *shape,
                                            "--json").stdout)
        self.assertEqual(judged["parameters"]["k"], dry["chosen"]["k"])
        self.assertEqual(judged["parameters"]["temperature"], 1)
        self.assertEqual(judged["gain"]["fixed"] - judged["gain"]["harmed"],
                         dry["chosen_gain"]["fixed"] - dry["chosen_gain"]["harmed"])
        before = json.loads(self.run_resmem("lm", "eval", "tuned.resmem", "--tokens", "test.tokens", *shape, "--k",
                                            str(K), "--sigma", str(SIGMA), "--json").stdout)
        self.assertGreaterEqual(judged["methods"][-1]["accuracy"]["correct"],
                                before["methods"][-1]["accuracy"]["correct"] - 3)

    def test_a_tuned_memory_shows_its_own_answer(self):
        self.run_resmem(*self.memorize, "-o", "blend.resmem")
        shape = ["--model", "lm.onnx", "--window", str(WINDOW), "--stride", str(STRIDE)]
        tuned = json.loads(self.run_resmem("lm", "tune", "blend.resmem", "--tokens", "test.tokens", *shape,
                                           "--key-transform", "keep", "--json").stdout)
        self.assertTrue(tuned["blend"]["adopted"], tuned["blend"]["reason"])
        ask = ["--model", "lm.onnx", "--tokenizer", "t.model"]
        said = self.run_resmem("lm", "explain", "blend.resmem", *ask, "--text", "the memory of a").stdout
        paper = self.run_resmem("lm", "explain", "blend.resmem", *ask, "--text", "the memory of a", "--method",
                                "resmem").stdout
        self.assertRegex(said, r"(?m)^blend +\S+ [0-9.]+ %")
        self.assertRegex(paper, r"(?m)^ResMem +\S+ [0-9.]+ %")
        # The base's probabilities are the same beside both, and its best token comes first.
        base = [re.search(r"(?m)^base +(.*)$", text).group(1) for text in (said, paper)]
        self.assertEqual(base[0], base[1])
        shares = [float(share) for share in re.findall(r"([0-9.]+) %", base[0])]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertLessEqual(sum(shares), 100.01)
        shown = self.run_resmem("lm", "examples", "blend.resmem", "--tokens", "test.tokens", "--tokenizer", "t.model",
                                *shape, "--count", "2").stdout
        self.assertIn("blend predicts", shown)
        self.assertRegex(shown, r"(?m)^blend ")

    def test_keys_are_chosen_by_the_text_and_documents_kept_whole(self):
        self.run_resmem(*self.memorize, "-o", "keys.resmem")
        shape = ["--model", "lm.onnx", "--window", str(WINDOW), "--stride", str(STRIDE)]
        tune = ["lm", "tune", "keys.resmem", "--tokens", "test.tokens", *shape]
        chosen = json.loads(self.run_resmem(*tune, "--dry-run", "--json").stdout)["keys"]
        self.assertEqual([trial["transform"] for trial in chosen["trials"]], ["none", "unit", "whiten"])
        self.run_resmem(*tune, "--key-transform", "whiten")
        info = json.loads(self.run_resmem("info", "keys.resmem", "--json").stdout)["memory"]
        self.assertEqual(info["key_transform"], "whiten")
        queries = json.loads(self.run_resmem("lm", "eval", "keys.resmem", "--tokens", "test.tokens", *shape,
                                             "--json").stdout)
        self.assertEqual(queries["rows"], len(rows(self.folder / "test.tokens")[0]))
        self.run_resmem("tune", "keys.resmem", "--undo")
        info = json.loads(self.run_resmem("info", "keys.resmem", "--json").stdout)["memory"]
        self.assertEqual(info["key_transform"], "none")
        # One document says nothing about another.
        alone = json.loads(self.run_resmem(*tune, "--dry-run", "--json", "--documents", "2", "--key-transform",
                                           "keep").stdout)["blend"]
        self.assertFalse(alone["adopted"])

    def test_an_index_is_measured_on_held_out_tokens(self):
        self.run_resmem(*self.memorize, "-o", "indexed.resmem")
        shape = ["--tokens", "test.tokens", "--model", "lm.onnx", "--window", str(WINDOW), "--stride", str(STRIDE)]
        done = json.loads(self.run_resmem("lm", "index", "indexed.resmem", "--recall", "0.9", *shape, "--json").stdout)
        queries = rows(self.folder / "test.tokens")[0]
        self.assertEqual(done["memory"]["index"]["given_queries"], len(queries))
        # They are keys of that text: float32, somewhere in their file.
        stored = next((self.folder / "indexed.resmem").glob("queries-*.resmem")).read_bytes()
        values = np.frombuffer(stored[:len(stored) // 4 * 4], "<f4")
        for query in (queries[0], queries[-1]):
            self.assertTrue(any(np.abs(values[i:i + DIM] - query).max() < 1e-5 for i in range(len(values) - DIM)))
        again = self.run_resmem("lm", "eval", "indexed.resmem", *shape, "--exact", "--json").stdout
        approximate = self.run_resmem("lm", "eval", "indexed.resmem", *shape, "--json").stdout
        self.assertAlmostEqual(*(json.loads(text)["methods"][-1]["accuracy"]["value"] for text in (again, approximate)),
                               delta=0.02)
        few = self.run_resmem("lm", "index", "indexed.resmem", *shape, "--documents", "1", check=False)
        self.assertEqual(few.returncode, 2, few.stderr)
        self.assertIn("queries are too few to promise a recall by", few.stderr)

    def test_examples_follow_the_rule(self):
        self.run_resmem(*self.memorize, "--key-type", "float32", "-o", "shown.resmem")
        done = self.run_resmem("lm", "examples", "shown.resmem", "--tokens", "test.tokens", "--tokenizer", "t.model",
                               "--model", "lm.onnx", "--window", str(WINDOW), "--stride", str(STRIDE), "--count", "3",
                               "--neighbors", "2").stdout
        self.assertIn("rule: ", done)
        titles = re.findall(r"^fixed +in (test \d+)$", done, re.M)
        self.assertEqual(len(titles), 3)
        # By NumPy: the largest rises of the true token's score, one a document.
        keys, logits, labels, _ = rows(self.folder / "train.tokens")
        queries, query_logits, truth, places = rows(self.folder / "test.tokens")
        residuals = d.keep_largest(d.residuals(logits, labels, 1.0), TOP).astype(np.float16).astype(np.float64)
        near, distances = d.nearest(keys, queries, K)
        base = d.softmax(query_logits, 1.0)
        resmem = base + d.correction(residuals, near, distances, SIGMA)
        fixed = (d.answers(base)[0] != truth) & (d.answers(resmem)[0] == truth)
        rise = (resmem - base)[np.arange(len(truth)), truth]
        best = {}
        for row in np.flatnonzero(fixed):
            best[places[row]] = max(best.get(places[row], -1), rise[row])
        expected = sorted(best, key=lambda place: -best[place])[:3]
        self.assertEqual(titles, [f"test {place}" for place in expected])

    def test_explanations_show_the_neighbors_contexts(self):
        self.run_resmem(*self.memorize, "-o", "explained.resmem")
        ask = ["lm", "explain", "explained.resmem", "--model", "lm.onnx", "--tokenizer", "t.model", "--text"]
        done = self.run_resmem(*ask, "the memory of a", "--last", "2", "--neighbors", "3").stdout
        self.assertEqual((done.count('after "'), done.count('after "the memory of a"')), (2, 1))
        self.assertEqual(sum("... " in line for line in done.splitlines()), 6)
        self.assertRegex(done, r"train \d+")
        self.assertIn("\u2581 (a blank)", self.run_resmem(*ask, "the memory of a model adds", "--last", "9").stdout)

    def test_rows_that_are_not_of_the_text_are_shown_as_such(self):
        self.run_resmem(*self.memorize, "-o", "foreign.resmem")
        keys, logits, labels, _ = rows(self.folder / "test.tokens")
        count = len(rows(self.folder / "train.tokens")[0])
        few = slice(0, 40)
        # Ids beyond the token set, up to the largest, and one of a row that was deleted.
        ids = np.array([*range(10**6, 10**6 + 38), 2**62, count], dtype=np.uint64)
        np.savez(self.folder / "foreign.npz", keys=keys[few], logits=logits[few], labels=labels[few], ids=ids)
        self.run_resmem("append", "foreign.resmem", "--data", "foreign.npz", "--model", "lm.onnx", "--layer",
                        "embedding")
        self.run_resmem("verify", "foreign.resmem")
        (self.folder / "first.jsonl").write_text((self.folder / "test.jsonl").read_text().splitlines()[0])
        words = json.loads((self.folder / "first.jsonl").read_text())["text"]
        ask = ["lm", "explain", "foreign.resmem", "--model", "lm.onnx", "--tokenizer", "t.model", "--text", words]
        self.assertIn("not of the memorized text: the row of id 10000", self.run_resmem(*ask, "--last", "20").stdout)
        shown = self.run_resmem("lm", "examples", "foreign.resmem", "--tokens", "test.tokens", "--tokenizer", "t.model",
                                "--model", "lm.onnx", "--window", str(WINDOW), "--stride", str(STRIDE), "--count", "9")
        self.assertIn("not of the memorized text", shown.stdout)

    def test_a_flipped_bit_is_an_error_and_never_another_word(self):
        self.run_resmem(*self.memorize, "-o", "flipped.resmem")
        segment = next((self.folder / "flipped.resmem").glob("segment-*.resmem"))
        good = segment.read_bytes()
        asks = [["lm", "explain", "flipped.resmem", "--model", "lm.onnx", "--tokenizer", "t.model", "--text", "the model"],
                ["lm", "generate", "flipped.resmem", "--model", "lm.onnx", "--tokenizer", "t.model", "--text", "the",
                 "--count", "3"],
                ["lm", "examples", "flipped.resmem", "--tokens", "test.tokens", "--tokenizer", "t.model", "--model",
                 "lm.onnx", "--window", str(WINDOW), "--stride", str(STRIDE)]]
        sound = [self.run_resmem(*ask).stdout for ask in asks]
        refused = 0
        for place in range(700, len(good), len(good) // 12):
            segment.write_bytes(good[:place] + bytes([good[place] ^ 64]) + good[place + 1:])
            for ask, answer in zip(asks, sound):
                done = self.run_resmem(*ask, check=False)
                if done.returncode == 0:
                    self.assertEqual(done.stdout, answer, f"byte {place}, {ask[1]}")
                    continue
                refused += 1
                self.assertEqual(done.returncode, 3, done.stderr)
                # What was spoken before the error is what a sound memory says.
                said = done.stdout.removesuffix("\n") if ask[1] == "generate" else done.stdout
                self.assertTrue(answer.startswith(said) if ask[1] == "generate" else said == "", said)
                self.assertIn(segment.name, done.stderr)
        self.assertGreater(refused, 24)
        segment.write_bytes(good)

    def test_few_documents_carry_a_caveat(self):
        self.run_resmem(*self.memorize, "-o", "caveat.resmem")
        judge = ["lm", "eval", "caveat.resmem", "--tokens", "test.tokens", "--model", "lm.onnx", "--window", str(WINDOW),
                 "--stride", str(STRIDE)]
        self.assertIn("and there are only 2: with fewer than 10 they are too narrow",
                      self.run_resmem(*judge, "--documents", "2").stderr)
        self.assertNotIn("too narrow", self.run_resmem(*judge).stderr)

    def test_advice_names_options_that_the_commands_have(self):
        self.run_resmem(*self.memorize, "--key-type", "float32", "-o", "advised.resmem")
        (self.folder / "train.tokens").rename(self.folder / "moved.tokens")
        try:
            for command, option in ((["explain", "--text", "the"], "--tokens"),
                                    (["examples", "--tokens", "test.tokens"], "--memorized")):
                words = ["lm", command[0], "advised.resmem", *command[1:], "--tokenizer", "t.model", "--model", "lm.onnx"]
                self.assertIn(f"name the token set that was memorized with {option}",
                              self.run_resmem(*words, check=False).stderr)
                if command[0] == "examples":
                    words += ["--window", str(WINDOW), "--stride", str(STRIDE)]
                self.run_resmem(*words, option, "moved.tokens")
        finally:
            (self.folder / "moved.tokens").rename(self.folder / "train.tokens")
        # Own rows as test: the memory says so, without options that lm eval lacks.
        own = self.run_resmem("lm", "eval", "advised.resmem", "--tokens", "train.tokens", "--model", "lm.onnx",
                              "--window", str(WINDOW), "--stride", str(STRIDE)).stderr
        help_text = self.run_resmem("lm", "eval", "--help").stdout
        for option in re.findall(r"(?<!-)--[a-z-]+", own):
            self.assertIn(option, help_text, own)
        self.assertIn("give other text", own)

    def test_two_writers_of_one_output_never_mix(self):
        (self.folder / "long.jsonl").write_text("".join(
            json.dumps({"text": t}) + "\n" for t in text(9, 3000)))
        write = [RESMEM, "lm", "tokens", "long.jsonl", "--tokenizer", "t.model", "--threads", "1", "-o"]
        subprocess.run([*write, "alone.tokens"], cwd=self.folder, check=True, capture_output=True)
        alone = (self.folder / "alone.tokens").read_bytes()
        refused = 0
        for _ in range(6):
            both = [subprocess.Popen([*write, "same.tokens"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, text=True) for _ in range(3)]
            for process in both:
                words = process.communicate()[1]
                if process.returncode != 0:
                    refused += 1
                    self.assertEqual(process.returncode, 4, words)
                    self.assertIn("same.tokens: another process is writing it", words)
            self.assertEqual((self.folder / "same.tokens").read_bytes(), alone)
        self.assertGreater(refused, 0)
        self.assertEqual(list(self.folder.glob("same.tokens.*")), [])

    def test_generated_text_is_the_same_for_a_seed(self):
        self.run_resmem(*self.memorize, "-o", "spoken.resmem")
        ask = ["lm", "generate", "spoken.resmem", "--model", "lm.onnx", "--tokenizer", "t.model", "--text", "the",
               "--count", "12"]
        greedy = self.run_resmem(*ask).stdout
        self.assertRegex(greedy, r"base +the")
        self.assertRegex(greedy, r"ResMem +the")
        drawn = [self.run_resmem(*ask, "--sample", "--seed", seed).stdout for seed in ("1", "1", "2")]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])

    def test_mistakes_are_named(self):
        self.run_resmem(*self.memorize, "-o", "once.resmem")
        # The same request finds its work done; another does not get that memory.
        again = self.run_resmem(*self.memorize, "-o", "once.resmem")
        self.assertIn("kept from an earlier run", again.stdout)
        other = self.run_resmem(*self.memorize, "--key-type", "int8", "-o", "once.resmem", check=False)
        self.assertEqual(other.returncode, 2)
        self.assertIn("once.resmem: is there already", other.stderr)
        long = self.run_resmem("lm", "memorize", "train.tokens", "--model", "lm.onnx", "--window", "256", "-o", "x.resmem",
                               check=False)
        self.assertIn("windows of 256 tokens, but the model reads at most 32", long.stderr)
        (self.folder / "other.onnx").write_bytes(model_file())
        (self.folder / "other.json").write_text(manifest("0" * 32))
        mixed = self.run_resmem("lm", "memorize", "train.tokens", "--model", "other.onnx", "--window", "24",
                                "--stride", "16", "-o", "x.resmem", check=False)
        self.assertIn("was encoded by the tokenizer", mixed.stderr)

    def test_a_model_of_our_own_needs_no_runtime_and_answers_as_the_runtime_does(self):
        self.run_resmem("lm", "train", "train.tokens", "--network", "t5-d32-l2-h1-f64", "--context", "32",
                        "--batch", "4", "--passes", "3", "-o", "run")
        base = ["lm", "memorize", "train.tokens", "--model", "run/last.onnx", *self.memorize[5:], "--key-type", "float32"]
        nowhere = ["--onnxruntime", "there/is/none.so"]
        self.run_resmem(*base, *nowhere, "-o", "native.resmem")
        self.assertIn("none.so", self.run_resmem(*base, *nowhere, "--engine", "onnxruntime", "-o", "x.resmem",
                                                 check=False).stderr)
        self.run_resmem(*base, "--engine", "onnxruntime", "-o", "runtime.resmem")
        results = {}
        for engine in ("native", "runtime"):
            # As the memory was made, unless told otherwise.
            done = self.run_resmem("lm", "eval", f"{engine}.resmem", "--tokens", "test.tokens", "--model",
                                   "run/last.onnx", "--window", str(WINDOW), "--stride", str(STRIDE), "--json",
                                   *(nowhere if engine == "native" else []))
            results[engine] = json.loads(done.stdout)
        one, other = results["native"], results["runtime"]
        self.assertEqual(one["rows"], other["rows"])
        self.assertEqual([s["total"] for s in one["slices"]], [s["total"] for s in other["slices"]])
        self.assertNotEqual(one["calibration"], other["calibration"], "both were run by the same engine")
        # Some neighbors are others: their distances differ little.
        for name, delta in (("base", 0.01), ("resmem", 0.1)):
            self.assertAlmostEqual(one["calibration"][name]["nll"], other["calibration"][name]["nll"], delta=delta)
        for a, b in zip(one["methods"], other["methods"]):
            self.assertAlmostEqual(a["accuracy"]["correct"], b["accuracy"]["correct"], delta=0.03 * one["rows"])
        ask = ["native.resmem", "--model", "run/last.onnx", "--tokenizer", "t.model", *nowhere, "--text", "the memory"]
        self.assertIn('after "the memory"', self.run_resmem("lm", "explain", *ask).stdout)
        self.assertRegex(self.run_resmem("lm", "generate", *ask, "--count", "3").stdout, r"ResMem +the memory")

    def test_a_model_of_others_is_refused_by_the_native_engine(self):
        refused = self.run_resmem(*self.memorize, "--engine", "native", "-o", "x.resmem", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("only ONNX Runtime can run it", refused.stderr)


if __name__ == "__main__":
    RESMEM = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
