"""The arrays that every .test file finds in its folder.

Four classes, each with two clusters of keys; the base mistakes one cluster of class 0 for class 1,
so that a memory has something to add.  240 training, 120 validation and 200 test rows.
"""
import os

import numpy as np

import onnx_files
import image_files
import table_files

# Where a file is synced at once: for tests that write much and cut no power.
FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
DIM, CLASSES = 8, 4
NAMES = ["coat", "shirt", "sneaker", "boot"]


def draw(random, centers, rows):
    cluster = random.integers(0, 2 * CLASSES, rows)
    labels = (cluster // 2).astype(np.int32)
    keys = (centers[cluster] + 0.3 * random.standard_normal((rows, DIM))).astype(np.float32)
    believed = np.where(cluster == 1, 1, labels)
    logits = random.standard_normal((rows, CLASSES)).astype(np.float32)
    logits[np.arange(rows), believed] += 2.5
    return {"keys": keys, "logits": logits, "labels": labels}


def write(folder):
    random = np.random.default_rng(1)
    centers = 2 * random.standard_normal((2 * CLASSES, DIM))
    train, validation, test = (draw(random, centers, rows) for rows in (240, 120, 200))
    train["ids"] = np.arange(1000, 1240)
    for name, arrays in (("train", train), ("validation", validation), ("test", test)):
        np.savez(folder / f"{name}.npz", **arrays)
    for name, values in train.items():
        np.save(folder / f"{name}.npy", values)
    train["keys"].tofile(folder / "keys.bin")
    train["logits"].tofile(folder / "logits.bin")
    parts = (train, validation, test)
    together = {name: np.concatenate([part[name] for part in parts])
                for name in ("keys", "logits", "labels")}
    split = np.array(["train"] * 240 + ["validation"] * 120 + ["test"] * 200)
    np.savez(folder / "all.npz", split=split, **together)
    more = draw(random, centers, 60)
    np.savez(folder / "more.npz", ids=np.arange(5000, 5060), **more)
    np.savez(folder / "many.npz", **draw(random, centers, 8000))
    (folder / "names.txt").write_text("\n".join(NAMES) + "\n")
    np.save(folder / "coarse.npy", np.array([0, 0, 1, 1]))
    np.save(folder / "slices.npy", np.array(["day", "night"] * 100))
    np.save(folder / "sources.npy", np.array([f"img_{i}.png" for i in range(240)]))
    write_regression(folder, random)
    write_bad(folder, train)
    onnx_files.write(folder, train)
    image_files.write(folder)
    table_files.write(folder, train, test, more)
    (folder / "net.onnx").write_bytes(b"weights of a model")
    (folder / "other.onnx").write_bytes(b"weights of another model")


def write_regression(folder, random):
    for name, rows in (("regression", 300), ("regression_test", 100)):
        keys = random.standard_normal((rows, 2)).astype(np.float32)
        targets = np.sin(2 * keys[:, :1]).astype(np.float32)
        np.savez(folder / f"{name}.npz", keys=keys, targets=targets, predictions=0.5 * keys[:, :1])


def write_bad(folder, train):
    """Each array is train's with one thing wrong."""
    for name, value in (("nan", np.nan), ("infinite", np.inf)):
        keys = train["keys"].copy()
        keys[7, 3] = value
        np.save(folder / f"{name}_keys.npy", keys)
        logits = train["logits"].copy()
        logits[9, 2] = value
        np.save(folder / f"{name}_logits.npy", logits)
    labels = train["labels"].copy()
    labels[5] = CLASSES
    np.save(folder / "label_too_large.npy", labels)
    labels[5] = -1
    np.save(folder / "label_negative.npy", labels)
    np.save(folder / "labels_of_half.npy", train["labels"].astype(np.float32) + 0.5)
    np.save(folder / "short_labels.npy", train["labels"][:-1])
    np.save(folder / "no_rows.npy", np.zeros((0, DIM), np.float32))
    np.save(folder / "no_logits.npy", np.zeros((0, CLASSES), np.float32))
    np.save(folder / "no_labels.npy", np.zeros(0, np.int32))
    ids = train["ids"].copy()
    ids[4] = ids[3]
    np.save(folder / "repeated_ids.npy", ids)
    np.savez(folder / "five_dims.npz", keys=train["keys"][:, :5], logits=train["logits"],
             labels=train["labels"])
    np.savez(folder / "three_classes.npz", keys=train["keys"], logits=train["logits"][:, :3],
             labels=np.minimum(train["labels"], 2))
    sure = np.full_like(train["logits"], -30)
    sure[np.arange(len(sure)), train["labels"]] = 30
    np.save(folder / "sure_logits.npy", sure)
    (folder / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\xff{'descr'")
    (folder / "two_names.txt").write_text("coat\nshirt\n")
