#!/usr/bin/env python3
"""Writes the version script of a shared library: the names that the public headers declare, and apart
from them those that our other libraries need.

    public_names.py --ctags PROGRAM --headers FOLDER --library LIB.a --users OTHER.a... --version 1.2.3 --output FILE
"""
import argparse
import json
import pathlib
import re
import subprocess

SPECIAL = re.compile(r"^(?:vtable|typeinfo|typeinfo name|VTT|guard variable) for ")


def run(*words, text=None):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


def declared(ctags, headers):
    """"resmem::Predictor", "resmem::Predictor::Predict", ...: what the headers declare."""
    tags = run(ctags, "--languages=C++", "--kinds-C++=cfpsgxv", "--output-format=json", "--fields=+s", "-R", headers)
    names = set()
    for tag in map(json.loads, tags.splitlines()):
        if tag.get("scope", "").startswith("resmem"):
            names.add(tag["scope"] + "::" + tag["name"].replace("operator ", "operator"))
    return names


def without_arguments(name):
    """The qualified name in what c++filt says: no result, no template arguments, no parameters."""
    name = SPECIAL.sub("", name).replace("[abi:cxx11]", "").replace("(anonymous namespace)", "{anonymous}")
    name = re.sub(r"operator(<=>|<<|>>|<=|>=|->|<|>|\(\))", lambda m: "operator" + m[1].translate(OPERATORS), name)
    depth, kept = 0, ""
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif depth == 0:
            if letter == "(":
                break
            kept += letter
    return kept.split(" ")[-1].translate(BACK)


OPERATORS = str.maketrans("<>()-=", "\u2190\u2192\u2191\u2193\u2194\u2195")
BACK = str.maketrans("\u2190\u2192\u2191\u2193\u2194\u2195", "<>()-=")


def symbols(archives, defined):
    """Mangled names that the archives define, or that they need."""
    lines = run("nm", "--defined-only" if defined else "--undefined-only", "--extern-only", "--format=posix",
                *archives).splitlines()
    return {line.split(" ")[0] for line in lines if line and not line.endswith(":") and " " in line}


def demangled(names):
    ordered = sorted(names)
    return dict(zip(ordered, run("c++filt", text="\n".join(ordered)).splitlines()))


def sort_names(public, defined, needed):
    """(public, private) among the `defined` symbols."""
    shown, private = [], []
    for symbol, name in demangled(defined).items():
        if without_arguments(name) in public:
            shown.append(symbol)
        elif symbol in needed and "resmem" in symbol:
            private.append(symbol)
    return shown, private


def script(version, shown, private):
    minor = ".".join(version.split(".")[:2])
    text = f"RESMEM_{minor} {{\n  global:\n" + "".join(f"    {name};\n" for name in shown) + "  local: *;\n};\n"
    if private:
        text += f"RESMEM_PRIVATE_{version} {{\n  global:\n" + "".join(f"    {name};\n" for name in private) + "};\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    for name in ("ctags", "headers", "library", "version", "output"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--users", nargs="+", required=True)
    given = parser.parse_args()
    shown, private = sort_names(declared(given.ctags, given.headers), symbols([given.library], True),
                                symbols(given.users, False))
    if not shown:
        raise SystemExit(f"public_names.py: {given.library} defines nothing that {given.headers} declares")
    output = pathlib.Path(given.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(script(given.version, shown, private))


if __name__ == "__main__":
    main()
