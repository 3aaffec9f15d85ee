"""Reads every #include and proves that dependencies point one way (layers.txt is the law)."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
THIRD_PARTY = ("hwy/", "nlohmann/", "Eigen/", "CLI/", "xxhash", "zlib", "gtest/")


def read_layers():
    layers = {}
    for line in (ROOT / "tests/layering/layers.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            folder, allowed = line.split(":")
            layers[folder.strip()] = set(allowed.split())
    return layers


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
        for other in sorted(layers[folder]):
            cycle = visit(other)
            if cycle:
                return cycle
        path.pop()
        done.add(folder)
        return None

    for folder in layers:
        cycle = visit(folder)
        if cycle:
            return cycle
    return None


def check(layers):
    errors = []
    cycle = find_cycle(layers)
    if cycle:
        errors.append("layers.txt has a cycle: " + " -> ".join(cycle))
    for path in sources("src"):
        folder = path.relative_to(ROOT / "src").parts[0]
        where = path.relative_to(ROOT)
        if folder not in layers:
            errors.append(f"{where}: folder {folder} is not in layers.txt")
            continue
        for number, quoted, name in includes(path):
            other = name.split("/")[0]
            if other == "fixtures" and path.name.endswith("_test.cc"):
                continue
            if quoted and other != "resmem" and (ROOT / "src" / name).exists():
                if other != folder and other not in layers[folder]:
                    errors.append(f'{where}:{number} includes "{name}": {folder} may not see {other}')
            elif quoted and other != "resmem" and not (path.parent / name).exists() \
                    and not name.startswith(THIRD_PARTY):
                errors.append(f'{where}:{number} includes "{name}", which is not in src/')
    for path in sources("include"):
        for number, quoted, name in includes(path):
            if (quoted and not name.startswith("resmem/")) or name.startswith(THIRD_PARTY):
                errors.append(f"{path.relative_to(ROOT)}:{number} includes {name}: public headers "
                              "include the standard library and resmem/ only")
    for program in ("cli", "examples", "server", "python"):
        for path in sources(program):
            for number, quoted, name in includes(path):
                if quoted and (ROOT / "src" / name).exists():
                    errors.append(f'{path.relative_to(ROOT)}:{number} includes "{name}": programs '
                                  "see include/resmem only")
    return errors


if __name__ == "__main__":
    problems = check(read_layers())
    # The test must be able to fail: a law that forbids everything is broken by what we have.
    if not check({folder: set() for folder in read_layers()}):
        problems.append("the checker finds nothing even when every dependency is forbidden")
    print("\n".join(problems) or "dependencies point one way")
    sys.exit(1 if problems else 0)
