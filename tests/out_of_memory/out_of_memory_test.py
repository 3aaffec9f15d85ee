"""A malloc that fails once, or from some point on, at every point of the commands that answer from a
memory or change it: each run ends with exit 4, the memory in its old or its new state, and a message
that says which.  Once is also allowed to be survived, with the right answer.  The same for a
program that uses the C interface,
and for a memory of images, whose model runs in ONNX Runtime; where that crashes itself, or goes on without
an operator of its own, the test counts it.

    out_of_memory_test.py PROGRAM PRELOADED C_USER [all | PLACES] [NAME...]

Every allocation that is the first to come from its place, the chain of calls that led to it, is tried by copies of one
process (forked.py).  PLACES: at most so many a command, spread over all of them, and always the last, where a
change is published.  "all": every allocation; RANGE=FIRST:END in the environment takes a part of them.  Where a
model runs, which has threads, each is a run of its own, of 25 places.  NAME: only these commands.
"""
import array
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM, PRELOADED, C_USER = (os.path.abspath(name) for name in sys.argv[1:4])
ALL = sys.argv[4:5] == ["all"]
RANGE = slice(*(int(end) for end in os.environ.get("RANGE", "0:1000000000").split(":")))
PLACES = int(sys.argv[4]) if len(sys.argv) > 4 and not ALL else None
PLACES_OF_MODEL = 25
LAST = 12

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import fixtures  # noqa: E402
import forked  # noqa: E402
import numpy as np  # noqa: E402

# name, command, what the message says of the new state (None: nothing is changed)
COMMANDS = [
    ("predict", [PROGRAM, "predict", "m", "--data", "test.npz", "-o", "p.csv"], None),
    ("eval", [PROGRAM, "eval", "m", "--data", "test.npz"], None),
    ("append", [PROGRAM, "append", "m", "--data", "more.npz"], "the rows were added"),
    ("append of new classes", [PROGRAM, "append", "m", "--data", "fifth.npz", "--new-classes"], "the rows were added"),
    ("delete", [PROGRAM, "delete", "m", "--ids", "1003,1005"], "the rows were deleted"),
    ("compact", [PROGRAM, "compact", "m"], "the memory was compacted"),
    ("tune", [PROGRAM, "tune", "m", "--data", "fewest.npz", "--folds", "2", "--grid-k", "3,9", "--grid-sigma",
              "0.5,1", "--grid-temperature", "1"], "the values were written"),
    ("images", [PROGRAM, "predict", "pets", "--images", "animals", "--part", "test", "-o", "p.csv"], None),
    ("C interface", [C_USER, "m", "keys", "logits", "labels", "60"], "the change was made"),
]
CRASH_OF_RUNTIME = 97  # failing_malloc.cc
# It registers its operators without telling us that one did not find its memory.
LOST_OPERATOR = "is not a registered function/op"
OLD_WORDS = ("is unchanged", "nothing was changed", "nothing was written")


def run(command, folder, **environment):
    return subprocess.run(command, cwd=folder, text=True, capture_output=True,
                          errors="replace", timeout=120,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **RUNTIME, **environment})


def find_runtime():
    """The library by its name, so that its digest is not compared in every run; none where it is not here."""
    done = subprocess.run([PROGRAM, "runtime", "info", "--json"], capture_output=True, text=True)
    return {"RESMEM_ONNXRUNTIME": json.loads(done.stdout)["path"]} if done.returncode == 0 else {}


RUNTIME = find_runtime()


def contents(folder, memory):
    """A number for the bytes of all files of the memory."""
    digest = hashlib.sha1()
    for file in sorted((folder / memory).rglob("*")):
        digest.update(f"{file.relative_to(folder)} {file.stat().st_size if file.is_file() else ''}".encode())
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.digest()


class Trial:
    def __init__(self, folder, name, command, done):
        self.folder, self.name, self.command, self.done = folder, name, command, done
        self.memory = "pets" if "pets" in command else "m"
        self.states = {}  # of memories by their bytes
        self.faults = 0  # of ONNX Runtime
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
        shutil.rmtree(self.folder / self.memory, ignore_errors=True)
        shutil.copytree(self.folder / f"original_{self.memory}", self.folder / self.memory)
        self.bytes = self.original = contents(self.folder, self.memory)

    def state(self):
        """What the memory answers, and that it is sound."""
        self.bytes = contents(self.folder, self.memory)
        if self.bytes not in self.states:
            self.states[self.bytes] = self.ask()
        return self.states[self.bytes]

    def ask(self):
        verified = run([PROGRAM, "verify", self.memory], self.folder)
        if verified.returncode != 0 or self.memory != "m":
            return verified.stderr, self.bytes
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
        return self.judge(result.returncode, result.stderr)

    def judge(self, code, said):
        """What is wrong with a run that ended with this exit code and said this; None: nothing."""
        found = self.state()
        if code == 0:
            file = (self.folder / "p.csv").read_bytes() if self.file else b""
            right = found == self.new and file == self.file
            return None if right else "exit 0, and not the right state"
        if self.memory == "pets" and (code == CRASH_OF_RUNTIME or LOST_OPERATOR in said):
            self.faults += 1
            return None if found == self.old and not (self.folder / "p.csv").exists() else "something was changed"
        if code != 4:
            return f"exit {code}, {said[-200:]}"
        if "error:" not in said:
            return "no message"
        if self.done is None:
            if (self.folder / "p.csv").exists() and (self.folder / "p.csv").read_bytes() != self.file:
                return "half a file was left"
            return None if found == self.old else "the memory has changed"
        says_new = self.done in said or "the change was made all the same" in said
        says_old = any(words in said for words in OLD_WORDS)
        if self.command[0] == C_USER:
            says_old = not says_new  # a failed call has changed nothing unless it says so
        if says_new == says_old:
            return f"the message does not say which state: {said[-200:]}"
        if found != (self.new if says_new else self.old):
            return f"the message says {'new' if says_new else 'old'}, which is not true: {found}"
        return None

    def fail_all(self, points):
        """Fails each point in both ways; what is wrong: (point, onward, problem)."""
        self.reset()

        def paths():
            own = [path for path in (self.folder / self.memory).rglob("*") if path.is_file()]
            return own + list(self.folder.glob("p.csv*"))

        kept = forked.Kept(paths, self.folder / f"kept {self.name}")
        problems, tried = [], []

        def judge(point, onward, code, said):
            tried.append(point)
            problem = self.judge(code, said)
            if problem:
                problems.append((point, onward, problem))

        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **RUNTIME, "LD_PRELOAD": PRELOADED}
        forked.run(self.command, self.folder, environment, points, kept, judge)
        # Two runs of a command may differ by an allocation or two, as numbers have more digits.
        assert len(tried) >= 1.99 * len(points), f"{len(tried)} runs of {len(points)} points"
        self.bytes = b""
        return problems

    def points(self):
        if ALL:
            return range(len(self.paths))[RANGE]
        first = {}
        for point, path in enumerate(self.paths):
            first.setdefault(path, point)
        first = sorted(first.values())
        wanted = PLACES if self.memory == "m" else PLACES_OF_MODEL  # the runtime takes its time to start
        few = 1 if wanted is None else max(1, -(-(len(first) - LAST) // max(1, wanted - LAST)))
        return first[:-LAST:few] + first[-LAST:]


def show(trial, point, onward, problem):
    print(f"{trial.name}: allocation {point} of {len(trial.paths)}{' and all after it' if onward else ''}: {problem}",
          flush=True)


def fail_all(trial):
    """-> how many problems"""
    points, start = trial.points(), time.time()
    problems = trial.fail_all(points)
    for problem in problems:
        show(trial, *problem)
    print(f"{trial.name}: {len(points)} of {len(trial.paths)} allocations from {len(set(trial.paths))} places failed, "
          f"once and with all after them, in {time.time() - start:.0f} s", flush=True)
    return len(problems)


def main():
    # One processor: then there is one thread, and the allocations come in the same order.
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[os.getpid() % len(os.sched_getaffinity(0))]})
    problems = 0
    with tempfile.TemporaryDirectory(prefix="resmem_oom_", dir=fixtures.FAST) as name:
        folder = pathlib.Path(name)
        fixtures.write(folder)
        more = np.load(folder / "more.npz")
        np.savez(folder / "fifth.npz", **{**more, "labels": np.where(np.arange(60) < 20, 4, more["labels"])})
        validation = np.load(folder / "validation.npz")
        # All that tune fits takes 100 rows.
        np.savez(folder / "fewest.npz", **{name: values[:100] for name, values in validation.items()})
        for array_name in ("keys", "logits", "labels"):
            more[array_name].tofile(folder / array_name)
        setup = [["memorize", "--data", "train.npz", "-o", "original_m"],
                 ["append", "original_m", "--data", "validation.npz"],
                 ["delete", "original_m", "--ids", "1000,1001"]]
        if RUNTIME:
            setup += [["model", "prepare", "image.onnx", "-o", "p.onnx", "--classes", "animals.txt", "--input-std", ".25"],
                      ["memorize", "--model", "p.onnx", "--images", "animals", "--part", "train", "-o", "original_pets"]]
        for command in setup:
            result = run([PROGRAM, *command], folder)
            assert result.returncode == 0, result.stderr
        for name, command, done in COMMANDS:
            if (sys.argv[5:] and name not in sys.argv[5:]) or (name == "images" and not RUNTIME):
                continue
            trial = Trial(folder, name, command, done)
            if trial.memory == "m":
                problems += fail_all(trial)
                continue
            for onward in (False, True):
                tried, start = trial.points(), time.time()
                trial.faults = 0
                for point in tried:
                    problem = trial.fail(point, onward)
                    if problem:
                        problems += 1
                        show(trial, point, onward, problem)
                print(f"{name}: {len(tried)} of {len(trial.paths)} allocations from "
                      f"{len(set(trial.paths))} places failed{' with all after them' if onward else ''}"
                      f" in {time.time() - start:.0f} s"
                      f"{f'; ONNX Runtime itself crashed, or lost an operator, in {trial.faults} runs' if trial.faults else ''}", flush=True)
    print(f"{problems} problems" if problems else "every failure ended well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
