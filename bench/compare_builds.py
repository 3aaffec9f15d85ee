#!/usr/bin/env python3
"""Is one commit slower than another?  Runs the benchmarks of two builds in turn and prints ratios.

    bench/compare_builds.py --build OLD_COMMIT FOLDER     # a worktree of it, built for the comparison
    bench/compare_builds.py FOLDER/build/release build/release [--rounds 5] [--only NAME,...]

Each round runs the old and the new program one after the other, the order alternating; a ratio is
the new median of a timing over the old one, and the spread is that of the rounds' own ratios.  The
timings are the cells of the tables that the benchmarks print, by their row and column.  The exit
code is 5 where a median is above --limit (3 %) and the rounds agree.  Give it a quiet machine.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

# name: (program, arguments; {page} is where it writes, {scratch} a folder both share, columns timed)
CASES = {
    "exact": ("bench_ivf", ["--rows", "50000", "--dim", "64", "{page}"], r"alone|batch"),
    "approximate": ("bench_ivf", ["--rows", "200000", "--dim", "64", "{page}"], r"alone|batch|build"),
    "residual_sum": ("bench_residual_sum", ["--folder", "{scratch}", "--markdown", "{page}"], r"^sum$"),
    "tune": ("bench_tune", ["{page}"], r"processor"),
}
TARGETS = sorted({program for program, _, _ in CASES.values()})
NUMBER = re.compile(r"^[\d,]*\.?\d+")


def build(commit, folder):
    subprocess.run(["git", "worktree", "add", "--detach", folder, commit], check=True)
    # RESMEM_JOIN_SOURCES: commits before the redesign joined sources only without a compiler cache.
    subprocess.run(["cmake", "--preset", "release", "-DRESMEM_BUILD_TESTS=OFF", "-DRESMEM_JOIN_SOURCES=ON"],
                   cwd=folder, check=True)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", *TARGETS], cwd=folder, check=True)


def timings(page, columns):
    """{(row, column): value} of every table of a page."""
    found, header, names = {}, None, []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]] if line.startswith("|") else None
        if cells is None:
            header = None
        elif header is None:
            header, names = cells, [""] * len(cells)
        elif not set("".join(cells)) <= set("-: "):
            # A row is named by its words and by its k; an empty cell repeats the one above.
            names = [cell or name for cell, name in zip(cells, names)]
            words = [name for name, title in zip(names, header)
                     if title in ("k", "search", "residuals", "follows a search of", "memory") or title == header[0]]
            for title, cell in zip(header, cells):
                number = NUMBER.match(cell)
                if number and re.search(columns, title):
                    found[" / ".join(words), title] = float(number.group().replace(",", ""))
    return found


def run(build_folder, case, scratch):
    program, arguments, columns = CASES[case]
    page = pathlib.Path(scratch) / "page.md"
    page.unlink(missing_ok=True)
    words = [word.format(page=page, scratch=scratch) for word in arguments]
    done = subprocess.run([build_folder / "bench" / program, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} of {build_folder} ended with {done.returncode}:\n{done.stderr}")
    return timings(page.read_text() if page.exists() else done.stdout, columns)


def compare(case, builds, rounds, limit, scratch):
    measured = [[], []]
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            measured[which].append(run(builds[which], case, scratch))
    slower = False
    print(f"\n## {case}\n\n| timing | old | new | new / old | of the rounds |\n|---|---|---|---|---|")
    for key in measured[0][0]:
        if any(key not in result for results in measured for result in results):
            sys.exit(f"{case}: the builds do not print the same rows: {key}")
        old, new = ([result[key] for result in results] for results in measured)
        if statistics.median(old) <= 0:
            continue
        ratio = statistics.median(new) / statistics.median(old)
        each = sorted(b / a for a, b in zip(old, new) if a > 0)
        slower |= ratio > 1 + limit and each[len(each) // 4] > 1
        print(f"| {key[0]}, {key[1]} | {statistics.median(old):g} | {statistics.median(new):g} "
              f"| {ratio:.3f} | {each[0]:.3f} .. {each[-1]:.3f} |")
    return slower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", nargs=2, metavar=("COMMIT", "FOLDER"))
    parser.add_argument("builds", nargs="*", type=pathlib.Path, metavar="OLD NEW")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--limit", type=float, default=0.03)
    parser.add_argument("--scratch", help="a folder with 7 GB of space; default: a temporary one")
    options = parser.parse_args()
    if options.build:
        return build(*options.build)
    if len(options.builds) != 2 or options.rounds < 1 or not set(options.only.split(",")) <= set(CASES):
        parser.error(f"give two build folders; --only takes {', '.join(CASES)}")
    with tempfile.TemporaryDirectory() as scratch:
        slower = [case for case in options.only.split(",")
                  if compare(case, options.builds, options.rounds, options.limit, options.scratch or scratch)]
    print("\nslower by more than", f"{options.limit:.0%}:", ", ".join(slower) or "nothing")
    return 5 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
