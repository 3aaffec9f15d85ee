"""The documents stay readable: American spelling, the words of docs/glossary.md, tables that can be
scanned on result pages, and a page of commands that prints shared options once."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_CELL = 90       # characters in a table's cell on a page of results or measurements
MOST_COMMANDS = 1200  # lines of docs/cli.md
BRITISH = re.compile(r"\b\w*(?:memoris|normalis|standardis|quantis|recognis|optimis(?!t)|neighbour|behaviour|"
                     r"colour|favour|honour|labell)\w*|\b(?:centres?|centred|grey)\b", re.I)
STILTED = re.compile(r"\b(?:anew|whoever|nobody|likewise|the lesser of|set right|spoiled|mended)\b", re.I)
QUOTED = re.compile(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)", re.S | re.M)


def check(name, text):
    problems = []
    prose = QUOTED.sub("", text)
    examples = prose.find("## Examples") if name == "docs/results/lm.md" else -1  # real text, as it was found
    for word in BRITISH.findall(prose[:examples] if examples >= 0 else prose):
        problems.append(f"{name}: {word}: write it the American way")
    for word in STILTED.findall(prose):
        problems.append(f"{name}: {word}: say it plainly (CONTRIBUTING.md, docs/glossary.md)")
    if name.startswith(("docs/results/", "docs/measurements/")):
        for number, line in enumerate(text.splitlines(), 1):
            for cell in re.sub(r"\]\([^)]*\)", "]", line).split("|")[1:-1] if line.startswith("|") else ():
                if len(cell.strip()) > MOST_CELL:
                    problems.append(f"{name}:{number}: a cell of {len(cell.strip())} characters, at most "
                                    f"{MOST_CELL}: move words below the table")
    if name == "docs/cli.md" and text.count("\n") >= MOST_COMMANDS:
        problems.append(f"{name}: {MOST_COMMANDS} lines or more: do options differ that could be shared?")
    return problems


def main():
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    problems = []
    for name in names:
        if (ROOT / name).is_file():
            problems += check(name, (ROOT / name).read_text())
    # The test must be able to fail.
    cell = "| " + "x" * (MOST_CELL + 1) + " | y |\n"
    for name, text, count in (("a.md", "It was memo" + "rised any" + "where.", 1), ("a.md", "`colo" + "ur` in code", 0),
                              ("a.md", "made a" + "new", 1), ("docs/results/a.md", cell, 1), ("a.md", cell, 0),
                              ("docs/cli.md", "\n" * MOST_COMMANDS, 1)):
        if len(check(name, text)) != count:
            problems.append(f"the checker does not find {count} problems in {name}: {text[:40]}")
    print("\n".join(problems) or "the documents are in plain words")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
