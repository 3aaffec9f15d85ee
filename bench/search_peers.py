"""Exact search by NumPy and by scikit-learn on the arrays that bench_search wrote.

Usage: search_peers.py FOLDER.  Prints lines "name queries k seconds".
"""

import sys
import time

import numpy as np
from sklearn.neighbors import NearestNeighbors


def median_seconds(run):
    times = []
    while len(times) < 5 and sum(times) < 1.0:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def numpy_search(keys, norms, queries, k):
    distances = norms - 2 * (queries @ keys.T)
    part = np.argpartition(distances, k - 1, axis=1)[:, :k]
    order = np.argsort(np.take_along_axis(distances, part, axis=1), axis=1)
    return np.take_along_axis(part, order, axis=1)


def main():
    keys = np.load(sys.argv[1] + "/keys.npy")
    queries = np.load(sys.argv[1] + "/queries.npy")
    norms = np.einsum("ij,ij->i", keys, keys)
    index = NearestNeighbors(algorithm="brute", metric="euclidean").fit(keys)
    for k in (10, 50):
        for batch in (queries[:1], queries):
            runs = {
                "NumPy": lambda: numpy_search(keys, norms, batch, k),
                "scikit-learn": lambda: index.kneighbors(batch, n_neighbors=k),
            }
            for name, run in runs.items():
                print(name, len(batch), k, median_seconds(run), flush=True)


main()
