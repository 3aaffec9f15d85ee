// Keys and queries for the tests of this folder.
#ifndef RESMEM_SEARCH_SEARCH_TEST_DATA_H_
#define RESMEM_SEARCH_SEARCH_TEST_DATA_H_

#include <cstdint>
#include <vector>

#include "kernels/number_codec.h"
#include "resmem/knn_index.h"
#include "support/random.h"

namespace resmem {

// Keys in memory of their own, in one of the stored forms.
struct StoredKeys {
  KeyType type = KeyType::kFloat32;
  int64_t rows = 0;
  std::vector<float> floats;
  std::vector<uint16_t> halves;
  std::vector<int8_t> codes;
  std::vector<float> scales;

  StoredKeys(const std::vector<float>& values, int64_t dim, KeyType type_in)
      : type(type_in), rows(static_cast<int64_t>(values.size()) / dim) {
    const int64_t n = static_cast<int64_t>(values.size());
    if (type == KeyType::kFloat32) floats = values;
    if (type == KeyType::kFloat16) {
      halves.resize(values.size());
      FloatToHalf(values.data(), n, halves.data());
    }
    if (type == KeyType::kInt8) {
      codes.resize(values.size());
      for (int64_t row = 0; row < rows; ++row) {
        scales.push_back(QuantizeInt8(values.data() + row * dim, dim, codes.data() + row * dim));
      }
    }
  }
  KeyBlock block() const { return part(0, rows, 0); }
  KeyBlock part(int64_t begin, int64_t count, int64_t dim) const {
    const void* data = floats.data() + begin * dim;
    if (type == KeyType::kFloat16) data = halves.data() + begin * dim;
    if (type == KeyType::kInt8) data = codes.data() + begin * dim;
    return {type, data, type == KeyType::kInt8 ? scales.data() + begin : nullptr, count};
  }
};

inline std::vector<float> NormalFloats(int64_t n, double mean, double spread, Random* random) {
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(mean + spread * random->Normal());
  return values;
}

}  // namespace resmem

#endif  // RESMEM_SEARCH_SEARCH_TEST_DATA_H_
