// The residual of a stored row, in each of the forms that a memory may keep.
#include <algorithm>
#include <cmath>

#include "kernels/number_codec.h"
#include "kernels/row_sums.h"
#include "kernels/vector_math.h"
#include "memory/segment.h"
#include "residual/residual.h"

namespace resmem {
namespace {

// values[begin, begin + count), or the first page of them: the processor itself goes on from there.
template <class T>
void Prefetch(const T* values, int64_t begin, int64_t count) {
  constexpr int64_t kLine = 64, kPage = 4096;
  const char* place = reinterpret_cast<const char*>(values + begin);
  const int64_t bytes = std::min(kPage, count * static_cast<int64_t>(sizeof(T)));
  for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(place + i, 0, 2);
  __builtin_prefetch(place + bytes - 1, 0, 2);  // rows need not start with a line
}

}  // namespace

const float* Segment::residual_values(int64_t begin, int64_t count, float* scratch) const {
  if (residuals_ != nullptr) return residuals_ + begin;
  HalfToFloat(half_residuals_ + begin, count, scratch);
  return scratch;
}

void Segment::Residual(int64_t row, float temperature, float* out) const {
  switch (form_) {
    case ResidualForm::kLogits:
      ClassificationResidual(logits(row), outputs_, label(row), temperature, out);
      break;
    case ResidualForm::kDense: {
      const float* const values = residual_values(row * outputs_, outputs_, out);
      if (values != out) std::copy_n(values, outputs_, out);
      break;
    }
    case ResidualForm::kSparse:
      std::fill_n(out, outputs_, 0.0f);
      for (int64_t entry = row * top_; entry < (row + 1) * top_; ++entry) {
        float value = 0;
        value = *residual_values(entry, 1, &value);
        const int64_t c = residual_class(entry);
        if (c < outputs_) out[c] = value;
      }
      break;
  }
}

void Segment::AddResidual(int64_t row, float temperature, float weight, float* scratch,
                          float* accumulator) const {
  switch (form_) {
    case ResidualForm::kLogits:
      ClassificationResidual(logits(row), outputs_, label(row), temperature, scratch);
      AddScaled(weight, scratch, outputs_, accumulator);
      break;
    case ResidualForm::kDense:
      AddScaled(weight, residual_values(row * outputs_, outputs_, scratch), outputs_, accumulator);
      break;
    case ResidualForm::kSparse:
      AddEntriesOf(row, weight, scratch, accumulator, nullptr);
      break;
  }
}

int64_t Segment::AddEntriesOf(int64_t row, float weight, float* scratch, float* sum,
                              uint32_t* touched) const {
  const int64_t begin = row * top_;
  const float* const values = residual_values(begin, top_, scratch);
  // A class that is not one occurs in no verified file; without verification there is still no
  // write outside.
  if (narrow_classes_ != nullptr) {
    return AddEntries(weight, values, narrow_classes_ + begin, top_, outputs_, sum, touched);
  }
  return AddEntries(weight, values, wide_classes_ + begin, top_, outputs_, sum, touched);
}

void Segment::PrefetchResidual(int64_t row) const {
  const int64_t stored = form_ == ResidualForm::kSparse ? top_ : outputs_;
  const int64_t begin = row * stored;
  if (form_ == ResidualForm::kLogits) {
    Prefetch(logits_, begin, stored);
    Prefetch(labels_, row, 1);
  } else if (residuals_ != nullptr) {
    Prefetch(residuals_, begin, stored);
  } else {
    Prefetch(half_residuals_, begin, stored);
  }
  if (narrow_classes_ != nullptr) Prefetch(narrow_classes_, begin, stored);
  if (wide_classes_ != nullptr) Prefetch(wide_classes_, begin, stored);
}

Segment::Mass Segment::ResidualMass(int64_t row, float temperature, float* scratch) const {
  const float* values = scratch;
  int64_t count = outputs_;
  switch (form_) {
    case ResidualForm::kLogits:
      ClassificationResidual(logits(row), outputs_, label(row), temperature, scratch);
      break;
    case ResidualForm::kDense:
      values = residual_values(row * outputs_, outputs_, scratch);
      break;
    case ResidualForm::kSparse:
      count = top_;
      values = residual_values(row * top_, top_, scratch);
      break;
  }
  Mass mass;
  for (int64_t i = 0; i < count; ++i) mass.kept += std::abs(static_cast<double>(values[i]));
  if (dropped_ != nullptr) mass.dropped = dropped_[row];
  return mass;
}

}  // namespace resmem
