"""Do the tests notice when a check of src/format or src/memory is changed?

    mutation.py [--sample N] [--seed N] [--quick] [--work FOLDER] [--markdown FILE] [--list] [--only PLACE]

Changes, one at a time, what decides in an if, a return or a ?: of those folders:
  a comparison: < and <=, > and >=, == and != take each other's place
  a check: RESMEM_RETURN_IF_ERROR(...) is passed over, and so is an if that returns at once
  a negation: !x becomes x
  a number: 3 becomes 4
and runs the unit tests that reach the place until one fails.  All changes are built at once into a copy of the
source (mutant.h says how), so a mutant costs the tests' time and no compiler's.  Outside ./test: it takes hours for
all; --sample takes some, by the seed.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src/format/", "src/memory/")
KERNELS = ("row_sums.cc", "softmax_residuals.cc", "compare_memories.cc")  # arithmetic and comparisons, not checks
PROGRAMS = {"format_test": "src/format", "memory_corruption_test": "tests/corrupt", "memory_test": "src/memory",
            "residual_test": "src/memory", "memory_in_ram_test": "tests/corrupt", "cut_file_test": "tests/corrupt",
            "first_touch_test": "tests/corrupt"}
LONG = "-MemoryIndex*:*MemoryIndexOf*:IndexObstacle*:KeptQueries*:ResidualSum*:Scrub*:RowParts*:*TheIndexIsOf*"  # minutes
SLOW = 0.6  # seconds: a test that takes longer is run for those that the quick ones let live
COMPARISONS = {" < ": (" < ", "Less", " > "), " <= ": (" < ", "LessEqual", " > "), " > ": (" < ", "Greater", " > "),
               " >= ": (" < ", "GreaterEqual", " > "), " == ": (" == ", "Equal", " == "),
               " != ": (" == ", "NotEqual", " == ")}
QUIET = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//[^\n]*')
DECIDES = re.compile(r"\b(?:if|while) \(|\breturn\b|\? ")
NEVER = re.compile(r"^\s*(?:#|static_assert|constexpr|template|using|case |inline constexpr|static constexpr|for )|constexpr|operator")


def code_of(text):
    """The same length, with strings and comments blanked."""
    return QUIET.sub(lambda match: "~" * len(match.group()), text)


def closing(code, opening):
    depth = 0
    for place in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    raise ValueError("a parenthesis that is never closed")


def statement_around(code, place):
    """The text from the end of the last statement to the end of this one."""
    begin = max(code.rfind(mark, 0, place) for mark in (";", "{", "}")) + 1
    ends = [end for end in (code.find(mark, place) for mark in (";", "{", "}")) if end >= 0]
    return code[begin:min(ends)]


def changes_of(text):
    """(begin, end, kind, makes the new text of a place number), in order, none inside another of another kind."""
    code, found = code_of(text), []
    for old, (first, kind, second) in COMPARISONS.items():
        for match in re.finditer(re.escape(old), code):
            found.append((match.start(), match.end(), old.strip(),
                          lambda n, f=first, k=kind, s=second: f"{f}::resmem_mutant::{k}{{{n}}}{s}"))
    for match in re.finditer(r"(?<=[( ])!(?=[\w(])", code):
        found.append((match.start(), match.end(), "!", lambda n: f"::resmem_mutant::On({n}) != !"))
    for match in re.finditer(r"(?<=[ (])([1-9]\d{0,3})(?=[;), ])", code):
        found.append((match.start(), match.end(), "number",
                      lambda n, v=match.group(1): f"({v} + ::resmem_mutant::On({n}))"))
    found = [change for change in found if decides(code, change[0])]
    for match in re.finditer(r"RESMEM_RETURN_IF_ERROR\(", code):
        found.append((match.start(), match.start(), "check", lambda n: f"if (!::resmem_mutant::On({n})) "))
    for match in re.finditer(r"\bif \((?!constexpr)", code):
        end = closing(code, match.end() - 1)
        if re.match(r"\s*(?:\{\s*)?return\b", code[end + 1:end + 60]) and not re.search(r";|\bconst auto\b", code[match.end():end]):
            found.append((match.end(), match.end(), "check", lambda n: f"!::resmem_mutant::On({n}) && ("))
            found.append((end, end, "", lambda n: ")"))
    return sorted(found, key=lambda change: (change[0], change[1]))


def decides(code, place):
    line = code[code.rfind("\n", 0, place) + 1:code.find("\n", place)]
    statement = statement_around(code, place)
    return not NEVER.search(line) and "for (" not in statement and bool(DECIDES.search(statement))


def mutate(path, first):
    """Writes the file with all its places; [(number, line, kind, text of the line)]."""
    text = path.read_text()
    places, parts, done, number = [], [], 0, first
    for begin, end, kind, make in changes_of(text):
        parts += [text[done:begin], make(number)]
        done = end
        if kind:
            line = text.count("\n", 0, begin)
            places.append((number, line + 1, kind, text.splitlines()[line].strip()))
            number += 1
    header = ROOT / "tests/mutation/mutant.h"
    path.write_text(f'#include "{header}"\n' + "".join(parts) + text[done:])
    return places


def copy_source(work):
    names = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, work / name)


def prepare(work):
    """Copies, changes and builds; {number: (file, line, kind, text)}."""
    shutil.rmtree(work, ignore_errors=True)
    copy_source(work)
    places = {}
    for path in sorted(work.glob("src/*/**/*.cc")):
        name = path.relative_to(work).as_posix()
        if name.startswith(FOLDERS) and not name.endswith("_test.cc") and path.name not in KERNELS:
            for number, *rest in mutate(path, len(places)):
                places[number] = (name, *rest)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "-S", work, "-B", work / "build/release", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *launcher],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-k", "0", "-C", work / "build/release", *PROGRAMS], check=True)
    (work / "places.json").write_text(json.dumps(places))
    return places


class Runner:
    def __init__(self, work, quick):
        self.all = LONG if quick else "*"
        self.folder = work / "build/release"
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="resmem_mutation_", dir=self.shared()))
        self.reached, self.quick, self.slow, self.seconds = {}, {}, {}, {}

    @staticmethod
    def shared():
        return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

    def run(self, program, names, timeout, **variables):
        words = [self.folder / PROGRAMS[program] / program, f"--gtest_filter={':'.join(names) or self.all}", "--gtest_fail_fast",
                 f"--gtest_output=json:{self.scratch}/{program}.json"]
        try:
            return subprocess.run(words, env={**os.environ, "TEST_TMPDIR": str(self.scratch), **variables}, timeout=timeout,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def look(self):
        """Which places each program reaches, and how long its tests take, with nothing changed."""
        for program in PROGRAMS:
            seen = self.scratch / f"{program}.seen"
            if not self.run(program, [], 1800, RESMEM_MUTANTS_SEEN=str(seen)):
                sys.exit(f"{program} fails with nothing changed")
            self.reached[program] = set(map(int, seen.read_text().split())) if seen.exists() else set()
            told = json.loads((self.scratch / f"{program}.json").read_text())
            times = {f"{suite['name']}.{test['name']}": float(test["time"].rstrip("s"))
                     for suite in told["testsuites"] for test in suite["testsuite"]}
            self.quick[program] = [name for name, time in times.items() if time <= SLOW]
            self.slow[program] = [name for name, time in times.items() if time > SLOW]
            self.seconds[program] = sum(times.values())

    def kill(self, number):
        """The program that noticed; "" if none did; None if none reaches the place."""
        programs = [program for program in PROGRAMS if number in self.reached[program]]
        for names in (self.quick, self.slow):
            for program in programs:
                limit = 20 + 10 * self.seconds[program]
                if names[program] and not self.run(program, names[program], limit, RESMEM_MUTANT=str(number)):
                    return program
        return "" if programs else None


def report(places, results, seed):
    killed = sum(bool(by) for by in results.values())
    unreached = [number for number, by in results.items() if by is None]
    text = "| change | places | sample | killed | survived | not reached |\n|---|--:|--:|--:|--:|--:|\n"
    for kind in (*dict.fromkeys(place[2] for place in places.values()), "all"):
        mine = [number for number in results if kind in (places[number][2], "all")]
        count = [sum(bool(results[n]) for n in mine), sum(results[n] == "" for n in mine), sum(results[n] is None for n in mine)]
        of = sum(kind in (place[2], "all") for place in places.values())
        name = {"check": "a check passed over", "number": "a number + 1", "!": "a negation dropped"}.get(kind, kind)
        text += f"| {name} | {of:,} | {len(mine)} | {count[0]} | {count[1]} | {count[2]} |\n"
    reached = len(results) - len(unreached)
    text += f"\nScore: {killed} of {len(results)} killed ({100 * killed / max(1, len(results)):.0f} %), " \
            f"{killed} of {reached} that a test reaches; seed {seed}.\n"
    lived = [(number, by) for number, by in results.items() if not by]
    return text, "".join(f"{number} {places[number][0]}:{places[number][1]} [{places[number][2]}]"
                         f"{' not reached' if by is None else ''}: {places[number][3]}\n" for number, by in lived)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--sample", type=int, default=0, help="how many of all; 0: all")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--work", type=pathlib.Path, default=ROOT / "build/mutation")
    options.add_argument("--markdown", type=pathlib.Path)
    options.add_argument("--no-build", action="store_true")
    options.add_argument("--list", action="store_true", help="only count the places")
    options.add_argument("--quick", action="store_true", help="leave out the tests that take minutes, most of the index's")
    options.add_argument("--only", type=int, nargs="*")
    chosen = options.parse_args()
    if chosen.list:
        changes = [change[2] for path in sorted(ROOT.glob("src/*/**/*.cc"))
                   if path.relative_to(ROOT).as_posix().startswith(FOLDERS) and not path.name.endswith("_test.cc")
                   and path.name not in KERNELS for change in changes_of(path.read_text()) if change[2]]
        print({kind: changes.count(kind) for kind in dict.fromkeys(changes)}, len(changes))
        return
    stored = chosen.work / "places.json"
    places = {int(number): place for number, place in json.loads(stored.read_text()).items()} if chosen.no_build \
        else prepare(chosen.work)
    runner = Runner(chosen.work, chosen.quick)
    runner.look()
    numbers = list(places)
    random.Random(chosen.seed).shuffle(numbers)
    results = {}
    for number in chosen.only or numbers[:chosen.sample or None]:
        results[number] = runner.kill(number)
        word = {None: "not reached", "": "SURVIVED"}.get(results[number], "killed by " + (results[number] or ""))
        print(f"{number} {places[number][0]}:{places[number][1]} [{places[number][2]}] {word}: {places[number][3]}", flush=True)
    shutil.rmtree(runner.scratch, ignore_errors=True)
    table, lived = report(places, results, chosen.seed)
    print("\n" + table + "\n" + lived)
    if chosen.markdown:
        chosen.markdown.write_text(table)


if __name__ == "__main__":
    main()
