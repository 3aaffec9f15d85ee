#include <algorithm>
#include <set>
#include <vector>

#include "memory/memory_parts.h"
#include "memory/rows/memory_rows.h"
#include "support/block_rows.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

// Copies living rows of a memory, block by block.
class MemoryReader {
 public:
  explicit MemoryReader(const ResidualMemory& memory)
      : memory_(memory), classify_(memory.description().task == Task::kClassification) {}

  bool empty() const { return ids_.empty(); }
  int64_t count() const { return static_cast<int64_t>(ids_.size()); }

  void Add(int64_t row) {
    const auto dim = static_cast<size_t>(memory_.description().dim);
    const auto outputs = static_cast<size_t>(memory_.description().outputs);
    keys_.resize(keys_.size() + dim);
    MemoryParts::Rows(memory_).GivenKey(row, std::span(keys_).last(dim));
    ids_.push_back(memory_.id(row));
    if (classify_) {
      const std::span<const float> logits = MemoryParts::Rows(memory_).logits(row);
      logits_.insert(logits_.end(), logits.begin(), logits.end());
      labels_.push_back(memory_.label(row));
      return;
    }
    // The base's prediction is what the residual was taken from: target - residual.
    const std::span<const float> target = MemoryParts::Rows(memory_).target(row);
    targets_.insert(targets_.end(), target.begin(), target.end());
    logits_.resize(logits_.size() + outputs);
    const std::span<float> prediction = std::span(logits_).last(outputs);
    MemoryParts::Rows(memory_).Residual(row, memory_.description().parameters.temperature,
                                        prediction);
    for (size_t c = 0; c < outputs; ++c) prediction[c] = target[c] - prediction[c];
  }

  Rows View() const {
    const MemoryDescription& description = memory_.description();
    Rows rows;
    rows.keys = MatrixView(keys_.data(), count(), description.dim);
    rows.logits = MatrixView(logits_.data(), count(), description.outputs);
    rows.labels = labels_;
    if (!classify_) rows.targets = MatrixView(targets_.data(), count(), description.outputs);
    rows.ids = ids_;
    return rows;
  }

  void Clear() {
    keys_.clear();
    logits_.clear();
    targets_.clear();
    labels_.clear();
    ids_.clear();
  }

 private:
  const ResidualMemory& memory_;
  const bool classify_;
  std::vector<float> keys_, logits_, targets_;
  std::vector<int32_t> labels_;
  std::vector<uint64_t> ids_;
};

// Those of row_at(0) .. row_at(count - 1) that live.
Status ReadLiving(const ResidualMemory& memory, int64_t count,
                  const std::function<int64_t(int64_t)>& row_at, int64_t step,
                  const RowSource::Use& use) try {
  if (memory.description().task == Task::kClassification &&
      memory.description().form != ResidualForm::kLogits) {
    return {ErrorCode::kUnsupported,
            Text("the memory keeps ", ResidualFormName(memory.description().form),
                 " residuals and no logits, so its own rows cannot be read back; give the arrays "
                 "it was made from")};
  }
  MemoryReader reader(memory);
  int64_t begin = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (!memory.deleted(row_at(i))) reader.Add(row_at(i));
    if (reader.count() < step) continue;
    RESMEM_RETURN_IF_ERROR(use(begin, reader.View()));
    begin += reader.count();
    reader.Clear();
  }
  return reader.empty() ? Status() : use(begin, reader.View());
} catch (const StatusError& error) {
  return error.status();
}

}  // namespace

const char* RoleName(Role role) {
  constexpr const char* kNames[] = {"unmarked", "train", "validation", "test"};
  return kNames[static_cast<size_t>(role)];
}

Rows Rows::Slice(int64_t begin, int64_t count) const {
  const auto part = [&](auto span) {
    return span.empty() ? span
                        : span.subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
  };
  const auto rows = [&](const MatrixView& view) {
    return view.data == nullptr ? view : view.Slice(begin, count);
  };
  return {rows(keys),    rows(logits), part(labels), rows(targets), part(ids),
          part(sources), part(roles),  part(slices), part(tags)};
}

RowSource ReadRows(const Rows& rows, int64_t block_rows) {
  const int64_t step = BlockRows(block_rows, rows.keys.columns + rows.logits.columns);
  return {rows.count(), [rows, step](const RowSource::Use& use) -> Status {
            for (int64_t begin = 0; begin < rows.count(); begin += step) {
              const int64_t count = std::min(step, rows.count() - begin);
              RESMEM_RETURN_IF_ERROR(use(begin, rows.Slice(begin, count)));
            }
            return {};
          }};
}

RowSource ReadMemory(const ResidualMemory& memory, int64_t block_rows) {
  const MemoryDescription& description = memory.description();
  const int64_t step = BlockRows(block_rows, description.dim + description.outputs);
  return {memory.rows(), [&memory, step](const RowSource::Use& use) {
            const auto same = [](int64_t row) { return row; };
            return ReadLiving(memory, memory.capacity(), same, step, use);
          }};
}

RowSource ReadMemoryRows(const ResidualMemory& memory, std::vector<int64_t> rows) {
  const MemoryDescription& description = memory.description();
  const int64_t step = BlockRows(0, description.dim + description.outputs);
  const int64_t count = std::ssize(rows);
  return {count, [&memory, rows = std::move(rows), step](const RowSource::Use& use) {
            const auto at = [&](int64_t i) { return rows[static_cast<size_t>(i)]; };
            return ReadLiving(memory, std::ssize(rows), at, step, use);
          }};
}

std::vector<int64_t> SampleRows(const ResidualMemory& memory, int64_t wanted) {
  std::set<int64_t> rows;
  Random random(0);
  while (std::ssize(rows) < std::min(wanted, memory.rows())) {
    const auto row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(memory.capacity())));
    if (!memory.deleted(row)) rows.insert(row);
  }
  return {rows.begin(), rows.end()};
}

}  // namespace resmem
