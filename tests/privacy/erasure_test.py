"""What a memory forgets is gone from the disk: after 'delete' and 'compact' no file of its folder holds a
byte pattern of the row, index and dropped snapshots included.  And: nobody but its owner can read what is
written under a closed umask, and the service's log holds nothing of what it was asked or taught.

    erasure_test.py RESMEM

The patterns: the row's key as f32 and f16, its logits, its id, its source; and every run of 8 bytes by
which the memory with the row differed from the same memory without it, its codes in the index among them.
"""
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np

from secret_row import SECRET_ID, SecretRow, all_runs, bytes_of, harness, resmem


class Erasure(SecretRow):
    def check_erased(self, *prepare):
        for words in prepare:
            resmem(*words)
        without = all_runs(bytes_of(self.memory))
        resmem("append", self.memory, "--data", self.folder / "secret.npz", "--quiet")
        for name in ("key as f32", "id", "source", "logits"):
            self.assertIn(name, self.found(), "the row is not where it is looked for")
        traces = np.setdiff1d(all_runs(bytes_of(self.memory)), without)
        self.assertGreater(traces.size, 20)
        self.erase()
        self.assertEqual(self.found(), [])
        left = np.intersect1d(traces, all_runs(bytes_of(self.memory)))
        self.assertEqual(left.size, 0, f"{left.size} runs of bytes of the row are left")

    def test_a_deleted_row_is_gone_after_compact(self):
        self.check_erased()

    def test_a_deleted_row_is_gone_from_the_index(self):
        self.check_erased(("index", self.memory, "--recall", "0.9", "--quiet"))

    def test_a_deleted_row_is_gone_from_a_frozen_memory(self):
        resmem("append", self.memory, "--data", self.folder / "secret.npz", "--quiet")
        resmem("delete", self.memory, "--ids", SECRET_ID, "--quiet")
        resmem("compact", self.memory, "--freeze", "--quiet")
        self.assertEqual(self.found(), [])

    def test_delete_alone_keeps_it_and_compact_is_what_erases(self):
        resmem("append", self.memory, "--data", self.folder / "secret.npz", "--quiet")
        resmem("delete", self.memory, "--ids", SECRET_ID, "--quiet")
        self.assertIn("key as f32", self.found())

    def test_a_snapshot_keeps_it_until_it_is_dropped(self):
        resmem("append", self.memory, "--data", self.folder / "secret.npz", "--quiet")
        resmem("snapshot", "take", self.memory, "before", "--quiet")
        self.erase()
        self.assertIn("key as f32", self.found())
        resmem("snapshot", "drop", self.memory, "before", "--quiet")
        self.assertEqual(self.found(), [])


class ClosedToOthers(unittest.TestCase):
    def test_under_a_closed_umask_no_file_is_open_to_others(self):
        former = os.umask(0o077)
        try:
            with tempfile.TemporaryDirectory(prefix="resmem_modes_", dir=harness.fixtures.FAST) as name:
                folder = pathlib.Path(name)
                memory = harness.make_memory(folder)
                np.savez(folder / "more.npz", **harness.rows(20, seed=5))
                resmem("append", memory, "--data", folder / "more.npz", "--quiet")
                resmem("delete", memory, "--ids", "1001,1002", "--quiet")
                resmem("index", memory, "--recall", "0.9", "--quiet")
                resmem("snapshot", "take", memory, "now", "--quiet")
                resmem("compact", memory, "--quiet")
                resmem("export", memory, "-o", folder / "x.npz", "--quiet")
                resmem("eval", memory, "--data", folder / "validation.npz", "--report", folder / "r.html", "--save",
                       folder / "r.json", "--quiet")
                resmem("predict", memory, "--data", folder / "validation.npz", "-o", folder / "p.csv", "--quiet")
                opened = [str(path) for path in folder.rglob("*") if path.lstat().st_mode & 0o077]
                self.assertEqual(opened, [])
        finally:
            os.umask(former)

    def test_a_memory_that_was_closed_stays_closed(self):
        with tempfile.TemporaryDirectory(prefix="resmem_modes_", dir=harness.fixtures.FAST) as name:
            folder = pathlib.Path(name)
            memory = harness.make_memory(folder)
            for path in [memory, *memory.rglob("*")]:
                path.chmod(0o700 if path.is_dir() else 0o600)
            np.savez(folder / "more.npz", **harness.rows(20, seed=5))
            resmem("append", memory, "--data", folder / "more.npz", "--quiet")
            resmem("delete", memory, "--ids", "1001,1002", "--quiet")
            resmem("index", memory, "--recall", "0.9", "--quiet")
            resmem("compact", memory, "--quiet")
            opened = [path.name for path in memory.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
            self.assertEqual(opened, [])


@unittest.skipUnless(harness.RESMEM and (harness.RESMEM.parent / "resmem-serve").exists(), "the service is not built")
class Logs(unittest.TestCase):
    def test_the_log_holds_nothing_of_what_was_asked_or_taught(self):
        with tempfile.TemporaryDirectory(prefix="resmem_logs_") as name:
            folder = pathlib.Path(name)
            harness.make_memory(folder)
            server = harness.Server(folder, "--access-log", "--edit-rest", "0")
            try:
                odd = [123.4567, -98.7654, 55.4433, 1, 2, 3, 4, 5]
                asked = {"keys": [odd], "logits": [[17.1819, 2, 3, 4]]}
                lesson = {**asked, "labels": [1], "ids": [987654321012]}
                self.assertEqual(server.ask("POST", "/v1/memories/m/learn", lesson)[0], 200)
                self.assertEqual(server.ask("POST", "/v1/memories/m/explain", asked)[0], 200)
                wrong = {**lesson, "labels": [99], "ids": [987654321013]}
                self.assertEqual(server.ask("POST", "/v1/memories/m/learn", wrong)[0], 400)
                self.assertEqual(server.ask("POST", "/v1/memories/m/explain", '{"keys": [[123.4567 17.18')[0], 400)
                self.assertEqual(server.stop(), 0)
            finally:
                server.stop(kind=9)
            log = server.log_path.read_text()
            self.assertIn("listening", log)
            for secret in ("123.45", "98.765", "17.18", "98765432101"):
                self.assertNotIn(secret, log)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
