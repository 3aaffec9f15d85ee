// Rows that can be used, of data in which some cannot (DatasetSources::skip_bad).
#include <algorithm>
#include <cmath>

#include "data/memory_guard.h"
#include "resmem/data/dataset.h"
#include "support/block_rows.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kShownPlaces = 5;

// "keys, column 3 is nan", or "alcohol is nan"; empty where all are finite.
std::string BadValue(const char* what, MatrixView values, int64_t row,
                     std::span<const std::string> names) {
  if (values.columns == 0) return "";
  const std::span<const float> line = values.row_span(row);
  for (size_t c = 0; c < line.size(); ++c) {
    if (std::isfinite(line[c])) continue;
    return Text(c < names.size() ? names[c] : Text(what, ", column ", c), " is ", line[c]);
  }
  return "";
}

// Of each key in turn; none where they are no columns of a table.
std::vector<std::string> KeyNames(const std::optional<TableReading>& table) {
  std::vector<std::string> names;
  if (!table) return names;
  for (const TableLayout::Key& key : table->layout.keys) {
    names.insert(names.end(), std::max<size_t>(1, key.categories.size()), key.column);
  }
  return names;
}

std::string WhatIsBad(const Rows& rows, int64_t row, int64_t outputs,
                      std::span<const std::string> key_names) {
  std::string bad = BadValue("keys", rows.keys, row, key_names);
  if (bad.empty()) bad = BadValue("logits", rows.logits, row, {});
  if (bad.empty()) bad = BadValue("targets", rows.targets, row, {});
  if (!bad.empty()) return bad;
  if (rows.labels.empty()) return "";
  const int32_t label = rows.labels[static_cast<size_t>(row)];
  if (label < 0) return "no label";
  return outputs > 0 && label >= outputs ? Text("label ", label) : "";
}

template <typename T>
void GatherValues(std::span<const T> from, std::span<const int64_t> which, std::vector<T>* to) {
  to->clear();
  if (from.empty()) return;
  for (const int64_t row : which) to->push_back(from[static_cast<size_t>(row)]);
}

MatrixView GatherMatrix(MatrixView from, std::span<const int64_t> which, std::vector<float>* to) {
  std::vector<float> gathered;  // `from` may lie in `to`
  gathered.reserve(which.size() * static_cast<size_t>(from.columns));
  for (const int64_t row : which) {
    if (from.columns == 0) break;
    gathered.insert(gathered.end(), from.row(row), from.row(row) + from.columns);
  }
  *to = std::move(gathered);
  return {to->data(), static_cast<int64_t>(which.size()), from.columns};
}

}  // namespace

void GatherRows(const Rows& rows, std::span<const int64_t> which, std::span<const uint64_t> ids,
                Dataset::Block* out) {
  Rows& view = out->view;
  view.keys = GatherMatrix(rows.keys, which, &out->keys);
  view.logits = GatherMatrix(rows.logits, which, &out->logits);
  view.targets =
      rows.targets.columns > 0 ? GatherMatrix(rows.targets, which, &out->targets) : MatrixView();
  GatherValues(rows.labels, which, &out->labels);
  GatherValues(rows.sources, which, &out->sources);
  GatherValues(rows.roles, which, &out->roles);
  GatherValues(rows.slices, which, &out->slices);
  GatherValues(rows.tags, which, &out->tags);
  GatherValues(rows.ids, which, &out->ids);
  if (!ids.empty()) out->ids.assign(ids.begin(), ids.end());
  view.labels = out->labels;
  view.sources = out->sources;
  view.roles = out->roles;
  view.slices = out->slices;
  view.tags = out->tags;
  view.ids = out->ids;
}

Status Dataset::FindKept() {
  if (made_) {
    return {ErrorCode::kInvalidArgument,
            Text(made_->name(), ": rows of images are not skipped; only rows of arrays are")};
  }
  if (model_) {
    return {ErrorCode::kInvalidArgument,
            Text(keys_->name(), ": rows that a model reads are not skipped; leave bad ones out")};
  }
  std::vector<int64_t> kept;
  const std::vector<std::string> key_names = KeyNames(table_);
  const int64_t step = BlockRows(0, dim() + outputs());
  Block block;
  for (int64_t begin = 0; begin < rows_; begin += step) {
    const int64_t count = std::min(step, rows_ - begin);
    RESMEM_RETURN_IF_ERROR(GuardMemory(
        keys_->name(), [&] { return ReadBlock(begin, count, /*check=*/false, &block); }));
    for (int64_t i = 0; i < count; ++i) {
      const std::string bad = WhatIsBad(block.view, i, outputs(), key_names);
      if (bad.empty()) {
        kept.push_back(begin + i);
        continue;
      }
      ++skipped_.rows;
      if (skipped_.places.size() < kShownPlaces) {
        skipped_.places.push_back(Text("row ", begin + i, " (", bad, ")"));
      }
    }
    Drop(begin, count);
  }
  if (kept.empty()) {
    return {ErrorCode::kBadData, Text(keys_->name(), ": none of its ", rows_,
                                      " rows can be used; the first is ", skipped_.places[0])};
  }
  if (skipped_.rows > 0) kept_ = std::move(kept);
  return {};
}

Status Dataset::ReadKept(int64_t begin, int64_t count, Block* block) const {
  block->view = {};
  if (count == 0) return {};
  const int64_t first = row_number(begin);
  Block whole;
  RESMEM_RETURN_IF_ERROR(
      ReadBlock(first, row_number(begin + count - 1) + 1 - first, /*check=*/false, &whole));
  std::vector<int64_t> which;
  std::vector<uint64_t> ids;
  for (int64_t row = begin; row < begin + count; ++row) {
    which.push_back(row_number(row) - first);
    if (ids_from_numbers_ && !ids_) ids.push_back(static_cast<uint64_t>(row_number(row)));
  }
  GatherRows(whole.view, which, ids, block);
  return {};
}

}  // namespace resmem
