// What only compressed segments have: runs of ids, a center of keys, and packed residuals.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/int4_keys.h"
#include "memory/residuals/packed_residuals.h"
#include "memory/rows/segment.h"
#include "support/text.h"

namespace resmem {

Status Segment::CheckIdRuns() const {
  if (id_runs_ == nullptr) return {};
  const int64_t runs = layout_.sections[layout_.id_runs].rows;
  for (int64_t run = 0; run < runs; ++run) {
    const uint64_t row = id_runs_[2 * run], id = id_runs_[2 * run + 1];
    const bool ascends = run == 0 ? row == 0 : row > id_runs_[2 * run - 2];
    const auto end = run + 1 < runs ? id_runs_[2 * run + 2] : static_cast<uint64_t>(rows_);
    if (ascends && row < static_cast<uint64_t>(rows_) && id <= kLargestId &&
        (end <= row || end - row - 1 <= kLargestId - id)) {
      continue;
    }
    return file_.Corrupt(Text("run ", run, " of its ids begins at row ", row, " with id ", id,
                              "; rows ascend from 0 below ", rows_, ", ids end at ", kLargestId));
  }
  return {};
}

uint64_t Segment::IdInRun(int64_t row) const {
  // The last run that does not begin behind the row; the first one begins at 0.
  int64_t low = 0, high = layout_.sections[layout_.id_runs].rows;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (id_runs_[2 * middle] <= static_cast<uint64_t>(row) ? low : high) = middle;
  }
  return id_runs_[2 * low + 1] + (static_cast<uint64_t>(row) - id_runs_[2 * low]);
}

Status Segment::CheckCenter() const {
  if (key_center_ == nullptr) return {};
  for (int64_t i = 0; i < dim_; ++i) {
    if (std::abs(key_center_[i]) <= kLargestInt4) continue;
    return file_.Corrupt(Text("the center of its keys has ", key_center_[i], " in column ", i,
                              ", allowed are magnitudes up to ", kLargestInt4));
  }
  return {};
}

Status Segment::CheckEntries() const {
  if (counts_ == nullptr) return {};
  const auto entries = static_cast<uint64_t>(layout_.sections[layout_.entries].rows);
  uint64_t end = 0;
  for (int64_t row = 0; row < rows_; ++row) {
    if (row % kRowsOfAStart == 0 && starts_[row / kRowsOfAStart] != end) {
      return file_.Corrupt(Text("the entries of row ", row, " start at ",
                                starts_[row / kRowsOfAStart], ", those before it end at ", end));
    }
    if (counts_[row] > top_) {
      return file_.Corrupt(
          Text("row ", row, " has ", int{counts_[row]}, " entries, allowed are 0 to ", top_));
    }
    end += counts_[row];
  }
  if (end == entries) return {};
  return file_.Corrupt(Text("its rows have ", end, " entries together, the file ", entries));
}

std::span<const std::byte> Segment::PackedEntries(int64_t row) const {
  const SectionShape& shape = layout_.sections[layout_.entries];
  const int64_t first = row - row % kRowsOfAStart;
  auto begin = static_cast<int64_t>(starts_[row / kRowsOfAStart]);
  for (int64_t i = first; i < row; ++i) begin += counts_[i];
  // They agreed when the file was opened; a page that was lost since reads as zeros.
  begin = std::clamp<int64_t>(begin, 0, shape.rows);
  const int64_t count = std::min<int64_t>(counts_[row], shape.rows - begin);
  return {entries_ + begin * shape.columns, static_cast<size_t>(count * shape.columns)};
}

uint32_t Segment::PackedClass(const std::byte* entries, int64_t i) const {
  const int64_t width = layout_.sections[layout_.entries].columns - 1;
  uint32_t number = 0;
  std::memcpy(&number, entries + i * width, static_cast<size_t>(width));
  return number;
}

int64_t Segment::AddPackedOf(std::span<const Place> rows, const float* weights, float* sum,
                             uint32_t* touched) {
  const std::array<float, 256>& table = PackedValues();
  int64_t found = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto [segment, row] = rows[r];
    segment->RequireResidual(row);
    const std::span<const std::byte> entries = segment->PackedEntries(row);
    const int64_t width = segment->layout_.sections[segment->layout_.entries].columns;
    const int64_t count = std::ssize(entries) / width;
    const std::byte* const values = entries.data() + count * (width - 1);
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t c = segment->PackedClass(entries.data(), i);
      if (c >= static_cast<uint64_t>(segment->outputs_)) continue;
      if (touched != nullptr && sum[c] == 0) touched[found++] = c;
      sum[c] += weights[r] * table[std::to_integer<size_t>(values[i])];
    }
  }
  return found;
}

Status Segment::VerifyPackedValues() const {
  std::vector<int32_t> classes(static_cast<size_t>(top_));
  std::vector<float> values(classes.size());
  for (int64_t row = 0; counts_ != nullptr && row < rows_; ++row) {
    if ((packed_dropped_[row] & 0x8000) != 0) {
      return file_.Corrupt(Text("row ", row, " has a negative dropped mass"));
    }
    const int64_t count = Entries(row, classes.data(), values.data());
    int64_t previous = -1;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t c = classes[static_cast<size_t>(i)];
      if (c <= previous || c >= outputs_) {
        return file_.Corrupt(
            Text("row ", row, " has residual classes that do not ascend below outputs"));
      }
      previous = c;
    }
  }
  return {};
}

}  // namespace resmem
