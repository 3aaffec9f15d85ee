"""Shards by plain processes: any number of them answers as one memory, bit for bit, and every step
that is killed, before any change that it makes to the disk, goes on when it is run again.

    shard_test.py RESMEM KILL_AT_LIBRARY
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import shard_files

RESMEM = KILL_AT = None
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/shard"
MOST_POINTS = 8  # of a step


class ShardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.place = shard_files.Place(cls.scratch.name, RESMEM)
        cls.folder = cls.place.folder
        cls.one = cls.place.one_memory()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_any_number_of_shards_answers_as_one_memory(self):
        expected = (self.folder / "one.npz").read_bytes()
        for shards in (1, 3, 4, 17):
            folder = f"work{shards}"
            self.place.plan(folder, shards)
            evaluation = self.place.run_all(folder, shards)
            self.assertTrue((self.folder / f"{folder}.npz").read_bytes() == expected, f"{shards} shards")
            self.assertEqual(evaluation, self.one, f"{shards} shards")

    def test_shards_end_where_documents_end(self):
        self.place.plan("seven", 7)
        plan = json.loads((self.folder / "seven/plan.json").read_text())
        ends = np.cumsum([len(ids) - 1 for ids in self.documents("train.tokens")])
        for shard in plan["shards"]:
            self.assertEqual(shard["rows"][1], ends[shard["documents"][1] - 1])
        rows = [shard["rows"][1] - shard["rows"][0] for shard in plan["shards"]]
        longest = max(np.diff([0, *ends]))
        self.assertLess(max(rows) - min(rows), 2 * longest)
        refused = self.place.resmem("shard", "plan", "more", "--shards", "91", "--tokens", "train.tokens",
                                    *shard_files.MODEL, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("91 shards of 90 documents", refused.stderr)

    def documents(self, name):
        sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "text"))
        from token_set_file import documents
        return documents(self.folder / name)[0]

    def test_approximate_shards_keep_the_recall(self):
        self.place.plan("near", 3, "--recall", "0.9", "--held-out", "valid.tokens")
        self.place.run_all("near", 3)
        truth, found = np.load(self.folder / "one.npz"), np.load(self.folder / "near.npz")
        right = (found["distances"] <= truth["distances"][:, -1:]).mean()
        self.assertGreaterEqual(right, 0.9)
        again = self.place.resmem("shard", "index", "near", "2/3")
        self.assertIn("before", again.stdout)

    def test_arrays_too(self):
        random = np.random.default_rng(5)
        for name, rows in (("a", 300), ("b", 60)):
            keys = random.integers(0, 3, (rows, 6)).astype(np.float32)  # many equal distances
            np.savez(self.folder / f"{name}.npz", keys=keys, logits=random.standard_normal((rows, 4)).astype(np.float32),
                     labels=random.integers(0, 4, rows).astype(np.int32), ids=1000 + np.arange(rows)[::-1])
        self.place.resmem("memorize", "--data", "a.npz", "--key-transform", "unit", "-o", "a.resmem")
        self.place.resmem("neighbors", "a.resmem", "--data", "b.npz", "-o", "a.neighbors.npz")
        one = shard_files.judged(self.place.resmem("eval", "a.resmem", "--data", "b.npz", "--json").stdout)
        self.place.resmem("shard", "plan", "arrays", "--shards", "5", "--data", "a.npz", "--queries", "b.npz",
                          "--key-transform", "unit")
        self.assertEqual(self.place.run_all("arrays", 5), one)
        self.assertTrue((self.folder / "arrays.npz").read_bytes() == (self.folder / "a.neighbors.npz").read_bytes())

    def kill_everywhere(self, name, state, *command):
        """Runs the command on copies of the folder `state`; gives the folder after an unbroken run."""
        whole, count = f"{name}.whole", str(self.folder / "count")
        words = lambda folder: [folder if word == "FOLDER" else word for word in command]
        prepare = lambda folder: self.place.copy(state, folder) if state else shutil.rmtree(
            self.folder / folder, ignore_errors=True)
        prepare(whole)
        self.place.resmem(*words(whole), LD_PRELOAD=KILL_AT, KILL_COUNT=count)
        points = int(pathlib.Path(count).read_text())
        expected = self.place.bytes_of(whole)
        kills = 0
        for point in range(1, points + 1, -(-points // MOST_POINTS)):
            prepare("cut")
            killed = self.place.resmem(*words("cut"), check=False, LD_PRELOAD=KILL_AT, KILL_AT=str(point))
            kills += killed.returncode == -signal.SIGKILL
            again = self.place.resmem(*words("cut"), check=False)
            self.assertEqual(again.returncode, 0, f"{name}, killed before change {point} of {points}:\n{again.stderr}")
            self.assertTrue(self.place.bytes_of("cut") == expected, f"{name}, killed before change {point} of {points}")
        self.assertGreaterEqual(kills, min(points, MOST_POINTS) // 2, name)
        return whole

    def test_every_step_is_killed_and_run_again(self):
        plan = ["shard", "plan", "FOLDER", "--shards", "2", "--tokens", "train.tokens", "--queries", "test.tokens",
                *shard_files.MODEL, *shard_files.MEMORY, "--recall", "0.9"]
        state = self.kill_everywhere("plan", None, *plan)
        for step in ("memorize", "index", "search"):
            state = self.kill_everywhere(step, state, "shard", step, "FOLDER", "2/2")
            self.place.resmem("shard", step, state, "1/2")
        state = self.kill_everywhere("merge", state, "shard", "merge", "FOLDER")
        self.kill_everywhere("eval", state, "shard", "eval", "FOLDER", "--save", "saved.json")

    def test_two_processes_never_make_one_shard(self):
        self.place.plan("contested", 1)
        both = [subprocess.Popen([RESMEM, "shard", "memorize", "contested", "1/1"], cwd=self.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        codes = sorted(process.wait() for process in both)
        for process in both:
            process.stderr.close()
        self.assertEqual(codes[0], 0)
        self.assertIn(codes[1], (0, 4))  # refused, or it came after the first one
        self.place.resmem("verify", "contested/shards/shard-0001-of-0001.resmem")

    def test_parts_that_are_none(self):
        self.place.plan("parts", 2)
        for part in ("0/2", "3/2", "1/3", "1", "a/b", "1/2/2"):
            refused = self.place.resmem("shard", "memorize", "parts", part, check=False)
            self.assertEqual(refused.returncode, 2, part)
            self.assertIn("give 1/2 to 2/2", refused.stderr)

    def test_the_script_for_gnu_parallel(self):
        if shutil.which("parallel") is None:
            self.skipTest("GNU parallel is not installed")
        self.place.plan("script work", 3)
        for _ in range(2):  # again: nothing to do
            subprocess.run([EXAMPLES / "parallel.sh", "script work", "3", "--jobs", "2"], cwd=self.folder, check=True,
                           capture_output=True, env={**os.environ, "RESMEM": RESMEM})
        saved = (self.folder / "script work/evaluation.json").read_text()
        self.assertEqual(shard_files.judged(saved), self.one)


if __name__ == "__main__":
    RESMEM, KILL_AT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
