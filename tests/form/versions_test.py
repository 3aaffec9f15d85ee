"""What is written in several places is the same everywhere: our version, and the ONNX Runtime that is pinned."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find(name, pattern):
    return re.findall(pattern, (ROOT / name).read_text(), re.M)


def differences(what, places):
    """A sentence where the places do not all say the same one thing."""
    said = {place: found for place, found in places.items()}
    if all(found for found in said.values()) and len({tuple(found) for found in said.values()}) == 1:
        return []
    return [f"{what}: " + ", ".join(f"{place} says {found or 'nothing'}" for place, found in said.items())]


def main():
    problems = differences("our version", {
        "CMakeLists.txt": find("CMakeLists.txt", r"^project\(resmem VERSION ([\d.]+)"),
        "debian/changelog": find("debian/changelog", r"^resmem \(([\d.]+)\)")[:1],
        "CHANGELOG.md": find("CHANGELOG.md", r"^## ([\d.]+)")[:1],
        "docs/install.md": find("docs/install.md", r"resmem:(\d[\d.]+)")[:1],
        "docs/upgrade.md": find("docs/upgrade.md", r"^\| the program \| ([\d.]+)"),
        "CITATION.cff": find("CITATION.cff", r"^version: ([\d.]+)")})
    getter, header = "cli/runtime/resmem-get-runtime", "src/onnx/runtime/runtime_places.h"
    problems += differences("the ONNX Runtime", {getter: find(getter, r"^version=([\d.]+)"),
                                                 header: find(header, r'kPinnedRuntime\[\] = "([\d.]+)"')})
    problems += differences("its libraries", {getter: find(getter, r"library_sha256=([0-9a-f]{64})"),
                                              header: find(header, r'^    "([0-9a-f]{64})"')})
    # The test must be able to fail.
    if len(differences("a", {"x": ["1"], "y": ["2"]}) + differences("b", {"x": ["1"], "y": []})) != 2:
        problems.append("the checker does not find a difference")
    print("\n".join(problems) or "the versions agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
