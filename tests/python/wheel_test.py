"""pip install . in a venv without a network: one wheel for every Python 3.

wheel_test.py LIBRARY"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = sys.argv.pop(1)


class Wheel(unittest.TestCase):
    def test_installs_and_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            # setuptools leaves build/ beside the sources: they are copied first.
            for name in ("python", "CMakeLists.txt", "pyproject.toml"):
                source, target = ROOT / name, home / "source" / name
                target.parent.mkdir(exist_ok=True)
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("build", "__pycache__", "*.egg-info")) \
                    if source.is_dir() else shutil.copy(source, target)
            # With Debian's NumPy, setuptools and wheel.
            venv.create(home / "venv", system_site_packages=True, with_pip=True)
            python = home / "venv" / "bin" / "python"
            clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            names = set()
            for source in (home / "source", home / "source" / "python"):  # the root of the tree serves, too
                shutil.rmtree(home / "wheels", ignore_errors=True)
                subprocess.run([python, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-build-isolation",
                                "--no-deps", "-w", home / "wheels", source], check=True,
                               env={**clean, "RESMEM_LIBRARY": LIBRARY})
                (wheel,) = (home / "wheels").iterdir()
                names.add(wheel.name)
            self.assertEqual(len(names), 1)
            self.assertRegex(wheel.name, r"^resmem-[0-9.]+-py3-none-linux_\w+\.whl$")
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True, env=clean)
            clean.pop("RESMEM_LIBRARY", None)
            code = ("import resmem, numpy as np, pathlib\n"
                    "assert 'site-packages' in resmem.__file__, resmem.__file__\n"
                    "assert pathlib.Path(resmem.__file__).with_name('py.typed').exists()\n"
                    "keys = np.eye(4, dtype=np.float32)\n"
                    "memory = resmem.Memory.build(keys, 0 * keys, np.arange(4), k=1)\n"
                    "print(resmem.__version__, memory.predict(keys, 0 * keys).tolist())\n")
            output = subprocess.run([python, "-c", code], check=True, env=clean, cwd=folder, capture_output=True,
                                    text=True).stdout
            self.assertIn("[0, 1, 2, 3]", output)
            self.assertIn(wheel.name.split("-")[1], output)


if __name__ == "__main__":
    unittest.main()
