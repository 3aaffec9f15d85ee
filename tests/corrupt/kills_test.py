"""Every command that writes, killed before each of its changes to the disk: every memory is then the old
one or the new one, every other file too, and the same command again ends as one that nobody killed.

    kills_test.py RESMEM KILL_AT_LIBRARY [POINTS] [COMMAND...]

POINTS (default 6, 0: every one) kills of a command, spread over all of them, and always the last
three, where a change is published.  COMMAND: only these, such as append.
"""
import collections
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "cli"))
import fixtures  # noqa: E402
import token_memory  # noqa: E402

RESMEM, KILL_AT = (os.path.abspath(name) for name in sys.argv[1:3])
POINTS = int(sys.argv[3]) if len(sys.argv) > 3 else 6
LAST = 3
SKIPPED = 77
BASE = (pathlib.Path(RESMEM).parent / "resmem-lab").exists()
MEMORIES = ("m", "tuned", "indexed", "versions", "pets", "tokens", "new")
GRID = ["--data", "validation.npz", "--grid-k", "3,9", "--grid-sigma", "0.5,1", "--grid-temperature", "1"]
# The command; `again`: what it needs besides to go on after a kill; `halfway`: the first of two changes that
# it makes.
Case = collections.namedtuple("Case", "words again runtime halfway", defaults=(None, False, None))
CASES = [
    Case(["append", "m", "--data", "more.npz"]),
    Case(["append", "indexed", "--data", "more.npz", "--token", "week47"]),
    Case(["append", "m", "--data", "fifth.npz", "--new-classes"]),
    Case(["delete", "m", "--ids", "1004,1005"]),
    Case(["compact", "m"]),
    Case(["compact", "m", "--freeze"]),
    Case(["tune", "m", *GRID]),
    Case(["tune", "m", *GRID, "--key-transform", "whiten"]),
    Case(["tune", "tuned", "--undo"]),
    Case(["index", "m", "--recall", "0.9"]),
    Case(["index", "indexed", "--remove"]),
    Case(["audit", "m", "--data", "test.npz", "--limit", "5", "--of", "suspects,twins,harmful", "--quarantine", "q.npz"]),
    Case(["memorize", "--data", "train.npz", "-o", "new"], again=["--overwrite"]),
    Case(["memorize", "--data", "train.npz", "-o", "m", "--overwrite"]),
    Case(["predict", "m", "--data", "test.npz", "-o", "p.csv", "--scores", "s.npy"]),
    Case(["eval", "m", "--data", "test.npz", "--save", "e.json", "--report", "e.html"]),
    Case(["audit", "m", "-o", "audit.csv"]),
    Case(["snapshot", "take", "m", "sunday"]),
    Case(["snapshot", "take", "versions", "sunday"]),
    Case(["snapshot", "drop", "versions", "monday"]),
    Case(["rollback", "versions", "monday"]),
    Case(["rollback", "versions", "monday", "--save", "sunday"], halfway=["snapshot", "take", "versions", "sunday"]),
    Case(["report", "saved.json", "-o", "r.html"]),
    Case(["base", "train", "--inputs", "keys.npy", "--labels", "labels.npy", "--epochs", "1", "-o", "x.base"]),
    Case(["base", "run", "b.base", "--inputs", "keys.npy", "-o", "layers"]),
    Case(["export", "m", "-o", "x.npz"]),
    Case(["export", "m", "-o", "x"]),
    Case(["neighbors", "m", "--data", "test.npz", "-o", "n.npz"]),
    Case(["neighbors", "m", "--data", "test.npz", "-o", "n.csv"]),
    Case(["bundle", "pets"], runtime=True),
    Case(["memorize", "--model", "p.onnx", "--images", "animals", "--part", "train", "-o", "new", "--bundle"],
         again=["--overwrite"], runtime=True),
    Case(["lm", "tune", "tokens", "--method", "resmem", "--tokens", "test.tokens", "--model", "lm.onnx"], runtime=True),
    Case(["lm", "index", "tokens", "--tokens", "test.tokens", "--model", "lm.onnx", "--recall", "0.9"], runtime=True),
    Case(["embed", "p.onnx", "animals", "--part", "train", "-o", "embedded"], runtime=True),
    Case(["model", "prepare", "image.onnx", "-o", "q.onnx", "--classes", "animals.txt"], runtime=True),
]


def run(folder, words, **environment):
    if environment:
        environment["LD_PRELOAD"] = KILL_AT
    return subprocess.run([RESMEM, *words], cwd=folder, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


def must(folder, *words):
    done = run(folder, words)
    assert done.returncode == 0, f"{words}: {done.stderr}"


def write_first_state(folder):
    """False where ONNX Runtime is not here."""
    fixtures.write(folder)
    fifth = dict(np.load(folder / "more.npz"))
    fifth["labels"] = np.where(np.arange(60) < 20, 4, fifth["labels"])
    np.savez(folder / "fifth.npz", **fifth)
    must(folder, "memorize", "--data", "train.npz", "-o", "m")
    must(folder, "append", "m", "--data", "validation.npz", "--token", "first")
    must(folder, "delete", "m", "--ids", "1003")
    for copy in ("tuned", "indexed", "versions"):
        shutil.copytree(folder / "m", folder / copy)
    must(folder, "tune", "tuned", *GRID)
    must(folder, "index", "indexed", "--recall", "0.9")
    must(folder, "snapshot", "take", "versions", "monday")
    must(folder, "append", "versions", "--data", "more.npz")
    must(folder, "eval", "m", "--data", "test.npz", "--save", "saved.json")
    if BASE:
        must(folder, "base", "train", "--inputs", "keys.npy", "--labels", "labels.npy", "--epochs", "1", "-o", "b.base")
    prepare = ["model", "prepare", "image.onnx", "-o", "p.onnx", "--classes", "animals.txt", "--input-std", ".25"]
    if "CI" not in os.environ and "needs ONNX Runtime" in run(folder, prepare).stderr:
        return False
    must(folder, *prepare)
    must(folder, "memorize", "--model", "p.onnx", "--images", "animals", "--part", "train", "-o", "pets")
    token_memory.write(folder, must)
    return True


class States:
    """What a memory answers, asked once for the same bytes."""

    def __init__(self):
        self.known = {}

    def of(self, folder, memory):
        files = sorted(p for p in (folder / memory).rglob("*") if p.is_file()) if (folder / memory).exists() else []
        digest = hashlib.sha1()
        for file in files:
            digest.update(f"{file.relative_to(folder / memory)} {file.stat().st_size} ".encode() + file.read_bytes())
        key = digest.digest()
        if key not in self.known:
            self.known[key] = self.ask(folder, memory)
        return self.known[key]

    @staticmethod
    def ask(folder, memory):
        if not (folder / memory / "MANIFEST").exists():
            return "no memory"
        verified = run(folder, ["verify", memory])
        if verified.returncode != 0:
            return verified.stderr
        info = [line for line in run(folder, ["info", memory]).stdout.splitlines()
                if line.split()[0] not in ("memory", "made", "on", "base")]
        must(folder, "export", memory, "-o", "state.npz")
        with np.load(folder / "state.npz") as arrays:
            values = [(name, arrays[name].tobytes()) for name in sorted(arrays.files)]
        (folder / "state.npz").unlink()
        return "\n".join(info), hashlib.sha1(repr(values).encode()).hexdigest()

    def all(self, folder):
        return {memory: self.of(folder, memory) for memory in MEMORIES}


def outputs(folder):
    """Other files by their bytes; those that hold the time by their names."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        timed = name.endswith((".html", ".json"))
        if path.is_file() and name.split("/")[0] not in MEMORIES:
            found[name] = "" if timed else hashlib.sha1(path.read_bytes()).hexdigest()
    return found


def unfinished(name):
    return name.endswith((".resmem-tmp", ".lock")) or ".partial/" in name


class Trial:
    def __init__(self, folder, first, states, case):
        self.folder, self.first, self.states, self.case = folder, first, states, case
        self.reset()
        self.old, self.old_files = states.all(folder), outputs(folder)
        self.half = self.old
        if case.halfway:
            must(folder, *case.halfway)
            self.half = states.all(folder)
            self.reset()
        done = run(folder, case.words, KILL_COUNT=str(folder.parent / "count"))
        assert done.returncode == 0, f"{case.words}: {done.stderr}"
        self.count = int((folder.parent / "count").read_text())
        self.new, self.new_files = states.all(folder), outputs(folder)

    def reset(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.first, self.folder)

    def points(self):
        every = range(1, self.count + 1)
        if POINTS == 0:
            return every
        few = max(1, -(-(self.count - LAST) // POINTS))
        return [*every[:-LAST:few], *every[-LAST:]]

    def kill(self, point):
        """What is wrong after a kill before this change."""
        self.reset()
        killed = run(self.folder, self.case.words, KILL_AT=str(point))
        # An index is sometimes made with a few changes less.
        if killed.returncode == 0 and "index" in self.case.words and self.states.all(self.folder) == self.new:
            return []
        if killed.returncode != -signal.SIGKILL:
            return [f"was not killed: {killed.stderr}"]
        state, files = self.states.all(self.folder), outputs(self.folder)
        wrong = [f"{memory} is neither the old nor the new one: {state[memory]}" for memory in MEMORIES
                 if state[memory] not in (self.old[memory], self.half[memory], self.new[memory])]
        wrong += [f"{name} is lost" for name in self.old_files if name not in files]
        wrong += [f"{name} is neither old nor new" for name, digest in files.items() if not unfinished(name)
                  and digest not in (self.old_files.get(name), self.new_files.get(name))]
        again = run(self.folder, [*self.case.words, *(self.case.again or [])])
        if again.returncode != 0:
            # Of what is done already some commands say that it is.
            if state in (self.old, self.half) or again.returncode not in (2, 3) or self.states.all(self.folder) != self.new:
                wrong.append(f"the same again: exit {again.returncode}, {again.stderr}")
            return wrong
        # A tuning that is repeated begins with the tuned memory.
        if state in (self.old, self.half) and self.states.all(self.folder) != self.new:
            wrong.append("the same again gives another memory")
        left = outputs(self.folder)
        if set(left) != set(self.new_files):
            wrong.append(f"the same again leaves {sorted(set(left) ^ set(self.new_files))}")
        return wrong


def main():
    kills, problems = 0, 0
    with tempfile.TemporaryDirectory(prefix="resmem_kills_", dir=fixtures.FAST) as name:
        first, folder = pathlib.Path(name) / "first", pathlib.Path(name) / "killed"
        first.mkdir()
        complete = write_first_state(first)
        states = States()
        for case in CASES:
            if (case.words[0] == "base" and not BASE) or (case.runtime and not complete) or (sys.argv[4:] and case.words[0] not in sys.argv[4:]):
                continue
            trial = Trial(folder, first, states, case)
            for point in trial.points():
                kills += 1
                for wrong in trial.kill(point):
                    problems += 1
                    print(f"{' '.join(case.words)}, killed before change {point} of {trial.count}: {wrong}", flush=True)
    print(f"{kills} kills, {problems} problems")
    if problems:
        return 1
    return 0 if complete else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
