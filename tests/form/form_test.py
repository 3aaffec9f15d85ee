"""The form of the tree: clang-format, file and folder sizes, header guards, links in documents that lead
somewhere, and no path that only our own machines have."""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_LINES = 500
MOST_FILES = 30      # of a folder, tests left out
MANY_FILES = {"cli/commands"}  # a file per command
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"```.*?```", re.S)


def tracked(*suffixes):
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()]


def main():
    problems = []
    code = tracked(".h", ".cc")
    result = subprocess.run(["clang-format", "--dry-run", "-Werror", *code, *tracked(".js")], capture_output=True, text=True)
    if result.returncode != 0:
        places = sorted({line.split(":")[0] for line in result.stderr.splitlines() if ": error" in line})
        problems += [f"{place}: run clang-format -i on it" for place in places]
    for path in code + tracked(".py", ".sh"):
        count = len(path.read_text().splitlines())
        if count > MOST_LINES:
            problems.append(f"{path.relative_to(ROOT)}: {count} lines, at most {MOST_LINES}: split it")
    for path in code:  # where there is no memory, glibc ends the process in both
        if "std::call_once(" in path.read_text():
            problems.append(f"{path.relative_to(ROOT)}: std::call_once: use support/once.h")
        if re.search(r"^(?!\s*//).*\bthread_local (?!bool|int)", path.read_text(), re.M):
            problems.append(f"{path.relative_to(ROOT)}: thread_local with a destructor: use support/thread_own.h")
    folders = collections.Counter(path.parent.relative_to(ROOT).as_posix() for path in code
                                  if not re.search(r"_test\.cc$|^test_", path.name))
    problems += [f"{folder}: {count} files, at most {MOST_FILES}: make folders in it"
                 for folder, count in folders.items() if count > MOST_FILES and folder not in MANY_FILES]
    for path in tracked(".h"):
        name = path.relative_to(ROOT).as_posix()
        for folder in ("include/", "src/"):
            name = name.removeprefix(folder)
        name = name if name.startswith(("resmem/", "resmem_program/")) else "resmem/" + name
        guard = re.sub(r"[^A-Za-z0-9]", "_", name).upper() + "_"
        if f"#ifndef {guard}" not in path.read_text() and not path.name.endswith("-inl.h"):
            problems.append(f"{path.relative_to(ROOT)}: no header guard {guard}")
    for path in tracked(".md"):
        for target in LINK.findall(FENCE.sub("", path.read_text())):
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
                problems.append(f"{path.relative_to(ROOT)}: the link {target} leads nowhere")
    print("\n".join(problems) or "the tree is in form")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
