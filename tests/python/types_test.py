"""The hints of the package hold: mypy finds nothing wrong.

types_test.py    py.typed promises them to users"""
import pathlib
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "resmem"

with tempfile.TemporaryDirectory() as cache:
    # What is optional, or has no hints of its own, is anything; 3.8 is the oldest Python that is served.
    checked = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache, "--ignore-missing-imports",
                              "--follow-imports", "silent", "--python-version", "3.8", "--strict-equality",
                              "--warn-unreachable", "--warn-redundant-casts", str(PACKAGE)],
                             capture_output=True, text=True, timeout=600)
print(checked.stdout, checked.stderr)
sys.exit(checked.returncode)
