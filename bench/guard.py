"""What the guard is worth: answers to shifted images, without it, by distance alone, and by other measures.

    guard.py RESMEM WORK [BASE...]

Four bases (cnn, mlp, over-trained, linear) learn from 20,000 images of Fashion-MNIST's training
file; `resmem tune` fits the blend on 4,000 others, for each key transform; 6,000 more, as they are
and shifted in 21 ways, are answered.  None of the test file is used, so that the guard could be
chosen by this.  Prints Markdown; every blend is the program's own, and its
answers to 200 rows are compared with the program's before anything is counted."""
import json
import pathlib
import subprocess
import sys

import numpy as np

from second_stage import fashion, log_softmax

SHIFTS = ([(kind, by) for kind in ("noise", "blur", "brighter") for by in range(1, 6)] +
          [("moved", 1), ("moved", 2), ("moved", 3), ("contrast", 2), ("contrast", 5), ("inverted", 1)])
OF_CORRUPTION_H = 15  # the first ones, as in lab/reproduce/corruption.h
TRANSFORMS = ("none", "unit", "whiten")
# Fades: the percentiles of the fitted rows between which that by distance runs, and the same of a measure that it is
# multiplied by; downward where the first is the larger one.
SHOWN = {"distance 90 to 99": (90, 99, None), "distance 90 to 99 x spread 10 to 1": (90, 99, ("spread", 10, 1)),
         "distance 95 to 99 x spread 5 to 0": (95, 99, ("spread", 5, 0)),  # the product's
         "distance 95 to 100 x spread 5 to 0": (95, 100, ("spread", 5, 0))}
PRODUCT = SHOWN["distance 95 to 99 x spread 5 to 0"]
LOSERS = {f"distance 90 to 99 x {measure} {begin} to {end}": (90, 99, (measure, begin, end))
          for measure, begin, end in (
    ("spread", 5, 1), ("spread", 5, 0), ("disagreement", 80, 95), ("disagreement", 95, 99),
    ("entropy of the base", 95, 99), ("entropy of the labels", 95, 99), ("length of the key", 5, 1),
    ("length of the key", 95, 99), ("key less the mean key", 5, 1), ("key less the mean key", 95, 99),
    ("distance", 5, 1), ("nearest distance", 95, 99), ("nearest distance", 5, 1), ("neighbors that count", 95, 99),
    ("neighbors that count", 5, 1), ("log of the sum of exponentials", 5, 1),
    ("labels less the base's answer", 95, 99))}
LOSERS.update({f"distance {begins} to {ends} x spread {begin} to {end}": (begins, ends, ("spread", begin, end))
               for begins, ends in ((95, 99), (95, 100), (97, 100))
               for begin, end in ((10, 1), (5, 1), (5, 0), (3, 0)) if (begin, end) != (5, 0) or begins == 97})


def blurred(images):
    p = np.pad(images.astype(np.int32), ((0, 0), (1, 1), (1, 1)), mode="edge")
    rows = p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]
    return ((rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:] + 8) >> 4).astype(np.uint8)


def shifted(images, kind, by):
    wide = images.astype(np.float64)
    if kind == "noise":
        wide += np.round(np.random.default_rng(1).normal(0, 6 * by, images.shape))
    if kind == "blur":
        for _ in range(by):
            images = blurred(images)
        return images
    if kind == "brighter":
        wide += 25 * by
    if kind == "moved":
        wide = np.roll(wide, 2 * by, axis=2)
    if kind == "contrast":
        wide = 128 + (wide - 128) / (1 + 0.5 * by)
    if kind == "inverted":
        wide = 255 - wide
    return np.clip(wide, 0, 255).astype(np.uint8)


def train(name, images, labels):
    """-> images to keys and logits."""
    import torch
    from torch import nn
    torch.manual_seed(0)
    block = lambda into, out, stride: [nn.Conv2d(into, out, 3, padding=1, stride=stride), nn.BatchNorm2d(out), nn.ReLU()]
    body, width, epochs, rate, decay = {
        "cnn": (block(1, 12, 2) + block(12, 24, 2) + block(24, 64, 1) + [nn.AdaptiveAvgPool2d(1), nn.Flatten()], 64, 5, 0.1, 5e-4),
        "mlp": ([nn.Flatten(), nn.Linear(784, 64), nn.ReLU()], 64, 10, 0.05, 5e-4),
        "over-trained": ([nn.Flatten(), nn.Linear(784, 128), nn.ReLU()], 128, 30, 0.1, 0),
        "linear": ([nn.Flatten()], 784, 6, 0.02, 5e-4)}[name]
    body, head = nn.Sequential(*body), nn.Linear(width, 10)
    tensor = lambda part: ((torch.from_numpy(part.astype(np.float32)) / 255 - 0.2860) / 0.3530).unsqueeze(1)
    both = nn.Sequential(body, head)
    optimizer = torch.optim.SGD(both.parameters(), rate, momentum=0.9, weight_decay=decay)
    x, y, steps = tensor(images), torch.from_numpy(labels.astype(np.int64)), len(images) // 128
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=epochs * steps)
    for _ in range(epochs):
        for batch in torch.randperm(len(images))[:steps * 128].split(128):
            optimizer.zero_grad()
            nn.functional.cross_entropy(both(x[batch]), y[batch]).backward()
            optimizer.step()
            schedule.step()
    both.eval()

    def outputs(part):
        with torch.no_grad():
            keys = torch.cat([body(piece) for piece in tensor(part).split(1000)])
            return {"keys": keys.numpy(), "logits": head(keys).numpy()}
    return outputs


class Case:
    def __init__(self, resmem, folder, transform):
        run = lambda *words: subprocess.run([resmem, *map(str, words), "--quiet"], check=True,
                                            capture_output=True, text=True).stdout
        memory, neighbors = folder / f"{transform}.resmem", folder / f"{transform}.npz"
        run("memorize", "--data", folder / "train.npz", "-o", memory, "--key-transform", transform, "--overwrite")
        tuning = json.loads(run("tune", memory, "--data", folder / "held.npz", "--key-transform", "keep",
                                "--json"))["blend"]
        if not tuning["adopted"]:
            raise LookupError(tuning["reason"])
        self.blend = tuning["fitted"]
        with np.load(folder / "train.npz") as train:
            for part in ("held", "queries"):
                neighbors.unlink(missing_ok=True)
                run("neighbors", memory, "--data", folder / f"{part}.npz", "--k", self.blend["parameters"]["k"], "-o",
                    neighbors)
                with np.load(folder / f"{part}.npz") as asked, np.load(neighbors) as found:
                    measures = self.prepare(train, asked["keys"].astype(np.float64), asked["logits"].astype(np.float64),
                                            found)
                if part == "held":
                    self.fitted = measures
        self.measures = measures
        for name, of_program in (("distance", "distances"), ("spread", "spreads")):
            np.testing.assert_allclose(percentiles(self.fitted[name]), self.blend[of_program], rtol=1e-3, atol=1e-4)
        for name in ("lines.csv", "scores.npy"):
            (folder / name).unlink(missing_ok=True)
        run("predict", memory, "--data", folder / "first.npz", "-o", folder / "lines.csv", "--scores",
            folder / "scores.npy")
        own = np.exp(log_softmax(self.answers(self.fade(*PRODUCT))[:200]))
        np.testing.assert_allclose(own, np.load(folder / "scores.npy"), atol=1e-4)

    def prepare(self, train, z, f, found):
        b = self.blend
        sigma, temperature = b["parameters"]["sigma"], b["parameters"]["temperature"]
        d = found["distances"].astype(np.float64)
        w = np.exp(-(d - d[:, :1]) / sigma)
        w /= w.sum(axis=1, keepdims=True)
        said = np.exp(log_softmax(train["logits"].astype(np.float64) / temperature))
        labels, expected = np.zeros_like(f), np.zeros_like(f)
        for j in range(d.shape[1]):
            labels[np.arange(len(f)), train["labels"][found["rows"][:, j]]] += w[:, j]
            expected += w[:, j:j + 1] * said[found["rows"][:, j]]
        p0 = np.exp(log_softmax(f / b["base_temperature"]))
        self.phi = np.stack([log_softmax(f), np.log(labels + b["prior"] * p0), np.log(expected + b["prior"] * p0),
                             labels - expected], axis=1)
        u = np.log(np.stack([np.maximum(d[:, 0], 1e-3 * sigma), np.maximum(d[:, -1], 1e-3 * sigma),
                             1 / (w ** 2).sum(axis=1)], axis=1))
        u = np.clip((u - b["gate_means"]) / b["gate_deviations"], -3, 3)
        coefficients = np.array(b["coefficients"])
        self.b = coefficients[:, 0] + u @ coefficients[:, 1:].T
        self.base = log_softmax(f / b["base_temperature"])
        there = np.exp(log_softmax(f / temperature))
        entropy = lambda p: -(p * np.log(p + 1e-30)).sum(axis=1)
        centered = f - f.mean(axis=1, keepdims=True)
        return {"distance": d[:, min(10, d.shape[1]) - 1], "nearest distance": d[:, 0],
                "neighbors that count": 1 / (w ** 2).sum(axis=1),
                "disagreement": np.maximum(expected - there, 0).sum(axis=1),
                "labels less the base's answer": np.maximum(labels - there, 0).sum(axis=1),
                "spread": f.std(axis=1), "log of the sum of exponentials": np.log(np.exp(centered).sum(axis=1)),
                "entropy of the base": entropy(p0), "entropy of the labels": entropy(labels),
                "length of the key": np.linalg.norm(z, axis=1),
                "key less the mean key": np.linalg.norm(z - train["keys"].astype(np.float64).mean(axis=0), axis=1)}

    def fade(self, begins, ends, other):
        """1 .. 0: by distance, and by another measure."""
        def ramp(name, begin, end):
            at, value = percentiles(self.fitted[name]), self.measures[name]
            if at[begin] == at[end]:
                return (value <= at[end] if begin < end else value >= at[end]).astype(float)
            return np.clip((at[end] - value) / (at[end] - at[begin]), 0, 1)
        far = ramp("distance", begins, ends)
        return far if other is None else far * ramp(*other)

    def answers(self, fade):
        b = self.b * fade[:, None]
        b[:, 0] += (1 - fade) / self.blend["base_temperature"]
        return np.einsum("qj,qjc->qc", b, self.phi)


def percentiles(values):
    ordered = np.sort(values)
    return np.array([ordered[(len(ordered) - 1) * p // 100] for p in range(101)])


def judge(eta, base, labels):
    """-> accuracy in points and NLL, each less the base's, of every 2,000 rows."""
    rows = np.arange(len(labels))
    measure = lambda z: (100 * (z.argmax(axis=1) == labels).mean(), -log_softmax(z)[rows, labels].mean())
    cut = lambda z: z.reshape(-1, len(labels), z.shape[1])
    return np.array([np.subtract(measure(e), measure(b)) for e, b in zip(cut(eta), cut(base))])


def main():
    resmem, work = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    x, y = fashion("train")
    images = np.round(x * 255).astype(np.uint8).reshape(-1, 28, 28)
    order = np.random.default_rng(7).permutation(len(images))
    parts = {"train": order[:20000], "held": order[20000:24000]}
    asked = order[24000:30000]
    titles = ["base", "keys", "guard", "accuracy, as they are", "NLL, as they are", "accuracy, worst of 15",
              "accuracy, worst of 21", "NLL, worst of 21", "accuracy, mean of 21"]
    print("| " + " | ".join(titles) + " |\n|---|---|---|" + "--:|" * 6)
    total, refused = {}, []

    def line(words, figures, where=("", "")):
        cells = [f"{figures[0]:+.2f}", f"{figures[1]:+.4f}", f"{figures[2]:+.2f}{where[0]}", f"{figures[3]:+.2f}{where[1]}",
                 f"{figures[4]:+.3f}", f"{figures[5]:+.2f}"]
        print("| " + " | ".join([*words, *cells]) + " |", flush=True)

    for base in sys.argv[3:] or ("cnn", "mlp", "over-trained", "linear"):
        folder = work / base
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "first.npz").exists():  # WORK keeps what a base answers
            outputs = train(base, images[parts["train"]], y[parts["train"]])
            for name, rows in parts.items():
                np.savez(folder / f"{name}.npz", labels=y[rows], **outputs(images[rows]))
            queries = [outputs(shifted(images[asked], kind, by)) for kind, by in [("", 0), *SHIFTS]]
            queries = {name: np.concatenate([q[name] for q in queries]) for name in ("keys", "logits")}
            np.savez(folder / "queries.npz", **queries)
            np.savez(folder / "first.npz", **{name: rows[:200] for name, rows in queries.items()})
        for transform in TRANSFORMS:
            try:
                case = Case(resmem, folder, transform)
            except LookupError as reason:
                refused.append(f"{base}, {transform}: {reason}")
                continue
            fades = {"no guard": np.ones(len(case.base)),
                     **{name: case.fade(*how) for name, how in {**SHOWN, **LOSERS}.items()}}
            for name, fade in fades.items():
                found = judge(case.answers(fade), case.base, y[asked])
                shifts = found[1:, 0]
                figures = [*found[0], shifts[:OF_CORRUPTION_H].min(), shifts.min(), found[1:, 1].max(), shifts.mean()]
                total.setdefault(name, []).append(figures)
                if name not in LOSERS:
                    named = lambda at: " ({} {})".format(*SHIFTS[at])
                    line([base, transform, name], figures, (named(shifts[:OF_CORRUPTION_H].argmin()), named(shifts.argmin())))
    for name, all_ in total.items():
        all_ = np.array(all_)
        line(["**all**", "", name], [*all_[:, :2].mean(axis=0), all_[:, 2].min(), all_[:, 3].min(), all_[:, 4].max(),
                                     all_[:, 5].mean()])
    for words in refused:
        print("\nNot adopted by tune, and so not in the table: " + words)


if __name__ == "__main__":
    main()
