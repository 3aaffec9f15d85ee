"""The arrays of fixtures.py as tables: columns k0 to k7, a category, an id, and the label as a name.

The logits lie in files of their own, with their columns in the alphabetical order of the names.
"""
import csv

import numpy as np

NAMES = ["coat", "shirt", "sneaker", "boot"]
SORTED = sorted(NAMES)


def write_table(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def rows_of(part, first_id):
    for i, (key, label) in enumerate(zip(part["keys"], part["labels"])):
        yield [first_id + i, *key.tolist(), "red" if key[0] > 0 else "blue", NAMES[label]]


def write(folder, train, test, more):
    header = ["id", *(f"k{i}" for i in range(train["keys"].shape[1])), "color", "kind"]
    order = [NAMES.index(name) for name in SORTED]
    parts = {"": train, "test_": test, "more_": more}
    for name, part in parts.items():
        np.save(folder / f"table_{name}logits.npy", part["logits"][:, order])
    rows = list(rows_of(train, 1000))
    tests = list(rows_of(test, 2000))
    write_table(folder / "train.csv", header, rows)
    write_table(folder / "test.csv", header, tests)
    write_table(folder / "more.csv", header, rows_of(more, 5000))
    write_table(folder / "turned.csv", header[:-1][::-1] + ["remark"], [row[:-1][::-1] + ["x"] for row in tests])
    write_table(folder / "leak.csv", header + ["twin"], [row + [row[-1].upper()] for row in rows])
    logits = np.char.mod("%r", train["logits"][:, order].astype(np.float64)).tolist()
    write_table(folder / "with_logits.csv", header + [f"f_{name}" for name in SORTED],
                [row + line for row, line in zip(rows, logits)])
    gaps = [list(row) for row in rows]
    gaps[3][1], gaps[4][1] = "", "NA"
    write_table(folder / "gaps.csv", header, gaps)
    write_table(folder / "narrow.csv", header[:4] + header[5:], [row[:4] + row[5:] for row in tests])
    unknown = [list(row) for row in tests]
    unknown[2][-1] = "hat"
    write_table(folder / "unknown.csv", header, unknown)
