"""What Python costs: one call's overhead, and predict_proba beside scikit-learn's k-NN and the command line.

    OMP_NUM_THREADS=2 PYTHONPATH=python /usr/bin/python3 bench/python.py --resmem build/release/cli/resmem

Every answer is checked before it is timed; the best of five runs is printed."""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import resmem


def best_seconds(work, runs=5):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def call_overhead():
    """A memory of one row: what is left is the call."""
    one = np.zeros((1, 2), np.float32)
    memory = resmem.Memory.build(one, one, [0], k=1)
    assert memory.scores(one, one).shape == (1, 2)
    count = 20_000

    def info():
        for _ in range(count):
            memory._info()

    def scores():
        for _ in range(count):
            memory.scores(one, one)

    return {"info_us": 1e6 * best_seconds(info) / count, "scores_of_one_row_us": 1e6 * best_seconds(scores) / count}


def against_sklearn(command):
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((100, 64)).astype(np.float32)
    labels = rng.integers(0, 100, 60_000)
    keys = centers[labels] + rng.standard_normal((60_000, 64)).astype(np.float32)
    logits = np.zeros((60_000, 100), np.float32)
    k, sigma = 53, 0.7
    memory = resmem.Memory.build(keys[:50_000], logits[:50_000], labels[:50_000], k=k, sigma=sigma)
    peer = KNeighborsClassifier(k, weights=lambda d: np.exp(-(d - d.min(axis=1, keepdims=True)) / sigma),
                                algorithm="brute", n_jobs=-1).fit(keys[:50_000], labels[:50_000])
    queries, zeros = keys[50_000:], logits[50_000:]
    ours = memory.predict_proba(queries, zeros, method="knn")
    theirs = peer.predict_proba(queries[:500])
    assert np.abs(ours[:500] - theirs).max() < 1e-3, "the answers differ"
    result = {"resmem_s": best_seconds(lambda: memory.predict_proba(queries, zeros)),
              "knn_of_ours_s": best_seconds(lambda: memory.predict_proba(queries, zeros, method="knn")),
              "KNeighborsClassifier_s": best_seconds(lambda: peer.predict_proba(queries), runs=3)}
    result["times_faster"] = result["KNeighborsClassifier_s"] / result["resmem_s"]
    if command:
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            memory.save(home / "m.resmem")
            np.savez(home / "q.npz", keys=queries, logits=zeros)
            line = [command, "predict", home / "m.resmem", "--data", home / "q.npz", "--scores", home / "s.npy",
                    "-o", home / "lines.csv"]
            result["command_s_with_start_and_csv"] = best_seconds(lambda: subprocess.run(line, check=True))
            assert np.array_equal(np.load(home / "s.npy"), memory.scores(queries, zeros)), "other bits"
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--resmem", help="the command, to compare with")
    arguments = parser.parse_args()
    print(json.dumps({"version": resmem.__version__, **call_overhead(), **against_sklearn(arguments.resmem)}, indent=1))


if __name__ == "__main__":
    main()
