"""Builds with --coverage, runs the tests that matter, and prints how much of format, memory, data and the server they reach.

    coverage.py [--build FOLDER] [--tests REGEX] [--no-build] [--gaps N] [--markdown FILE]

Lines: those that gcov counts as code; a line is reached if any instance of a template or inline function
reaches it.  Branches: the ways out of a condition.  The hidden ones that g++ adds to every call that might throw
are left out, the way of the exception and the way of its absence alike: no line of ours decides about them.
Test files are not counted.  gcov of the compiler reads the counts; nothing else is needed.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src/format", "src/memory", "src/data", "server")
PROGRAMS = ["format_test", "memory_test", "residual_test", "data_test", "server_test", "memory_faults_test", "memory_in_ram_test",
            "memory_corruption_test", "first_touch_test", "cut_file_test", "golden_test", "support_test", "shard_test",
            "search_memory_test", "array_fuzz", "array_copy", "serve_fuzz", "resmem_command", "resmem_serve"]
TESTS = (r"^(format_test|memory_test|residual_test|data_test|server_test|memory_faults_test|memory_in_ram_test|shard_test"
         r"|memory_corruption_test|first_touch_test|cut_file_test|golden_test|data_numpy|array_fuzz|serve_fuzz|erasure|gateway"
         r"|serve_(protocol|edits|trouble|door|attack|openapi)"
         r"|cli_(audit|bad_input|blend|compress|data|doctor|export|fingerprint|index|index_changes|info_verify|keep|key_transform"
         r"|memorize|new_classes|predict|probabilities|regression|roles|scrub|serve|tables|tune|unreadable|versions))$")


def build(folder):
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DRESMEM_COVERAGE=ON",
                    "-DRESMEM_BUILD_TRAINING=OFF", "-DRESMEM_BUILD_BENCHMARKS=OFF", *launcher()], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, *PROGRAMS], check=True)


def launcher():
    return ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if "CCACHE_DIR" in os.environ or os.path.exists("/usr/bin/ccache") else []


def run_tests(folder, regex):
    for counts in folder.rglob("*.gcda"):
        counts.unlink()
    ran = subprocess.run(["ctest", "--test-dir", folder, "--no-tests=error", "-R", regex, "-j2"], text=True, capture_output=True)
    print(ran.stdout[-1500:] if ran.returncode else ran.stdout.strip().splitlines()[-3])


class File:
    """What any object file says of one source file."""

    def __init__(self):
        self.lines = collections.Counter()
        self.branches = collections.Counter()  # (line, number) -> taken

    def add(self, lines):
        for line in lines:
            number = line["line_number"]
            self.lines[number] += line["count"]
            for place, branch in enumerate(of_conditions(line["branches"])):
                self.branches[number, place] += branch["count"]


def of_conditions(branches):
    """Without the pairs of calls: the way of the exception and, right before it, that of its absence."""
    kept = []
    for branch in branches:
        if not branch["throw"]:
            kept.append(branch)
        elif kept and kept[-1]["fallthrough"]:
            kept.pop()
    return kept


def read_counts(folder):
    files = collections.defaultdict(File)
    for counts in sorted(folder.rglob("*.gcda")):
        told = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", counts], cwd=folder,
                              capture_output=True, check=False).stdout
        for text in told.splitlines():
            for file in json.loads(text)["files"]:
                path = pathlib.Path(os.path.normpath(os.path.join(folder, file["file"])))
                if not path.is_relative_to(ROOT):
                    continue
                name = path.relative_to(ROOT).as_posix()
                if name.startswith(FOLDERS) and not re.search(r"(^|/)test_|_test\.cc$|/page/", name):
                    files[name].add(file["lines"])
    return files


def share(reached, all_):
    return f"{100 * reached / all_:.1f} %" if all_ else "-"


def counts_of(files):
    lines = [count for file in files for count in file.lines.values()]
    branches = [count for file in files for count in file.branches.values()]
    return sum(map(bool, lines)), len(lines), sum(map(bool, branches)), len(branches)


def table(files):
    text = "| folder | lines | reached | branches | reached |\n|---|--:|--:|--:|--:|\n"
    for folder in (*FOLDERS, "all"):
        chosen = [file for name, file in files.items() if folder == "all" or name.startswith(folder + "/")]
        lines, all_lines, branches, all_branches = counts_of(chosen)
        text += f"| {folder} | {all_lines:,} | {share(lines, all_lines)} | {all_branches:,} | {share(branches, all_branches)} |\n"
    return text


def ranges(numbers):
    text, numbers = [], sorted(numbers)
    while numbers:
        first = last = numbers.pop(0)
        while numbers and numbers[0] <= last + 2:
            last = numbers.pop(0)
        text.append(str(first) if first == last else f"{first}-{last}")
    return ", ".join(text)


def gaps(files, most):
    """The files with the most lines that no test reaches."""
    missed = {name: [line for line, count in file.lines.items() if not count] for name, file in files.items()}
    for name, lines in sorted(missed.items(), key=lambda item: -len(item[1]))[:most]:
        if lines:
            print(f"{name}: {len(lines)} of {len(files[name].lines)} lines: {ranges(lines)}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/coverage")
    options.add_argument("--tests", default=TESTS)
    options.add_argument("--no-build", action="store_true")
    options.add_argument("--no-run", action="store_true")
    options.add_argument("--gaps", type=int, default=0)
    options.add_argument("--markdown", type=pathlib.Path)
    chosen = options.parse_args()
    if not chosen.no_build:
        build(chosen.build)
    if not chosen.no_run:
        run_tests(chosen.build, chosen.tests)
    files = read_counts(chosen.build.resolve())
    if not files:
        sys.exit(f"{chosen.build}: no counts; build with -DRESMEM_COVERAGE=ON and run the tests")
    print(table(files))
    gaps(files, chosen.gaps)
    if chosen.markdown:
        chosen.markdown.write_text(table(files))


if __name__ == "__main__":
    main()
