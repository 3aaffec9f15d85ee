"""`lm tokens` and `lm memorize`, killed before every single change that they make to the disk: the
same command again ends with the bytes of an unbroken run, and leaves nothing else behind.

    killed_test.py RESMEM KILL_AT_LIBRARY
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

RESMEM = KILL_AT = None
MOST_POINTS = 60


class KilledTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "numbers.jsonl").write_text("".join(
            json.dumps({"text": f"the number {i} is a number and the next one is {i + 1}"}) + "\n" for i in range(40)))
        cls.resmem("tokenizer", "train", "numbers.jsonl", "--pieces", "48", "-o", "t.model")
        cls.resmem("lm", "tokens", "numbers.jsonl", "--tokenizer", "t.model", "-o", "n.tokens")
        cls.resmem("lm", "train", "n.tokens", "--network", "t5-d32-l1-h1-f32", "--context", "16", "-o", "run")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def resmem(cls, *words, check=True, **environment):
        if environment:
            environment = {"LD_PRELOAD": KILL_AT, **environment}
        done = subprocess.run([RESMEM, *words], cwd=cls.folder, capture_output=True, text=True,
                              env={**os.environ, **environment})
        if check and done.returncode != 0:
            raise AssertionError(f"resmem {' '.join(words)}: {done.returncode}\n{done.stderr}")
        return done

    def bytes_of(self, output):
        path = self.folder / output
        if path.is_file():
            return path.read_bytes()
        # The manifest holds the time.
        return {p.name: p.read_bytes() for p in sorted(path.iterdir()) if p.name != "MANIFEST"}

    def kill_everywhere(self, *command):
        """The command without -o OUTPUT.  Gives how many kills there were."""
        name = command[1]
        self.resmem(*command, "-o", f"{name}.whole", KILL_COUNT="count")
        points = int((self.folder / "count").read_text())
        self.assertGreater(points, 10)
        whole = self.bytes_of(f"{name}.whole")
        step = -(-points // MOST_POINTS)
        kills = 0
        for point in range(1, points + 1, step):
            output = f"{name}.cut{point}.out"
            killed = self.resmem(*command, "-o", output, check=False, KILL_AT=str(point))
            if killed.returncode == -signal.SIGKILL:
                kills += 1
            again = self.resmem(*command, "-o", output, check=False)
            self.assertEqual(again.returncode, 0, f"killed before change {point} of {points}:\n{again.stderr}")
            self.assertTrue(self.bytes_of(output) == whole, f"killed before change {point} of {points}")
            left = [p.name for p in self.folder.iterdir() if output in p.name and p.name != output]
            self.assertEqual(left, [], f"killed before change {point} of {points}")
        return kills

    def test_tokens(self):
        self.assertGreater(self.kill_everywhere("lm", "tokens", "numbers.jsonl", "--tokenizer", "t.model"), 8)

    def test_memorize(self):
        self.assertGreater(self.kill_everywhere("lm", "memorize", "n.tokens", "--model", "run/last.onnx", "--window", "16",
                                                "--stride", "12", "--top", "8", "--segment-rows", "300"), 20)

    def test_a_tokenizer_leaves_nothing_that_the_next_attempt_keeps(self):
        left = self.folder / ".resmem-tokenizer-again.model"
        left.mkdir()
        (left / "sample.txt").write_text("of an attempt that was killed")
        self.resmem("tokenizer", "train", "numbers.jsonl", "--pieces", "48", "-o", "again.model")
        self.assertFalse(left.exists())
        self.assertEqual(self.bytes_of("again.model"), self.bytes_of("t.model"))

    def test_a_run_has_one_trainer(self):
        command = [RESMEM, "lm", "train", "n.tokens", "--network", "t5-d64-l2-h2-f256", "--context", "64", "--batch", "1",
                   "--passes", "40", "-o", "contested"]
        first = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (self.folder / "contested/run.lock").exists():
                self.assertIsNone(first.poll())
            second = self.resmem(*command[1:], check=False)
            self.assertEqual(second.returncode, 4, second.stderr)
            self.assertIn("another process is training in this folder", second.stderr)
        finally:
            first.kill()
            first.wait()


if __name__ == "__main__":
    RESMEM, KILL_AT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
