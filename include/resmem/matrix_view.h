// A view of rows x columns float32 values owned by the caller.
#ifndef RESMEM_MATRIX_VIEW_H_
#define RESMEM_MATRIX_VIEW_H_

#include <cstdint>
#include <span>

namespace resmem {

struct MatrixView {
  const float* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;  // floats from one row to the next, >= columns

  MatrixView() = default;
  MatrixView(const float* data_in, int64_t rows_in, int64_t columns_in)
      : data(data_in), rows(rows_in), columns(columns_in), stride(columns_in) {}

  const float* row(int64_t r) const { return data + r * stride; }
  std::span<const float> row_span(int64_t r) const {
    return {row(r), static_cast<size_t>(columns)};
  }
  MatrixView Slice(int64_t begin, int64_t count) const {
    MatrixView view(row(begin), count, columns);
    view.stride = stride;
    return view;
  }
};

}  // namespace resmem

#endif  // RESMEM_MATRIX_VIEW_H_
