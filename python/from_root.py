"""`pip install .` at the root of the source tree: the package's own build, done where it lies."""
import os
import pathlib

os.chdir(pathlib.Path(__file__).resolve().parent)

from setuptools.build_meta import *  # noqa: E402, F401, F403
