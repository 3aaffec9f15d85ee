"""What the guard is worth: answers to shifted images, without it, by distance alone, and by other measures.

    guard.py RESMEM WORK [--data FOLDER] [BASE...]

Four bases (cnn, mlp, over-trained, linear) learn from 20,000 images of Fashion-MNIST's training
file; `resmem tune` fits the blend on 4,000 others, for each key transform; 6,000 more, as they are
and shifted in 21 ways, are answered.  None of the test file is used, so that the guard could be
chosen by this.  With --data, which tests the choice, they learn from MNIST or CIFAR-10 (a folder
that `resmem data get` made), 5,000 images of the test file are answered, and only the product's
guard is shown, with the interval of its worst loss.  Prints Markdown; every blend is the program's own, and its
answers to 200 rows are compared with the program's before anything is counted."""
import argparse
import json
import pathlib
import subprocess

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
OF_PRODUCT = "distance 95 to 99 x spread 5 to 0"
PRODUCT = SHOWN[OF_PRODUCT]
ALLOWED = 1  # points below the base
CHOSEN = ", which tune chooses"
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


def read_images(folder, part):
    """-> images (rows x channels x height x width) and labels, as their authors published them."""
    name = {"train": "train", "test": "t10k"}[part]
    if (folder / f"{name}-images-idx3-ubyte").exists():  # MNIST
        images = np.fromfile(folder / f"{name}-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 1, 28, 28)
        return images, np.fromfile(folder / f"{name}-labels-idx1-ubyte", np.uint8)[8:].astype(np.int32)
    files = sorted(folder.glob("data_batch_*.bin" if part == "train" else "test_batch.bin"))  # CIFAR-10
    lines = np.concatenate([np.fromfile(file, np.uint8).reshape(-1, 3073) for file in files])
    return lines[:, 1:].reshape(-1, 3, 32, 32), lines[:, 0].astype(np.int32)


def blurred(images):
    p = np.pad(images.astype(np.int32), ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
    rows = p[..., :-2] + 2 * p[..., 1:-1] + p[..., 2:]
    return ((rows[..., :-2, :] + 2 * rows[..., 1:-1, :] + rows[..., 2:, :] + 8) >> 4).astype(np.uint8)


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
        wide = np.roll(wide, 2 * by, axis=-1)
    if kind == "contrast":
        wide = 128 + (wide - 128) / (1 + 0.5 * by)
    if kind == "inverted":
        wide = 255 - wide
    return np.clip(wide, 0, 255).astype(np.uint8)


def train(name, images, labels, mean=0.2860, deviation=0.3530):
    """-> images to keys and logits."""
    import torch
    from torch import nn
    torch.manual_seed(0)
    block = lambda into, out, stride: [nn.Conv2d(into, out, 3, padding=1, stride=stride), nn.BatchNorm2d(out), nn.ReLU()]
    values = images[0].size
    body, width, epochs, rate, decay = {
        "cnn": (block(images.shape[1], 12, 2) + block(12, 24, 2) + block(24, 64, 1) +
                [nn.AdaptiveAvgPool2d(1), nn.Flatten()], 64, 5, 0.1, 5e-4),
        "mlp": ([nn.Flatten(), nn.Linear(values, 64), nn.ReLU()], 64, 10, 0.05, 5e-4),
        "over-trained": ([nn.Flatten(), nn.Linear(values, 128), nn.ReLU()], 128, 30, 0.1, 0),
        "linear": ([nn.Flatten()], values, 6, 0.02, 5e-4)}[name]
    body, head = nn.Sequential(*body), nn.Linear(width, 10)
    tensor = lambda part: (torch.from_numpy(part.astype(np.float32)) / 255 - mean) / deviation
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


def run(resmem, *words):
    return subprocess.run([resmem, *map(str, words), "--quiet"], check=True, capture_output=True, text=True).stdout


def chosen_keys(resmem, folder):
    """The transform that `resmem tune` would choose by itself."""
    memory = folder / "chosen.resmem"
    run(resmem, "memorize", "--data", folder / "train.npz", "-o", memory, "--overwrite")
    return json.loads(run(resmem, "tune", memory, "--data", folder / "held.npz", "--json"))["keys"]["chosen"]


class Case:
    def __init__(self, resmem, folder, transform, others):
        """`others`: whether measures that the product does not use are wanted."""
        memory, neighbors = folder / f"{transform}.resmem", folder / f"{transform}.npz"
        run(resmem, "memorize", "--data", folder / "train.npz", "-o", memory, "--key-transform", transform, "--overwrite")
        tuning = json.loads(run(resmem, "tune", memory, "--data", folder / "held.npz", "--key-transform", "keep",
                                "--json"))["blend"]
        if not tuning["adopted"]:
            raise LookupError(tuning["reason"])
        self.blend = tuning["fitted"]
        with np.load(folder / "train.npz") as train:
            for part in ("held", "queries"):
                neighbors.unlink(missing_ok=True)
                run(resmem, "neighbors", memory, "--data", folder / f"{part}.npz", "--k", self.blend["parameters"]["k"], "-o",
                    neighbors)
                with np.load(folder / f"{part}.npz") as asked, np.load(neighbors) as found:
                    measures = self.prepare(train, asked["logits"].astype(np.float64), found)
                    if others:
                        measures |= key_measures(train, asked["keys"].astype(np.float64))
                if part == "held":
                    self.fitted = measures
        self.measures = measures
        for name, of_program in (("distance", "distances"), ("spread", "spreads")):
            np.testing.assert_allclose(percentiles(self.fitted[name]), self.blend[of_program], rtol=1e-3, atol=1e-4)
        for name in ("lines.csv", "scores.npy"):
            (folder / name).unlink(missing_ok=True)
        run(resmem, "predict", memory, "--data", folder / "first.npz", "-o", folder / "lines.csv", "--scores",
            folder / "scores.npy")
        own = np.exp(log_softmax(self.answers(self.fade(*PRODUCT))[:200]))
        np.testing.assert_allclose(own, np.load(folder / "scores.npy"), atol=1e-4)

    def prepare(self, train, f, found):
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
                "entropy of the base": entropy(p0), "entropy of the labels": entropy(labels)}

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


def key_measures(train, z):
    return {"length of the key": np.linalg.norm(z, axis=1),
            "key less the mean key": np.linalg.norm(z - train["keys"].astype(np.float64).mean(axis=0), axis=1)}


def percentiles(values):
    ordered = np.sort(values)
    return np.array([ordered[(len(ordered) - 1) * p // 100] for p in range(101)])


def judge(eta, base, labels):
    """-> of as many rows as there are labels at a time: accuracy in points and NLL, each less the
    base's, and half the 95 % interval of the former, paired."""
    rows = np.arange(len(labels))
    found = []
    for e, b in zip(*(z.reshape(-1, len(labels), z.shape[1]) for z in (eta, base))):
        right = 100.0 * (e.argmax(axis=1) == labels) - 100.0 * (b.argmax(axis=1) == labels)
        nll = [-log_softmax(z)[rows, labels].mean() for z in (e, b)]
        found.append((right.mean(), nll[0] - nll[1], 1.96 * right.std() / np.sqrt(len(rows))))
    return np.array(found)


def drawn(data):
    """-> images and labels by part: train, held, asked."""
    if data is None:
        x, y = fashion("train")
        images = np.round(x * 255).astype(np.uint8).reshape(-1, 1, 28, 28)
        order = np.random.default_rng(7).permutation(len(images))
        return {name: (images[rows], y[rows]) for name, rows in (
            ("train", order[:20000]), ("held", order[20000:24000]), ("asked", order[24000:30000]))}
    (images, y), (new, new_y) = read_images(data, "train"), read_images(data, "test")
    random = np.random.default_rng(7)
    order, asked = random.permutation(len(images)), random.permutation(len(new))[:5000]
    return {"train": (images[order[:20000]], y[order[:20000]]),
            "held": (images[order[20000:24000]], y[order[20000:24000]]), "asked": (new[asked], new_y[asked])}


def answered(base, parts, folder, of_others):
    """What a base says of all parts, as .npz files, which WORK keeps."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "first.npz").exists():
        return
    images, labels = parts["train"]
    how = {"mean": images.mean() / 255, "deviation": images.std() / 255} if of_others else {}
    outputs = train(base, images, labels, **how)
    for name in ("train", "held"):
        np.savez(folder / f"{name}.npz", labels=parts[name][1], **outputs(parts[name][0]))
    queries = [outputs(shifted(parts["asked"][0], kind, by)) for kind, by in [("", 0), *SHIFTS]]
    queries = {name: np.concatenate([q[name] for q in queries]) for name in ("keys", "logits")}
    np.savez(folder / "queries.npz", **queries)
    np.savez(folder / "first.npz", **{name: rows[:200] for name, rows in queries.items()})


class Lines:
    """The table, and what it says of all."""

    def __init__(self, tested):
        titles = ["base", "keys", "guard", "accuracy, as they are", "NLL, as they are", "accuracy, worst of 15",
                  "accuracy, worst of 21", "NLL, worst of 21", "accuracy, mean of 21"]
        print("| " + " | ".join(titles) + " |\n|---|---|---|" + "--:|" * 6)
        self.tested, self.total, self.below, self.judged = tested, {}, [], 0

    def add(self, base, transform, name, found):
        shifts = found[1:, 0]
        figures = [*found[0, :2], shifts[:OF_CORRUPTION_H].min(), shifts.min(), found[1:, 1].max(), shifts.mean()]
        self.total.setdefault(name, []).append(figures)
        if name in LOSERS:
            return
        worst = [shifts[:OF_CORRUPTION_H].argmin(), shifts.argmin()]
        where = [" ({} {}".format(*SHIFTS[at]) + (f", +-{found[1 + at, 2]:.2f})" if self.tested else ")")
                 for at in worst]
        self.line([base, transform, name], figures, where)
        if name != OF_PRODUCT:
            return
        self.judged += len(shifts)
        self.below += ["{}, keys {}: {} {}, {:+.2f} +-{:.2f}".format(base, transform, *SHIFTS[at], shifts[at],
                                                                    found[1 + at, 2])
                       for at in np.flatnonzero(shifts < -ALLOWED)]

    @staticmethod
    def line(words, figures, where=("", "")):
        cells = [f"{figures[0]:+.2f}", f"{figures[1]:+.4f}", f"{figures[2]:+.2f}{where[0]}", f"{figures[3]:+.2f}{where[1]}",
                 f"{figures[4]:+.3f}", f"{figures[5]:+.2f}"]
        print("| " + " | ".join([*words, *cells]) + " |", flush=True)

    def finish(self, refused):
        for name, all_ in self.total.items():
            all_ = np.array(all_)
            self.line(["**all**", "", name], [*all_[:, :2].mean(axis=0), all_[:, 2].min(), all_[:, 3].min(),
                                              all_[:, 4].max(), all_[:, 5].mean()])
        for words in refused:
            print("\nNot adopted by tune, and so not in the table: " + words)
        print(f"\nMore than {ALLOWED} point below the base: {len(self.below)} of {self.judged} shifts of a blend"
              + "".join("\n- " + words for words in self.below))


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("resmem", type=pathlib.Path)
    asked.add_argument("work", type=pathlib.Path)
    asked.add_argument("--data", type=pathlib.Path)
    asked.add_argument("base", nargs="*", default=["cnn", "mlp", "over-trained", "linear"])
    asked = asked.parse_intermixed_args()
    tested = asked.data is not None
    parts = drawn(asked.data)
    guards = {OF_PRODUCT: PRODUCT} if tested else {**SHOWN, **LOSERS}
    lines, refused = Lines(tested), []
    for base in asked.base:
        folder = asked.work / base
        answered(base, parts, folder, tested)
        resmem = str(asked.resmem.resolve())
        chosen = chosen_keys(resmem, folder)
        for transform in TRANSFORMS:
            try:
                case = Case(resmem, folder, transform, not tested)
            except LookupError as reason:
                refused.append(f"{base}, {transform}: {reason}")
                continue
            fades = {"no guard": np.ones(len(case.base)), **{name: case.fade(*how) for name, how in guards.items()}}
            for name, fade in fades.items():
                lines.add(base, transform + (CHOSEN if transform == chosen else ""), name,
                          judge(case.answers(fade), case.base, parts["asked"][1]))
    lines.finish(refused)


if __name__ == "__main__":
    main()
