"""The blended answer in NumPy's float64, written from docs/predictor.md alone.

Nothing here is shared with the library; it is what the library is checked against.
"""
import numpy as np

import definitions as df

FADE = (95, 99)  # percentiles of distances
FADE_ALONE = (90, 99)  # where there are no spreads
SPREAD_FADE = (5, 0)  # downward
CONSTANT_RIDGE = 1e-5
PRIOR_ROWS = 0.05  # divided by the rows, is a ridge, too


def log_softmax(z):
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def fit_base_temperature(logits, labels):
    """T0: the base's likelihood over 1 / T, by golden section (it is convex)."""
    f = logits.astype(np.float64)
    rows = np.arange(len(labels))
    loss = lambda inverse: (-log_softmax(f * inverse)[rows, labels].mean() +
                            PRIOR_ROWS / len(labels) * (inverse - 1) ** 2)
    low, high = 0.05, 20.0
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(100):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if loss(a) < loss(b):
            high = b
        else:
            low = a
    return 2 / (low + high)


class Parts:
    """What the coefficients multiply, and the gates, of some queries at one point of the grid."""

    def __init__(self, train, queries, k, sigma, temperature, prior, base_temperature, keep=None):
        rows, d = df.nearest(train["keys"], queries["keys"], k)
        d = d.astype(np.float32).astype(np.float64)
        w = df.weights(d, sigma)
        w /= w.sum(axis=1, keepdims=True)
        classes = queries["logits"].shape[1]
        r = df.residuals(train["logits"], train["labels"], temperature)
        if keep is not None:
            r = df.keep_largest(r, keep)
        a = np.einsum("qk,qkc->qc", w, np.eye(classes)[train["labels"]][rows])
        residual = np.einsum("qk,qkc->qc", w, r[rows])
        b = np.maximum(a - residual, 0)
        f = queries["logits"].astype(np.float64)
        p0 = df.softmax(queries["logits"], base_temperature)
        self.phi = np.stack([log_softmax(f), np.log(a + prior * p0), np.log(b + prior * p0),
                             residual], axis=1)  # rows x parts x classes
        d = np.maximum(d, 1e-3 * sigma)
        self.gates = np.stack([np.log(d[:, 0]), np.log(d[:, -1]), -np.log((w ** 2).sum(axis=1))],
                              axis=1)
        self.distance = d[:, min(10, k) - 1]
        self.spread = f.std(axis=1)


def terms(gates, means, deviations):
    """1 and the scaled gates."""
    scaled = np.clip((gates - means) / deviations, -3, 3)
    return np.concatenate([np.ones((len(gates), 1)), scaled], axis=1)


def mean_nll(phi, labels, u, theta):
    eta = np.einsum("qj,qjc->qc", u @ theta.T, phi)
    return -log_softmax(eta)[np.arange(len(labels)), labels].mean()


def fit(phi, labels, u, base_temperature, parts=(0, 1, 2, 3), slopes=False, ridge=0.0):
    """Newton's method from zero with step halving.  Returns theta, parts x terms."""
    theta = np.zeros((4, 4))
    theta[0, 0] = 1
    free = [(j, m) for j in parts for m in (range(4) if slopes else (0,))]
    constant_ridge = CONSTANT_RIDGE + PRIOR_ROWS / len(labels)
    penalty = np.array([constant_ridge if m == 0 else ridge for _, m in free])
    center = np.array([1 / base_temperature if i == (0, 0) else 0.0 for i in free])
    rows = np.arange(len(labels))

    def loss(t):
        return mean_nll(phi, labels, u, t) + sum(
            p * (t[i] - c) ** 2 for p, c, i in zip(penalty, center, free))

    for _ in range(60):
        eta = np.einsum("qj,qjc->qc", u @ theta.T, phi)
        p = np.exp(log_softmax(eta))
        mean = np.einsum("qc,qjc->qj", p, phi)
        slope = mean - phi[rows, :, labels]
        cov = np.einsum("qc,qjc,qlc->qjl", p, phi, phi) - np.einsum("qj,ql->qjl", mean, mean)
        g = np.array([(slope[:, j] * u[:, m]).mean() for j, m in free])
        h = np.array([[(cov[:, j, l] * u[:, m] * u[:, n]).mean() for l, n in free]
                      for j, m in free])
        g += 2 * penalty * (np.array([theta[i] for i in free]) - center)
        h += np.diag(2 * penalty + 1e-12)
        step = np.linalg.solve(h, g)
        if g @ step < 1e-14:
            break
        share = 1.0
        while share > 1e-8:
            moved = theta.copy()
            for value, i in zip(step, free):
                moved[i] -= share * value
            if loss(moved) <= loss(theta):
                break
            share /= 2
        theta = moved
    return theta


def percentiles(values):
    ordered = np.sort(values)
    return np.array([ordered[(len(ordered) - 1) * p // 100] for p in range(101)])


def ramp(values, fitted, fade):
    low, high = (percentiles(fitted)[at] for at in fade)
    return np.clip((high - values) / (high - low), 0, 1)


def guard(parts, fitted):
    return (ramp(parts.distance, fitted.distance, FADE) *
            ramp(parts.spread, fitted.spread, SPREAD_FADE))


def probabilities(parts, theta, means, deviations, fitted, base_temperature):
    """Fading to the base where distance or spread is beyond that of the fitted rows."""
    fade = guard(parts, fitted)
    b = (terms(parts.gates, means, deviations) @ theta.T) * fade[:, None]
    b[:, 0] += (1 - fade) / base_temperature
    return np.exp(log_softmax(np.einsum("qj,qjc->qc", b, parts.phi)))


class RegressionParts:
    """The neighbors' mean error of the base for some queries, and the gates."""

    def __init__(self, train, queries, k, sigma):
        rows, d = df.nearest(train["keys"], queries["keys"], k)
        d = d.astype(np.float32).astype(np.float64)
        w = df.weights(d, sigma)
        w /= w.sum(axis=1, keepdims=True)
        missed = train["targets"].astype(np.float64) - train["logits"]
        self.residual = np.einsum("qk,qko->qo", w, missed[rows])
        d = np.maximum(d, 1e-3 * sigma)
        self.gates = np.stack([np.log(d[:, 0]), np.log(d[:, -1]), -np.log((w ** 2).sum(axis=1))],
                              axis=1)
        self.distance = d[:, min(10, k) - 1]


def fit_shrinkage(missed, residual, u, slopes=False, ridge=0.0):
    """Least squares of `missed` by (u . shares) residual; a ridge, in the residuals' unit, on the slopes."""
    u = u if slopes else u[:, :1]
    rows = (u[:, None, :] * residual[:, :, None]).reshape(-1, u.shape[1])  # each output is a row
    normal = rows.T @ rows
    normal[np.arange(1, len(normal)), np.arange(1, len(normal))] += ridge * normal[0, 0]
    shares = np.zeros(4)
    shares[:u.shape[1]] = np.linalg.solve(normal, rows.T @ missed.reshape(-1))
    return shares


def regression(parts, base, shares, means, deviations, fitted):
    """Fading to the base by distance."""
    share = (terms(parts.gates, means, deviations) @ shares) * ramp(parts.distance, fitted.distance, FADE_ALONE)
    return base + share[:, None] * parts.residual
