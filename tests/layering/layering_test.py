"""Reads every #include and proves that dependencies point one way (layers.txt is the law)."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
PROGRAMS = ("cli", "capi", "server", "python", "examples")
CONSOLE_USERS = ("lab/commands", "lab/train", "lab/reproduce")
THIRD_PARTY = ("hwy/", "nlohmann/", "Eigen/", "xxhash", "zlib", "gtest/")


def read_law():
    """-> {folder: folders that it may see}, {public header: its folder}"""
    layers, owners = {}, {}
    for line in (ROOT / "tests/layering/layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if "<" in line:
            folder, headers = line.split("<", 1)
            root = "resmem_program/" if headers.startswith("<") else "resmem/"
            owners.update({root + header: folder.strip() for header in headers.lstrip("<").split()})
        elif line:
            folder, allowed = line.split(":")
            layers[folder.strip()] = set(allowed.split())
    return layers, owners


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cc"))


def find_cycle(layers):
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        path.append(folder)
        for other in sorted(layers.get(folder, ())):
            cycle = visit(other)
            if cycle:
                return cycle
        path.pop()
        done.add(folder)
        return None

    return next(filter(None, map(visit, layers)), None)


class Checker:
    def __init__(self, layers, owners):
        self.layers, self.owners = layers, owners
        self.errors, self.used = [], set()

    def folder_of(self, name):
        """The longest prefix of a path that the law names, for instance search/exact."""
        parts = name.split("/")[:-1]
        while parts and "/".join(parts) not in self.layers:
            parts.pop()
        return "/".join(parts)

    def owner_of_include(self, path, name):
        """The folder that an #include in quotes leads to; None for what is not ours to judge."""
        if name.startswith(("resmem/", "resmem_program/")):
            if name not in self.owners:
                self.errors.append(f"{path.relative_to(ROOT)} includes {name}: no folder owns it in layers.txt")
            return self.owners.get(name)
        if (ROOT / "src" / name).exists():
            return self.folder_of(name)
        if (ROOT / "lab" / name).exists():
            return self.folder_of("lab/" + name)
        return None

    def check_file(self, path, folder, is_test):
        where = path.relative_to(ROOT)
        for number, quoted, name in includes(path):
            if not quoted:
                continue
            owner = self.owner_of_include(path, name)
            if owner is None:
                # Of the laboratory, the programs stand on the console of cli/.
                known = (path.parent / name).exists() or (ROOT / "tests" / name).exists() or name.startswith(THIRD_PARTY) \
                    or (folder.startswith(CONSOLE_USERS) and (ROOT / "cli" / name).exists())
                if not known:
                    self.errors.append(f'{where}:{number} includes "{name}", which is nowhere')
                continue
            if owner == folder:
                continue
            self.used.add((folder, owner))
            if owner not in self.layers.get(folder, ()) and not is_test:
                self.errors.append(f'{where}:{number} includes "{name}": {folder} may not see {owner}')

    def check(self):
        cycle = find_cycle(self.layers)
        if cycle:
            self.errors.append("layers.txt has a cycle: " + " -> ".join(cycle))
        for top, prefix in (("src", ""), ("lab", "lab/")):
            for path in sources(top):
                folder = self.folder_of(prefix + path.relative_to(ROOT / top).as_posix())
                if not folder:
                    self.errors.append(f"{path.relative_to(ROOT)}: its folder is not in layers.txt")
                    continue
                # A test may set up what it needs from above; nothing else includes a test.
                is_test = "_test" in path.name or path.name.startswith(("test_", "fake_"))
                self.check_file(path, folder, is_test)
        for path in sources("include"):
            name = path.relative_to(ROOT / "include").as_posix()
            if name not in self.owners:
                self.errors.append(f"include/{name}: no folder owns it in layers.txt")
                continue
            self.check_file(path, self.owners[name], False)
            allowed = ("resmem/",) if name.startswith("resmem/") else ("resmem/", "resmem_program/")
            for number, quoted, other in includes(path):
                if (quoted and not other.startswith(allowed)) or other.startswith(THIRD_PARTY):
                    self.errors.append(f"include/{name}:{number} includes {other}: these headers include "
                                       f"the standard library and {' and '.join(allowed)} only")
        for program in PROGRAMS:
            for path in sources(program) if (ROOT / program).exists() else ():
                for number, quoted, name in includes(path):
                    if quoted and not (ROOT / program / name).exists() and not (path.parent / name).exists() \
                            and ((ROOT / "src" / name).exists() or (ROOT / "lab" / name).exists()):
                        self.errors.append(f'{path.relative_to(ROOT)}:{number} includes "{name}": programs '
                                           "see include only")
        return self.errors

    def unused(self):
        return [f"layers.txt: {folder} may see {other} but never does" for folder, allowed in
                self.layers.items() for other in sorted(allowed) if (folder, other) not in self.used]


def main():
    layers, owners = read_law()
    checker = Checker(layers, owners)
    problems = checker.check() + checker.unused()
    # The test must be able to fail: a law that forbids everything is broken by what we have.
    if not Checker({folder: set() for folder in layers}, owners).check():
        problems.append("the checker finds nothing even when every dependency is forbidden")
    print("\n".join(problems) or "dependencies point one way")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
