"""A shared library shows what the headers declare, lends its companions what they need, and hides the rest:
cmake/public_names.py on a small library, which is then linked with the script."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "cmake"))
import public_names  # noqa: E402

LIBRARY = """
#include <string>
#include <vector>
namespace resmem {
struct Point { virtual ~Point(); Point(); int Get(const std::vector<int>& list) const; int x = 0; };
Point::Point() = default;
Point::~Point() = default;
int Point::Get(const std::vector<int>& list) const { return x + int(list.size()); }
bool operator<(const Point& a, const Point& b) { return a.x < b.x; }
bool operator==(const Point& a, const Point& b) { return a.x == b.x; }
std::string Name(const Point&) { return "point"; }
int Lent(int x) { return x; }
int Inner(int x) { return x + 1; }
namespace { int mine = 1; }
int* Mine() { return &mine; }
}
"""
COMPANION = "namespace resmem { int Lent(int); int Use() { return Lent(1); } }\n"
DECLARED = {"resmem::Point", "resmem::Point::Point", "resmem::Point::~Point", "resmem::Point::Get", "resmem::operator<",
            "resmem::operator==", "resmem::Name"}
SHOWN = {"resmem::Point::Point()", "resmem::Point::~Point()",
         "resmem::Point::Get(std::vector<int, std::allocator<int> > const&) const",
         "resmem::operator<(resmem::Point const&, resmem::Point const&)",
         "resmem::operator==(resmem::Point const&, resmem::Point const&)", "resmem::Name[abi:cxx11](resmem::Point const&)",
         "vtable for resmem::Point", "typeinfo for resmem::Point", "typeinfo name for resmem::Point"}


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def archive(folder, name, text):
    source, member, library = (folder / (name + end) for end in (".cc", ".o", ".a"))
    source.write_text(text)
    run("c++", "-std=c++20", "-fPIC", "-c", source, "-o", member)
    run("ar", "rc", library, member)
    return library


def exported(library):
    """Demangled names by symbol version."""
    found = {}
    for line in run("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        symbol, _, version = line.split(" ")[2].partition("@@")
        found.setdefault(version, set()).add(run("c++filt", symbol).strip())
    return found


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        library, companion = archive(folder, "library", LIBRARY), archive(folder, "companion", COMPANION)
        shown, private = public_names.sort_names(DECLARED, public_names.symbols([library], True),
                                                 public_names.symbols([companion], False))
        (folder / "names.map").write_text(public_names.script("1.2.3", shown, private))
        shared = folder / "library.so"
        run("c++", "-shared", "-Wl,--whole-archive", library, "-Wl,--no-whole-archive",
            f"-Wl,--version-script={folder}/names.map", "-o", shared)
        found = exported(shared)
    versions = {"RESMEM_1.2", "RESMEM_PRIVATE_1.2.3"}
    found = {version: names for version, names in found.items() if not names <= versions}  # their own names
    names = {"RESMEM_1.2": SHOWN, "RESMEM_PRIVATE_1.2.3": {"resmem::Lent(int)"}}
    for version, expected in names.items():
        got = found.get(version, set()) - versions
        assert got == expected, f"{version}: without {expected - got}, but with {got - expected}"
    assert set(found) == set(names), found


if __name__ == "__main__":
    main()
