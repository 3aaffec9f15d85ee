"""The blend that resmem tune fits against one that NumPy fits: equal to 1e-5.

    blend_test.py RESMEM      the path of the command
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import blend
import definitions as df
from numpy_test import make_rows

RESMEM = ""


class BlendTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="resmem_blend_")
        cls.path = pathlib.Path(cls.folder.name)
        cls.train, cls.held, cls.test = make_rows(2, 700), make_rows(3, 600), make_rows(4, 200)
        # One row far from everything, for the guard.
        cls.test["keys"][17] += 40
        for name, rows in (("train", cls.train), ("held", cls.held), ("test", cls.test)):
            np.savez(cls.path / f"{name}.npz", **rows)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_resmem(self, *arguments):
        done = subprocess.run([RESMEM, *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.path)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def tune(self, memory, *arguments):
        return json.loads(self.run_resmem("tune", memory, "--data", "held.npz", "--json",
                                          "--key-transform", "keep", *arguments))["blend"]

    def parts_at(self, queries, fitted, keep=None, **change):
        point = {**fitted["parameters"], "prior": fitted["prior"], **change}
        return blend.Parts(self.train, queries, point["k"], point["sigma"], point["temperature"],
                           point["prior"], fitted["base_temperature"], keep)

    def expect_same(self, memory, found, parts=(0, 1, 2, 3), keep=None):
        """NumPy's own fit at the point that tune chose, and its answers for new rows."""
        self.assertTrue(found["adopted"], found["reason"])
        fitted = found["fitted"]
        labels = self.held["labels"]
        t0 = blend.fit_base_temperature(self.held["logits"], labels)
        self.assertAlmostEqual(fitted["base_temperature"], t0, delta=1e-4)
        at = self.parts_at(self.held, fitted, keep)
        means, deviations = at.gates.mean(axis=0), at.gates.std(axis=0)
        np.testing.assert_allclose(fitted["gate_means"], means, atol=1e-5)
        np.testing.assert_allclose(fitted["gate_deviations"], deviations, atol=1e-5)
        np.testing.assert_allclose(fitted["distances"], blend.percentiles(at.distance), atol=1e-5)
        np.testing.assert_allclose(fitted["spreads"], blend.percentiles(at.spread), atol=1e-5)
        u = blend.terms(at.gates, means, deviations)
        theta = blend.fit(at.phi, labels, u, t0, parts, found["slopes"], found["ridge"])
        own = np.array(fitted["coefficients"])
        self.assertAlmostEqual(blend.mean_nll(at.phi, labels, u, own),
                               blend.mean_nll(at.phi, labels, u, theta), delta=1e-5)
        asked = self.parts_at(self.test, fitted, keep)
        expected = blend.probabilities(asked, theta, means, deviations, at, t0)
        self.run_resmem("predict", memory, "--data", "test.npz", "-o", "lines.csv", "--scores",
                        "scores.npy", "--unknown-rate", 0.01)
        scores = np.load(self.path / "scores.npy")
        # Between two percentiles that lie close together a fade enlarges the rounding of float32.
        fade = blend.guard(asked, at)
        fading = (fade > 0) & (fade < 1)
        self.assertGreater(fading.sum(), 3)
        self.assertLess(fading.sum(), len(scores) // 3)
        np.testing.assert_allclose(scores[~fading], expected[~fading], atol=1e-5, rtol=0)
        np.testing.assert_allclose(scores[fading], expected[fading], atol=1e-4, rtol=0)
        # What predict prints are these numbers, and the far row is known to be unknown.
        with open(self.path / "lines.csv", newline="", encoding="utf-8") as lines:
            table = list(csv.DictReader(lines))
        for row, line in enumerate(table):
            self.assertAlmostEqual(float(line["probability"]), scores[row].max(), delta=1e-7)
        self.assertEqual(table[17]["unknown"], "1")
        self.assertLess(sum(int(line["unknown"]) for line in table), 15)
        # An evaluation of the memory counts its NLL.
        evaluation = json.loads(self.run_resmem("eval", memory, "--data", "test.npz", "--json"))
        self.assertEqual(evaluation["method"], found["method"])
        nll = df.nll(expected, self.test["labels"])
        self.assertAlmostEqual(evaluation["calibration"]["resmem"]["nll"], nll, delta=1e-5)
        self.expect_rivals(evaluation, expected)
        return at

    def expect_rivals(self, evaluation, expected):
        """The rivals at their own values, the metrics of the answer, and the pairs."""
        labels, classes = self.test["labels"], self.test["logits"].shape[1]
        base = df.softmax(self.test["logits"], 1)
        probabilities = {"base": base, evaluation["method"]: expected}
        place = {}
        for i, method in enumerate(evaluation["methods"]):
            name = method["method"]
            if name == "temperature":
                probabilities[name] = df.softmax(self.test["logits"], method["temperature"])
            if method.get("own"):
                rows, d = df.nearest(self.train["keys"], self.test["keys"], method["k"])
                knn = df.correction(np.eye(classes)[self.train["labels"]], rows, d,
                                    method["sigma"])
                share = method.get("lambda", 1)
                probabilities[name] = (1 - share) * base + share * knn
            if name != "knn-lm" or method["own"]:
                place[name] = i
        self.assertEqual(set(place), {"base", "nearest-class-mean", "temperature", "last-layer",
                                      "knn", "knn-lm", "resmem", evaluation["method"]})
        losses = {}
        for name, p in probabilities.items():
            found = evaluation["methods"][place[name]]
            losses[name] = -np.log(np.maximum(p[np.arange(len(labels)), labels], 2.0 ** -23))
            self.assertAlmostEqual(found["nll"], losses[name].mean(), delta=1e-5, msg=name)
            self.expect_metrics(found["metrics"], p)
        for pair in evaluation["pairs"]:
            names = [n for side in ("left", "right") for n, i in place.items() if i == pair[side]]
            if not set(names) <= set(losses):
                continue
            difference = losses[names[0]] - losses[names[1]]
            self.assertAlmostEqual(pair["nll_gain"], difference.mean(), delta=1e-5)
            half = difference.std(ddof=1) / np.sqrt(len(labels))
            self.assertAlmostEqual(pair["nll_high"] - pair["nll_gain"], 1.972 * half, delta=1e-4)
        self.assertEqual(len(evaluation["pairs"]), 8 * 7 // 2)

    def expect_metrics(self, found, p):
        labels = self.test["labels"]
        rows, answer = np.arange(len(labels)), p.argmax(axis=1)
        onehot = np.eye(p.shape[1])[labels]
        self.assertAlmostEqual(found["brier"], ((p - onehot) ** 2).sum(axis=1).mean(), delta=1e-5)
        f1, recall, auc = [], [], []
        for c in range(p.shape[1]):
            right = ((answer == c) & (labels == c)).sum()
            if (answer == c).any() or (labels == c).any():
                f1.append(2 * right / ((answer == c).sum() + (labels == c).sum()))
            if not (labels == c).any():
                continue
            recall.append(right / (labels == c).sum())
            own, rest = p[labels == c, c].astype(np.float32), p[labels != c, c].astype(np.float32)
            above = (own[:, None] > rest).mean() + (own[:, None] == rest).mean() / 2
            auc.append(above)
        self.assertAlmostEqual(found["macro_f1"], np.mean(f1), delta=1e-9)
        self.assertAlmostEqual(found["balanced_accuracy"], np.mean(recall), delta=1e-9)
        self.assertAlmostEqual(found["auc"], np.mean(auc), delta=1e-3)
        self.assertAlmostEqual(found["top5"],
                               (np.argsort(-p, axis=1)[:, :5] == labels[:, None]).any(axis=1).mean(),
                               delta=0.011)
        self.assertLessEqual(found["ece_low"], found["ece"] + 0.02)
        self.assertGreaterEqual(found["ece_high"], found["ece"])

    def test_fit_and_scores_are_numpys(self):
        self.run_resmem("memorize", "--data", "train.npz", "-o", "blend.resmem")
        found = self.tune("blend.resmem")
        self.expect_same("blend.resmem", found)
        # No neighboring point of the grid fits better by more than a step must bring.
        fitted, labels = found["fitted"], self.held["labels"]
        u = np.zeros((len(labels), 4))
        u[:, 0] = 1

        def loss(**change):
            phi = self.parts_at(self.held, fitted, **change).phi
            return blend.mean_nll(phi, labels, u, blend.fit(phi, labels, u,
                                                                 fitted["base_temperature"]))

        best = loss()
        for name, ratio in (("sigma", 2 ** 0.5), ("temperature", 2 ** 0.5), ("prior", 2)):
            value = fitted["prior"] if name == "prior" else fitted["parameters"][name]
            for factor in (ratio, 1 / ratio):
                self.assertLess(best, loss(**{name: value * factor}) * (1 + 1.1e-4), (name, factor))

    def test_logit_boosting(self):
        self.run_resmem("memorize", "--data", "train.npz", "-o", "boost.resmem")
        found = self.tune("boost.resmem", "--method", "logit-boost")
        self.assertTrue((np.array(found["fitted"]["coefficients"])[1:3] == 0).all())
        self.expect_same("boost.resmem", found, parts=(0, 3))

    def test_the_ledger_of_logit_boosting_is_an_exact_sum(self):
        self.run_resmem("memorize", "--data", "train.npz", "-o", "sum.resmem")
        fitted = self.tune("sum.resmem", "--method", "logit-boost")["fitted"]
        point = fitted["parameters"]
        at = self.parts_at(self.held, fitted)
        u = blend.terms(self.parts_at(self.test, fitted).gates, at.gates.mean(axis=0), at.gates.std(axis=0))
        fade = blend.guard(self.parts_at(self.test, fitted), at)
        rows, distances = df.nearest(self.train["keys"], self.test["keys"], point["k"])
        weights = df.weights(distances, point["sigma"])
        weights /= weights.sum(axis=1, keepdims=True)
        residuals = df.residuals(self.train["logits"], self.train["labels"], point["temperature"])
        for row in (3, 50):
            ledger = json.loads(self.run_resmem("explain", "sum.resmem", "--data", "test.npz", "--row", row,
                                                "--json"))["ledger"]
            # No share is by convention: what a neighbor contributes is its summand, to the last bit.
            for line in ledger["lines"]:
                self.assertEqual(line["contribution"], line["exact"])
            self.assertEqual(ledger["base"], ledger["parts"]["base"])
            for part in ("labels", "expected"):
                self.assertEqual(set(ledger["parts"][part]), {0})
            # b4 w_i residual_i, and nothing else.
            b4 = fade[row] * (u[row] @ np.array(fitted["coefficients"])[3])
            place = {line["row"]: line["contribution"] for line in ledger["lines"]}
            self.assertEqual(set(place), set(rows[row].tolist()))
            for i, neighbor in enumerate(rows[row].tolist()):
                np.testing.assert_allclose(place[neighbor], b4 * weights[row, i] * residuals[neighbor], atol=1e-6)
            total = np.array(ledger["base"]) + np.sum(list(place.values()), axis=0)
            np.testing.assert_allclose(total, ledger["score"], atol=1e-6)
            np.testing.assert_allclose(total + ledger["rounding"], ledger["score"], atol=1e-14)

    def test_regression(self):
        random = np.random.default_rng(6)

        def make(rows):
            x = random.normal(size=(rows, 3))
            base = np.stack([x[:, 0], x[:, 1]], axis=1) + 0.3 * random.normal(size=(rows, 2))
            # Where rows lie close together keys tell the errors, elsewhere not: the share depends on distances.
            missed = np.stack([np.sin(2 * x[:, 1]), np.cos(x[:, 2])], axis=1) + 0.2 * random.normal(size=(rows, 2))
            far = np.linalg.norm(x, axis=1) > 1.7
            missed[far] = random.normal(size=(far.sum(), 2))
            return {"keys": x.astype(np.float32), "logits": base.astype(np.float32),
                    "targets": (base + missed).astype(np.float32)}

        parts = {"r_train": make(700), "r_held": make(500), "r_test": make(200)}
        train, held, test = parts.values()
        test["keys"][17] += 40
        for name, rows in parts.items():
            np.savez(self.path / f"{name}.npz", keys=rows["keys"], predictions=rows["logits"], targets=rows["targets"])
        self.run_resmem("memorize", "--data", "r_train.npz", "--task", "regression", "-o", "r.resmem")
        found = json.loads(self.run_resmem("tune", "r.resmem", "--data", "r_held.npz", "--json",
                                           "--key-transform", "keep"))["blend"]
        self.assertTrue(found["adopted"], found["reason"])
        fitted, point = found["fitted"], found["fitted"]["parameters"]
        at = blend.RegressionParts(train, held, point["k"], point["sigma"])
        means, deviations = at.gates.mean(axis=0), at.gates.std(axis=0)
        np.testing.assert_allclose(fitted["gate_means"], means, atol=1e-5)
        np.testing.assert_allclose(fitted["gate_deviations"], deviations, atol=1e-5)
        np.testing.assert_allclose(fitted["distances"], blend.percentiles(at.distance), atol=1e-5)
        missed = held["targets"].astype(np.float64) - held["logits"]
        self.assertTrue(found["slopes"])
        for slopes in (True, False):
            shares = blend.fit_shrinkage(missed, at.residual, blend.terms(at.gates, means, deviations), slopes,
                                         found["ridge"])
            if slopes:
                np.testing.assert_allclose(np.array(fitted["coefficients"])[3], shares, atol=1e-5)
                own = shares
        self.assertTrue((np.array(fitted["coefficients"])[:3] == 0).all())
        self.assertGreater(np.abs(own - shares).max(), 1e-3)  # constants alone are another answer
        expected = blend.regression(blend.RegressionParts(train, test, point["k"], point["sigma"]),
                                    test["logits"].astype(np.float64), own, means, deviations, at)
        self.run_resmem("predict", "r.resmem", "--data", "r_test.npz", "--scores", "r.npy", "-o", "r.csv")
        scores = np.load(self.path / "r.npy")
        np.testing.assert_allclose(scores, expected, atol=1e-5, rtol=1e-5)
        np.testing.assert_array_equal(scores[17], test["logits"][17])  # far from everything: the base

    def test_sparse_memories(self):
        self.run_resmem("memorize", "--data", "train.npz", "-o", "sparse.resmem", "--form",
                        "sparse", "--top", 3, "--temperature", 1)
        self.expect_same("sparse.resmem", self.tune("sparse.resmem"), keep=3)

    def test_explanation_sums_to_the_log_score(self):
        self.run_resmem("memorize", "--data", "train.npz", "-o", "why.resmem")
        self.tune("why.resmem")
        ledger = json.loads(self.run_resmem("explain", "why.resmem", "--data", "test.npz", "--row",
                                            3, "--json"))["ledger"]
        score = np.array(ledger["score"])
        lines = np.array([line["contribution"] for line in ledger["lines"]])
        np.testing.assert_allclose(np.array(ledger["base"]) + lines.sum(axis=0) +
                                   ledger["rounding"], score, atol=1e-12)
        self.assertLess(np.abs(ledger["rounding"]).max(), 1e-4)
        np.testing.assert_allclose(sum(np.array(part) for part in ledger["parts"].values()), score,
                                   atol=1e-12)
        np.testing.assert_allclose(
            np.array([line["exact"] for line in ledger["lines"]]).sum(axis=0),
            ledger["parts"]["residual"], atol=1e-5)
        p = np.exp(blend.log_softmax(score[None, :]))[0]
        np.testing.assert_allclose(ledger["probability"], p, atol=1e-5)
        self.run_resmem("predict", "why.resmem", "--data", "test.npz", "--scores", "why.npy", "-o",
                        "why.csv")
        np.testing.assert_allclose(np.load(self.path / "why.npy")[3], ledger["probability"],
                                   atol=1e-7)


if __name__ == "__main__":
    RESMEM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
