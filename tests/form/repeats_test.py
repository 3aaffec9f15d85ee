#!/usr/bin/env python3
"""No run of six or more equal lines stands in two files.

Tests (x_test.cc, tests/) are not looked at.  Blank lines, comments, includes, lone punctuation and
what every file has (namespaces, guards) do not count and do not interrupt a run.  A run that has
to stand twice says why: a comment "Also in FILE: ..." within the five lines above it, in either.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
FEWEST = 6
FOLDERS = ("src", "cli", "lab", "capi", "server", "examples", "include", "bench", "python", "fuzz")
SUFFIXES = {".cc", ".h", ".py", ".c", ".js"}
PASSED_OVER = re.compile(
    r"""$ | // | \# | \*/? | ["']{3} | [\W_]+$ | \}\s*// | (import|from)\ | using\ | namespace\ | HWY_\w+\(\);
    | (public|private|protected):$ | (return|break|continue|else|try|default:)\b[\s;:{}]*$ """,
    re.VERBOSE)
REASON = re.compile(r"\bAlso in \S+")
REASON_ABOVE = 5


def code_files():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and not path.stem.endswith("_test"):
                yield path


def significant(lines):
    """(line number from 0, the line with its white space folded) of lines that count."""
    folded = ((number, " ".join(line.split())) for number, line in enumerate(lines))
    return [(number, line) for number, line in folded if not PASSED_OVER.match(line)]


def explained(lines, first):
    return any(REASON.search(line) for line in lines[max(0, first - REASON_ABOVE):first + 1])


def find_faults(text):
    """{files: places} of runs that stand in several files of {name: lines}, without a reason."""
    runs, faults = collections.defaultdict(list), {}
    for name, all_lines in text.items():
        lines = significant(all_lines)
        for i in range(len(lines) - FEWEST + 1):
            run = tuple(line for _, line in lines[i:i + FEWEST])
            runs[run].append((name, lines[i][0]))
    for places in runs.values():
        if len({name for name, _ in places}) < 2:
            continue
        if any(explained(text[name], first) for name, first in places):
            continue
        faults.setdefault(tuple(name for name, _ in places), [f"{name}:{first + 1}" for name, first in places])
    return faults


def main():
    text = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").splitlines() for path in code_files()}
    faults = find_faults(text)
    for places in faults.values():
        print("the same lines stand in " + ", ".join(places))
    # The test must be able to fail.
    run = [f"int value_{i} = {i};" for i in range(FEWEST)]
    for lines, count in ((run, 1), (run[1:], 0), (["// Also in b: they differ soon"] + run, 0)):
        if len(find_faults({"a": lines, "b": ["// a comment"] + run})) != count:
            print(f"the checker does not find {count} runs in {lines}")
            return 1
    if faults:
        print(f"make one function of each, or say in a comment why not (\"Also in FILE: ...\")")
        return 1
    print(f"no {FEWEST} lines of {len(text)} files stand in two of them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
