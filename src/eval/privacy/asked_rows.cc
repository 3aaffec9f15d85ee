#include "eval/privacy/asked_rows.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "eval/answers/row_block.h"
#include "support/choose_rows.h"

namespace resmem {

int64_t RowsAtOnce(const ResidualMemory& memory) {
  constexpr int64_t kValues = int64_t{1} << 22, kMost = 1024;
  return std::clamp<int64_t>(kValues / memory.description().outputs, 1, kMost);
}

std::vector<int64_t> ChooseMembers(const ResidualMemory& memory, int64_t most, uint64_t seed) {
  const std::vector<int64_t> chosen = ChooseRows(memory.rows(), most, seed);
  std::vector<int64_t> rows;
  rows.reserve(chosen.size());
  int64_t living = 0;
  for (int64_t row = 0; row < memory.capacity() && rows.size() < chosen.size(); ++row) {
    if (memory.deleted(row)) continue;
    if (living == chosen[rows.size()]) rows.push_back(row);
    ++living;
  }
  return rows;
}

Status ReadMembers(const ResidualMemory& memory, std::span<const int64_t> rows,
                   const UseRows& use) {
  const MemoryDescription& description = memory.description();
  const auto dim = static_cast<size_t>(description.dim);
  const auto piece = static_cast<size_t>(RowsAtOnce(memory));
  std::vector<float> keys, logits;
  std::vector<int32_t> labels;
  for (size_t begin = 0; begin < rows.size(); begin += piece) {
    const auto part = rows.subspan(begin, std::min(piece, rows.size() - begin));
    keys.resize(part.size() * dim);
    logits.clear();
    labels.clear();
    for (size_t i = 0; i < part.size(); ++i) {
      memory.DecodeKey(part[i], std::span(keys).subspan(i * dim, dim));
      const std::span<const float> row = memory.logits(part[i]);
      logits.insert(logits.end(), row.begin(), row.end());
      labels.push_back(memory.label(part[i]));
    }
    RESMEM_RETURN_IF_ERROR(memory.damage());
    const auto count = static_cast<int64_t>(part.size());
    RESMEM_RETURN_IF_ERROR(
        use({MatrixView(keys.data(), count, description.dim),
             MatrixView(logits.data(), count, description.outputs), labels, part}));
  }
  return {};
}

Status ReadHeldOut(const ResidualMemory& memory, const RowSource& rows, const UseRows& use) {
  RowBlock block;
  const int64_t piece = RowsAtOnce(memory);
  return rows.Read([&](int64_t begin, const Rows& all) -> Status {
    for (int64_t done = 0; done < all.count(); done += piece) {
      RESMEM_RETURN_IF_ERROR(block.Load(memory, begin + done,
                                        all.Slice(done, std::min(piece, all.count() - done)),
                                        std::nullopt, /*leave_one_out=*/false));
      const Rows& part = block.rows();
      RESMEM_RETURN_IF_ERROR(use({part.keys, part.logits, part.labels, {}}));
    }
    return {};
  });
}

Neighbors WithoutSelf(const Neighbors& from, std::span<const int64_t> self, int64_t k) {
  Neighbors to;
  to.queries = from.queries;
  to.k = k;
  for (int64_t q = 0; q < from.queries; ++q) {
    const auto rows = from.rows_of(q);
    const auto distances = from.distances_of(q);
    int64_t taken = 0;
    for (size_t i = 0; i < rows.size() && taken < k; ++i) {
      if (!self.empty() && rows[i] == self[static_cast<size_t>(q)]) continue;
      to.rows.push_back(rows[i]);
      to.distances.push_back(distances[i]);
      ++taken;
    }
  }
  return to;
}

Status Report(const PrivacyOptions& options, const char* step, int64_t done, int64_t all) {
  if (options.progress == nullptr) return {};
  options.progress->Report(step, done, all);
  if (!options.progress->Cancelled()) return {};
  return {ErrorCode::kCancelled, std::string("stopped while ") + step};
}

}  // namespace resmem
