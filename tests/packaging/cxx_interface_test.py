"""packaging/cxx_interface.py tells apart a library on which an older program still runs from one that breaks it."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = """
namespace resmem {
enum class Kind { kFirst, kSecond };
struct Options { int count = 0; Kind kind = Kind::kFirst; };
class Model {
 public:
  virtual ~Model();
  virtual int Ask(const Options& options) const;
 private:
  struct State;
  State* state_ = nullptr;
  double scale_ = 1;
};
int Count(const Model& model);
inline int Twice(int value) { return 2 * value; }
}
"""
SOURCE = """
#include <resmem/model.h>
namespace resmem {
struct Model::State { int hidden; };
Model::~Model() = default;
int Model::Ask(const Options& options) const { return options.count; }
int Count(const Model&) { return Twice(1); }
int Later(long) { return 0; }
}
"""


def lines(header=HEADER, source=SOURCE):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "resmem").mkdir()
        (folder / "resmem" / "model.h").write_text(header)
        (folder / "model.cc").write_text(source)
        (folder / "model.map").write_text('RESMEM_0.2 { global: extern "C++" { resmem::*; "typeinfo for resmem::Model"; '
                                          '"vtable for resmem::Model"; }; local: *; };')
        library = folder / "libmodel.so.0"
        subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", f"-I{folder}", f"-Wl,--version-script={folder}/model.map",
                        folder / "model.cc", "-o", library], check=True)
        text = subprocess.run([sys.executable, ROOT / "packaging" / "cxx_interface.py", "--include", folder, "--names", "RESMEM_0.2",
                               library], check=True, capture_output=True, text=True).stdout
        return set(text.splitlines())


def main():
    promised = lines()
    assert "class resmem::Model: 192 bits" in promised and "value resmem::Kind::kSecond = 1" in promised, promised
    assert not any("Twice" in line or "hidden" in line for line in promised), promised
    kept = {
        "a function more": (HEADER.replace("int Count", "int Later(long);\nint Count"), SOURCE),
        "an inline function less": (HEADER.replace("inline int Twice(int value) { return 2 * value; }", ""),
                                    SOURCE.replace("Twice(1)", "2")),
        "a hidden field": (HEADER, SOURCE.replace("int hidden;", "int hidden, more;")),
        "a value more": (HEADER.replace("kSecond }", "kSecond, kThird }"), SOURCE)}
    broken = {
        "a function less": (HEADER.replace("int Count(const Model& model);", ""), SOURCE.replace("int Count(", "static int Count(")),
        "another parameter": (HEADER.replace("Count(const Model& model)", "Count(Model& model)"),
                              SOURCE.replace("Count(const Model&)", "Count(Model&)")),
        "a field more": (HEADER.replace("int count = 0;", "int count = 0; int more = 0;"), SOURCE),
        "another type of the same size": (HEADER.replace("double scale_ = 1", "long scale_ = 1"), SOURCE),
        "fields in another order": (HEADER.replace("int count = 0; Kind kind = Kind::kFirst;",
                                                   "Kind kind = Kind::kFirst; int count = 0;"), SOURCE),
        "a value moved": (HEADER.replace("{ kFirst, kSecond }", "{ kNew, kFirst, kSecond }"), SOURCE),
        "a virtual function before": (HEADER.replace("  virtual int Ask", "  virtual int New() const { return 0; }\n  virtual int Ask"),
                                      SOURCE)}
    for what, files in kept.items():
        assert promised <= lines(*files), f"{what} breaks nothing, but misses {promised - lines(*files)}"
    for what, files in broken.items():
        assert not promised <= lines(*files), f"{what} breaks older programs and is not seen"


if __name__ == "__main__":
    main()
