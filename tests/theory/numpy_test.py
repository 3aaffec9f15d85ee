"""The simulation against NumPy: the same draws by other algorithms, and fresh draws of NumPy's own.

usage: numpy_test.py PATH_OF_simulation_dump
"""
import json
import subprocess
import sys

import numpy as np

TARGETS = {
    "linear": lambda u: u,
    "sine": lambda u: np.sin(2 * u),
    "quadratic": lambda u: u * u - 1,
    "step": lambda u: np.where(u < 0, -1.0, 1.0),
}
problems = []


def check(what, found, expected, relative, absolute):
    if not abs(found - expected) <= relative * abs(expected) + absolute:
        problems.append(f"{what}: resmem {found!r}, NumPy {expected!r}")


def constrained_least_squares(x, y, bound):
    """By bisection on lambda with plain solves; the library uses Newton in an eigenbasis."""
    if bound == 0:
        return np.zeros(x.shape[1])
    theta = np.linalg.lstsq(x, y, rcond=None)[0]
    if np.linalg.norm(theta) <= bound:
        return theta
    gram, b = x.T @ x / len(x), x.T @ y / len(x)

    def solve(logarithm):
        return np.linalg.solve(gram + np.exp(logarithm) * np.eye(len(b)), b)

    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        if np.linalg.norm(solve(middle)) > bound:
            low = middle
        else:
            high = middle
    return solve(high)


def limit_slope(target, d, bound):
    """E u f(u) for the density (R^2 - u^2)^((d-1)/2), by the midpoint rule, then the ball."""
    radius = np.sqrt(d + 2)
    u = radius * ((np.arange(200_000) + 0.5) / 100_000 - 1)
    weight = (radius**2 - u**2) ** ((d - 1) / 2)
    return float(np.clip(np.sum(weight * u * TARGETS[target](u)) / np.sum(weight), -bound, bound))


def risks(x, tests, star, noise, setting, bound, slope):
    f = TARGETS[setting["target"]]
    y = f(x @ star) + setting["noise"] * noise
    theta = constrained_least_squares(x, y, bound)
    theta_limit = slope * star
    distance = np.sqrt(((tests[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))
    nearest = np.argsort(distance, axis=1, kind="stable")[:, : setting["k"]]
    near = np.take_along_axis(distance, nearest, axis=1)
    weights = np.ones_like(near)
    if setting["sigma"] > 0:
        weights = np.exp(-(near - near[:, :1]) / setting["sigma"])
    weights /= weights.sum(axis=1, keepdims=True)

    def mean(values):  # of a value at each training row, over each test point's neighbors
        return (weights * values[nearest]).sum(axis=1)

    truth = f(tests @ star)
    off = theta - theta_limit
    return {
        "base": np.mean((tests @ theta - truth) ** 2),
        "knn": np.mean((mean(y) - truth) ** 2),
        "resmem": np.mean((tests @ theta + mean(y - x @ theta) - truth) ** 2),
        "t1": np.mean((tests @ off) ** 2) + np.mean(mean(x @ off) ** 2),
        "t2": np.mean((truth - tests @ theta_limit - mean(f(x @ star) - x @ theta_limit)) ** 2),
        "noise_part": np.mean(mean(setting["noise"] * noise) ** 2),
        "z": np.mean(near[:, 0] ** 2),
    }


def check_draw(draw):
    d, n = draw["d"], draw["n"]
    x = np.array(draw["covariates"]).reshape(n, d)
    tests = np.array(draw["tests"]).reshape(-1, d)
    slopes = {}
    for case in draw["cases"]:
        setting, bound = case["setting"], case["bound"]
        key = (setting["target"], bound)
        if key not in slopes:
            slopes[key] = limit_slope(setting["target"], d, bound)
        expected = risks(x, tests, np.array(draw["direction"]), np.array(draw["noise"]), setting,
                         bound, slopes[key])
        # Soft weights use the search's float32 distances; the limit is the midpoint rule's.
        relative = 1e-9 if setting["sigma"] == 0 else 1e-5
        for name, value in expected.items():
            loose = name in ("t1", "t2") and setting["target"] != "linear"
            check(f"d {d}, n {n}, L {bound}, {setting}: {name}", case[name], value,
                  max(relative, 1e-6) if loose else relative, 1e-8 if loose else 1e-14)


def check_run(run):
    rng = np.random.default_rng(5)
    paper = {"k": 1, "sigma": 0, "noise": 0.0, "target": "linear"}

    def points(count):  # uniform in the disk of radius 2, by rejection from the square
        found = rng.uniform(-2, 2, (4 * count + 50, 2))
        return found[(found**2).sum(axis=1) <= 4][:count]

    draws = [risks(points(30), points(200), np.array([0.6, 0.8]), np.zeros(30), paper, 0.5, 0.5)
             for _ in range(400)]
    for name, (mean, error) in run.items():
        values = np.array([draw[name] for draw in draws])
        both = np.hypot(error, values.std(ddof=1) / np.sqrt(len(values)))
        check(f"400 draws of d 2, n 30, L 0.5: {name}", mean, values.mean(), 0, 4.5 * both)


def main():
    output = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
    document = json.loads(output)
    assert len(document["draws"]) == 16 and all(draw for draw in document["draws"])
    for draw in document["draws"]:
        check_draw(draw)
    check_run(document["run"])
    print("\n".join(problems[:20]) or "simulation and NumPy agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
