"""Where else a forgotten row could be left: in files of commands that were killed, in former keys, beside a bundled
model, in the folder of the service's edits.

    traces_test.py RESMEM KILL_AT_LIBRARY
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import numpy as np

from secret_row import SECRET_ID, SecretRow, harness, resmem

KILL_AT = os.path.abspath(sys.argv[2])


class Traces(SecretRow):
    def append_secret(self):
        resmem("append", self.memory, "--data", self.folder / "secret.npz", "--quiet")

    def kill_each_write(self, *words):
        """The memory after a kill before each change to the disk that the command makes."""
        first = self.folder / "first"
        shutil.copytree(self.memory, first)
        for point in range(1, 100):
            shutil.rmtree(self.memory)
            shutil.copytree(first, self.memory)
            run = subprocess.run([harness.RESMEM, *map(str, words), "--quiet"], capture_output=True, check=False,
                                 env={**os.environ, "LD_PRELOAD": KILL_AT, "KILL_AT": str(point)})
            if run.returncode == 0:
                self.assertGreater(point, 8)
                return
            yield point
        self.fail("the command has no end")

    def test_a_killed_append_leaves_nothing_once_the_memory_is_compacted(self):
        left_before = 0
        for point in self.kill_each_write("append", self.memory, "--data", self.folder / "secret.npz"):
            left_before += bool(self.found())
            held = subprocess.run([harness.RESMEM, "delete", self.memory, "--ids", str(SECRET_ID), "--quiet"],
                                  capture_output=True, check=False)
            self.assertIn(held.returncode, (0, 3))  # 3: the row never came in
            resmem("compact", self.memory, "--quiet")
            self.assertEqual(self.found(), [], f"killed before change {point}")
        self.assertGreater(left_before, 2, "no kill left anything that could be found")

    def test_a_killed_compact_leaves_nothing_once_it_is_repeated(self):
        self.append_secret()
        resmem("delete", self.memory, "--ids", SECRET_ID, "--quiet")
        for point in self.kill_each_write("compact", self.memory):
            resmem("compact", self.memory, "--quiet")
            self.assertEqual(self.found(), [], f"killed before change {point}")

    def test_former_keys_go_with_the_row(self):
        self.append_secret()
        tune = ("tune", self.memory, "--data", self.folder / "validation.npz", "--key-transform", "whiten", "--quiet")
        resmem(*tune)
        self.assertIn("key as f32", self.found(), "the former keys are not where they are looked for")
        self.erase()
        self.assertEqual(self.found(), [])

    def test_beside_a_bundled_model_too(self):
        train = dict(np.load(self.folder / "train.npz"))
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
        import onnx_files  # noqa: PLC0415
        (self.folder / "net.onnx").write_bytes(onnx_files.table(train["keys"], train["logits"]))
        (self.memory / "bundle").mkdir()
        shutil.copy(self.folder / "net.onnx", self.memory / "bundle" / "model.onnx")
        self.append_secret()
        self.erase()
        self.assertEqual(self.found(), [])


@unittest.skipUnless(harness.RESMEM and (harness.RESMEM.parent / "resmem-serve").exists(), "the service is not built")
class Service(SecretRow):
    def setUp(self):
        super().setUp()
        self.server = harness.Server(self.folder, "--edit-rest", "0")
        self.addCleanup(self.server.stop, kind=9)
        self.edits = self.folder / "m.resmem.edits"
        self.lesson = {**{name: array.tolist() for name, array in self.secret.items()}, "ids": [424242]}
        (self.folder / "secret.npz").unlink()

    def post(self, what, body):
        status, answer, _ = self.server.ask("POST", f"/v1/memories/m/{what}", body)
        self.assertEqual(status, 200, answer)
        return answer

    def erase_and_look(self):
        self.post("forget", {"ids": [424242], "keep_for_undo": False})
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(self.found(self.folder), [])

    def test_what_is_erased_is_in_no_file(self):
        self.post("learn", self.lesson)
        self.assertIn("key as f32", self.found())
        self.erase_and_look()

    def test_what_was_forgotten_and_undone_before_is_in_no_file_either(self):
        self.post("learn", self.lesson)
        forgotten = self.post("forget", {"ids": [424242]})
        self.assertIn("key as text", self.found(self.edits), "the rows kept for undo are not where they are looked for")
        self.post("undo", {"edit": forgotten["edit"]["edit"]})
        self.erase_and_look()

    def test_what_was_forgotten_and_learned_again_before_is_in_no_file_either(self):
        self.post("learn", self.lesson)
        self.post("forget", {"ids": [424242]})
        self.post("learn", self.lesson)
        self.erase_and_look()

    def test_what_was_relabeled_before_is_in_no_file_either(self):
        self.post("learn", self.lesson)
        self.post("relabel", {"ids": [424242], "labels": [(self.lesson["labels"][0] + 1) % 4]})
        self.assertIn("key as text", self.found(self.edits))
        self.erase_and_look()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
