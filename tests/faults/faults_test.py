"""System calls that fail: each one of every command, once and for ever, with every error that it may
give, and a second one while the first is handled; and limits: of address space, open files, the size of
a file, and a disk that is really full.

    faults_test.py RESMEM PRELOADED [all | POINTS] [COMMAND...] [--markdown FILE]

After each: an exit code of the list and a sentence, never a crash or a standstill; every memory is the
old or the new one, and a failure that does not say that the change was made has made none; no file is
half there; the same command again, without faults, ends as if nothing had been.  POINTS (default 3)
calls of a kind, command and error, spread over all of them, and always the last.  COMMAND: only these.
"""
import argparse
import collections
import contextlib
import errno
import hashlib
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import fixtures  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("resmem", type=os.path.abspath)
parser.add_argument("preloaded", type=os.path.abspath)
parser.add_argument("points", nargs="?", default="3")
parser.add_argument("commands", nargs="*")
parser.add_argument("--markdown", type=pathlib.Path)
OPTIONS = parser.parse_args()
POINTS = None if OPTIONS.points == "all" else int(OPTIONS.points)

# What fails, and how; a lock or a folder's change cannot run into a file's size.
KINDS = {
    "write": (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EINTR),
    "sync": (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR),
    "rename": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "change": (errno.EIO, errno.ENOSPC, errno.EACCES),
    "open": (errno.EIO, errno.EMFILE, errno.ENOSPC, errno.EINTR),
    "read": (errno.EIO, errno.EINTR),
    "mmap": (errno.ENOMEM,),
    "thread": (errno.EAGAIN,),
    "fork": (errno.EAGAIN, errno.ENOMEM),
}
# Megabytes of address space, open files, bytes of a file, bytes free on the disk: from what nothing can
# run with to what is enough for some commands.
LIMITS = {
    "address space": (resource.RLIMIT_AS, [mib << 20 for mib in (24, 32, 48, 64, 96, 128, 192, 256)]),
    "open files": (resource.RLIMIT_NOFILE, list(range(4, 14))),
    "size of a file": (resource.RLIMIT_FSIZE, [0, 100, 1000, 4096, 10000, 30000]),
    "full disk": (None, [0, 4096, 8192, 16384, 32768, 65536]),
}
GRID = ["--data", "validation.npz", "--grid-k", "3,9", "--grid-sigma", "0.5,1", "--grid-temperature", "1"]
# The command, and what it says where a failure came after its change.
CASES = {
    "append": (["append", "m", "--data", "more.npz"], "the rows were added"),
    "append to an index": (["append", "indexed", "--data", "more.npz"], "the rows were added"),
    "delete": (["delete", "m", "--ids", "1004,1005"], "the rows were deleted"),
    "compact": (["compact", "m"], "the memory was compacted"),
    "index": (["index", "m", "--recall", "0.9"], "the index was"),
    "index --remove": (["index", "indexed", "--remove"], "the index was"),
    "tune": (["tune", "tuned", *GRID], "the values were written"),
    "tune, other keys": (["tune", "m", *GRID, "--key-transform", "whiten"], "the values were written"),
    "tune --undo": (["tune", "tuned", "--undo"], "the values were"),
    "snapshot take": (["snapshot", "take", "m", "now"], "the snapshot was"),
    "memorize": (["memorize", "--data", "train.npz", "-o", "new", "--overwrite"], "the memory was"),
    "predict": (["predict", "m", "--data", "test.npz", "-o", "p.csv", "--scores", "s.npy"], None),
    "eval": (["eval", "m", "--data", "test.npz", "--save", "e.json", "--report", "e.html"], None),
    "export": (["export", "m", "-o", "x.npz"], None),
    "tokenizer train": (["tokenizer", "train", "words.txt", "--pieces", "60", "-o", "t.model"], None),
}
MEMORIES = ("m", "indexed", "tuned", "new")
MADE = ("the change was made all the same",)
ALLOWED = (1, 3, 4)
LOADER_FAILED = 127
SECONDS = 120


def run(folder, words, limit=None, **extra):
    if extra:
        extra["LD_PRELOAD"] = OPTIONS.preloaded
    return subprocess.run([OPTIONS.resmem, *words], cwd=folder, capture_output=True, text=True, errors="replace",
                          timeout=SECONDS, stdin=subprocess.DEVNULL, env={**os.environ, **extra},
                          preexec_fn=limit and (lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))))


def must(folder, *words):
    done = run(folder, words)
    assert done.returncode == 0, f"{words}: {done.stderr}"


def write_first_state(folder):
    fixtures.write(folder)
    (folder / "words.txt").write_text("".join(f"the {i} words of line {i * i}\n\n" for i in range(200)))
    must(folder, "memorize", "--data", "train.npz", "-o", "m")
    must(folder, "append", "m", "--data", "validation.npz")
    must(folder, "delete", "m", "--ids", "1003")
    for copy in ("tuned", "indexed"):
        shutil.copytree(folder / "m", folder / copy)
    must(folder, "tune", "tuned", *GRID)
    must(folder, "index", "indexed", "--recall", "0.9")
    for path in folder.iterdir():  # each run copies what is left
        if path.is_dir() and path.name not in MEMORIES or path.suffix in (".onnx", ".npy", ".png", ".bin"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in ("many", "all", "five_dims", "three_classes", "regression", "regression_test"):
        (folder / f"{name}.npz").unlink()


class Trial:
    states = {}  # what memories answer, by their bytes

    def __init__(self, first, folder, name, full):
        self.first, self.folder, self.name, self.full = first, folder, name, full
        self.words, self.done = CASES[name]
        self.reset()
        self.old, self.old_files = self.state(), self.files()
        must(folder, *self.words)
        self.new, self.new_files = self.state(), self.files()

    def reset(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.first, self.folder)

    def state(self):
        return {memory: self.of(memory) for memory in MEMORIES}

    def of(self, memory):
        digest = hashlib.sha1(memory.encode())
        for file in sorted((self.folder / memory).rglob("*")):
            digest.update(f"{file.relative_to(self.folder)}".encode() + (file.read_bytes() if file.is_file() else b""))
        key = digest.digest()
        if key not in self.states:
            self.states[key] = self.ask(memory)
        return self.states[key]

    def ask(self, memory):
        if not (self.folder / memory / "MANIFEST").exists():
            return "no memory"
        verified = run(self.folder, ["verify", memory])
        if verified.returncode != 0:
            return verified.stderr
        info = [line for line in run(self.folder, ["info", memory]).stdout.splitlines()
                if line.split()[:1] not in (["memory"], ["made"])]
        answer = run(self.folder, ["predict", memory, "--data", "test.npz", "-o", "-"])
        assert answer.returncode == 0, answer.stderr
        return "\n".join(info), hashlib.sha1(answer.stdout.encode()).hexdigest()

    def files(self):
        """Other files by their bytes; those that hold the time by their names."""
        return {path.name: "" if path.suffix in (".html", ".json") else hashlib.sha1(path.read_bytes()).hexdigest()
                for path in sorted(self.folder.iterdir()) if path.is_file()}

    def count(self, kind):
        self.reset()
        file = self.first.parent / "count"
        done = run(self.folder, self.words, FAIL_CALLS=kind, COUNT_FILE=str(file))
        assert done.returncode == 0, done.stderr
        return int(file.read_text())

    def fail(self, limit=None, **how):
        """What is wrong with this run."""
        self.reset()
        try:
            if limit and limit[0] is None:
                with full_disk(self.folder, limit[1]):
                    result = run(self.folder, self.words)
            else:
                result = run(self.folder, self.words, limit, **{name: str(value) for name, value in how.items()})
        except subprocess.TimeoutExpired:
            return ["stands still"]
        if limit and result.returncode == LOADER_FAILED and "error while loading shared libraries" in result.stderr:
            return []  # the system did not get as far as us
        found, files = self.state(), self.files()
        wrong = [f"{name} is lost" for name in self.old_files if name not in files]
        wrong += [f"{name} is neither old nor new" for name, digest in files.items()
                  if not name.endswith((".resmem-tmp", ".lock"))
                  and digest not in (self.old_files.get(name), self.new_files.get(name))]
        if result.returncode == 0:
            if found != self.new or any(name not in files for name in self.new_files):
                wrong.append("exit 0, and not the new state")
        elif result.returncode not in ALLOWED or "error:" not in result.stderr:
            wrong.append(f"exit {result.returncode}, {result.stderr[-300:]}")
        else:
            says_new = self.done is not None and any(text in result.stderr for text in (self.done, *MADE))
            if found != (self.new if says_new else self.old):
                wrong.append(f"says {'new' if says_new else 'old'}, which is not true: {result.stderr[-300:]} {found}")
        if found == self.old:
            again = run(self.folder, self.words)
            if again.returncode != 0 or self.state() != self.new:
                wrong.append(f"the same again: exit {again.returncode}, {again.stderr}")
            elif set(self.files()) != set(self.new_files):
                wrong.append(f"the same again leaves {sorted(set(self.files()) ^ set(self.new_files))}")
        return wrong

    def failures(self):
        """(kind, what to set); the single ones, then those with a second fault."""
        for kind, errors in KINDS.items():
            count = self.count(kind)
            points = spread(count)
            for number, error in enumerate(errors):
                # An interrupted call is made again, so no system interrupts for ever.
                for_ever = error != errno.EINTR and (number == 0 or POINTS is None)
                for point in points:
                    for onward in (0, 1)[:1 + for_ever]:
                        yield kind, dict(FAIL_CALLS=kind, FAIL_AT=point, FAIL_ERRNO=error, FAIL_ONWARD=onward)
        changing = "write,sync,rename,change"
        for point in spread(self.count(changing)):
            for again in (1, 2, 3):
                yield "a second fault", dict(FAIL_CALLS=changing, FAIL_AT=point, FAIL_ERRNO=errno.ENOSPC,
                                             FAIL_AGAIN=again)
        for kind, (which, values) in LIMITS.items():
            if which is None and not self.full:
                continue
            for place in spread(len(values)):
                yield kind, dict(limit=(which, values[place]))


@contextlib.contextmanager
def full_disk(folder, free):
    """All but `free` bytes of the disk that `folder` is on are taken."""
    filler = folder.parent / "filler"
    try:
        with open(filler, "wb") as file:
            found = os.statvfs(folder)
            taken = found.f_bavail * found.f_frsize - free
            if taken > 0:
                os.posix_fallocate(file.fileno(), 0, taken)
        yield
    finally:
        filler.unlink()


def own_disk(at):
    """A disk of 16 MB of its own; False where only root could make it."""
    at.mkdir()
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", at], capture_output=True).returncode == 0


def spread(count):
    """Numbers below count: all, or POINTS of them and the last."""
    if POINTS is None or count <= POINTS + 1:
        return range(count)
    return sorted({point * count // POINTS for point in range(POINTS)} | {count - 1})


def try_all(first, folder, full, tried, problems, start):
    """Every case; counts in `tried` and `problems` by kind."""
    for case in OPTIONS.commands or CASES:
        if case == "tokenizer train" and not shutil.which("spm_train"):
            continue
        trial = Trial(first, folder, case, full)
        for kind, how in trial.failures():
            tried[kind] += 1
            for wrong in trial.fail(**how):
                problems[kind] += 1
                print(f"{case}: {kind} {how}: {wrong}", flush=True)
        print(f"{case}: {sum(tried.values())} failures until here, {time.time() - start:.0f} s", flush=True)


def main():
    tried, problems, start = collections.Counter(), collections.Counter(), time.time()
    with tempfile.TemporaryDirectory(prefix="resmem_faults_", dir=fixtures.FAST) as name:
        first, disk = pathlib.Path(name) / "first", pathlib.Path(name) / "disk"
        first.mkdir()
        write_first_state(first)
        full = own_disk(disk)
        try:
            try_all(first, disk / "faulty", full, tried, problems, start)
        finally:
            if full:
                subprocess.run(["umount", "--lazy", disk], check=True)
    how = {**{kind: ", ".join(errno.errorcode[error] for error in errors) for kind, errors in KINDS.items()},
           "a second fault": "ENOSPC"}
    lines = [f"| {kind} | {how.get(kind, 'a limit')} | {tried[kind]:,} | {problems[kind]} |" for kind in tried]
    page = "\n".join(["| what fails | with | runs | problems |", "|---|---|--:|--:|", *lines,
                      f"| **all** | | **{sum(tried.values()):,}** | **{sum(problems.values())}** |", "",
                      f"{len(OPTIONS.commands or CASES)} commands, {time.time() - start:.0f} s, {platform.machine()}, "
                      f"{os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}."])
    print(page)
    if OPTIONS.markdown:
        OPTIONS.markdown.write_text(page + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
