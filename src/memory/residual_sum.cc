#include "memory/residual_sum.h"

#include <algorithm>
#include <array>

#include "kernels/row_sums.h"
#include "kernels/vector_math.h"
#include "memory/stored_rows.h"
#include "support/check.h"

namespace resmem {
namespace {

// Rows whose places are held at once.
constexpr size_t kPiece = 64;
// Rows that are fetched ahead of the one that is added.
constexpr size_t kAhead = 8;

}  // namespace

ResidualSum::ResidualSum(const ResidualMemory& memory)
    : memory_(&memory),
      sum_(static_cast<size_t>(memory.description().outputs)),
      scratch_(memory.description().form == ResidualForm::kDense ? 0 : sum_.size()) {}

void ResidualSum::AddTo(std::span<const int64_t> rows, std::span<const float> weights,
                        float temperature, float scale, std::span<float> scores) {
  RESMEM_DCHECK(rows.size() == weights.size() && scores.size() == sum_.size());
  const bool dense = memory_->description().form == ResidualForm::kDense;
  for (size_t begin = 0; begin < rows.size(); begin += kPiece) {
    const auto piece = rows.subspan(begin, std::min(kPiece, rows.size() - begin));
    if (dense) {
      AddDense(piece, weights.data() + begin);
    } else {
      AddOneByOne(piece, weights.data() + begin, temperature);
    }
  }
  const auto outputs = static_cast<int64_t>(sum_.size());
  if (memory_->description().form == ResidualForm::kSparse) {
    MoveScaled(scale, outputs, sum_.data(), scores.data());
  } else {
    AddScaled(scale, sum_.data(), outputs, scores.data());
    std::fill(sum_.begin(), sum_.end(), 0.0f);
  }
}

void ResidualSum::AddDense(std::span<const int64_t> rows, const float* weights) {
  const StoredRows& stored = memory_->stored_rows();
  const auto count = static_cast<int64_t>(rows.size()), outputs = static_cast<int64_t>(sum_.size());
  if (memory_->description().half_residuals) {
    std::array<const uint16_t*, kPiece> places;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto [segment, local] = stored.Find(rows[i]);
      places[i] = segment->half_residuals(local);
    }
    AddHalfRows(weights, places.data(), count, outputs, sum_.data());
  } else {
    std::array<const float*, kPiece> places;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto [segment, local] = stored.Find(rows[i]);
      places[i] = segment->residuals(local);
    }
    AddRows(weights, places.data(), count, outputs, sum_.data());
  }
}

void ResidualSum::AddOneByOne(std::span<const int64_t> rows, const float* weights,
                              float temperature) {
  const StoredRows& stored = memory_->stored_rows();
  std::array<std::pair<const Segment*, int64_t>, kPiece> places;
  for (size_t i = 0; i < rows.size(); ++i) places[i] = stored.Find(rows[i]);
  const auto fetch = [&](size_t i) {
    if (i < rows.size()) places[i].first->PrefetchResidual(places[i].second);
  };
  for (size_t i = 0; i < kAhead; ++i) fetch(i);
  for (size_t i = 0; i < rows.size(); ++i) {
    fetch(i + kAhead);
    const auto [segment, local] = places[i];
    segment->AddResidual(local, temperature, weights[i], scratch_.data(), sum_.data());
  }
}

}  // namespace resmem
