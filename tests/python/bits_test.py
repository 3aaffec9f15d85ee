"""The same arrays give the same bits by Python, by C and by the command line.

bits_test.py RESMEM PREDICT_C"""
import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from problems import clusters
from resmem import Memory

RESMEM, PREDICT_C = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))


class Bits(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.arrays = clusters(900)
        for part, begin, end in (("train", 0, 500), ("val", 500, 700), ("test", 700, 900)):
            np.savez(self.folder / f"{part}.npz", keys=self.arrays[0][begin:end], logits=self.arrays[1][begin:end],
                     labels=self.arrays[2][begin:end])
        self.train, self.val, self.test = ([a[b:e] for a in self.arrays]
                                           for b, e in ((0, 500), (500, 700), (700, 900)))

    def command(self, *arguments):
        return subprocess.run([RESMEM, *map(str, arguments)], check=True, capture_output=True, text=True,
                              cwd=self.folder).stdout

    def by_command(self, path, name):
        self.command("predict", path, "--data", "test.npz", "--scores", name, "-o", "lines.csv")
        with open(self.folder / "lines.csv", newline="") as file:
            return np.load(self.folder / name), list(csv.DictReader(file))

    def by_c(self, path):
        for name, array in zip(("keys", "logits"), self.test):
            array.tofile(self.folder / name)
        subprocess.run([PREDICT_C, path, "keys", "logits", "200", "scores"], check=True, cwd=self.folder)
        return np.fromfile(self.folder / "scores", np.float32).reshape(200, 4)

    def compare(self, path, memory):
        scores, lines = self.by_command(path, "scores.npy")
        np.testing.assert_array_equal(memory.scores(*self.test[:2]), scores)
        np.testing.assert_array_equal(self.by_c(path), scores)
        column = "prediction" if "prediction" in lines[0] else "resmem"
        self.assertEqual(memory.predict(*self.test[:2]).tolist(), [int(line[column]) for line in lines])
        probability = memory.predict_proba(*self.test[:2]).max(axis=1)
        np.testing.assert_allclose(probability, [float(line["probability"]) for line in lines], rtol=1e-5)
        return scores

    def test_a_memory_of_the_command_line(self):
        self.command("memorize", "--data", "train.npz", "-o", "m.resmem", "--quiet")
        memory = Memory.build(*self.train)
        untuned = self.compare(self.folder / "m.resmem", memory)
        self.command("tune", "m.resmem", "--data", "val.npz", "--quiet")
        memory.tune(*self.val)
        tuned = self.compare(self.folder / "m.resmem", memory)
        self.assertTrue(np.any(tuned != untuned))

    def test_a_memory_of_python(self):
        memory = Memory.build(*self.train)
        memory.tune(*self.val)
        memory.append(*self.val)
        memory.delete(range(40))
        memory.save(self.folder / "p.resmem")
        self.compare(self.folder / "p.resmem", memory)
        self.command("verify", "p.resmem")
        self.assertEqual(Memory.open(self.folder / "p.resmem").info()["memory"]["rows"], 660)


if __name__ == "__main__":
    unittest.main()
