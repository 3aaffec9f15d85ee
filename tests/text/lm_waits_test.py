"""Two processes that make one token memory: the second is refused, or waits.  What fails after the work was
done says that it is there.

    lm_waits_test.py RESMEM
"""
import fcntl
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "corrupt"))
import token_memory

RESMEM, SKIPPED = os.path.abspath(sys.argv[1]), 77


def run(folder, *words, stdout=subprocess.PIPE):
    return subprocess.run([RESMEM, *words], cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120)


def must(folder, *words):
    done = run(folder, *words)
    assert done.returncode == 0, f"{words}: {done.stderr}"


class Waits(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        token_memory.write(self.folder, must)
        self.words = ["lm", "memorize", "train.tokens", "--model", "lm.onnx", "--window", "24"]

    def test_the_second_is_refused_or_waits(self):
        with open(self.folder / "held.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for extra in ([], ["--wait", "0.2"]):
                refused = run(self.folder, *self.words, *extra, "-o", "held")
                self.assertEqual(refused.returncode, 4, refused.stderr)
                self.assertIn("held: another process is memorizing into it", refused.stderr)
            timer = threading.Timer(0.3, fcntl.flock, (lock, fcntl.LOCK_UN))
            timer.start()
            must(self.folder, *self.words, "--wait", "60", "-o", "held")
            timer.join()

    def test_what_fails_after_the_work_says_that_it_is_done(self):
        for words, left in (([*self.words, "-o", "full"], "the memory is complete"),
                            (["lm", "tokens", "test.jsonl", "--tokenizer", "t.model", "-o", "full.tokens"],
                             "the tokens are complete")):
            with open("/dev/full", "w") as full:
                failed = run(self.folder, *words, stdout=full)
            self.assertEqual(failed.returncode, 4, failed.stderr)
            self.assertIn(f"; {left}", failed.stderr)


if __name__ == "__main__":
    if "CI" not in os.environ and subprocess.run([RESMEM, "runtime", "info"], capture_output=True).returncode == 3:
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
