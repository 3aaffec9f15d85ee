"""Exact search by NumPy and by scikit-learn.  Arguments and output: see peer.h."""

import sys
import time

import numpy as np
from sklearn.neighbors import NearestNeighbors


def median_seconds(run):
    """Of run(0), run(1), ..., as often as timing.h does."""
    times = []
    while (len(times) < 3 and sum(times) < 6) or (len(times) < 500 and sum(times) < 0.5):
        start = time.perf_counter()
        run(len(times))
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def numpy_search(keys, norms, queries, k):
    distances = norms - 2 * (queries @ keys.T)
    part = np.argpartition(distances, k - 1, axis=1)[:, :k]
    order = np.argsort(np.take_along_axis(distances, part, axis=1), axis=1)
    return np.take_along_axis(part, order, axis=1)


def main():
    folder, threads, task = sys.argv[1:]
    if task != "exact":
        return
    keys = np.load(folder + "/keys.npy")
    queries = np.load(folder + "/queries.npy")
    truth = np.load(folder + "/truth.npy").reshape(len(queries), -1)
    norms = np.einsum("ij,ij->i", keys, keys)
    index = NearestNeighbors(algorithm="brute", metric="euclidean").fit(keys)
    searches = {
        "NumPy": lambda batch, k: numpy_search(keys, norms, batch, k),
        "scikit-learn": lambda batch, k: index.kneighbors(batch, k, return_distance=False),
    }
    for name, search in searches.items():
        for k in (10, 50):
            right = [np.isin(a, b[:k]).mean() for a, b in zip(search(queries[:100], k), truth)]
            for count in (1, len(queries)):

                def ask(i):
                    first = i * count % len(queries)
                    search(queries[first : first + count], k)

                fields = name, threads, count, k, median_seconds(ask), np.mean(right), 1, 0, "exact"
                print(*fields, sep="\t", flush=True)


main()
