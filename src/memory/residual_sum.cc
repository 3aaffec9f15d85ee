#include "memory/residual_sum.h"

#include <algorithm>
#include <array>

#include "kernels/row_sums.h"
#include "kernels/vector_math.h"
#include "memory/residual_cache.h"
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
      cache_(memory.residual_cache()),
      sum_(static_cast<size_t>(memory.description().outputs)),
      scratch_(memory.description().form == ResidualForm::kDense ? 0 : sum_.size()) {}

void ResidualSum::AddTo(std::span<const int64_t> rows, std::span<const float> weights,
                        float temperature, float scale, std::span<float> scores) {
  RESMEM_DCHECK(rows.size() == weights.size() && scores.size() == sum_.size());
  const MemoryDescription& description = memory_->description();
  if (description.form == ResidualForm::kSparse) {
    constexpr size_t kSpare = 16;  // see AddEntries()
    const size_t room = rows.size() * static_cast<size_t>(description.top) + kSpare;
    if (touched_.size() < room) touched_.resize(room);
  }
  int64_t touched = 0;
  for (size_t begin = 0; begin < rows.size(); begin += kPiece) {
    const auto piece = rows.subspan(begin, std::min(kPiece, rows.size() - begin));
    const float* const piece_weights = weights.data() + begin;
    switch (description.form) {
      case ResidualForm::kLogits:
        AddLogits(piece, piece_weights, temperature);
        break;
      case ResidualForm::kDense:
        AddDense(piece, piece_weights);
        break;
      case ResidualForm::kSparse:
        touched += AddSparse(piece, piece_weights, touched_.data() + touched);
        break;
    }
  }
  // Few places are quicker visited one by one, many all in a row.
  constexpr size_t kFloatsOfALine = 16;
  if (description.form == ResidualForm::kSparse &&
      static_cast<size_t>(touched) * kFloatsOfALine < sum_.size()) {
    // Where one comes again, 0 is added.
    for (const uint32_t c : std::span(touched_).first(static_cast<size_t>(touched))) {
      scores[c] += sum_[c] * scale;
      sum_[c] = 0;
    }
  } else {
    AddScaled(scale, sum_.data(), static_cast<int64_t>(sum_.size()), scores.data());
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

template <class Add>
void ResidualSum::AddOneByOne(std::span<const int64_t> rows, const float* weights, const Add& add) {
  const StoredRows& stored = memory_->stored_rows();
  std::array<std::pair<const Segment*, int64_t>, kPiece> places;
  for (size_t i = 0; i < rows.size(); ++i) places[i] = stored.Find(rows[i]);
  const auto fetch = [&](size_t i) {
    if (i < rows.size()) places[i].first->PrefetchResidual(places[i].second);
  };
  for (size_t i = 0; i < kAhead; ++i) fetch(i);
  for (size_t i = 0; i < rows.size(); ++i) {
    fetch(i + kAhead);
    add(*places[i].first, places[i].second, weights[i]);
  }
}

void ResidualSum::AddLogits(std::span<const int64_t> rows, const float* weights,
                            float temperature) {
  if (cache_ != nullptr && temperature == cache_->temperature()) {
    AddKept(rows, weights);
    return;
  }
  AddOneByOne(rows, weights, [&](const Segment& segment, int64_t row, float weight) {
    segment.AddResidual(row, temperature, weight, scratch_.data(), sum_.data());
  });
}

void ResidualSum::AddKept(std::span<const int64_t> rows, const float* weights) {
  const StoredRows& stored = memory_->stored_rows();
  const float temperature = cache_->temperature();
  const auto outputs = static_cast<int64_t>(sum_.size());
  std::array<const float*, kPiece> places;
  size_t added = 0, found = 0;  // rows
  const auto add = [&] {
    AddRows(weights + added, places.data() + added, static_cast<int64_t>(found - added), outputs,
            sum_.data());
    added = found;
  };
  for (; found < rows.size(); ++found) {
    const auto [segment, local] = stored.Find(rows[found]);
    places[found] =
        cache_->FindOrKeep(rows[found], [&, segment = segment, local = local](float* out) {
          segment->Residual(local, temperature, out);
        });
    if (places[found] != nullptr) continue;
    add();
    segment->AddResidual(local, temperature, weights[found], scratch_.data(), sum_.data());
    added = found + 1;
  }
  add();
}

int64_t ResidualSum::AddSparse(std::span<const int64_t> rows, const float* weights,
                               uint32_t* touched) {
  int64_t count = 0;
  AddOneByOne(rows, weights, [&](const Segment& segment, int64_t row, float weight) {
    count += segment.AddEntriesOf(row, weight, scratch_.data(), sum_.data(), touched + count);
  });
  return count;
}

}  // namespace resmem
