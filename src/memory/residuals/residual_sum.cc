#include "memory/residuals/residual_sum.h"

#include <algorithm>
#include <array>

#include "kernels/vector_math.h"
#include "memory/memory_parts.h"
#include "memory/residuals/row_sums.h"
#include "memory/residuals/softmax_residuals.h"
#include "support/check.h"

namespace resmem {
namespace {

constexpr size_t kFloatsOfALine = 16;
// Rows whose places are held at once.
constexpr size_t kPiece = Segment::kMostTogether;
// Long sparse rows that are added before more are fetched.
constexpr size_t kStep = 8;
// Entries that are on their way, or wait in the second cache: mostly all of a query's.
constexpr int64_t kEntriesAhead = 16384;

// Few places are quicker visited one by one, many all in a row.
bool AreFew(int64_t places, size_t outputs) {
  return static_cast<size_t>(places) * kFloatsOfALine < outputs;
}

bool IsSparse(const MemoryDescription& description) {
  return description.form == ResidualForm::kSparse || description.form == ResidualForm::kPacked;
}

}  // namespace

ResidualSum::ResidualSum(const ResidualMemory& memory)
    : ResidualSum(memory, MemoryParts::Cache(memory)) {}

ResidualSum::ResidualSum(const ResidualMemory& memory, ResidualCache* cache)
    : memory_(&memory),
      cache_(cache),
      room_(static_cast<size_t>(memory.description().outputs) + 2 * kFloatsOfALine),
      scratch_(memory.description().form == ResidualForm::kLogits
                   ? static_cast<size_t>(ResidualScratch(memory.description().outputs))
                   : 0) {}

int64_t ResidualSum::Add(std::span<const int64_t> rows, std::span<const float> weights,
                         float temperature, const float* beside) {
  const MemoryDescription& description = memory_->description();
  RESMEM_DCHECK(rows.size() == weights.size());
  const auto shift =
      (reinterpret_cast<uintptr_t>(beside) - reinterpret_cast<uintptr_t>(room_.data())) /
      sizeof(float) % kFloatsOfALine;
  sum_ = std::span(room_).subspan(shift, static_cast<size_t>(description.outputs));
  if (IsSparse(description)) {
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
      case ResidualForm::kPacked:
        touched += AddSparse(piece, piece_weights, touched);
        break;
    }
  }
  return touched;
}

std::span<float> ResidualSum::Sum(std::span<const int64_t> rows, std::span<const float> weights,
                                  float temperature, const float* beside) {
  Add(rows, weights, temperature, beside);
  return sum_;
}

void ResidualSum::AddTo(std::span<const int64_t> rows, std::span<const float> weights,
                        float temperature, float scale, std::span<float> scores) {
  RESMEM_DCHECK(static_cast<int64_t>(scores.size()) == memory_->description().outputs);
  const int64_t touched = Add(rows, weights, temperature, scores.data());
  if (IsSparse(memory_->description()) && AreFew(touched, sum_.size())) {
    // Where one comes again, 0 is added.
    for (const uint32_t c : std::span(touched_).first(static_cast<size_t>(touched))) {
      scores[c] += sum_[c] * scale;
      sum_[c] = 0;
    }
  } else {
    AddScaledAndClear(scale, sum_.data(), static_cast<int64_t>(sum_.size()), scores.data());
  }
}

void ResidualSum::Require(std::span<const int64_t> rows) {
  const StoredRows& stored = MemoryParts::Rows(*memory_);
  checked_ = checked_ || stored.checked();
  if (checked_) return;
  for (const int64_t row : rows) {
    const auto [segment, local] = stored.Find(row);
    segment->RequireResidual(local);
  }
}

void ResidualSum::AddDense(std::span<const int64_t> rows, const float* weights) {
  Require(rows);
  const StoredRows& stored = MemoryParts::Rows(*memory_);
  const auto count = static_cast<int64_t>(rows.size()), outputs = static_cast<int64_t>(sum_.size());
  if (memory_->description().half_residuals) {
    std::array<const uint16_t*, kPiece> places;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto [segment, local] = stored.Find(rows[i]);
      places[i] = segment->half_residuals_place(local);
    }
    AddHalfRows(weights, places.data(), count, outputs, sum_.data());
  } else {
    std::array<const float*, kPiece> places;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto [segment, local] = stored.Find(rows[i]);
      places[i] = segment->residuals_place(local);
    }
    AddRows(weights, places.data(), count, outputs, sum_.data());
  }
}

void ResidualSum::AddLogits(std::span<const int64_t> rows, const float* weights,
                            float temperature) {
  if (cache_ != nullptr && temperature == cache_->temperature()) {
    AddKept(rows, weights);
    return;
  }
  Require(rows);
  const StoredRows& stored = MemoryParts::Rows(*memory_);
  std::array<const float*, kPiece> logits;
  std::array<const int32_t*, kPiece> labels;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [segment, local] = stored.Find(rows[i]);
    logits[i] = segment->logits_place(local);
    labels[i] = segment->label_place(local);
  }
  AddSoftmaxResiduals(weights, logits.data(), labels.data(), static_cast<int64_t>(rows.size()),
                      static_cast<int64_t>(sum_.size()), temperature, scratch_.data(), sum_.data());
}

void ResidualSum::AddKept(std::span<const int64_t> rows, const float* weights) {
  const StoredRows& stored = MemoryParts::Rows(*memory_);
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
                               int64_t touched) {
  std::array<Segment::Place, kPiece> places;
  for (size_t i = 0; i < rows.size(); ++i) places[i] = MemoryParts::Rows(*memory_).Find(rows[i]);
  const auto ahead = static_cast<size_t>(kEntriesAhead / memory_->description().top);
  const size_t step = ahead < rows.size() ? kStep : kPiece;
  size_t fetched = 0;
  int64_t found = touched;
  for (size_t begin = 0; begin < rows.size(); begin += step) {
    const size_t end = std::min(begin + step, rows.size());
    for (; fetched < std::min(end + ahead, rows.size()); ++fetched) {
      places[fetched].first->PrefetchEntries(places[fetched].second);
    }
    // Once they are many, nobody asks which.
    uint32_t* const list = AreFew(found, sum_.size()) ? touched_.data() + found : nullptr;
    found += Segment::AddEntriesOf(std::span(places).subspan(begin, end - begin), weights + begin,
                                   sum_.data(), list);
  }
  return found - touched;
}

}  // namespace resmem
