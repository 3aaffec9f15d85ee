"""Prints the binary interface of the C++ libraries, a line for each thing that a compiled program relies on:

    cxx_interface.py --include FOLDER --names VERSION LIBRARY.so...

The names with that symbol version that the libraries show, without those of inline functions, which every
program has itself; the sizes, members, bases, virtual functions and values of the types that FOLDER's headers
define.  Types are read by abidw (libabigail) from the debugging information of a file that includes them all."""
import argparse
import pathlib
import subprocess
import tempfile
import xml.etree.ElementTree

KINDS = {"class-decl": "class", "union-decl": "union", "enum-decl": "enum"}


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def shown(library, version):
    """Strong symbols of that version, as nm says them."""
    for line in run("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        *_, kind, name = line.split()
        if name.endswith("@@" + version) and kind not in "VWvwu":
            yield f"symbol {pathlib.Path(library).name.partition('.')[0]} {name}"


def described(include):
    """What abidw reads from all headers."""
    headers = sorted(path.relative_to(include) for path in pathlib.Path(include).rglob("*.h"))
    if not headers:
        raise SystemExit(f"cxx_interface.py: {include} holds no header")
    with tempfile.TemporaryDirectory() as scratch:
        source, library, description = (f"{scratch}/{name}" for name in ("all.cc", "all.so", "all.abi"))
        text = "".join(f'#include "{header}"\n' for header in headers) + 'extern "C" void anything() {}\n'
        pathlib.Path(source).write_text(text)
        # Without the last two options what no function uses is left out, and a class whose virtual functions lie elsewhere.
        run("g++", "-std=c++20", "-g", "-O0", "-w", "-fPIC", "-shared", "-I", include, source, "-o", library,
            "-fno-eliminate-unused-debug-types", "-femit-class-debug-always")
        run("abidw", "--load-all-types", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--drop-private-types",
            "--headers-dir", include, "--out-file", description, library)
        return xml.etree.ElementTree.parse(description).getroot()


class Types:
    def __init__(self, root):
        self.root, self.by_id, self.scope = root, {}, {}
        self.defined = []  # (qualified name, node)
        self.walk(root, "")

    def walk(self, node, scope):
        for each in node:
            if each.get("id"):
                self.by_id[each.get("id")] = each
                self.scope[each.get("id")] = scope
            inner = scope
            if each.tag == "namespace-decl" or each.tag in KINDS:
                inner = scope + each.get("name", "") + "::"
            if each.tag in KINDS and scope.startswith("resmem::") and each.get("is-declaration-only") != "yes":
                self.defined.append((scope + each.get("name", ""), each))
            self.walk(each, inner)

    def name(self, identifier):
        node = self.by_id.get(identifier)
        if node is None:
            return "?"
        if node.tag == "pointer-type-def":
            return self.name(node.get("type-id")) + "*"
        if node.tag == "reference-type-def":
            return self.name(node.get("type-id")) + ("&" if node.get("kind") == "lvalue" else "&&")
        if node.tag == "qualified-type-def":
            return "".join(word + " " for word in ("const", "volatile") if node.get(word)) + self.name(node.get("type-id"))
        if node.tag == "array-type-def":
            lengths = "".join(f"[{each.get('length')}]" for each in node if each.tag == "subrange")
            return self.name(node.get("type-id")) + lengths
        if node.tag == "function-type":
            return "function"
        return self.scope[identifier] + node.get("name", "(no name)")

    def lines(self):
        for name, node in self.defined:
            yield f"{KINDS[node.tag]} {name}" + (f": {node.get('size-in-bits')} bits" if node.get("size-in-bits") else "")
            for each in node:
                at = f"{name} at {each.get('layout-offset-in-bits')}"
                if each.tag == "base-class":
                    yield f"base {at}: {self.name(each.get('type-id'))}"
                elif each.tag == "data-member" and each.get("static") != "yes":
                    member = each.find("var-decl")
                    yield f"member {at}: {member.get('name')}, {self.name(member.get('type-id'))}"
                elif each.tag == "member-function" and each.get("vtable-offset"):
                    function = each.find("function-decl")
                    yield f"virtual {name} {each.get('vtable-offset')}: {function.get('mangled-name') or function.get('name')}"
                elif each.tag == "enumerator":
                    yield f"value {name}::{each.get('name')} = {each.get('value')}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", required=True)
    parser.add_argument("--names", required=True)
    parser.add_argument("libraries", nargs="+")
    given = parser.parse_args()
    lines = {line for library in given.libraries for line in shown(library, given.names)}
    if not lines:
        raise SystemExit(f"cxx_interface.py: no library shows a name of {given.names}")
    print("\n".join(sorted(lines | set(Types(described(given.include)).lines()))))


if __name__ == "__main__":
    main()
