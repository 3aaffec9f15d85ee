#!/usr/bin/env python3
"""Lines of code by folder at one or several commits, without tests and their fixtures, as a table.

    cmake/count_lines.py a19f851 1093e40 HEAD
"""
import collections
import re
import subprocess
import sys

GROUPS = {"include": "`include`", "cli": "`cli`", "lab": "`lab`", "server": "`server`", "capi": "`capi`, `python`",
          "python": "`capi`, `python`"}
GROUPS.update({"src/" + folder: ", ".join(f"`{name}`" for name in names.split()) for names in (
    "search ivf kernels transformer train", "memory residual predict", "eval tune", "data images", "support format",
    "onnx models", "text lm shard", "report theory") for folder in names.split()})
TEST = re.compile(r"_test\.(cc|py)$|/test_|/fake_|_testing|toy_|_test_data")


def count(commit):
    names = subprocess.run(["git", "ls-tree", "-r", "--name-only", commit], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    lines = collections.Counter()
    for name in names:
        parts = name.split("/")
        group = GROUPS.get("/".join(parts[:2]), GROUPS.get(parts[0]))
        if group and name.endswith((".cc", ".h", ".py", ".c")) and not TEST.search(name):
            lines[group] += subprocess.run(["git", "show", f"{commit}:{name}"], capture_output=True,
                                           check=True).stdout.count(b"\n")
    return lines


def main():
    commits = sys.argv[1:] or ["HEAD"]
    counts = [count(commit) for commit in commits]
    product = [name for name in dict.fromkeys(GROUPS.values()) if name not in ("`lab`", "`server`", "`capi`, `python`")]
    others = [name for name in dict.fromkeys(GROUPS.values()) if name not in product]
    print("| folders | " + " | ".join(commits) + " |")
    print("|---|" + "---:|" * len(commits))
    for name in product:
        print(f"| {name} | " + " | ".join(f"{lines[name]:,}" for lines in counts) + " |")
    totals = [sum(lines[name] for name in product) for lines in counts]
    print("| **together** | " + " | ".join(f"**{total:,}**" for total in totals) + " |")
    for name in others:
        print(f"| {name} | " + " | ".join(f"{lines[name]:,}" for lines in counts) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
