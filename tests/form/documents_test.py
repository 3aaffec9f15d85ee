"""What people read stays readable: American spelling, the words of docs/glossary.md, tables that can be
scanned on result pages, plain words in messages, and a page of commands that prints shared options once."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_CELL = 90       # characters in a table's cell on a page of results or measurements
MOST_LINES = 1000    # of docs/cli.md
PLACEHOLDER = re.compile(r"^[A-Z_]{4,}$|(?<=\. )[A-Z]{6,}$", re.M)  # a figure that was to come
BRITISH = re.compile(r"\b\w*(?:memoris|normalis|standardis|quantis|recognis|optimis(?!t)|neighbour|behaviour|"
                     r"colour|favour|honour|labell)\w*|\b(?:centres?|centred|grey)\b", re.I)
STILTED = re.compile(r"\b(?:anew|whoever|nobody|likewise|the lesser of|set right|spoiled|mended)\b", re.I)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
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
    for word in PLACEHOLDER.findall(prose):
        problems.append(f"{name}: {word} stands where a figure should")
    if name == "docs/cli.md" and text.count("\n") > MOST_LINES:
        problems.append(f"{name}: more than {MOST_LINES} lines: do options differ that could be shared?")
    return problems


def check_header(name, text):
    """The comments of a public header are read as documents are."""
    comments = "\n".join(line.partition("//")[2] for line in text.splitlines())
    return [problem for problem in check(name, comments) if "figure" not in problem]


def check_messages(name, text):
    """What a program says: the strings of its source."""
    strings = "\n".join(word for line in text.splitlines() for word in STRING.findall(line.partition("// ")[0]))
    return [f"{name}: the message says {word}: say it plainly (CONTRIBUTING.md)"
            for word in STILTED.findall(strings) + re.findall(r"\bso many\b", strings)]


def main():
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md", "*.h", "*.cc", "*.js"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    problems = []
    for name in names:
        if not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_text()
        if name.endswith(".md"):
            problems += check(name, text)
        elif name.startswith(("cli/", "lab/", "server/", "src/", "capi/")):
            problems += check_messages(name, text)
        if name.endswith(".h") and name.startswith(("include/", "capi/")):
            problems += check_header(name, text)
    # The test must be able to fail.
    cell = "| " + "x" * (MOST_CELL + 1) + " | y |\n"
    for name, text, count in (("a.md", "It was memo" + "rised any" + "where.", 1), ("a.md", "`colo" + "ur` in code", 0),
                              ("a.md", "made a" + "new", 1), ("docs/results/a.md", cell, 1), ("a.md", cell, 0),
                              ("docs/cli.md", "\n" * (MOST_LINES + 1), 1), ("docs/cli.md", "\n" * MOST_LINES, 0),
                              ("a.md", "This is so:\n\nTAB" + "LE\n", 1), ("a.md", "It took 5 s. SANI" + "TIZED\n", 1)):
        if len(check(name, text)) != count:
            problems.append(f"the checker does not find {count} problems in {name}: {text[:40]}")
    if len(check_messages("a.cc", f'Say("made a{"new"}");  // made a{"new"}')) != 1:
        problems.append("the checker does not find a word in a message")
    print("\n".join(problems) or "the documents are in plain words")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
