#include "data/layout.h"

#include <utility>

#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {

int64_t Layout::columns() const {
  int64_t columns = 1;
  for (size_t d = 1; d < shape.size(); ++d) columns *= shape[d];
  return columns;
}

int64_t Layout::ColumnOffset(int64_t column) const {
  int64_t bytes = 0;
  for (size_t d = shape.size(); d-- > 1;) {
    bytes += column % shape[d] * strides[d];
    column /= shape[d];
  }
  return bytes;
}

bool Layout::rows_contiguous() const {
  int64_t expected = item_bytes;
  for (size_t d = shape.size(); d-- > 1;) {
    if (shape[d] > 1 && strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

std::string ShapeText(std::span<const int64_t> shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const int64_t extent : shape) {
    if (!text.empty()) text += " x ";
    text += std::to_string(extent);
  }
  return text;
}

std::optional<int64_t> CountItems(std::span<const int64_t> shape, int64_t item_bytes) {
  std::optional<int64_t> bytes = item_bytes;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) empty = true;
    if (extent > 0) bytes = CheckedMultiply(*bytes, extent);
    if (!bytes) return std::nullopt;
  }
  return empty ? 0 : *bytes / item_bytes;
}

std::vector<int64_t> DenseStrides(std::span<const int64_t> shape, int64_t item_bytes, Order order) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = item_bytes;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t d = order == Order::kC ? shape.size() - 1 - i : i;
    strides[d] = stride;
    if (shape[d] > 0) stride *= shape[d];
  }
  return strides;
}

Status FillDense(const std::string& name, std::vector<int64_t> shape, Order order, int64_t offset,
                 int64_t end, Layout* layout) {
  const std::optional<int64_t> items = CountItems(shape, layout->item_bytes);
  if (!items) {
    return {ErrorCode::kBadData,
            Text(name, ": the shape ", ShapeText(shape), " is negative or larger than any file")};
  }
  const int64_t bytes = *items * layout->item_bytes;
  if (bytes != end - offset) {
    return {ErrorCode::kBadData,
            Text(name, ": the header says ", ShapeText(shape), " ", ElementTypeName(layout->type),
                 " (", bytes, " bytes), but ", end - offset, " bytes follow it; the file was ",
                 bytes > end - offset ? "cut short" : "extended or its header changed",
                 ", export it again")};
  }
  layout->strides = DenseStrides(shape, layout->item_bytes, order);
  layout->shape = std::move(shape);
  layout->offset = offset;
  return {};
}

}  // namespace resmem
