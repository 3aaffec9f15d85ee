// Keys and queries for the tests of this folder.
#ifndef RESMEM_SEARCH_SEARCH_TEST_DATA_H_
#define RESMEM_SEARCH_SEARCH_TEST_DATA_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/int4_keys.h"
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
  std::vector<uint8_t> packed;
  std::vector<float> center;
  std::vector<float> scales;

  StoredKeys(const std::vector<float>& values, int64_t dim, KeyType type_in)
      : type(type_in), rows(static_cast<int64_t>(values.size()) / dim) {
    const int64_t n = static_cast<int64_t>(values.size());
    if (type == KeyType::kFloat32) floats = values;
    if (type == KeyType::kFloat16) {
      halves.resize(values.size());
      FloatToHalf(values.data(), n, halves.data());
    }
    if (type == KeyType::kInt4) EncodeInt4(values, dim);
    if (type == KeyType::kInt8) {
      codes.resize(values.size());
      for (int64_t row = 0; row < rows; ++row) {
        scales.push_back(QuantizeInt8(values.data() + row * dim, dim, codes.data() + row * dim));
      }
    }
  }
  // As compression rounds, more or less, around the first row.
  void EncodeInt4(const std::vector<float>& values, int64_t dim) {
    center.assign(values.begin(), values.begin() + dim);
    packed.resize(static_cast<size_t>(rows * Int4Bytes(dim)));
    std::vector<int8_t> codes_of_row(static_cast<size_t>(dim));
    for (int64_t row = 0; row < rows; ++row) {
      const float* const key = values.data() + row * dim;
      float largest = 0;
      for (int64_t i = 0; i < dim; ++i) largest = std::max(largest, std::abs(key[i] - center[i]));
      scales.push_back(largest / 7.5f);
      for (int64_t i = 0; i < dim; ++i) {
        const float step = largest > 0 ? (key[i] - center[i]) / scales.back() : 0;
        const auto number = std::clamp(static_cast<int>(step + 8), 0, 15);
        codes_of_row[static_cast<size_t>(i)] = static_cast<int8_t>(16 * number - 120);
      }
      PackInt4(codes_of_row.data(), dim, packed.data() + row * Int4Bytes(dim));
    }
  }
  KeyBlock block() const { return part(0, rows, 0); }
  KeyBlock part(int64_t begin, int64_t count, int64_t dim) const {
    const void* data = floats.data() + begin * dim;
    if (type == KeyType::kFloat16) data = halves.data() + begin * dim;
    if (type == KeyType::kInt8) data = codes.data() + begin * dim;
    if (type == KeyType::kInt4) data = packed.data() + begin * Int4Bytes(dim);
    const bool scaled = type == KeyType::kInt8 || type == KeyType::kInt4;
    return {type, data, scaled ? scales.data() + begin : nullptr, count,
            type == KeyType::kInt4 ? center.data() : nullptr};
  }
};

inline std::vector<float> NormalFloats(int64_t n, double mean, double spread, Random* random) {
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(mean + spread * random->Normal());
  return values;
}

}  // namespace resmem

#endif  // RESMEM_SEARCH_SEARCH_TEST_DATA_H_
