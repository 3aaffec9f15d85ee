"""docs/own_method.md as a reader would follow it: its commands, then its program.

    own_method_test.py RESMEM      the path of the command
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from numpy_test import make_rows

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "own_method.md"


def block(language):
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)
    assert len(found) == 1, f"{PAGE} has {len(found)} blocks of {language}; one is expected"
    return found[0]


def main(resmem):
    with tempfile.TemporaryDirectory(prefix="resmem_own_") as name:
        folder = pathlib.Path(name)
        os.symlink(resmem, folder / "resmem")
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

        def run(*command):
            done = subprocess.run(command, cwd=folder, env=environment, text=True,
                                  capture_output=True)
            assert done.returncode == 0, f"{command}: {done.stderr}"
            return done.stdout

        rows = make_rows(2, 700)
        np.savez(folder / "train.npz", **rows, ids=np.arange(700))
        np.savez(folder / "test.npz", **make_rows(4, 200))
        run("resmem", "memorize", "--data", "train.npz", "--k", "20", "--sigma", "0.6", "-o",
            "my.resmem", "--quiet")
        run("resmem", "delete", "my.resmem", "--ids", "3,17,500", "--quiet")
        run("bash", "-ec", block("sh"))
        printed = run(sys.executable, "-c", block("python"))
        difference = float(re.search(r"resmem predict: (\S+)", printed).group(1))
        assert difference < 1e-6, printed
        assert len(re.findall(r"^(base|ResMem|mine) +0\.\d+$", printed, re.M)) == 3, printed

        # What the page says of the arrays, and NumPy's own reader on what we wrote.
        found, memory = (np.load(folder / f"{file}.npz") for file in ("neighbors", "memory"))
        assert np.allclose(found["weights"].sum(axis=1), 1, atol=1e-6)
        assert not set(found["ids"].ravel()) & {3, 17, 500}
        assert (memory["ids"] == np.delete(np.arange(700), [3, 17, 500])).all()
        kept = np.delete(np.arange(700), [3, 17, 500])
        for part in ("keys", "logits", "labels"):
            assert (memory[part] == rows[part][kept]).all(), part


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
