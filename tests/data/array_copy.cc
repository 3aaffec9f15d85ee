// For numpy_arrays_test.py.  Each line of stdin is "source<TAB>target": writes the source's values
// as bare float32 to <target>.float and, where all are whole, as bare int64 to <target>.integer; a
// target that ends in .npy is written by WriteNpy instead.  Prints the type, the shape and, for
// text, the values.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "resmem/data/array.h"

namespace {

template <typename T>
void WriteBare(const std::string& path, const std::vector<T>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

resmem::Status Copy(const std::string& source, const std::string& target) {
  RESMEM_ASSIGN_OR_RETURN(const resmem::Array array, resmem::OpenArray({source, {}, {}}));
  std::cout << ElementTypeName(array.type());
  for (const int64_t extent : array.shape()) std::cout << ' ' << extent;
  if (array.type() == resmem::ElementType::kText) {
    RESMEM_ASSIGN_OR_RETURN(const auto words, array.ReadText(0, array.rows()));
    for (const std::string& word : words) std::cout << '|' << word;
    return {};
  }
  const auto size = static_cast<size_t>(array.rows() * array.columns());
  std::vector<float> floats(size);
  // In two parts, so that a part that does not begin at row 0 is read too.
  const int64_t half = array.rows() / 2;
  const std::span<float> all(floats);
  const auto cut = static_cast<size_t>(half * array.columns());
  RESMEM_RETURN_IF_ERROR(array.ReadFloats(0, half, all.first(cut)));
  RESMEM_RETURN_IF_ERROR(array.ReadFloats(half, array.rows() - half, all.subspan(cut)));
  if (target.ends_with(".npy")) {
    return resmem::WriteNpy(target,
                            resmem::MatrixView(floats.data(), array.rows(), array.columns()));
  }
  WriteBare(target + ".float", floats);
  std::vector<int64_t> integers(size);
  if (array.ReadIntegers(0, array.rows(), integers).ok()) WriteBare(target + ".integer", integers);
  return {};
}

}  // namespace

int main() {
  std::string source, target;
  while (std::getline(std::getline(std::cin, source, '\t'), target)) {
    const resmem::Status status = Copy(source, target);
    if (!status.ok()) std::cout << "error: " << status.message();
    std::cout << std::endl;
  }
}
