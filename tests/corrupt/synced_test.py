"""What a command says is written has been written: each file is synced before it gets its name, and the
folder after that, so that a power cut afterwards takes neither.

    synced_test.py RESMEM KILL_AT_LIBRARY
"""
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "cli"))
import fixtures  # noqa: E402

RESMEM, LIBRARY = (os.path.abspath(name) for name in sys.argv[1:3])
# The command, and what it gives a name.
CASES = [(["memorize", "--data", "train.npz", "-o", "m"], ["m/segment-000001.resmem", "m/MANIFEST"]),
         (["append", "m", "--data", "more.npz"], ["m/segment-000002.resmem", "m/MANIFEST"]),
         (["predict", "m", "--data", "test.npz", "-o", "p.csv", "--scores", "s.npy"], ["p.csv", "s.npy"]),
         (["eval", "m", "--data", "test.npz", "--save", "e.json", "--report", "e.html"], ["e.json", "e.html"]),
         (["export", "m", "-o", "x.npz"], ["x.npz"]),
         (["neighbors", "m", "--data", "test.npz", "-o", "n.csv"], ["n.csv"]),
         (["audit", "m", "--limit", "3", "--of", "suspects,twins,harmful", "--data", "test.npz", "--quarantine", "q.npz"],
          ["q.npz", "m/MANIFEST"])]


def problems_of(calls, name, folder):
    """Of the file `name`, by the calls: ["sync", path] and ["rename", path]."""
    renamed = [i for i, (call, path) in enumerate(calls) if call == "rename" and (folder / path) == folder / name]
    synced = [path for call, path in calls[:renamed[0] if renamed else len(calls)] if call == "sync"]
    own = [path for path in synced if pathlib.Path(path).name.startswith(pathlib.Path(name).name)]
    parent = str((folder / name).parent)
    after = [path for call, path in calls[renamed[0] if renamed else 0:] if call == "sync"]
    return [text for text, wrong in (("was not synced before it had its name", not own),
                                     ("its folder was not synced afterwards", parent not in after)) if wrong]


def main():
    problems = 0
    with tempfile.TemporaryDirectory(prefix="resmem_synced_") as scratch:
        folder = pathlib.Path(scratch).resolve()
        fixtures.write(folder)
        for words, names in CASES:
            trace = folder / "trace"
            subprocess.run([RESMEM, *words], cwd=folder, check=True, capture_output=True, timeout=120,
                           env={**os.environ, "LD_PRELOAD": LIBRARY, "TRACE": str(trace)})
            calls = [line.split(" ", 1) for line in trace.read_text().splitlines()]
            trace.unlink()
            for name in names:
                for problem in problems_of(calls, name, folder):
                    problems += 1
                    print(f"{' '.join(words)}: {name}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
