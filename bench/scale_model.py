"""A model of what a memory costs, fitted to the points of scale.py, and the tables of docs/scale.md."""
import math

import numpy as np

TOKENS = 1_639_000_000  # 1 % of C4's training split, the paper's section 4.2
MACHINES = ((64, 16), (256, 32))  # GB of RAM, cores
USABLE = 0.75  # of the RAM, for the index
LARGE_ROWS = 100_000  # smaller memories are searched exactly, index or not


# Of a point: what a cost may be a multiple of.  The index has about sqrt(rows) lists; its codes are padded to 64 bytes.
FEATURES = {
    "1": lambda point: 1.0,
    "rows": lambda point: point["rows"],
    "rows x columns": lambda point: point["rows"] * point["dim"],
    "rows x classes": lambda point: point["rows"] * point["classes"],
    "code bytes": lambda point: point["rows"] * max(64, point["dim"]) * code_bits(point) / 8,
    "rows^1.5": lambda point: point["rows"] ** 1.5,
    "sqrt(rows)": lambda point: point["rows"] ** 0.5,
    "columns": lambda point: point["dim"],
    "k": lambda point: point["k"],
}


def code_bits(point):
    """As resmem index chooses them."""
    return 8 if point["rows"] * point["dim"] <= 256 << 20 else 4


class Model:
    """A sum of multiples of features, none below 0, by least squares of relative errors."""

    def __init__(self, points, value, *names):
        self.names, self.value = names, value
        left = np.array([self.row(point) for point in points]) / np.array([value(point) for point in points], float)[:, None]
        scale = np.abs(left).max(axis=0)
        used, self.found = list(range(len(names))), np.zeros(len(names))
        while used:  # drop what would be negative
            found = np.linalg.lstsq((left / scale)[:, used], np.ones(len(points)), rcond=None)[0]
            if (found >= 0).all():
                self.found[used] = found / scale[used]
                break
            used.pop(int(np.argmin(found)))
        self.worst = max(abs(self.of(point) / value(point) - 1) for point in points)

    def row(self, point):
        return [FEATURES[name](point) for name in self.names]

    def of(self, point):
        return float(np.dot(self.row(point), self.found))

    def text(self):
        return " + ".join(f"{each:.3g}" + ("" if name == "1" else f" x {name}")
                          for each, name in zip(self.found, self.names) if each > 0)


def of_search(*path):
    def value(point):
        for name in path:
            point = point[name]
        return point
    return value


def models_of(points, held_out):
    """{what: (model, unit)}; points of these numbers of rows are not fitted."""
    float32 = [each for each in points if "build" in each and each["key_type"] == "float32" and each["rows"] not in held_out]
    indexed = [each for each in float32 if each.get("indexed") and each["rows"] >= LARGE_ROWS]
    exact, lists = ("1", "rows", "rows x columns", "k"), ("1", "sqrt(rows)", "columns", "k")
    return {
        "bytes on disk": (Model(float32, of_search("bytes"), "1", "rows", "rows x columns", "rows x classes"), ""),
        "bytes of the index": (Model(indexed, of_search("index_bytes"), "1", "rows", "code bytes", "rows x columns"), ""),
        "building": (Model(float32, of_search("build"), "1", "rows", "rows x columns", "rows x classes"), "s"),
        "indexing": (Model(indexed, of_search("indexing"), "1", "rows x columns", "rows^1.5"), "s"),
        "an exact query alone": (Model(float32, of_search("exact", "one"), *exact), "us"),
        "an exact query of a batch": (Model(float32, of_search("exact", "batch"), *exact), "us"),
        "an indexed query alone": (Model(indexed, of_search("indexed", "one"), *lists), "us"),
        "an indexed query of a batch": (Model(indexed, of_search("indexed", "batch"), *lists), "us"),
    }


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] +
                     ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def line_of(point, first):
    def search(name, which):
        return number(point[name][which]) if name in point else ""
    return [first, number(point["bytes"] / point["rows"]), number(point["exact_ram"] / point["rows"]),
            number(point["index_bytes"] / point["rows"]) if "index_bytes" in point else "", number(point["build"]),
            number(point["indexing"]) if "indexing" in point else "", search("exact", "one"), search("exact", "batch"),
            search("indexed", "one"), search("indexed", "batch"), f"{point['recall']:.3f}" if "recall" in point else "",
            str(point["load"])]


HEAD = ["bytes a row", "RAM a row, exact", "index, bytes a row", "build s", "index s", "exact us", "in a batch", "indexed us",
        "in a batch", "recall", "load"]


def report(points, held_out, token):
    memories = [each for each in points if "build" in each]
    base = next(each for each in memories if each["rows"] == 100_000 and each["dim"] == 64 and each["k"] == 50 and
                each["classes"] == 10 and each["key_type"] == "float32")
    same = [name for name in ("rows", "dim", "k", "classes", "key_type")]

    def varied(name):
        return sorted((each for each in memories if all(each[other] == base[other] for other in same if other != name)),
                      key=lambda each: str(each[name]).zfill(12))
    text = "## Rows\n\n" + table(["rows"] + HEAD, [line_of(each, f"{each['rows']:,}") for each in varied("rows")])
    text += "\n## Columns, k, classes, type of the keys\n\n" + table(["100,000 rows"] + HEAD, [
        line_of(each, f"{title} {each[name]}") for name, title in
        (("dim", "columns"), ("k", "k"), ("classes", "classes"), ("key_type", "keys")) for each in varied(name)])
    shards = sorted((each for each in points if "gateway" in each), key=lambda each: each["shards"])
    text += "\n## Shards\n\n" + table(
        ["shards", "gateway, us a question", "all shards, us", "an answer of a shard, bytes", "load"],
        [[str(each["shards"]), number(each["gateway"]), number(each["shards_us"]),
          number(each["answer_bytes"]), str(each["load"])] for each in shards])
    models = models_of(memories, held_out)
    judges = [each for each in varied("rows") if each["rows"] in held_out]
    lines = []
    for name, (model, unit) in models.items():
        line = [name + (f", {unit}" if unit else ""), model.text(), f"{100 * model.worst:.0f} %"]
        for judge in judges:
            said, true = model.of(judge), model.value(judge)
            line += [number(said), number(true), f"{100 * (said / true - 1):+.0f} %"]
        lines.append(line)
    head = ["", "fitted", "worst of the fitted points"]
    for judge in judges:
        head += [f"said of {judge['rows']:,} rows", "measured", "error"]
    text += "\n## The model\n\n" + table(head, lines)
    return text + "\n## 1.6 billion tokens, computed\n\n" + tokens(models, shards, *token)


def tokens(models, shards, dim, key_bits, entries):
    row = dim * key_bits / 8 + 4 + 2 + 3.1 + 3 * entries
    part = {"rows": TOKENS, "dim": dim, "k": 50, "classes": 0}
    code = models["bytes of the index"][0].of(part) / TOKENS
    slope = np.polyfit([each["shards"] for each in shards], [each["gateway"] for each in shards], 1) if len(shards) > 1 else [0, 0]
    lines = []
    for ram, cores in MACHINES:
        count = math.ceil(TOKENS * code / (USABLE * ram * 1e9))
        part["rows"] = TOKENS / count
        index_hours = models["indexing"][0].of(part) / 3600 / cores
        lines.append([f"{ram} GB, {cores} cores", str(count), f"{TOKENS * (row + code) / count / 1e9:,.0f} GB",
                      f"{models['building'][0].of(part) / 3600:.2f} h", f"{index_hours:.1f} h",
                      f"{models['an indexed query alone'][0].of(part) / 1000:.1f} ms",
                      f"{models['an indexed query of a batch'][0].of(part) / 1000:.1f} ms",
                      f"{np.polyval(slope, count) / 1000:.2f} ms"])
    return (f"A token: key of {dim} values at {key_bits} bits and its scale, {entries:g} residuals: {row:,.0f} bytes; in the index {code:,.0f} bytes "
            f"at 4 bits. All: {TOKENS * row / 1e9:,.0f} GB and {TOKENS * code / 1e9:,.0f} GB.\n\n" +
            table(["machines with", "so many", "disk each", "writing rows", "indexing, all cores", "a query alone, a shard",
                   "of a batch", "gateway, a question"], lines))
