"""docs/regression.md as a reader would follow it: its program, then its commands.

    regression_page_test.py RESMEM      the path of the command
"""
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "regression.md"


def block(language):
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)
    assert len(found) == 1, f"{PAGE} has {len(found)} blocks of {language}; one is expected"
    return found[0]


def main(resmem):
    with tempfile.TemporaryDirectory(prefix="resmem_regression_") as name:
        folder = pathlib.Path(name)
        os.symlink(resmem, folder / "resmem")
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

        def run(*command):
            done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
            assert done.returncode == 0, f"{command}: {done.stderr}"
            return done.stdout + done.stderr

        run(sys.executable, "-c", block("python"))
        said = run("bash", "-ec", block("sh"))
        assert "the data are those of a regression" in said, said
        base, memory = (float(re.search(rf"^{method} +([\d,.]+)", said, re.M)[1].replace(",", ""))
                        for method in ("base", "ResMem"))
        assert memory < 0.7 * base, said
        with open(folder / "predictions.csv") as file, open(folder / "test.csv") as truth:
            lines, rows = list(csv.DictReader(file)), list(csv.DictReader(truth))
        assert len(lines) == len(rows) == 89
        covered = 0
        for line, row in zip(lines, rows):
            low, high = float(line["low"]), float(line["high"])
            assert low < float(line["prediction"]) < high, line
            covered += low <= float(row["area"]) <= high
        # 80 held-out rows and 89 new ones: 0.9, give or take 5 points.
        assert 0.8 < covered / 89, covered
        covers = re.search(r"^90.00 % +([\d.]+) %", said, re.M)
        assert abs(float(covers[1]) - 100 * covered / 89) < 0.01, (said, covered)
        report = (folder / "report.html").read_text()
        assert "Can the intervals be believed?" in report and "How large are the errors?" in report
        assert "T = " not in report, "a regression has no T"


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
