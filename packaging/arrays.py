"""Writes small arrays of three classes for a memory: keys, logits and labels of 400 rows.  arrays.py FOLDER [SEED]"""
import os
import sys

import numpy


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    random = numpy.random.default_rng(int(sys.argv[2]) if sys.argv[2:] else 0)
    labels = random.integers(0, 3, 400)
    keys = (random.normal(size=(400, 4)) + labels[:, None]).astype("f4")
    for name, array in (("keys", keys), ("logits", random.normal(size=(400, 3)).astype("f4")), ("labels", labels)):
        numpy.save(f"{folder}/{name}.npy", array)


if __name__ == "__main__":
    main()
