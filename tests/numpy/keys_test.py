"""Memories with keys of unit length or whitened, against NumPy on keys that NumPy transformed: equal to 1e-5.

    keys_test.py RESMEM      the path of the command
"""
import json
import pathlib
import sys
import unittest

import numpy as np

import blend_test
import definitions as df


def whitening(keys, labels):
    """L^-1, with L L^T the covariance within classes, shrunk by a tenth towards its mean diagonal."""
    centered = keys.astype(np.float64)
    for label in np.unique(labels):
        centered[labels == label] -= centered[labels == label].mean(axis=0)
    covariance = centered.T @ centered / len(keys)
    mean = np.trace(covariance) / len(covariance)
    return np.linalg.inv(np.linalg.cholesky(0.9 * covariance + 0.1 * mean * np.eye(len(covariance))))


def transform(name, train, rows):
    keys = rows["keys"].astype(np.float64)
    if name == "unit":
        lengths = np.linalg.norm(keys, axis=1, keepdims=True)
        keys = keys / np.where(lengths > 0, lengths, 1)
    elif name == "whiten":
        keys = keys @ whitening(train["keys"], train["labels"]).T
    return {**rows, "keys": keys}


class KeysTest(blend_test.BlendTest):
    """Files hold keys as they are; self.train and so on have what NumPy made of them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.given = {}
        # What tells classes apart lies in three of the five dimensions.
        for name in ("train", "held", "test"):
            rows = getattr(cls, name)
            random = np.random.default_rng(len(rows["keys"]))
            rows["keys"][:, 3:] += 30 * random.normal(size=(len(rows["keys"]), 2))
            rows["keys"] = rows["keys"].astype(np.float32)
            if name == "test":
                rows["keys"][17] += 40
            np.savez(cls.path / f"{name}.npz", **rows)
            cls.given[name] = rows

    def use(self, name):
        for part, rows in self.given.items():
            setattr(self, part, transform(name, self.given["train"], rows))

    def scores(self, memory, *arguments):
        self.run_resmem("predict", memory, "--data", "test.npz", "--scores", "s.npy", "-o", "s.csv",
                        *arguments)
        return np.load(self.path / "s.npy")

    def test_resmem_of_transformed_keys(self):
        for name in ("unit", "whiten"):
            with self.subTest(name):
                self.use(name)
                self.run_resmem("memorize", "--data", "train.npz", "--key-transform", name, "--k", 20,
                                "--sigma", 0.3, "--temperature", 1.4, "-o", f"{name}.resmem")
                rows, distances = df.nearest(self.train["keys"], self.test["keys"], 20)
                residuals = df.residuals(self.train["logits"], self.train["labels"], 1.4)
                expected = df.softmax(self.test["logits"], 1.4) + \
                    df.correction(residuals, rows, distances, 0.3)
                np.testing.assert_allclose(self.scores(f"{name}.resmem"), expected, atol=1e-5, rtol=0)

    def test_blend_of_transformed_keys(self):
        for name in ("unit", "whiten"):
            with self.subTest(name):
                self.use(name)
                self.run_resmem("memorize", "--data", "train.npz", "--key-transform", name, "-o",
                                f"{name}_blend.resmem")
                self.expect_same(f"{name}_blend.resmem", self.tune(f"{name}_blend.resmem"))

    def test_tune_whitens_a_memory_and_undo_is_exact(self):
        self.run_resmem("memorize", "--data", "train.npz", "-o", "auto.resmem")
        before = self.scores("auto.resmem")
        document = json.loads(self.run_resmem("tune", "auto.resmem", "--data", "held.npz", "--json"))
        self.assertEqual(document["keys"]["chosen"], "whiten", document["keys"])
        self.assertGreater(document["keys"]["low"], 0)
        self.use("whiten")
        self.expect_same("auto.resmem", document["blend"])
        self.run_resmem("tune", "auto.resmem", "--undo")
        np.testing.assert_array_equal(self.scores("auto.resmem"), before)

    # Those of the class above need no second run.
    test_fit_and_scores_are_numpys = test_logit_boosting = test_sparse_memories = None
    test_explanation_sums_to_the_log_score = None


if __name__ == "__main__":
    blend_test.RESMEM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
