// How one array lies in a file's bytes.  The reader of a format makes a Layout only after it
// has checked that all of it lies inside the file: later reads need no check of their own.
#ifndef RESMEM_DATA_LAYOUT_H_
#define RESMEM_DATA_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/data/array.h"

namespace resmem {

// Fixed-width text as NumPy stores it: padded with zeros.
enum class TextEncoding { kBytes, kUcs4 };

struct Layout {
  ElementType type = ElementType::kFloat32;
  TextEncoding encoding = TextEncoding::kBytes;  // of kText
  bool swapped = false;                          // big-endian
  int64_t item_bytes = 4;
  std::vector<int64_t> shape;    // empty: a scalar
  std::vector<int64_t> strides;  // bytes from one index to the next, per dimension
  int64_t offset = 0;            // of the first item
  // Each row is preceded by an int32 that must hold this (fvecs and its like).
  std::optional<int32_t> row_prefix;

  int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  int64_t columns() const;
  int64_t row_stride() const { return strides.empty() ? item_bytes : strides[0]; }
  int64_t ColumnOffset(int64_t column) const;  // bytes from a row's first item
  bool rows_contiguous() const;                // each row's items lie one after the other
};

// "50000 x 3 x 32 x 32"; "scalar".
std::string ShapeText(std::span<const int64_t> shape);

// The number of items; nothing where the shape has a negative entry or its product, zeros left
// out, times `item_bytes` leaves int64.
std::optional<int64_t> CountItems(std::span<const int64_t> shape, int64_t item_bytes);

enum class Order { kC, kFortran };
// Dense strides.  The shape has passed CountItems().
std::vector<int64_t> DenseStrides(std::span<const int64_t> shape, int64_t item_bytes, Order order);

// A dense array of `type` that fills the file from `offset` to `end` exactly: kBadData with
// `name` where it does not.  Sets shape and strides.
Status FillDense(const std::string& name, std::vector<int64_t> shape, Order order, int64_t offset,
                 int64_t end, Layout* layout);

}  // namespace resmem

#endif  // RESMEM_DATA_LAYOUT_H_
