"""The figures of 'resmem privacy' against NumPy: every AUC from the pairs of its definition, DeLong's intervals
from the matrix of all pairs, thresholds by trying each, answers from the paper's definitions.

    privacy_test.py RESMEM      the path of the command
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import definitions as df

RESMEM = None
K, SIGMA, TEMPERATURE = 7, 0.8, 1.3
Z = df.Z


def draw(random, centers, rows):
    labels = random.integers(0, len(centers), rows).astype(np.int32)
    keys = (centers[labels] + random.standard_normal((rows, centers.shape[1]))).astype(np.float32)
    logits = random.standard_normal((rows, len(centers))).astype(np.float32)
    logits[np.arange(rows), labels // 2 * 2] += 1.5
    return {"keys": keys, "logits": logits, "labels": labels}


def wins(members, held_out):
    """1 where the member's value is larger, half where they are equal: members x held-out rows."""
    return (members[:, None] > held_out[None, :]) + 0.5 * (members[:, None] == held_out[None, :])


def delong(table):
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    half = Z * np.sqrt(rows.var(ddof=1) / len(rows) + columns.var(ddof=1) / len(columns))
    return table.mean() - half, table.mean() + half


def tpr_at(members, held_out, share):
    best = 0.0
    for threshold in np.concatenate([held_out, [-np.inf]]):
        if (held_out > threshold).sum() <= share * len(held_out):
            best = max(best, (members > threshold).mean())
    return best


class PrivacyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="resmem_privacy_")
        cls.addClassCleanup(cls.folder.cleanup)
        path = pathlib.Path(cls.folder.name)
        random = np.random.default_rng(4)
        centers = 1.5 * random.standard_normal((6, 5))
        cls.train, cls.held = draw(random, centers, 260), draw(random, centers, 330)
        np.savez(path / "train.npz", **cls.train)
        np.savez(path / "held.npz", **cls.held)
        cls.run_resmem(path, "memorize", "--data", "train.npz", "--k", K, "--sigma", SIGMA,
                       "--temperature", TEMPERATURE, "-o", "m.resmem", "--quiet")
        cls.document = json.loads(cls.run_resmem(path, "privacy", "m.resmem", "--data", "held.npz", "--json",
                                                 "--quiet"))
        cls.tests = {(test["method"], test["clue"]): test for test in cls.document["membership"]}

    @staticmethod
    def run_resmem(path, *words):
        run = subprocess.run([str(RESMEM), *map(str, words)], cwd=path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def probabilities(self, rows, exclude=None):
        near, distances = df.nearest(self.train["keys"], rows["keys"], K, exclude)
        residuals = df.residuals(self.train["logits"], self.train["labels"], TEMPERATURE)
        scores = df.softmax(rows["logits"], TEMPERATURE) + df.correction(residuals, near, distances, SIGMA)
        return scores, df.clip(scores), distances[:, 0]

    def clues(self, rows, exclude=None):
        label = (np.arange(len(rows["labels"])), rows["labels"])
        base = df.softmax(rows["logits"], 1.0)
        _, answer, distance = self.probabilities(rows, exclude)
        loss = np.log(np.maximum(answer[label], df.PROBABILITY_FLOOR))
        return {("base", "loss"): np.log(base[label]), ("base", "confidence"): base.max(axis=1),
                ("resmem", "loss"): loss, ("resmem", "confidence"): answer.max(axis=1),
                ("resmem", "gain"): loss - np.log(base[label]), ("resmem", "distance"): -distance}

    def check(self, figures, members, held_out):
        table = wins(members, held_out)
        # A pair that float32 rounding may order otherwise is one of 85,800.
        self.assertAlmostEqual(figures["auc"], table.mean(), delta=2e-4)
        low, high = delong(table)
        self.assertAlmostEqual(figures["low"], max(low, 0), delta=5e-4)
        self.assertAlmostEqual(figures["high"], min(high, 1), delta=5e-4)
        for name, share in (("tpr_at_1_percent", 0.01), ("tpr_at_0_1_percent", 0.001)):
            self.assertAlmostEqual(figures[name], tpr_at(members, held_out, share), delta=1.5 / 260)

    def test_every_separation_is_that_of_the_definition(self):
        inside, held = self.clues(self.train), self.clues(self.held)
        left_out = self.clues(self.train, exclude=np.arange(260))
        self.assertEqual(set(self.tests), set(held))
        for name, test in self.tests.items():
            with self.subTest(name):
                self.check(test["inside"], inside[name], held[name])
                self.check(test["left_out"], left_out[name], held[name])
        self.assertGreater(self.tests["resmem", "gain"]["inside"]["auc"], 0.55)

    def test_what_is_more_than_the_bases_is_paired(self):
        inside, held = self.clues(self.train), self.clues(self.held)
        for name, test in self.tests.items():
            of_base = ("base", "confidence" if name[1] == "confidence" else "loss")
            difference = wins(inside[name], held[name]) - wins(inside[of_base], held[of_base])
            low, high = delong(difference)
            self.assertAlmostEqual(test["more"], difference.mean(), delta=3e-4)
            self.assertAlmostEqual(test["more_low"], low, delta=1e-3)
            self.assertAlmostEqual(test["more_high"], high, delta=1e-3)

    def test_labels_recovered_are_counted(self):
        labels = {entry["method"]: entry for entry in self.document["labels"]}
        wrong = self.train["logits"].argmax(axis=1) != self.train["labels"]
        for exclude, suffix in ((None, ""), (np.arange(260), "_left_out")):
            scores, _, _ = self.probabilities(self.train, exclude)
            right = scores.argmax(axis=1) == self.train["labels"]
            self.assertAlmostEqual(labels["resmem"]["recovered" + suffix], right.sum(), delta=1)
            self.assertAlmostEqual(labels["resmem"]["base_wrong_recovered" + suffix], (right & wrong).sum(), delta=1)
        self.assertEqual(labels["resmem"]["base_wrong"], wrong.sum())
        self.assertEqual(labels["base"]["recovered"], (~wrong).sum())

    def test_the_first_point_of_the_sweep_is_the_memory_itself(self):
        point = self.document["sweep"][0]
        self.assertEqual(point["gain"], self.tests["resmem", "gain"]["inside"])
        near, distances = df.nearest(self.train["keys"], self.train["keys"], K)
        weights = df.weights(distances, SIGMA)
        own = (weights * (near == np.arange(260)[:, None])).sum(axis=1) / weights.sum(axis=1)
        self.assertAlmostEqual(point["own_weight"], own.mean(), delta=1e-5)


if __name__ == "__main__":
    RESMEM = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
