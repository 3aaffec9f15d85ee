"""The method and its metrics in NumPy's float64, written from the paper's definitions alone.

Nothing here is shared with the library; it is what the library is checked against.
"""
import math
from fractions import Fraction

import numpy as np

PROBABILITY_FLOOR = 2.0 ** -23  # what a smaller probability of the label counts as in the NLL


def softmax(logits, temperature):
    z = logits.astype(np.float64) / temperature
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def residuals(logits, labels, temperature):
    r = -softmax(logits, temperature)
    r[np.arange(len(labels)), labels] += 1
    return r


def keep_largest(r, m):
    """Zeros all but the m entries of largest magnitude; the smaller class first among equals."""
    kept = np.zeros_like(r)
    for i, row in enumerate(r):
        order = np.argsort(-np.abs(row).astype(np.float32), kind="stable")[:m]
        kept[i, order] = row[order]
    return kept


def nearest(keys, queries, k, exclude=None):
    """Rows and plain L2 distances of the k nearest keys, equal distances by row number."""
    keys = keys.astype(np.float64)
    rows, distances = [], []
    for q, query in enumerate(queries.astype(np.float64)):
        d = np.sqrt(((keys - query) ** 2).sum(axis=1))
        if exclude is not None:
            d[exclude[q]] = np.inf
        order = np.argsort(d, kind="stable")[:k]
        rows.append(order)
        distances.append(d[order])
    return np.array(rows), np.array(distances)


def weights(distances, sigma):
    w = np.exp(-(distances - distances[:, :1]) / sigma)
    w[~np.isfinite(distances)] = 0
    return w


def correction(values, rows, distances, sigma):
    """The weighted mean of the neighbors' values: rows x outputs."""
    w = weights(distances, sigma)
    w /= w.sum(axis=1, keepdims=True)
    return np.einsum("qk,qkc->qc", w, values[rows])


def class_mean_scores(keys, labels, queries, classes):
    scores = np.full((len(queries), classes), -np.inf)
    for c in range(classes):
        if (labels == c).any():
            mean = keys[labels == c].astype(np.float64).mean(axis=0)
            scores[:, c] = -np.sqrt(((queries.astype(np.float64) - mean) ** 2).sum(axis=1))
    return scores


def answers(scores):
    """The argmax, and whether another class comes so close that rounding may decide."""
    ordered = np.sort(scores, axis=1)
    return scores.argmax(axis=1), ordered[:, -1] - ordered[:, -2] < 2e-6


# ---- statistics ------------------------------------------------------------------------------

Z = 1.959963984540054


def wilson(correct, total):
    p = correct / total
    center = (p + Z * Z / (2 * total)) / (1 + Z * Z / total)
    half = Z * math.sqrt(p * (1 - p) / total + Z * Z / (4 * total * total)) / (1 + Z * Z / total)
    return center - half, center + half


def newcombe(fixed, harmed, both_right, both_wrong):
    """Newcombe 1998, method 10, of the difference (fixed - harmed) / n."""
    n = fixed + harmed + both_right + both_wrong
    p1, p2 = (both_right + fixed) / n, (both_right + harmed) / n
    (l1, u1), (l2, u2) = wilson(both_right + fixed, n), wilson(both_right + harmed, n)
    margins = ((both_right + fixed) * (harmed + both_wrong) *
               (both_right + harmed) * (fixed + both_wrong))
    a = both_right * both_wrong - fixed * harmed
    phi = 0.0
    if margins > 0:
        phi = (max(a - n / 2, 0) if a > 0 else a) / math.sqrt(margins)
    low = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    high = math.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2)
    return p1 - p2 - low, p1 - p2 + high


def mcnemar(fixed, harmed):
    n = fixed + harmed
    tail = sum(math.comb(n, i) for i in range(min(fixed, harmed) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2 ** n)))


# ---- probabilities ---------------------------------------------------------------------------


def clip(scores):
    p = np.maximum(scores, 0)
    return p / p.sum(axis=1, keepdims=True)


def simplex(scores):
    """The nearest probability vector, its threshold found by bisection."""
    low, high = scores.min(axis=1) - 1, scores.max(axis=1)
    for _ in range(200):
        middle = (low + high) / 2
        above = np.maximum(scores - middle[:, None], 0).sum(axis=1) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return clip(scores - high[:, None])


def log_temperature(scores, temperature):
    p = np.maximum(scores, 1e-6) ** (1 / temperature)
    return p / p.sum(axis=1, keepdims=True)


def calibrated(name, temperature, scores):
    if name == "log-temperature":
        return log_temperature(scores, temperature)
    return {"clip": clip, "simplex": simplex}[name](scores)


def nll(p, labels):
    return -np.log(np.maximum(p[np.arange(len(labels)), labels], PROBABILITY_FLOOR)).mean()


def brier(p, labels):
    return ((p - np.eye(p.shape[1])[labels]) ** 2).sum(axis=1).mean()


def expected_calibration_error(p, labels, answer, bins=15):
    confidence = p[np.arange(len(labels)), answer]
    bin_of = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    error = 0
    for b in range(bins):
        inside = bin_of == b
        if inside.any():
            gap = (answer == labels)[inside].mean() - confidence[inside].mean()
            error += inside.mean() * abs(gap)
    return error


# ---- tuning ----------------------------------------------------------------------------------


def default_sigmas(tenth_distances):
    typical = np.sort(tenth_distances)[len(tenth_distances) // 2]
    return [float(f"{typical * 0.02 * 100 ** (i / 19):.3g}") for i in range(20)]


def grid_counts(train, validation, rows, distances, grid):
    """{(T, sigma, k): (fixed, harmed, undecided)} of every point."""
    counts = {}
    labels = validation["labels"]
    for t in grid["temperature"]:
        r = residuals(train["logits"], train["labels"], t)[rows]
        base = softmax(validation["logits"], t)
        base_answer, base_close = answers(base)
        for sigma in grid["sigma"]:
            w = weights(distances, sigma)
            total, summed, at = 0, np.zeros_like(base), 0
            for k in grid["k"]:
                stop = min(k, rows.shape[1])
                summed = summed + np.einsum("qk,qkc->qc", w[:, at:stop], r[:, at:stop])
                total = total + w[:, at:stop].sum(axis=1)
                at = stop
                answer, close = answers(base + summed / total[:, None])
                fixed = (base_answer != labels) & (answer == labels)
                harmed = (base_answer == labels) & (answer != labels)
                undecided = close | base_close
                counts[t, sigma, k] = (int(fixed.sum()), int(harmed.sum()), int(undecided.sum()))
    return counts


def choose(counts, rows, fpr_limit=None):
    """The point (T, sigma, k) that wins: largest gain, or largest TPR under a limit on FPR; among
    equals fewer harmed, smaller k, T nearest 1, larger sigma."""
    admitted = [point for point, (_, harmed, _) in counts.items()
                if fpr_limit is None or harmed / rows < fpr_limit]

    def rank(point):
        t, sigma, k = point
        fixed, harmed, _ = counts[point]
        merit = fixed - harmed if fpr_limit is None else fixed
        return (-merit, harmed, k, abs(math.log(np.float32(t))), -sigma)

    return min(admitted, key=rank) if admitted else None
