"""What Python costs: one call's overhead, and predict_proba beside scikit-learn's k-NN and the command line.

    PYTHONPATH=python /usr/bin/python3 bench/python.py --resmem build/release/cli/resmem [--data arrays/test --train arrays/train]

Every answer is checked before it is timed; the best of several runs is printed, as a line for docs/measurements/python.md.
Without --data the keys are Gaussian clusters, which are harder to search than embeddings."""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import resmem
from resmem import _lib
from resmem._arrays import matrix_struct

K, SIGMA = 53, 0.7


def best_seconds(work, runs=5):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def microseconds(work, count=1000):
    def loop():
        for _ in range(count):
            work()
    return 1e6 * best_seconds(loop, runs=50) / count


def call_overhead():
    """A memory of one row, asked through Python and through C: the difference is Python's."""
    one = np.zeros((1, 2), np.float32)
    memory = resmem.Memory.build(one, one, [0], k=1)
    assert memory.scores(one, one).shape == (1, 2)
    answer = np.empty((1, 2), np.float32)
    options, asked = _lib.options_of(_lib.PredictOptions), matrix_struct(one)
    output = _lib.Output(answer.ctypes.data, 1, 2)
    arguments = (memory._open(), ctypes.byref(asked), ctypes.byref(asked), ctypes.byref(options), ctypes.byref(output), None)
    in_c = microseconds(lambda: _lib.lib.resmem_predict(*arguments))
    in_python = microseconds(lambda: memory.scores(one, one))
    return {"prediction_of_one_row_us": in_python, "the_same_by_c_us": in_c, "overhead_us": in_python - in_c}


def clusters():
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((100, 64)).astype(np.float32)
    labels = rng.integers(0, 100, 60_000)
    keys = centers[labels] + rng.standard_normal((60_000, 64)).astype(np.float32)
    logits = rng.standard_normal((60_000, 100)).astype(np.float32)
    return (keys[:50_000], logits[:50_000], labels[:50_000]), (keys[50_000:], logits[50_000:])


def arrays(train, data):
    def of(folder, name):
        return np.ascontiguousarray(np.load(pathlib.Path(folder) / f"{name}.npy"))
    return (of(train, "keys"), of(train, "logits"), of(train, "labels")), (of(data, "keys"), of(data, "logits"))


def against_sklearn(rows, queries, threads):
    keys, logits, labels = rows
    memory = resmem.Memory.build(keys, logits, labels, k=K, sigma=SIGMA)
    peer = KNeighborsClassifier(K, weights=lambda d: np.exp(-(d - d.min(axis=1, keepdims=True)) / SIGMA),
                                n_jobs=threads).fit(keys, labels)
    ours = memory.predict_proba(queries[0][:500], queries[1][:500], method="knn")
    theirs = peer.predict_proba(queries[0][:500])
    assert np.abs(ours[:, :theirs.shape[1]] - theirs).max() < 1e-3, "the answers differ"
    result = {"resmem_s": best_seconds(lambda: memory.predict_proba(*queries, threads=threads)),
              "KNeighborsClassifier_s": best_seconds(lambda: peer.predict_proba(queries[0]), runs=3)}
    result["times_faster"] = result["KNeighborsClassifier_s"] / result["resmem_s"]
    return memory, result


def against_command(memory, queries, command, threads):
    """The command with many rows less the command with one: starting and opening are not counted, text is."""
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        memory.save(home / "m.resmem")
        times = {}
        for name, count in (("all", len(queries[0])), ("one", 1)):
            np.savez(home / f"{name}.npz", keys=queries[0][:count], logits=queries[1][:count])
            line = [command, "predict", home / "m.resmem", "--data", home / f"{name}.npz", "--scores", home / "s.npy",
                    "-o", home / "lines.csv", "--any-model", "--threads", str(threads)]
            times[name] = best_seconds(lambda: subprocess.run(line, check=True))
            assert np.array_equal(np.load(home / "s.npy"), memory.scores(queries[0][:count], queries[1][:count])), "other bits"
        return {"command_s": times["all"] - times["one"], "command_with_start_s": times["all"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--resmem", help="the command, to compare with")
    parser.add_argument("--train", help="folder of keys.npy, logits.npy and labels.npy to remember")
    parser.add_argument("--data", help="folder of keys.npy and logits.npy to ask")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    rows, queries = arrays(arguments.train, arguments.data) if arguments.data else clusters()
    memory, result = against_sklearn(rows, queries, arguments.threads)
    if arguments.resmem:
        result.update(against_command(memory, queries, arguments.resmem, arguments.threads))
        result["python_over_command"] = result["resmem_s"] / result["command_s"]
    print(json.dumps({"version": resmem.__version__, "threads": arguments.threads, "rows": len(rows[0]), "queries": len(queries[0]),
                      **call_overhead(), **result}, indent=1))


if __name__ == "__main__":
    main()
