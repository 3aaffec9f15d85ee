"""The examples in the docstrings, and the README's."""
import doctest
import importlib
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = {"_arrays": "numpy", "memory": "numpy", "documents": "numpy", "estimators": "sklearn",
           "torch_memory": "torch"}


class Examples(unittest.TestCase):
    def test_docstrings(self):
        tried = 0
        for name, needed in MODULES.items():
            importlib.import_module(needed)
            failed, count = doctest.testmod(importlib.import_module("resmem." + name), verbose=False)
            self.assertEqual(failed, 0, name)
            tried += count
        self.assertGreater(tried, 10)

    def test_readmes(self):
        for page in ("python/README.md", "docs/python.md"):
            blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
            self.assertTrue(blocks, page)
            names = {}
            for block in blocks:
                exec(compile(block, page, "exec"), names)

    def test_every_file_is_of_python_3_8(self):
        import ast
        for path in (ROOT / "python" / "resmem").glob("*.py"):
            ast.parse(path.read_text(), str(path), feature_version=(3, 8))


if __name__ == "__main__":
    sys.exit(unittest.main())
