"""Is one ONNX graph of base and memory practical?  Folds a memory into its base's graph and measures.

    onnx_memory.py RESMEM [ROWS,ROWS,...]      prints a table for docs/decisions/onnx_export.md

The graph computes ResMem's score with ONNX's own operators: distances by one matrix product, TopK, Gather, a
weighted sum.  It runs in ONNX Runtime through `resmem embed`; the answers are compared with `resmem predict`.
Times are processor time, so that they mean something on a busy machine; what opening costs is subtracted.
"""
import pathlib
import platform
import resource
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/cli"))
import onnx_files  # noqa: E402
from onnx_files import message, number  # noqa: E402

DIM, CLASSES, QUERIES, K, SIGMA, T = 64, 100, 512, 53, 0.7, 1.4


def run(*words, cwd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def node(operator, inputs, outputs, **integers):
    made = onnx_files.node(operator, inputs, outputs[0], **integers)
    if len(outputs) == 1:
        return made
    extra = b"".join(message(2, name) for name in outputs[1:])
    content = onnx_files.node(operator, inputs, outputs[0], **integers)
    body = content[1 + len(onnx_files.varint(_length(content))):]
    # Outputs stand together, in their order.
    first = message(2, outputs[0])
    return message(1, body.replace(first, first + extra, 1))


def _length(content):
    length, shift = 0, 0
    for byte in content[1:]:
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return length
    raise ValueError("no length")


def whole_numbers(name, values):
    values = np.asarray(values, "<i8")
    return message(5, *(number(1, side) for side in values.shape), number(2, 7), message(8, name),
                   message(9, values.tobytes()))


# x -> Relu z -> MatMul f: the cheapest base there is, so that the memory's part is seen.
BASE = (node("Relu", ["x"], ["z"]), node("MatMul", ["z", "head"], ["f"]))


def base(head):
    return onnx_files.model(*BASE, onnx_files.weights("head", head), onnx_files.value_info(11, "x", ["n", DIM]),
                            onnx_files.value_info(12, "f", ["n", CLASSES]))


def fold(head, memory):
    """The same graph, whose output is ResMem's score."""
    keys, logits = memory["keys"].astype(np.float32), memory["logits"].astype(np.float64) / T
    soft = np.exp(logits - logits.max(axis=1, keepdims=True))
    residuals = np.eye(CLASSES)[memory["labels"]] - soft / soft.sum(axis=1, keepdims=True)
    floats = {"head": head, "keys_t": -2 * keys.T, "squares": (keys.astype(np.float64) ** 2).sum(1),
              "residuals": residuals, "zero": [0], "by_sigma": [-1 / SIGMA], "by_t": [1 / T]}
    integers = {"k": [K], "last": [2], "middle": [1], "columns": [1]}
    nodes = BASE + (
        node("MatMul", ["z", "keys_t"], ["products"]), node("Add", ["products", "squares"], ["partial"]),
        node("Mul", ["z", "z"], ["zz"]), node("ReduceSum", ["zz", "columns"], ["z2"], keepdims=1),
        node("TopK", ["partial", "k"], ["nearest", "rows"], largest=0),
        node("Add", ["nearest", "z2"], ["squared"]), node("Max", ["squared", "zero"], ["positive"]),
        node("Sqrt", ["positive"], ["distance"]), node("Mul", ["distance", "by_sigma"], ["exponent"]),
        node("Softmax", ["exponent"], ["weight"], axis=1), node("Unsqueeze", ["weight", "last"], ["weight3"]),
        node("Gather", ["residuals", "rows"], ["found"]), node("Mul", ["found", "weight3"], ["parts"]),
        node("ReduceSum", ["parts", "middle"], ["correction"], keepdims=0),
        node("Mul", ["f", "by_t"], ["scaled"]), node("Softmax", ["scaled"], ["believed"], axis=1),
        node("Add", ["believed", "correction"], ["scores"]))
    return onnx_files.model(*nodes, *(onnx_files.weights(name, value) for name, value in floats.items()),
                            *(whole_numbers(name, value) for name, value in integers.items()),
                            onnx_files.value_info(11, "x", ["n", DIM]),
                            onnx_files.value_info(12, "scores", ["n", CLASSES]))


def main(resmem, sizes):
    print(f"{platform.processor() or platform.machine()}, {QUERIES} queries, {DIM} values, {CLASSES} classes, k = {K}")
    print("| rows | ONNX file | memory's folder | folded graph, ms a query | resmem predict, ms a query "
          "| largest difference | other answers |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for rows in sizes:
        with tempfile.TemporaryDirectory(prefix="resmem_onnx_") as name:
            folder = pathlib.Path(name)
            random = np.random.default_rng(1)
            centers = np.abs(random.standard_normal((CLASSES, DIM)))
            head = random.standard_normal((DIM, CLASSES)).astype(np.float32)

            def draw(count):
                labels = random.integers(0, CLASSES, count)
                return np.abs(centers[labels] + 0.3 * random.standard_normal((count, DIM))).astype(np.float32), labels

            (x, labels), (queries, _) = draw(rows), draw(QUERIES)
            np.save(folder / "x.npy", x), np.save(folder / "y.npy", labels), np.save(folder / "q.npy", queries)
            (folder / "raw.onnx").write_bytes(base(head))
            run(resmem, "model", "prepare", "raw.onnx", "-o", "base.onnx", "--embedding", "z", "--quiet", cwd=folder)
            run(resmem, "memorize", "--inputs", "x.npy", "--labels", "y.npy", "--model", "base.onnx", "--k", str(K),
                "--sigma", str(SIGMA), "--temperature", str(T), "-o", "m.resmem", "--quiet", cwd=folder)
            run(resmem, "export", "m.resmem", "-o", "memory.npz", "--quiet", cwd=folder)
            with np.load(folder / "memory.npz") as memory:
                (folder / "folded.onnx").write_bytes(fold(head, memory))
            run(resmem, "model", "prepare", "folded.onnx", "-o", "whole.onnx", "--embedding", "z", "--logits", "scores",
                "--quiet", cwd=folder)
            # What it costs to open everything, for 2 queries, is subtracted.
            np.save(folder / "two.npy", queries[:2])
            opening = run(resmem, "embed", "whole.onnx", "two.npy", "-o", "two", "--quiet", cwd=folder)
            folded = run(resmem, "embed", "whole.onnx", "q.npy", "-o", "folded", "--quiet", cwd=folder)
            ask = [resmem, "predict", "m.resmem", "--method", "resmem", "--quiet", "-o", "p.csv"]
            few = run(*ask, "--inputs", "two.npy", cwd=folder)
            ours = run(*ask, "--inputs", "q.npy", "--scores", "s.npy", cwd=folder)
            scores, theirs = np.load(folder / "s.npy"), np.load(folder / "folded/logits.npy")
            other = int((scores.argmax(1) != theirs.argmax(1)).sum())
            megabytes = [(folder / "whole.onnx").stat().st_size / 1e6,
                         sum(f.stat().st_size for f in (folder / "m.resmem").rglob("*")) / 1e6]
            print(f"| {rows:,} | {megabytes[0]:.1f} MB | {megabytes[1]:.1f} MB | {1000 * (folded - opening) / QUERIES:.2f} "
                  f"| {1000 * (ours - few) / QUERIES:.2f} | {np.abs(scores - theirs).max():.1e} | {other} of {QUERIES} |")


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()),
         [int(size) for size in (sys.argv[2] if len(sys.argv) > 2 else "1000,10000,50000").split(",")])
