"""A malloc that fails once, or from some point on, at every point of the commands that answer from a
memory or change it: each run ends with exit 4, the memory in its old or its new state, and a message
that says which.  Once is also allowed to be survived, with the right answer.  The same for a
program that uses the C interface.

    out_of_memory_test.py PROGRAM PRELOADED C_USER [all | POINTS]

Every allocation that is the first to come from its place, the chain of calls that led to it, is
tried.  Of those at most POINTS a command and mode (default 100), spread over all of them, and always
the last, where a change is published; ROTATION=N in the environment takes others.  "all": every
allocation.
"""
import array
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM, PRELOADED, C_USER = (os.path.abspath(name) for name in sys.argv[1:4])
ALL = sys.argv[4:] == ["all"]
POINTS = int(sys.argv[4]) if len(sys.argv) > 4 and not ALL else 100
LAST = 12
ROTATION = int(os.environ.get("ROTATION", "0"))  # a test must not depend on the date

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import fixtures  # noqa: E402
import numpy as np  # noqa: E402

# name, command, what the message says of the new state (None: nothing is changed)
COMMANDS = [
    ("predict", [PROGRAM, "predict", "m", "--data", "test.npz", "-o", "p.csv"], None),
    ("eval", [PROGRAM, "eval", "m", "--data", "test.npz"], None),
    ("append", [PROGRAM, "append", "m", "--data", "more.npz"], "the rows were added"),
    ("delete", [PROGRAM, "delete", "m", "--ids", "1003,1005"], "the rows were deleted"),
    ("compact", [PROGRAM, "compact", "m"], "the memory was compacted"),
    ("tune", [PROGRAM, "tune", "m", "--data", "validation.npz", "--grid-k", "3,9", "--grid-sigma",
              "0.5,1", "--grid-temperature", "1"], "the values were written"),
    ("C interface", [C_USER, "m", "keys", "logits", "labels", "60"], "the change was made"),
]
OLD_WORDS = ("is unchanged", "nothing was changed", "nothing was written")


def run(command, folder, **environment):
    return subprocess.run(command, cwd=folder, text=True, capture_output=True,
                          errors="replace", timeout=120,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment})


def contents(folder):
    """A number for the bytes of all files of the memory."""
    digest = hashlib.sha1()
    for file in sorted((folder / "m").rglob("*")):
        digest.update(f"{file.relative_to(folder)} {file.stat().st_size if file.is_file() else ''}".encode())
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.digest()


class Trial:
    def __init__(self, folder, name, command, done):
        self.folder, self.name, self.command, self.done = folder, name, command, done
        self.states = {}  # of memories by their bytes
        self.bytes = self.original = b""
        self.reset()
        self.old = self.state()
        paths = folder / "paths"
        result = run(command, folder, LD_PRELOAD=PRELOADED, PATHS_FILE=str(paths))
        assert result.returncode == 0, result.stderr
        self.paths = array.array("Q", paths.read_bytes())
        self.file = (folder / "p.csv").read_bytes() if (folder / "p.csv").exists() else b""
        self.new = self.state()
        assert (self.old == self.new) == (done is None), name

    def reset(self):
        (self.folder / "p.csv").unlink(missing_ok=True)
        if self.bytes == self.original != b"":
            return
        shutil.rmtree(self.folder / "m", ignore_errors=True)
        shutil.copytree(self.folder / "original", self.folder / "m")
        self.bytes = self.original = contents(self.folder)

    def state(self):
        """What the memory answers, and that it is sound."""
        self.bytes = contents(self.folder)
        if self.bytes not in self.states:
            self.states[self.bytes] = self.ask()
        return self.states[self.bytes]

    def ask(self):
        verified = run([PROGRAM, "verify", "m"], self.folder)
        if verified.returncode != 0:
            return verified.stderr
        answers = run([PROGRAM, "predict", "m", "--data", "test.npz"], self.folder)
        info = run([PROGRAM, "info", "m"], self.folder)
        assert answers.returncode == 0 and info.returncode == 0, answers.stderr + info.stderr
        return answers.stdout, [line for line in info.stdout.splitlines()
                                if line.split()[:1] in (["rows"], ["on"], ["parameters"])]

    def fail(self, point, onward):
        """What is wrong with this run; None: nothing."""
        self.reset()
        extra = {"FAIL_ONWARD": "1"} if onward else {}
        result = run(self.command, self.folder, LD_PRELOAD=PRELOADED, FAIL_AT=str(point), **extra)
        found = self.state()
        if result.returncode == 0:
            file = (self.folder / "p.csv").read_bytes() if self.file else b""
            right = found == self.new and file == self.file
            return None if right else "exit 0, and not the right state"
        if result.returncode != 4:
            return f"exit {result.returncode}, {result.stderr[-200:]}"
        if "error:" not in result.stderr:
            return "no message"
        if self.done is None:
            if (self.folder / "p.csv").exists() and (self.folder / "p.csv").read_bytes() != self.file:
                return "half a file was left"
            return None if found == self.old else "the memory has changed"
        says_new = self.done in result.stderr or "the change was made all the same" in result.stderr
        says_old = any(words in result.stderr for words in OLD_WORDS)
        if self.command[0] == C_USER:
            says_old = not says_new  # a failed call has changed nothing unless it says so
        if says_new == says_old:
            return f"the message does not say which state: {result.stderr[-200:]}"
        if found != (self.new if says_new else self.old):
            return f"the message says {'new' if says_new else 'old'}, which is not true: {found}"
        return None

    def points(self):
        if ALL:
            return range(len(self.paths))
        first = {}
        for point, path in enumerate(self.paths):
            first.setdefault(path, point)
        first = sorted(first.values())
        few = max(1, -(-(len(first) - LAST) // max(1, POINTS - LAST)))
        return first[ROTATION % few:-LAST:few] + first[-LAST:]


def main():
    # One processor: then there is one thread, and the allocations come in the same order.
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[os.getpid() % len(os.sched_getaffinity(0))]})
    problems = 0
    with tempfile.TemporaryDirectory(prefix="resmem_oom_") as name:
        folder = pathlib.Path(name)
        fixtures.write(folder)
        more = np.load(folder / "more.npz")
        for array_name in ("keys", "logits", "labels"):
            more[array_name].tofile(folder / array_name)
        for command in (["memorize", "--data", "train.npz", "-o", "original"],
                        ["append", "original", "--data", "validation.npz"],
                        ["delete", "original", "--ids", "1000,1001"]):
            result = run([PROGRAM, *command], folder)
            assert result.returncode == 0, result.stderr
        for name, command, done in COMMANDS:
            trial = Trial(folder, name, command, done)
            for onward in (False, True):
                tried, start = trial.points(), time.time()
                for point in tried:
                    problem = trial.fail(point, onward)
                    if problem:
                        problems += 1
                        print(f"{name}: allocation {point} of {len(trial.paths)}"
                              f"{' and all after it' if onward else ''}: {problem}", flush=True)
                print(f"{name}: {len(tried)} of {len(trial.paths)} allocations from "
                      f"{len(set(trial.paths))} places failed{' with all after them' if onward else ''}"
                      f" in {time.time() - start:.0f} s", flush=True)
    print(f"{problems} problems" if problems else "every failure ended well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
