"""Writes docs/cli.md from the help of every command, or checks that it is current.

    help_page.py PROGRAM            writes
    help_page.py --check PROGRAM    exits with 1 where the page differs
"""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/cli.md"
HEAD = """# The command

Made by `tests/cli/help_page.py` from the program's own help; a test fails where it is not current.
Results go to standard output, words and progress to standard error. Exit codes: [errors.md](errors.md).
The documents of `--json` are explained in docs/json.md.
"""


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def page(program):
    overview = re.sub(r"^resmem \S+:", "resmem:", run(program), count=1)  # no version: it would age
    commands = re.findall(r"^  ([a-z]+(?: [a-z0-9]+)?)  +\S", overview.split("'resmem COMMAND")[0], re.M)
    text = HEAD + f"\n```\n{overview}```\n"
    for command in commands:
        text += f"\n## resmem {command}\n\n```\n{run(program, *command.split(), '--help')}```\n"
    return text


def main():
    text = page(pathlib.Path(sys.argv[-1]).resolve())
    if "--check" not in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print(f"{PAGE} is not what the program's help says; run: "
              "/usr/bin/python3 tests/cli/help_page.py build/release/cli/resmem")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
