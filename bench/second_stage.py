"""Would a second stage be worth a vector a row?  Blend against blend + leave-one-out boosting.

    second_stage.py RESMEM WORK CASE...

CASE: a folder with train, validation and test .npz (keys, logits, labels); or linear:SEED or
mlp:SEED, trained here on Fashion-MNIST with scikit-learn (keys: pixels, or the hidden layer).
The blend is the program's own (resmem tune).  The second stage adds to eta, in rounds,

    gamma sum_i w_i (onehot(y_i) - softmax(eta at row i, leave-one-out))

over 200 neighbors with sigma = the median distance to the tenth, gamma by line search on the
validation rows times 0.8, until a round gains less than 1e-4 there; at most 4.  Prints Markdown.
"""
import gzip
import json
import pathlib
import subprocess
import sys

import numpy as np

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
WIDE, ROUNDS, SHRINK, LEAST = 200, 4, 0.8, 1e-4


def log_softmax(z):
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def fashion(part):
    read = lambda name, skip: np.frombuffer(gzip.open(DATA / name).read(), np.uint8, offset=skip)
    x = read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32) / 255
    return x, read(f"{part}-labels-idx1-ubyte.gz", 8).astype(np.int32)


def make(kind, seed, folder):
    """A base that has seen 20,000 images; 5,000 others validate."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.neural_network import MLPClassifier
    x, y = fashion("train")
    order = np.random.default_rng(seed).permutation(len(x))
    parts = {"train": order[:20000], "validation": order[20000:25000]}
    if kind == "linear":
        base = SGDClassifier(loss="log_loss", alpha=1e-4, max_iter=12, tol=None, random_state=seed)
        base.fit(x[parts["train"]], y[parts["train"]])
        outputs = lambda z: (z, base.decision_function(z))
    else:
        base = MLPClassifier((64,), max_iter=8, batch_size=128, random_state=seed)
        base.fit(x[parts["train"]], y[parts["train"]])

        def outputs(z):
            hidden = np.maximum(z @ base.coefs_[0] + base.intercepts_[0], 0)
            return hidden, hidden @ base.coefs_[1] + base.intercepts_[1]
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: (x[rows], y[rows]) for name, rows in parts.items()}
    for name, (inputs, labels) in {**arrays, "test": fashion("t10k")}.items():
        keys, logits = outputs(inputs)
        np.savez(folder / f"{name}.npz", keys=keys.astype(np.float32),
                 logits=logits.astype(np.float32), labels=labels)


class Case:
    def __init__(self, resmem, folder):
        self.folder = folder
        run = lambda *words: subprocess.run([resmem, *map(str, words), "--quiet"], check=True,
                                            capture_output=True, text=True).stdout
        memory = folder / "memory.resmem"
        run("memorize", "--data", folder / "train.npz", "-o", memory, "--overwrite")
        self.tuning = json.loads(run("tune", memory, "--data", folder / "validation.npz",
                                     "--json"))["blend"]
        self.blend = self.tuning["fitted"]
        k = max(WIDE, self.blend["parameters"]["k"])
        self.rows = {}
        for name in ("train", "validation", "test"):
            queries = ["--leave-one-out"] if name == "train" else ["--data", folder / f"{name}.npz"]
            run("neighbors", memory, *queries, "--k", k, "-o", folder / f"{name}_neighbors.npz")
            self.rows[name] = dict(np.load(folder / f"{name}.npz"))
            with np.load(folder / f"{name}_neighbors.npz") as found:
                self.rows[name].update({part: found[part] for part in ("rows", "distances")})
        self.classes = self.rows["train"]["logits"].shape[1]

    def eta(self, name):
        b, rows, train = self.blend, self.rows[name], self.rows["train"]
        k, sigma, temperature = (b["parameters"][n] for n in ("k", "sigma", "temperature"))
        at, d = rows["rows"][:, :k], rows["distances"][:, :k].astype(np.float64)
        w = np.exp(-(d - d[:, :1]) / sigma)
        w /= w.sum(axis=1, keepdims=True)
        f = rows["logits"].astype(np.float64)
        said = np.exp(log_softmax(train["logits"].astype(np.float64) / temperature))
        labels, expected = np.zeros_like(f), np.zeros_like(f)
        for j in range(k):
            labels[np.arange(len(f)), train["labels"][at[:, j]]] += w[:, j]
            expected += w[:, j:j + 1] * said[at[:, j]]
        p0 = np.exp(log_softmax(f / b["base_temperature"]))
        d = np.maximum(d, 1e-3 * sigma)
        u = np.stack([np.log(d[:, 0]), np.log(d[:, -1]), -np.log((w ** 2).sum(axis=1))], axis=1)
        u = np.clip((u - b["gate_means"]) / b["gate_deviations"], -3, 3)
        coefficients = np.array(b["coefficients"])
        c = coefficients[:, 0] + u @ coefficients[:, 1:].T
        return (c[:, :1] * log_softmax(f) + c[:, 1:2] * np.log(labels + b["prior"] * p0) +
                c[:, 2:3] * np.log(expected + b["prior"] * p0) + c[:, 3:] * (labels - expected))

    def smooth(self, name, vectors, sigma):
        rows = self.rows[name]
        d = rows["distances"][:, :WIDE].astype(np.float64)
        w = np.exp(-(d - d[:, :1]) / sigma)
        w /= w.sum(axis=1, keepdims=True)
        return sum(w[:, j:j + 1] * vectors[rows["rows"][:, j]] for j in range(WIDE))

    def losses(self, eta, name):
        y = self.rows[name]["labels"]
        return -log_softmax(eta)[np.arange(len(y)), y]

    def second_stage(self):
        sigma = np.median(self.rows["validation"]["distances"][:, 9])
        eta = {name: self.eta(name) for name in self.rows}
        onehot, gammas = np.eye(self.classes)[self.rows["train"]["labels"]], []
        for _ in range(ROUNDS):
            vectors = onehot - np.exp(log_softmax(eta["train"]))
            added = {name: self.smooth(name, vectors, sigma) for name in self.rows}
            loss = lambda g: self.losses(eta["validation"] + g * added["validation"],
                                         "validation").mean()
            gamma = SHRINK * min(np.linspace(0, 10, 201), key=loss)
            if loss(0) - loss(gamma) < LEAST:
                break
            gammas.append(gamma)
            for name in eta:
                eta[name] = eta[name] + gamma * added[name]
        return eta["test"], gammas


def interval(difference):
    reach = 1.96 * difference.std(ddof=1) / np.sqrt(len(difference))
    return f"{difference.mean():+.4f} ({difference.mean() - reach:+.4f} to {difference.mean() + reach:+.4f})"


def main(resmem, work, cases):
    print("| base | base right on its own rows | NLL base, T fitted | NLL blend | NLL + second stage |"
          " second less blend | accuracy blend | + second stage | difference | rounds |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    for name in cases:
        folder = pathlib.Path(name)
        if ":" in name:
            kind, seed = name.split(":")
            folder = work / f"{kind}-{seed}"
            if not (folder / "test.npz").exists():
                make(kind, int(seed), folder)
        case = Case(resmem, folder)
        rows, y = case.rows["test"], case.rows["test"]["labels"]
        blend, (second, gammas) = case.eta("test"), case.second_stage()
        base = case.losses(rows["logits"] / case.blend["base_temperature"], "test").mean()
        first, after = case.losses(blend, "test"), case.losses(second, "test")
        right, right_after = blend.argmax(axis=1) == y, second.argmax(axis=1) == y
        train = case.rows["train"]
        own = (train["logits"].argmax(axis=1) == train["labels"]).mean()
        print(f"| {folder.name} | {100 * own:.1f} % | {base:.4f} | {first.mean():.4f} | "
              f"{after.mean():.4f} | {interval(after - first)} | {100 * right.mean():.2f} % | "
              f"{100 * right_after.mean():.2f} % | "
              f"{interval(100.0 * (right_after.astype(float) - right))} | "
              f"{', '.join(f'{g:.2f}' for g in gammas) or 'none'} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:])
