"""A command that answers reads a memory's manifest once: what it says is of one state, whatever others
change meanwhile.

    one_state_test.py RESMEM KILL_AT_LIBRARY
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import fixtures

RESMEM, LIBRARY = (os.path.abspath(name) for name in sys.argv[1:3])
DATA = ["--data", "test.npz"]
COMMANDS = [["predict", "m", *DATA], ["eval", "m", *DATA], ["compare", "m", *DATA], ["doctor", "m", *DATA], ["doctor", "m"],
            ["explain", "m", *DATA, "--row", "3"], ["examples", "m", *DATA], ["neighbors", "m", *DATA],
            ["export", "m", "-o", "x.npz"], ["audit", "m", *DATA], ["info", "m"], ["verify", "m"],
            ["info", "m", "--json"], ["snapshot", "list", "m"], ["snapshot", "list", "m", "--json"],
            ["tune", "m", "--data", "validation.npz", "--dry-run", "--grid-k", "5", "--grid-sigma", "1"]]


def main():
    problems = 0
    with tempfile.TemporaryDirectory(prefix="resmem_state_") as name:
        folder = pathlib.Path(name)
        fixtures.write(folder)
        for words in (["memorize", "--data", "many.npz", "-o", "m"], ["index", "m", "--recall", "0.9"],
                      ["snapshot", "take", "m", "monday"]):
            subprocess.run([RESMEM, *words], cwd=folder, check=True, capture_output=True)
        for words in COMMANDS:
            trace = folder / "trace"
            done = subprocess.run([RESMEM, *words], cwd=folder, capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "LD_PRELOAD": LIBRARY, "TRACE": str(trace)})
            assert done.returncode in (0, 5), done.stderr
            times = trace.read_text().splitlines().count("open m/MANIFEST")
            trace.unlink()
            if times != 1:
                problems += 1
                print(f"{' '.join(words)}: read the manifest {times} times")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
