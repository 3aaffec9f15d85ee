"""Reads the help of the commands, for docs/cli.md (tests/cli/help_page.py) and the manual pages."""
import collections
import re
import subprocess

Option = collections.namedtuple("Option", "name title text default")  # of an argument: name == title
Group = collections.namedtuple("Group", "title options")


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def unwrap(text):
    return " ".join(text.split()).replace("<", "\\<")  # "</s>" is no tag


def parse_option(entry):
    title, text = re.match(r"  (\S.*?)(?:\n +|  +)(\S.*)$", entry, re.S).groups()
    text, default = re.match(r"(.*?)(?: \((default: .*|required)\))?$", unwrap(text)).groups()
    name = re.search(r"--[\w-]+", title)
    return Option(name.group() if name else title, title, text, default or "")


def parse(help_text):
    """{"summary", "usage", "details", "groups", "notes", "examples"} of a command's help."""
    blocks = help_text.rstrip("\n").split("\n\n")
    result = {"summary": blocks[0].split(": ", 1)[1], "usage": blocks[1].removeprefix("Usage: "),
              "details": [], "groups": [], "notes": [], "examples": ""}
    for block in blocks[2:]:
        title, _, body = block.partition("\n")
        if title == "Examples:":
            result["examples"] = re.sub(r"^  ", "", body, flags=re.M)
        elif block.startswith("  "):
            entries = re.split(r"\n(?=  \S)", block)
            result["groups"].append(Group("Arguments", [parse_option(entry) for entry in entries]))
        elif title.endswith(":") and body.startswith("  -"):
            entries = re.split(r"\n(?=  -)", body)
            result["groups"].append(Group(title[:-1], [parse_option(entry) for entry in entries]))
        elif title.endswith(":") and body.startswith("  "):
            result["notes"].append(title + " " + unwrap(body))
        else:
            result["details"].append(unwrap(block))
    return result


def command_names(overview):
    """The commands that `resmem --help` lists."""
    return re.findall(r"^  ([a-z]+(?: [a-z0-9]+)?)  +\S", overview.split("'resmem COMMAND")[0], re.M)
