"""Files of one folder are compiled together (resmem_join_sources in cmake/resmem_helpers.cmake): a
name in an anonymous namespace may stand in one of them only, but for overloads."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
APART = {"src/kernels", "src/search", "src/report/chart", "src/train"}  # compiled file by file
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.M | re.S)
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)[^;\n]*$", re.M)
VALUE = re.compile(r"^(?:constexpr|const|thread_local|std::atomic)\b[^(){}=;\n]*?(\w+)(?:\[\w*\])? *[={;]", re.M)
FUNCTION = re.compile(r"^(?=\w)(?!using|return|TEST|RESMEM|static_assert)[\w:<>,*& ]*?[*& ](\w+)\(([^{};]*)\)[ \w]*\{", re.M)


def types_of(parameters):
    without_defaults = re.sub(r" = [^,]*", "", " ".join(parameters.split()))
    return ", ".join(re.sub(r"\b\w+$", "", one).strip() for one in without_defaults.split(", "))


def names(text):
    for body in ANONYMOUS.findall(text):
        yield from set(TYPE.findall(body)) | set(VALUE.findall(body))
        yield from {f"{name}({types_of(parameters)})" for name, parameters in FUNCTION.findall(body)}


def check(files):
    """files: {path relative to the root: text}"""
    places = collections.defaultdict(list)
    for path, text in files.items():
        for name in names(text):
            places[(path.parent, path.stem.endswith("_test"), name)].append(path)
    return [f"{' and '.join(map(str, found))}: {name} is in both and they are compiled together; "
            "give one of them a name that says more" for (_, _, name), found in places.items() if len(found) > 1]


def main():
    files = {}
    for top in ("src", "cli"):
        for path in sorted((ROOT / top).rglob("*.cc")):
            path = path.relative_to(ROOT)
            if path.parent.as_posix() not in APART:
                files[path] = (ROOT / path).read_text()
    problems = check(files)
    # The test must be able to fail.
    same = "namespace {\n\nconstexpr int kMost = 3;\n\nint Half(int a) {\n}\n\n}  // namespace\n"
    if len(check({pathlib.Path("a/x.cc"): same, pathlib.Path("a/y.cc"): same.replace("int a", "int b")})) != 2:
        problems.append("the checker does not find what it must find")
    print("\n".join(problems) or "no name is in two files that are compiled together")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
