"""Compressed memories, read by docs/memory_format.md alone, against what resmem answers: equal to 1e-6.

    compressed_test.py RESMEM      the path of the command
"""
import json
import pathlib
import struct
import sys
import unittest

import numpy as np

import definitions as df
import numpy_test

TYPES = {1: np.uint8, 2: np.int8, 3: np.uint16, 4: np.int32, 5: np.uint32, 6: np.uint64,
         7: np.float16, 8: np.float32}


def sections(path):
    """Section 2 of the page: every section of a container, as an array of rows x columns."""
    data = path.read_bytes()
    count = struct.unpack_from("<I", data, 20)[0]
    found = {}
    for i in range(count):
        name, kind, _, rows, columns, offset, size, _ = struct.unpack_from("<16sIIQQQQQ", data, 64 + 64 * i)
        values = np.frombuffer(data, TYPES[kind], rows * columns, offset)
        assert values.nbytes == size
        found[name.rstrip(b"\0").decode()] = values.reshape(rows, columns)
    return found


def manifest(folder):
    return json.loads(bytes(sections(folder / "MANIFEST")["json"]))


class Segment:
    """Section 3: what the rows of a compressed segment are."""

    def __init__(self, path, outputs, dim):
        self.s = sections(path)
        self.outputs, self.dim = outputs, dim
        self.rows = len(self.s["counts"])

    def keys(self):
        packed = self.s["keys"]
        numbers = np.empty((self.rows, 2 * packed.shape[1]), np.float32)
        numbers[:, 0::2], numbers[:, 1::2] = packed & 15, packed >> 4
        steps = self.s["key_scales"] * (numbers[:, :self.dim] - np.float32(7.5))
        return self.s["key_center"] + steps

    def ids(self):
        if "ids" in self.s:
            return self.s["ids"][:, 0]
        runs = self.s["id_runs"].astype(np.int64)
        ends = np.append(runs[1:, 0], self.rows)
        return np.concatenate([first + np.arange(end - row)
                               for (row, first), end in zip(runs, ends)])

    def residuals(self):
        width = self.s["entries"].shape[1]
        counts, starts = self.s["counts"][:, 0].astype(int), self.s["starts"][:, 0].astype(int)
        table = np.float32(2.0) ** (-np.arange(128, dtype=np.float64) / 10)
        table = np.concatenate([table, -table]).astype(np.float32)
        residuals = np.zeros((self.rows, self.outputs))
        for row in range(self.rows):
            group = row - row % 64
            first = starts[row // 64] + counts[group:row].sum()
            entries = self.s["entries"][first:first + counts[row]].tobytes()
            m = counts[row]
            for i in range(m):
                one = int.from_bytes(entries[i * (width - 1):(i + 1) * (width - 1)], "little")
                residuals[row, one] = table[entries[m * (width - 1) + i]]
        return residuals


class CompressedTest(numpy_test.Case):
    def compress(self, *arguments):
        self.memorize("m.resmem", "--overwrite")
        self.run_resmem("compress", "m.resmem", "-o", "small.resmem", "--overwrite", "--data", "test.npz",
                        "--loss", 100, "--perplexity-loss", 10000, *arguments)
        self.small = self.path / "small.resmem"
        self.manifest = manifest(self.small)
        names = [entry["file"] for entry in self.manifest["segments"]]
        self.assertEqual(len(names), 1)
        return Segment(self.small / names[0], self.manifest["outputs"], self.manifest["dim"])

    def expect_numpys_scores(self, segment):
        rows, distances = df.nearest(segment.keys(), self.test["keys"], numpy_test.K)
        expected = df.softmax(self.test["logits"], numpy_test.T) + \
            df.correction(segment.residuals(), rows, distances, numpy_test.SIGMA)
        np.testing.assert_allclose(self.scores("small.resmem"), expected, atol=1e-6, rtol=0)

    def test_scores_are_those_of_the_page(self):
        segment = self.compress("--shares", "0.9", "--least", "0.05")
        self.assertEqual(self.manifest["compressed"]["key_type"], "int4")
        self.assertEqual(self.manifest["compressed"]["residual_form"], "packed")
        self.expect_numpys_scores(segment)
        np.testing.assert_array_equal(segment.ids(), np.arange(len(self.train["labels"])))
        np.testing.assert_array_equal(segment.s["labels"][:, 0], self.train["labels"])

    def test_entries_hold_the_share_of_the_mass_and_thin_rows_hold_none(self):
        for share, least in ((0.6, 0.0), (0.9, 0.3)):
            with self.subTest(share=share, least=least):
                segment = self.compress("--shares", share, "--least", least)
                truth = df.residuals(self.train["logits"], self.train["labels"], numpy_test.T)
                found = segment.residuals()
                mass = np.abs(truth).sum(axis=1)
                thin = mass / 2 < least
                self.assertEqual(thin.any(), least > 0)
                np.testing.assert_array_equal((found != 0).any(axis=1), ~thin)
                kept = np.where(found != 0, np.abs(truth), 0)
                self.assertTrue((kept.sum(axis=1) >= share * mass - 1e-6)[~thin].all())
                # One entry less would not hold it.
                least_kept = np.where(found != 0, np.abs(truth), np.inf).min(axis=1)
                self.assertTrue((kept.sum(axis=1) - least_kept < share * mass + 1e-6)[~thin].all())
                np.testing.assert_allclose(found[found != 0], truth[found != 0], rtol=0.036)
                dropped = segment.s["packed_dropped"][:, 0].astype(float)
                np.testing.assert_allclose(dropped, mass - kept.sum(axis=1), atol=1e-3)

    def test_after_deleting_appending_and_compacting(self):
        self.compress("--shares", "0.8", "--least", "0")
        center = Segment(self.small / self.manifest["segments"][0]["file"], 8, 5).s["key_center"]
        self.run_resmem("delete", "small.resmem", "--ids", "3,4,200")
        self.run_resmem("append", "small.resmem", "--data", "test.npz")
        self.run_resmem("compact", "small.resmem")
        self.run_resmem("verify", "small.resmem")
        name = manifest(self.small)["segments"][0]["file"]
        segment = Segment(self.small / name, 8, 5)
        np.testing.assert_array_equal(segment.s["key_center"], center)
        expected = [i for i in range(650) if i not in (3, 4, 200)]
        np.testing.assert_array_equal(segment.ids(), expected)
        self.assertIn("id_runs", segment.s)
        self.expect_numpys_scores(segment)


if __name__ == "__main__":
    numpy_test.RESMEM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
