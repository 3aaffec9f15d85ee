"""resmem against NumPy: the same files, every number recomputed.

    numpy_test.py RESMEM      the path of the command

Scores, distances and metrics must agree to 1e-5, answers everywhere but where two classes tie.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import definitions as df

RESMEM = ""
K, SIGMA, T = 7, np.float32(0.9), np.float32(1.3)
CLASSES = 8


def make_rows(seed, rows, dim=5):
    """Overlapping clusters; the base half knows the pair of classes, less well which of the two."""
    centers = np.random.default_rng(1).normal(size=(CLASSES, dim)) * 1.5
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, rows)
    keys = (centers[labels] + random.normal(size=(rows, dim))).astype(np.float32)
    same_pair = (np.arange(CLASSES)[None, :] // 2 == labels[:, None] // 2) * 2.0
    logits = (same_pair + random.normal(size=(rows, CLASSES))).astype(np.float32)
    return {"keys": keys, "logits": logits, "labels": labels}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="resmem_numpy_")
        cls.path = pathlib.Path(cls.folder.name)
        cls.train, cls.test = make_rows(2, 400), make_rows(3, 250)
        # Copies of keys with other labels: ties that only the row number decides.
        cls.train["keys"][50:60] = cls.train["keys"][40:50]
        for name, rows in (("train", cls.train), ("test", cls.test)):
            np.savez(cls.path / f"{name}.npz", **rows)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_resmem(self, *arguments):
        done = subprocess.run([RESMEM, *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.path)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def run_json(self, *arguments):
        return json.loads(self.run_resmem(*arguments, "--json"))

    def memorize(self, name, *arguments):
        self.run_resmem("memorize", "--data", "train.npz", "-o", name, "--k", K, "--sigma", "0.9",
                        "--temperature", "1.3", *arguments)

    def scores(self, memory, *arguments):
        self.run_resmem("predict", memory, "--data", "test.npz", "-o", "lines.csv",
                        "--scores", "scores.npy", *arguments)
        return np.load(self.path / "scores.npy")

    def expect_scores(self, found, expected):
        self.assertEqual(found.dtype, np.float32)
        np.testing.assert_allclose(found, expected, atol=1e-5, rtol=0)
        answer, close = df.answers(expected)
        np.testing.assert_array_equal(found.argmax(axis=1)[~close], answer[~close])

    def expect_gain(self, found, base, other, labels):
        cells = {"fixed": int(((base != labels) & (other == labels)).sum()),
                 "harmed": int(((base == labels) & (other != labels)).sum()),
                 "both_right": int(((base == labels) & (other == labels)).sum()),
                 "both_wrong": int(((base != labels) & (other != labels)).sum())}
        for name, count in cells.items():
            self.assertEqual(found[name], count, name)
        n = len(labels)
        self.assertAlmostEqual(found["gain"], (cells["fixed"] - cells["harmed"]) / n, places=12)
        self.assertAlmostEqual(found["tpr"], cells["fixed"] / n, places=12)
        self.assertAlmostEqual(found["fpr"], cells["harmed"] / n, places=12)
        low, high = df.newcombe(**cells)
        self.assertAlmostEqual(found["low"], low, places=10)
        self.assertAlmostEqual(found["high"], high, places=10)
        p_value = df.mcnemar(cells["fixed"], cells["harmed"])
        self.assertAlmostEqual(found["p_value"], p_value, places=10)

    def expect_calibration(self, found, p, answer, labels):
        self.assertAlmostEqual(found["nll"], df.nll(p, labels), delta=1e-5)
        self.assertAlmostEqual(found["brier"], df.brier(p, labels), delta=1e-5)
        ece = df.expected_calibration_error(p, labels, answer)
        self.assertAlmostEqual(found["ece"], ece, delta=1e-5)


class Prediction(Case):
    def expected(self, keys, r, k=K, sigma=SIGMA, t=T):
        rows, distances = df.nearest(keys, self.test["keys"], k)
        return df.softmax(self.test["logits"], t) + df.correction(r, rows, distances, sigma)

    def test_scores_of_a_memory_of_logits(self):
        self.memorize("logits.resmem")
        for k, sigma, t in ((K, SIGMA, T), (1, np.float32(0.01), np.float32(0.5)),
                            (1000, np.float32(5), np.float32(3))):
            r = df.residuals(self.train["logits"], self.train["labels"], t)
            found = self.scores("logits.resmem", "--k", k, "--sigma", sigma, "--temperature", t)
            self.expect_scores(found, self.expected(self.train["keys"], r, k, sigma, t))

    def test_scores_of_frozen_memories(self):
        r = df.residuals(self.train["logits"], self.train["labels"], T)
        self.memorize("dense.resmem", "--form", "dense")
        self.expect_scores(self.scores("dense.resmem"), self.expected(self.train["keys"], r))
        self.memorize("sparse.resmem", "--form", "sparse", "--top", 3)
        kept = df.keep_largest(r, 3)
        self.expect_scores(self.scores("sparse.resmem"), self.expected(self.train["keys"], kept))

    def test_scores_with_keys_of_half_precision(self):
        self.memorize("half.resmem", "--key-type", "float16")
        keys = self.train["keys"].astype(np.float16).astype(np.float32)
        r = df.residuals(self.train["logits"], self.train["labels"], T)
        self.expect_scores(self.scores("half.resmem"), self.expected(keys, r))

    def test_neighbors_and_their_ledger(self):
        self.memorize("ledger.resmem")
        rows, distances = df.nearest(self.train["keys"], self.test["keys"], 60)
        w = df.weights(distances, SIGMA)
        w /= w.sum(axis=1, keepdims=True)
        r = df.residuals(self.train["logits"], self.train["labels"], T)
        for q in range(0, 250, 50):
            found = self.run_json("explain", "ledger.resmem", "--data", "test.npz", "--row", q,
                                  "--k", 60)
            lines = {name: [line[name] for line in found["ledger"]["lines"]]
                     for name in ("id", "distance", "weight", "contribution")}
            self.assertEqual(lines["id"], rows[q].tolist())
            np.testing.assert_allclose(lines["distance"], distances[q], rtol=1e-6)
            np.testing.assert_allclose(lines["weight"], w[q], atol=1e-6)
            np.testing.assert_allclose(lines["contribution"], w[q][:, None] * r[rows[q]], atol=1e-6)


class Evaluation(Case):
    def test_every_method_and_metric(self):
        self.memorize("eval.resmem")
        slices = np.where(np.arange(250) % 3 == 0, "north", "south")
        coarse = np.arange(CLASSES) // 2
        np.save(self.path / "slices.npy", slices)
        np.save(self.path / "coarse.npy", coarse)
        found = self.run_json("eval", "eval.resmem", "--data", "test.npz", "--slices", "slices.npy",
                              "--coarse", "coarse.npy", "--lambdas", "0,0.25,0.5,1")
        labels = self.test["labels"]
        rows, distances = df.nearest(self.train["keys"], self.test["keys"], K)
        onehot = np.eye(CLASSES)[self.train["labels"]]
        knn = df.correction(onehot, rows, distances, SIGMA)
        base = df.softmax(self.test["logits"], T)
        own = df.softmax(self.test["logits"], 1)
        r = df.residuals(self.train["logits"], self.train["labels"], T)
        resmem = base + df.correction(r, rows, distances, SIGMA)
        means = df.class_mean_scores(self.train["keys"], self.train["labels"], self.test["keys"],
                                     CLASSES)
        expected = [("base", None, base), ("nearest-class-mean", None, means), ("knn", None, knn)]
        expected += [("knn-lm", x, (1 - x) * own + x * knn) for x in (0, 0.25, 0.5, 1)]
        expected += [("resmem", None, resmem)]
        base_answer = df.answers(base)[0]
        self.assertEqual([(m["method"], m.get("lambda")) for m in found["methods"]],
                         [e[:2] for e in expected])
        for line, (name, _, scores) in zip(found["methods"], expected):
            answer, close = df.answers(scores)
            self.assertFalse(close.any(), f"{name}: choose a seed without ties")
            correct = int((answer == labels).sum())
            self.assertEqual(line["accuracy"]["correct"], correct, name)
            low, high = df.wilson(correct, len(labels))
            self.assertAlmostEqual(line["accuracy"]["low"], low, places=10)
            self.assertAlmostEqual(line["accuracy"]["high"], high, places=10)
            self.expect_gain(line["against_base"], base_answer, answer, labels)
        answer = df.answers(resmem)[0]
        self.expect_gain(found["gain"], base_answer, answer, labels)
        self.expect_calibration(found["calibration"]["base"], own, base_answer, labels)
        self.expect_calibration(found["calibration"]["resmem"], df.clip(resmem), answer, labels)
        mass = np.abs(r).sum(axis=1).mean() / 2
        self.assertAlmostEqual(found["mean_residual_mass"], mass, delta=1e-5)
        for group in found["slices"]:
            inside = slices == group["name"]
            self.assertEqual(group["total"], inside.sum())
            self.assertEqual(group["resmem_correct"], (answer == labels)[inside].sum())
            harmed = (base_answer == labels) & (answer != labels)
            self.assertEqual(group["harmed"], harmed[inside].sum())
        for c, group in enumerate(found["classes"]):
            self.assertEqual(group["base_correct"], (base_answer == labels)[labels == c].sum())
        wrong = base_answer != labels
        same = coarse[base_answer] == coarse[labels]
        fixed = wrong & (answer == labels)
        self.assertEqual(found["coarse"],
                         {"base_errors": wrong.sum(),
                          "base_errors_same_coarse": (wrong & same).sum(),
                          "fixed": fixed.sum(), "fixed_same_coarse": (fixed & same).sum()})

    def test_leave_one_out(self):
        self.memorize("loo.resmem")
        found = self.run_json("eval", "loo.resmem", "--leave-one-out")
        keys = self.train["keys"]
        rows, distances = df.nearest(keys, keys, K, exclude=np.arange(400))
        base = df.softmax(self.train["logits"], T)
        r = df.residuals(self.train["logits"], self.train["labels"], T)
        answer, close = df.answers(base + df.correction(r, rows, distances, SIGMA))
        self.assertFalse(close.any(), "choose a seed without ties")
        self.expect_gain(found["gain"], df.answers(base)[0], answer, self.train["labels"])
        self.assertEqual(found["rows_at_distance_zero"], (distances[:, 0] == 0).sum())

    def test_regression(self):
        random = np.random.default_rng(5)
        arrays = {}
        for name, count in (("train", 300), ("test", 120)):
            x = random.normal(size=(count, 2)).astype(np.float32)
            y = np.stack([np.sin(3 * x[:, 0]) + x[:, 1], x[:, 0] * x[:, 1]], axis=1)
            y = y.astype(np.float32)
            f = np.stack([x[:, 1], np.zeros(count)], axis=1).astype(np.float32)
            arrays[name] = x, f, y
            np.savez(self.path / f"curve_{name}.npz", keys=x, predictions=f, targets=y)
        self.run_resmem("memorize", "--task", "regression", "--data", "curve_train.npz",
                        "-o", "curve.resmem", "--k", 5, "--sigma", "0.3")
        found = self.run_json("eval", "curve.resmem", "--data", "curve_test.npz")["regression"]
        (x, f, y), (qx, qf, qy) = arrays["train"], arrays["test"]
        rows, distances = df.nearest(x, qx, 5)
        y64, f64 = qy.astype(np.float64), qf.astype(np.float64)
        resmem = f64 + df.correction(y.astype(np.float64) - f, rows, distances, np.float32(0.3))
        knn = df.correction(y.astype(np.float64), rows, distances, np.float32(0.3))
        spread = ((y64 - y64.mean(axis=0)) ** 2).mean()
        for name, prediction in (("base", f64), ("knn", knn), ("resmem", resmem)):
            mse = ((prediction - y64) ** 2).mean()
            self.assertAlmostEqual(found[f"{name}_mse"], mse, delta=1e-5)
            self.assertAlmostEqual(found[f"{name}_r2"], 1 - mse / spread, delta=1e-5)
        reduction = ((f64 - y64) ** 2).mean(axis=1) - ((resmem - y64) ** 2).mean(axis=1)
        half = 1.9800999 * reduction.std(ddof=1) / np.sqrt(120)  # Student's quantile at 119
        self.assertAlmostEqual(found["low"], reduction.mean() - half, delta=1e-5)
        self.assertAlmostEqual(found["high"], reduction.mean() + half, delta=1e-5)


class Tuning(Case):
    def expect_points(self, found, counts):
        grid = found["grid"]
        points = [(t, s, k) for t in grid["temperature"] for s in grid["sigma"] for k in grid["k"]]
        self.assertEqual(len(points), len(found["points"]["fixed"]))
        for point, fixed, harmed in zip(points, found["points"]["fixed"],
                                        found["points"]["harmed"]):
            expected_fixed, expected_harmed, undecided = counts[point]
            self.assertLessEqual(abs(fixed - expected_fixed), undecided, point)
            self.assertLessEqual(abs(harmed - expected_harmed), undecided, point)

    def test_every_point_and_the_choice(self):
        self.memorize("tune.resmem")
        found = self.run_json("tune", "tune.resmem", "--data", "test.npz", "--folds", 5)
        rows, distances = df.nearest(self.train["keys"], self.test["keys"], 400)
        self.assertEqual(found["grid"]["k"][-1], 400)
        sigmas = df.default_sigmas(distances[:, 9])
        np.testing.assert_allclose(found["grid"]["sigma"], sigmas, rtol=2e-3)
        counts = df.grid_counts(self.train, self.test, rows, distances, found["grid"])
        self.expect_points(found, counts)
        t, sigma, k = df.choose(counts, len(self.test["labels"]))
        self.assertEqual(found["chosen"], {"k": k, "sigma": sigma, "temperature": t})
        self.assertEqual(found["chosen_gain"]["fixed"], counts[t, sigma, k][0])
        self.assertEqual(found["cross_validated_gain"]["total"], len(self.test["labels"]))
        self.expect_calibrator(found, rows[:, :k], distances[:, :k], sigma, t)
        # The choice is in the memory: an evaluation without options counts the same.
        evaluation = self.run_json("eval", "tune.resmem", "--data", "test.npz", "--method",
                                   "resmem")
        self.assertEqual(evaluation["gain"], found["chosen_gain"])
        self.assertAlmostEqual(evaluation["calibration"]["resmem"]["nll"],
                               found["calibrated_nll"], places=10)

    def expect_calibrator(self, found, rows, distances, sigma, t):
        r = df.residuals(self.train["logits"], self.train["labels"], t)
        scores = df.softmax(self.test["logits"], t) + df.correction(r, rows, distances, sigma)
        candidates = [("clip", 1.0), ("simplex", 1.0)]
        candidates += [("log-temperature", 2 ** (step / 5)) for step in range(-10, 11)]
        losses = {candidate: df.nll(df.calibrated(*candidate, scores), self.test["labels"])
                  for candidate in candidates}
        (name, temperature), loss = min(losses.items(), key=lambda item: item[1])
        self.assertEqual(found["calibrator"], name)
        self.assertAlmostEqual(found["calibrator_temperature"], temperature, places=5)
        self.assertAlmostEqual(found["calibrated_nll"], loss, delta=1e-5)

    def test_the_careful_rule(self):
        self.memorize("careful.resmem")
        rows, distances = df.nearest(self.train["keys"], self.test["keys"], 60)
        for limit in (0.03, 0.1, 0.00001):
            found = self.run_json("tune", "careful.resmem", "--data", "test.npz",
                                  "--objective", "tpr-under-fpr", "--fpr-limit", limit,
                                  "--grid-k", "3,10,60", "--grid-sigma", "0.2,1,3",
                                  "--grid-temperature", "0.5,1,2")
            counts = df.grid_counts(self.train, self.test, rows, distances, found["grid"])
            self.expect_points(found, counts)
            point = df.choose(counts, len(self.test["labels"]), fpr_limit=limit)
            if point is None:
                self.assertEqual(found["chosen"]["k"], 0)
            else:
                t, sigma, k = point
                self.assertEqual(found["chosen"], {"k": k, "sigma": sigma, "temperature": t})

    def test_equal_points_prefer_the_smaller_k(self):
        self.memorize("equal.resmem")
        found = self.run_json("tune", "equal.resmem", "--data", "test.npz", "--grid-k", "900,400",
                              "--grid-sigma", "0.5", "--grid-temperature", "1")
        self.assertEqual(found["points"]["fixed"][0], found["points"]["fixed"][1])
        self.assertEqual(found["chosen"]["k"], 400)  # all rows; 900 would be the same


if __name__ == "__main__":
    RESMEM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
