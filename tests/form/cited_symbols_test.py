"""A file that a document cites exists, and holds the symbol that is cited with it.

Documents cite in two forms, with paths from the root or from the document's own folder:

    `src/search/reference_search.cc` (`ReferenceSearch`, `Distance`)    a file and symbols in it
    1. `src/search/reference_search.cc`: `ReferenceSearch` is ...       the same as a line of a walk

A path may also be a link, [`name`](path), before the parenthesis or the colon. Any path in backticks that
begins with a folder of the tree must exist, also without a symbol; a * in it stands for anything.

Comments cite files by the end of their path (`first_pass/error_bound.h`): some file must end so.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```.*?^```", re.S | re.M)
FILE = r"(?:\[`?[^\]\n]+?`?\]\((?P<link>[^)#\s]+)\)|`(?P<path>[\w.*+-]+(?:/[\w.*+-]+)+/?)`)"
SYMBOLS = re.compile(FILE + r"(?:\s+\((?P<list>`[\w:~]+(?:\(\))?`(?:,\s*(?:and\s+)?`[\w:~]+(?:\(\))?`)*)\)"
                            r"|:\s+(?P<one>`[\w:~]+(?:\(\))?`))")
PATH = re.compile(FILE)
COMMENT = re.compile(r"(?://|(?<!\S)#(?!include)) (.*)")
CODE = (".cc", ".h", ".py", ".js", ".cmake", ".txt", ".test", ".sh")
CITED = re.compile(r"(?<![\w./$}*-])((?:[a-z][\w-]*/)+[\w.-]+\.(?:h|cc|py|js|md|test|sh))\b")
NOT_OURS = ("hwy/", "nlohmann/", "sys/", "linux/", "openssl/", "boost/", "onnx/", "torch/")


def documents():
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def find(path, folder):
    """The files that `path`, as a document in `folder` writes it, may mean."""
    for start in (ROOT, folder):
        found = sorted(start.glob(path.rstrip("/"))) if "*" in path else [start / path]
        if found and all(one.exists() for one in found):
            return found
    return []


def holds(text, symbol):
    return all(re.search(rf"\b{re.escape(part)}\b", text) for part in symbol.strip("`()").split("::"))


def check(name, folder, text):
    """Problems of one document, as lines."""
    problems, cited = [], 0
    tops = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "build"))}
    text = FENCE.sub("", text)
    for match in PATH.finditer(text):
        path = match["path"]
        if path and path.split("/")[0] in tops and not find(path, folder):
            problems.append(f"{name}: cites {path}, which is not there; cite the file's new place")
    for match in SYMBOLS.finditer(text):
        path = match["link"] or match["path"]
        found = [one for one in find(path, folder) if one.is_file()]
        if not found:
            problems.append(f"{name}: cites symbols of {path}, which is no file; cite the file that holds them")
            continue
        source = "\n".join(one.read_text() for one in found)
        for symbol in re.findall(r"`[^`]+`", match["list"] or match["one"]):
            cited += 1
            if not holds(source, symbol):
                problems.append(f"{name}: {path} does not hold {symbol}; cite the file that holds it now")
    return problems, cited


def check_comments(name, text, tracked):
    """Problems of the comments of one source file: cited files that are not there."""
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = COMMENT.search(line)
        for path in CITED.findall(comment[1]) if comment and "://" not in line else ():
            if not path.startswith(NOT_OURS) and "NAME" not in path and not any(("/" + one).endswith("/" + path) for one in tracked):
                problems.append(f"{name}:{number}: cites {path}, which is not there; cite the file's new place")
    return problems


def main():
    problems, cited = [], {}
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                             capture_output=True, text=True, check=True).stdout.splitlines()
    for name in tracked:
        if name.endswith(CODE) and (ROOT / name).is_file():
            problems += check_comments(name, (ROOT / name).read_text(), tracked)
    for text, count in (("int x;  // see form/cited_symbols_test.py", 0), ("// as gone/gon" + "e.h says", 1)):
        if len(check_comments("a file", text, tracked)) != count:
            problems.append(f"the checker does not find {count} problems in the comment: {text}")
    for path in documents():
        name = path.relative_to(ROOT).as_posix()
        found, cited[name] = check(name, path.parent, path.read_text())
        problems += found
    for name in ("README.md", "src/README.md"):  # what sends a newcomer to the code
        if not cited.get(name):
            problems.append(f"{name}: cites no symbol; name the file and symbol where a reader should begin")
    # The test must be able to fail.
    here = "tests/form/cited_symbols_test.py"
    for text, count in ((f"`{here}` (`holds`, `check`)", 0), (f"1. `{here}`: `holds` looks.", 0),
                        (f"`{here}` (`hol" + "dz`)", 1), (f"- `{here}`: `chec" + "kk` looks.", 1),
                        ("`tests/form/gone.py`", 1), ("`tests/form/gone.py` (`holds`)", 2),
                        (f"[it](../../{here}) (`find`, `hol" + "dz`)", 1), ("`tests/form/*_test.py`", 0)):
        if len(check("a text", ROOT / "tests/form", text)[0]) != count:
            problems.append(f"the checker does not find {count} problems in: {text}")
    print("\n".join(problems) or f"{sum(cited.values())} cited symbols are where the documents say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
