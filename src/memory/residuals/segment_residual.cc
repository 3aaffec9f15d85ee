// The residual of a stored row, in each of the forms that a memory may keep.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/number_codec.h"
#include "kernels/prefetch.h"
#include "kernels/vector_math.h"
#include "memory/residuals/packed_residuals.h"
#include "memory/residuals/residual.h"
#include "memory/residuals/row_sums.h"
#include "memory/rows/segment.h"
#include "support/check.h"

namespace resmem {
namespace {

// The values, or the first page of them: the processor itself goes on from there.
template <class T>
void PrefetchValues(const T* values, int64_t count) {
  constexpr int64_t kPage = 4096;
  PrefetchLines(values, std::min(kPage, count * static_cast<int64_t>(sizeof(T))));
}

}  // namespace

const float* Segment::residual_values(int64_t begin, int64_t count, float* scratch) const {
  if (residuals_ != nullptr) return residuals_ + begin;
  HalfToFloat(half_residuals_ + begin, count, scratch);
  return scratch;
}

void Segment::Residual(int64_t row, float temperature, float* out) const {
  RequireResidual(row);
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
    case ResidualForm::kPacked: {
      constexpr float kOnce = 1;
      std::fill_n(out, outputs_, 0.0f);
      AddPackedOf(std::array{Place(this, row)}, &kOnce, out, nullptr);
      break;
    }
  }
}

void Segment::AddResidual(int64_t row, float temperature, float weight, float* scratch,
                          float* accumulator) const {
  RequireResidual(row);
  switch (form_) {
    case ResidualForm::kLogits:
      ClassificationResidual(logits(row), outputs_, label(row), temperature, scratch);
      AddScaled(weight, scratch, outputs_, accumulator);
      break;
    case ResidualForm::kDense:
      AddScaled(weight, residual_values(row * outputs_, outputs_, scratch), outputs_, accumulator);
      break;
    case ResidualForm::kSparse:
    case ResidualForm::kPacked:
      AddEntriesOf(std::array{Place(this, row)}, &weight, accumulator, nullptr);
      break;
  }
}

int64_t Segment::AddEntriesOf(std::span<const Place> rows, const float* weights, float* sum,
                              uint32_t* touched) {
  RESMEM_DCHECK(rows.size() <= kMostTogether);
  if (rows.empty()) return 0;
  const Segment& any = *rows[0].first;
  if (any.entries_ != nullptr) return AddPackedOf(rows, weights, sum, touched);
  // A class that is not one occurs in no verified file; without verification there is still no
  // write outside.
  const auto add = [&]<class Value, class Class>(const Value* Segment::*values,
                                                 const Class* Segment::*classes) {
    std::array<const Value*, kMostTogether> values_of;
    std::array<const Class*, kMostTogether> classes_of;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto [segment, row] = rows[i];
      segment->RequireResidual(row);
      values_of[i] = segment->*values + row * any.top_;
      classes_of[i] = segment->*classes + row * any.top_;
    }
    return AddEntries(weights, values_of.data(), classes_of.data(), std::ssize(rows), any.top_,
                      any.outputs_, sum, touched);
  };
  if (any.residuals_ != nullptr) {
    return any.narrow_classes_ != nullptr ? add(&Segment::residuals_, &Segment::narrow_classes_)
                                          : add(&Segment::residuals_, &Segment::wide_classes_);
  }
  return any.narrow_classes_ != nullptr ? add(&Segment::half_residuals_, &Segment::narrow_classes_)
                                        : add(&Segment::half_residuals_, &Segment::wide_classes_);
}

int64_t Segment::Entries(int64_t row, int32_t* classes, float* values) const {
  RequireResidual(row);
  if (entries_ != nullptr) {
    const std::span<const std::byte> entries = PackedEntries(row);
    const int64_t count = std::ssize(entries) / layout_.sections[layout_.entries].columns;
    for (int64_t i = 0; i < count; ++i) {
      classes[i] = static_cast<int32_t>(PackedClass(entries.data(), i));
      const std::byte code = entries[entries.size() - static_cast<size_t>(count - i)];
      values[i] = PackedValues()[std::to_integer<size_t>(code)];
    }
    return count;
  }
  const float* const stored = residual_values(row * top_, top_, values);
  if (stored != values) std::copy_n(stored, top_, values);
  for (int64_t j = 0; j < top_; ++j) {
    classes[j] = static_cast<int32_t>(residual_class(row * top_ + j));
  }
  return top_;
}

void Segment::PrefetchEntries(int64_t row) const {
  if (entries_ != nullptr) {
    const std::span<const std::byte> entries = PackedEntries(row);
    return PrefetchValues(entries.data(), std::ssize(entries));
  }
  const int64_t begin = row * top_;
  if (residuals_ != nullptr) {
    PrefetchValues(residuals_ + begin, top_);
  } else {
    PrefetchValues(half_residuals_ + begin, top_);
  }
  if (narrow_classes_ != nullptr) {
    PrefetchValues(narrow_classes_ + begin, top_);
  } else {
    PrefetchValues(wide_classes_ + begin, top_);
  }
}

Segment::Mass Segment::ResidualMass(int64_t row, float temperature, float* scratch) const {
  RequireResidual(row);
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
    case ResidualForm::kPacked:
      Residual(row, temperature, scratch);
      break;
  }
  Mass mass;
  for (int64_t i = 0; i < count; ++i) mass.kept += std::abs(static_cast<double>(values[i]));
  if (dropped_ != nullptr) mass.dropped = dropped_[row];
  if (packed_dropped_ != nullptr) {
    float dropped = 0;
    HalfToFloat(packed_dropped_ + row, 1, &dropped);
    mass.dropped = static_cast<double>(dropped);
  }
  return mass;
}

}  // namespace resmem
