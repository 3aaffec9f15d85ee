"""Every Python of this machine from 3.8 on: the sources compile, and the library by ctypes gives the same bits.

NumPy is usually there for one of them only, so that the others are asked through _lib.py alone."""
import glob
import os
import pathlib
import re
import subprocess
import sys
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "resmem"

ASK = r"""
import array, ctypes, importlib.util, sys
spec = importlib.util.spec_from_file_location("resmem_lib", sys.argv[1] + "/_lib.py")
_lib = importlib.util.module_from_spec(spec)
spec.loader.exec_module(_lib)
keys = array.array("f", [((7 * i) % 23) / 23 for i in range(60)])
logits = array.array("f", [((5 * i) % 17) / 17 for i in range(60)])
labels = array.array("i", [i % 3 for i in range(20)])
def matrix(values):
    return _lib.Matrix(values.buffer_info()[0], 20, 3, 3)
rows = _lib.Rows(keys=matrix(keys), logits=matrix(logits), labels=labels.buffer_info()[0])
options, memory = _lib.options_of(_lib.BuildOptions), ctypes.c_void_p()
options.k = 4
_lib.check(_lib.lib.resmem_build(None, ctypes.byref(rows), ctypes.byref(options), ctypes.byref(memory)))
scores = array.array("f", [0] * 60)
output = _lib.Output(scores.buffer_info()[0], 20, 3)
_lib.check(_lib.lib.resmem_predict(memory, ctypes.byref(matrix(keys)), ctypes.byref(matrix(logits)), None,
                                   ctypes.byref(output), None))
try:
    _lib.check(_lib.lib.resmem_open(b"/nowhere", None, ctypes.byref(ctypes.c_void_p())))
except FileNotFoundError as error:
    assert "/nowhere" in str(error), error
else:
    raise SystemExit("a memory that is not there was opened")
_lib.lib.resmem_close(memory)
print(scores.tobytes().hex())
"""


def interpreters():
    found = {}
    for place in ["/usr/bin/python3.*", "/usr/local/bin/python3.*", os.path.expanduser("~/.pyenv/versions/3.*/bin/python3.*")]:
        for path in glob.glob(place):
            version = re.fullmatch(r"python3\.(\d+)", os.path.basename(path))
            if version and int(version.group(1)) >= 8:
                found.setdefault(int(version.group(1)), path)
    found[sys.version_info[1]] = sys.executable
    return [found[minor] for minor in sorted(found)]


class Versions(unittest.TestCase):
    def run_python(self, python, *arguments):
        done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{python}: {done.stderr}")
        return done.stdout.strip()

    def test_the_sources_compile(self):
        compile_all = "import pathlib, sys\nfor p in pathlib.Path(sys.argv[1]).glob('*.py'):\n    compile(p.read_text(), str(p), 'exec')"
        for python in interpreters():
            with self.subTest(python):
                self.run_python(python, "-c", compile_all, str(PACKAGE))

    def test_answers_have_the_same_bits(self):
        answers = {python: self.run_python(python, "-c", ASK, str(PACKAGE)) for python in interpreters()}
        print("asked:", *answers, sep="\n  ")
        self.assertEqual(len(set(answers.values())), 1, answers)
        self.assertEqual(len(answers[sys.executable]), 8 * 60)


if __name__ == "__main__":
    unittest.main()
