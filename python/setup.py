"""Puts libresmem_c.so into the package: the one that RESMEM_LIBRARY names, the one of the source tree's build, or
a new build by cmake.  The wheel serves every Python 3: the library is loaded by ctypes."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:  # setuptools 70 and later have their own
    from setuptools.command.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
NAME = "libresmem_c.so"


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(resmem VERSION ([0-9.]+)", text).group(1)


def library():
    given = os.environ.get("RESMEM_LIBRARY")
    built = ROOT / "build" / "release" / "capi" / NAME
    if given:
        return pathlib.Path(given)
    if built.exists():
        return built
    folder = HERE / "build" / "library"
    subprocess.check_call(["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release",
                           "-DRESMEM_BUILD_TESTS=OFF", "-DRESMEM_BUILD_BENCHMARKS=OFF", "-DRESMEM_BUILD_LAB=OFF"])
    subprocess.check_call(["cmake", "--build", str(folder), "--target", "resmem_c", "--parallel"])
    return folder / "capi" / NAME


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "resmem" / NAME
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library().resolve(), target)
        subprocess.call(["strip", "--strip-unneeded", str(target)])  # smaller; no matter if there is no strip


class OneWheel(bdist_wheel):
    """py3-none-linux_x86_64: any Python 3, this system."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": OneWheel}, distclass=WithLibrary)
