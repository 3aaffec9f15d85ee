"""Every option that a message, a help text or an example names is one that some command declares.

The commands' own pages (docs/cli*.md, which another test compares with the programs) say which there are.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]")
# Every program has --version; the others belong to the programs that these files start.
OF_OTHERS = {"cli/inputs/text/spm_train.cc": None, "src/text/source/unpack.cc": {"--long"}}
EVERYWHERE = {"--version"}


def unknown(text, known):
    """Options in the strings of a source that nothing declares, with their lines."""
    return [(number, option) for number, line in enumerate(text.splitlines(), 1)
            for string in STRING.findall(line.partition("// ")[0])
            for option in OPTION.findall(string) if option not in known]


def main():
    known = set(EVERYWHERE)
    for page in (ROOT / "docs").glob("cli*.md"):
        known |= set(OPTION.findall(page.read_text()))
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", *(
        f"{folder}/*.{kind}" for folder in ("cli", "lab", "server", "src") for kind in ("cc", "h"))],
        capture_output=True, text=True, check=True).stdout.splitlines()
    problems = []
    for name in names:
        others = OF_OTHERS.get(name, set())
        if name.endswith("_test.cc") or others is None or not (ROOT / name).is_file():
            continue
        problems += [f"{name}:{number}: {option}: no command has this option"
                     for number, option in unknown((ROOT / name).read_text(), known | others)]
    # The test must be able to fail.
    for text, count in (('Say("give --no-such FILE");', 1), ('Say("give --data FILE");', 0), ("x--;  // --no-such", 0)):
        if len(unknown(text, known)) != count:
            problems.append(f"the checker does not find {count} options in {text}")
    print("\n".join(problems) or "every option that is named is declared")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
