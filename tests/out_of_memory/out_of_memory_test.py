"""A malloc that fails once, or from some point on, at every point of the commands that answer from a
memory or change it: each run ends with exit 4, the memory in its old or its new state, and a message
that says which.  Once is also allowed to be survived, with the right answer.

    out_of_memory_test.py PROGRAM PRELOADED [POINTS]

POINTS: how many points of a command are tried, spread over all (0: every one; default 60).
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM, PRELOADED = sys.argv[1], sys.argv[2]
POINTS = int(sys.argv[3]) if len(sys.argv) > 3 else 60

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import fixtures  # noqa: E402

# name, command, what the message says of the new state (None: nothing is changed)
COMMANDS = [
    ("predict", ["predict", "m", "--data", "test.npz", "-o", "p.csv"], None),
    ("eval", ["eval", "m", "--data", "test.npz"], None),
    ("append", ["append", "m", "--data", "more.npz"], "the rows were added"),
    ("delete", ["delete", "m", "--ids", "1003,1005"], "the rows were deleted"),
    ("compact", ["compact", "m"], "the memory was compacted"),
    ("tune", ["tune", "m", "--data", "validation.npz", "--grid-k", "3,9", "--grid-sigma",
              "0.5,1", "--grid-temperature", "1"], "the values were written"),
]
OLD_WORDS = ("is unchanged", "nothing was changed", "nothing was written")


def run(command, folder, **environment):
    # One processor: then there is one thread, and the allocations come in the same order.
    return subprocess.run([PROGRAM, *command], cwd=folder, text=True, capture_output=True,
                          errors="replace", timeout=120,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment},
                          preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))


def state(folder):
    """What the memory answers, and that it is sound."""
    verified = run(["verify", "m"], folder)
    assert verified.returncode == 0, verified.stderr
    answers = run(["predict", "m", "--data", "test.npz"], folder)
    assert answers.returncode == 0, answers.stderr
    info = [line for line in run(["info", "m"], folder).stdout.splitlines()
            if line.split()[:1] in (["rows"], ["on"], ["parameters"])]
    return answers.stdout, info


class Trial:
    def __init__(self, folder, name, command, done):
        self.folder, self.name, self.command, self.done = folder, name, command, done
        self.reset()
        self.old = state(folder)
        count = folder / "count"
        result = run(command, folder, LD_PRELOAD=PRELOADED, COUNT_FILE=str(count))
        assert result.returncode == 0, result.stderr
        self.allocations = int(count.read_text())
        self.output = result.stdout
        self.file = (folder / "p.csv").read_bytes() if (folder / "p.csv").exists() else b""
        self.new = state(folder)
        assert (self.old == self.new) == (done is None), name

    def reset(self):
        shutil.rmtree(self.folder / "m", ignore_errors=True)
        shutil.copytree(self.folder / "original", self.folder / "m")
        (self.folder / "p.csv").unlink(missing_ok=True)

    def fail(self, point, onward):
        """What is wrong with this run; None: nothing."""
        self.reset()
        extra = {"FAIL_ONWARD": "1"} if onward else {}
        result = run(self.command, self.folder, LD_PRELOAD=PRELOADED, FAIL_AT=str(point), **extra)
        found = state(self.folder)
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
        if says_new == says_old:
            return "the message does not say which state"
        if found != (self.new if says_new else self.old):
            return f"the message says {'new' if says_new else 'old'}, which is not true"
        return None


def points_of(allocations):
    if POINTS == 0 or allocations <= POINTS:
        return range(allocations)
    # Densely at the end, where a change is published.
    last = range(max(0, allocations - POINTS // 3), allocations)
    rest = POINTS - len(last)
    return sorted({i * allocations // rest for i in range(rest)} | set(last))


def main():
    problems = 0
    with tempfile.TemporaryDirectory(prefix="resmem_oom_") as name:
        folder = pathlib.Path(name)
        fixtures.write(folder)
        for command in (["memorize", "--data", "train.npz", "-o", "original"],
                        ["append", "original", "--data", "validation.npz"],
                        ["delete", "original", "--ids", "1000,1001"]):
            result = run(command, folder)
            assert result.returncode == 0, result.stderr
        for name, command, done in COMMANDS:
            trial = Trial(folder, name, command, done)
            for onward in (False, True):
                tried = points_of(trial.allocations)
                for point in tried:
                    problem = trial.fail(point, onward)
                    if problem:
                        problems += 1
                        print(f"{name}: allocation {point} of {trial.allocations}"
                              f"{' and all after it' if onward else ''}: {problem}")
                print(f"{name}: {len(tried)} of {trial.allocations} allocations failed"
                      f"{' with all after them' if onward else ''}")
    print(f"{problems} problems" if problems else "every failure ended well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
