"""The examples run, and say what they should."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
FASHION = "/usr/share/datasets/fashion-mnist"


def run(name, *arguments):
    result = subprocess.run([sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True,
                            env={**os.environ, "MPLBACKEND": "Agg"})
    if result.returncode != 0:
        raise AssertionError(f"{name}: {result.stderr}")
    return result.stdout


class Examples(unittest.TestCase):
    def test_digits(self):
        base, memory = map(float, re.search(r"forest ([\d.]+), with memory ([\d.]+)", run("digits.py")).groups())
        self.assertGreater(memory, base)

    def test_learn_and_forget(self):
        self.assertIn("KeyError: ", run("learn_and_forget.py"))

    def test_own_method(self):
        lines = run("own_method.py").splitlines()
        base, ranked, ours = (float(line.split()[-1]) for line in lines)
        self.assertGreater(ranked, base)
        self.assertGreater(ours, base)

    @unittest.skipUnless(os.path.isdir(FASHION), "dataset-fashion-mnist is not installed")
    def test_fashion_mnist_cnn(self):
        output = run("fashion_mnist_cnn.py", FASHION, "2000")
        gain = float(re.search(r"gain ([+-][\d.]+)", output).group(1))
        self.assertGreater(gain, 0)

    def test_the_notebook_runs_and_carries_its_outputs(self):
        import nbformat
        from nbconvert.preprocessors import ExecutePreprocessor
        path = EXAMPLES / "story.ipynb"
        notebook = nbformat.read(path, 4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.assertTrue(all(cell.execution_count for cell in code))
        self.assertTrue(any("image/png" in output.get("data", {}) for cell in code for output in cell.outputs))
        self.assertLess(path.stat().st_size, 500_000)
        with tempfile.TemporaryDirectory() as folder:
            ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(
                notebook, {"metadata": {"path": folder}})


if __name__ == "__main__":
    unittest.main(warnings="ignore")
