"""A tiny language model of our own, its text as tokens, and one memory of all of it: what shards are
compared with."""
import json
import os
import pathlib
import shutil
import subprocess

import numpy as np

MODEL = ["--model", "run/last.onnx", "--engine", "native"]
MEMORY = ["--window", "16", "--stride", "12", "--top", "8", "--k", "9", "--segment-rows", "300"]
SHARDS = 4


class Place:
    """A folder with train, valid and test tokens and run/last.onnx."""

    def __init__(self, folder, resmem):
        self.folder, self.program = pathlib.Path(folder), resmem
        for name, seed, count in (("train", 1, 90), ("valid", 2, 40), ("test", 3, 20)):
            random = np.random.default_rng(seed)
            words = ["the", "memory", "of", "a", "model", "adds", "what", "was", "seen", "before"]
            (self.folder / f"{name}.jsonl").write_text("".join(
                json.dumps({"text": " ".join(random.choice(words, random.integers(1, 60)))}) + "\n" for _ in range(count)))
        self.resmem("tokenizer", "train", "train.jsonl", "--pieces", "28", "-o", "t.model")
        for name in ("train", "valid", "test"):
            self.resmem("lm", "tokens", f"{name}.jsonl", "--tokenizer", "t.model", "-o", f"{name}.tokens")
        self.resmem("lm", "train", "train.tokens", "--network", "t5-d32-l1-h1-f32", "--context", "16", "-o", "run")

    def resmem(self, *words, check=True, **environment):
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, **environment})
        if check and done.returncode != 0:
            raise AssertionError(f"resmem {' '.join(words)}: {done.returncode}\n{done.stderr}")
        return done

    def one_memory(self):
        """Makes one.resmem, one.npz (its neighbors) and gives its evaluation."""
        self.resmem("lm", "memorize", "train.tokens", *MODEL, *MEMORY, "-o", "one.resmem")
        self.resmem("lm", "neighbors", "one.resmem", "--tokens", "test.tokens", *MODEL, "-o", "one.npz")
        return judged(self.resmem("lm", "eval", "one.resmem", "--tokens", "test.tokens", *MODEL, "--json").stdout)

    def plan(self, folder, shards=SHARDS, *more):
        return self.resmem("shard", "plan", folder, "--shards", str(shards), "--tokens", "train.tokens",
                           "--queries", "test.tokens", *MODEL, *MEMORY, *more)

    def run_all(self, folder, shards=SHARDS):
        for step in ("memorize", "index", "search"):
            for shard in range(1, shards + 1):
                self.resmem("shard", step, folder, f"{shard}/{shards}")
        self.resmem("shard", "merge", folder, "-o", f"{folder}.npz")
        return judged(self.resmem("shard", "eval", folder, "--json").stdout)

    def copy(self, source, target):
        shutil.rmtree(self.folder / target, ignore_errors=True)
        shutil.copytree(self.folder / source, self.folder / target, symlinks=True)

    def bytes_of(self, name):
        """All files below, but for what holds the time, tells of the run, or is a lock of a killed process."""
        root = self.folder / name
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*"))
                if p.is_file() and p.name not in ("MANIFEST", "LOCK", "saved.json", "evaluation.json")}


def judged(document):
    """An evaluation but for how it was made."""
    result = json.loads(document)
    for name in ("run", "search_seconds", "score_seconds"):
        del result[name]
    return result
