"""Arrays that a memory can help with, for the tests in this folder."""
import numpy as np


def clusters(rows, dim=8, classes=4, seed=0):
    """Keys in clusters; logits of a base that knows the pair of classes, not which of the two."""
    centers = 2 * np.random.default_rng(1).standard_normal((classes, dim))
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    keys = (centers[labels] + rng.standard_normal((rows, dim))).astype(np.float32)
    logits = rng.standard_normal((rows, classes)).astype(np.float32)
    logits[np.arange(classes)[None, :] // 2 == labels[:, None] // 2] += 2
    return keys, logits, labels
