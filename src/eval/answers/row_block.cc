#include "eval/answers/row_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "memory/memory_parts.h"
#include "support/text.h"

namespace resmem {
namespace {

Status CheckMatrix(const char* what, MatrixView matrix, int64_t rows, int64_t columns) {
  if (matrix.rows == rows && matrix.columns == columns) return {};
  return {ErrorCode::kBadData,
          Text("the ", what, " are ", matrix.rows, " x ", matrix.columns, ", but ", rows, " x ",
               columns, " fit this memory; give arrays of the same rows and the same model")};
}

template <typename T>
Status CheckCount(const char* what, std::span<const T> values, int64_t rows) {
  if (values.empty() || static_cast<int64_t>(values.size()) == rows) return {};
  return {ErrorCode::kBadData, Text("there are ", values.size(), " ", what, " for ", rows,
                                    " rows; there must be one for each")};
}

Status CheckLabels(std::span<const int32_t> labels, int64_t begin, int64_t rows, int64_t classes) {
  if (rows > 0 && labels.empty()) {
    return {ErrorCode::kBadData, "the rows have no labels; judging predictions needs the truth"};
  }
  RESMEM_RETURN_IF_ERROR(CheckCount("labels", labels, rows));
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      return {ErrorCode::kBadData,
              Text("row ", begin + static_cast<int64_t>(i), " has label ", labels[i],
                   "; this memory knows the classes 0 .. ", classes - 1)};
    }
  }
  return {};
}

// Classification asks of the logits of each row that is scored; a mean of squares is asked nothing.
Status CheckFinite(const char* what, int64_t begin, MatrixView values) {
  for (int64_t row = 0; row < values.rows; ++row) {
    const std::span<const float> line = values.row_span(row);
    for (size_t c = 0; c < line.size(); ++c) {
      if (std::isfinite(line[c])) continue;
      return {ErrorCode::kBadData, Text("the ", what, " hold ", line[c], " at row ", begin + row,
                                        ", column ", c, "; only finite values are allowed")};
    }
  }
  return {};
}

Status CheckRows(const MemoryDescription& description, int64_t begin, const Rows& rows) {
  const int64_t count = rows.count();
  RESMEM_RETURN_IF_ERROR(CheckMatrix("keys", rows.keys, count, description.dim));
  RESMEM_RETURN_IF_ERROR(CheckMatrix("logits", rows.logits, count, description.outputs));
  if (description.task == Task::kRegression) {
    RESMEM_RETURN_IF_ERROR(CheckMatrix("targets", rows.targets, count, description.outputs));
    RESMEM_RETURN_IF_ERROR(CheckFinite("predictions", begin, rows.logits));
    RESMEM_RETURN_IF_ERROR(CheckFinite("targets", begin, rows.targets));
  } else {
    RESMEM_RETURN_IF_ERROR(CheckLabels(rows.labels, begin, count, description.outputs));
  }
  RESMEM_RETURN_IF_ERROR(CheckCount("ids", rows.ids, count));
  RESMEM_RETURN_IF_ERROR(CheckCount("roles", rows.roles, count));
  return CheckCount("slices", rows.slices, count);
}

// Appends row i of each array that there is.
void AppendRow(MatrixView from, int64_t i, std::vector<float>* to) {
  if (from.rows == 0) return;
  const std::span<const float> row = from.row_span(i);
  to->insert(to->end(), row.begin(), row.end());
}
template <typename T>
void AppendValue(std::span<const T> from, int64_t i, std::vector<T>* to) {
  if (!from.empty()) to->push_back(from[static_cast<size_t>(i)]);
}

// How far a stored key's value may lie from the one that was given.
float LargestRounding(const MemoryDescription& description, float value, float largest_of_key) {
  const KeyType type = description.key_type;
  // What lies far from the center is cut off: a single value tells nothing.
  if (type == KeyType::kInt4) return std::numeric_limits<float>::infinity();
  if (description.key_transform != KeyTransform::kNone) {
    // There and back again: of a whitened value, the rounding of all values before it.
    return largest_of_key * (type == KeyType::kFloat32 ? 1e-4f : 0.05f);
  }
  switch (type) {
    case KeyType::kFloat32:
      return 0;
    case KeyType::kFloat16:
      return std::max(std::abs(value) * 0x1p-11f, 0x1p-25f);
    case KeyType::kInt8:
      // Half a step, and the rounding of the step itself.
      return std::max(largest_of_key / 127 * 0.5001f, std::numeric_limits<float>::min() * 127);
    case KeyType::kInt4:
      break;
  }
  return 0;
}

}  // namespace

Status RowBlock::Load(const ResidualMemory& memory, int64_t begin, const Rows& block,
                      std::optional<Role> only, bool leave_one_out) {
  RESMEM_RETURN_IF_ERROR(CheckRows(memory.description(), begin, block));
  begin_ = begin;
  numbers_.clear();
  exclude_.clear();
  if (only.has_value()) {
    Gather(block, *only);
  } else {
    rows_ = block;
  }
  return leave_one_out ? FindSelf(memory) : Status();
}

void RowBlock::Gather(const Rows& block, Role only) {
  for (auto* floats : {&keys_, &logits_, &targets_}) floats->clear();
  labels_.clear();
  ids_.clear();
  roles_.clear();
  slices_.clear();
  for (int64_t i = 0; i < block.count(); ++i) {
    const Role role = block.roles.empty() ? Role::kUnmarked : block.roles[static_cast<size_t>(i)];
    if (role != only) continue;
    numbers_.push_back(begin_ + i);
    AppendRow(block.keys, i, &keys_);
    AppendRow(block.logits, i, &logits_);
    AppendRow(block.targets, i, &targets_);
    AppendValue(block.labels, i, &labels_);
    AppendValue(block.ids, i, &ids_);
    AppendValue(block.roles, i, &roles_);
    AppendValue(block.slices, i, &slices_);
  }
  const auto count = static_cast<int64_t>(numbers_.size());
  rows_ = Rows();
  rows_.keys = MatrixView(keys_.data(), count, block.keys.columns);
  rows_.logits = MatrixView(logits_.data(), count, block.logits.columns);
  if (block.targets.rows > 0) {
    rows_.targets = MatrixView(targets_.data(), count, block.targets.columns);
  }
  rows_.labels = labels_;
  rows_.ids = ids_;
  rows_.roles = roles_;
  rows_.slices = slices_;
}

Status RowBlock::CheckSelf(const ResidualMemory& memory, int64_t i, int64_t row) {
  const MemoryDescription& description = memory.description();
  const auto refuse = [&](const std::string& difference) {
    return Status(
        ErrorCode::kBadData,
        Text("row ", number(i), " is not the memory's row of id ", number(i), ": ", difference,
             "; without ids leave-one-out takes a row's number as its id: give the ids "
             "that were memorized (--ids), or drop --leave-one-out for other rows"));
  };
  if (description.task == Task::kClassification) {
    const int32_t label = rows_.labels[static_cast<size_t>(i)];
    if (label != memory.label(row)) {
      return refuse(Text("its label is ", label, ", the memory's is ", memory.label(row)));
    }
  } else if (!std::ranges::equal(rows_.targets.row_span(i),
                                 MemoryParts::Rows(memory).target(row))) {
    return refuse("their targets differ");
  }
  const std::span<const float> key = rows_.keys.row_span(i);
  stored_key_.resize(key.size());
  MemoryParts::Rows(memory).GivenKey(row, stored_key_);
  float largest = 0;
  for (const float value : key) largest = std::max(largest, std::abs(value));
  for (size_t d = 0; d < key.size(); ++d) {
    const float allowed = LargestRounding(description, key[d], largest);
    if (!(std::abs(key[d] - stored_key_[d]) <= allowed)) {
      return refuse(
          Text("value ", d, " of its key is ", key[d], ", the memory's is ", stored_key_[d]));
    }
  }
  return {};
}

Status RowBlock::FindSelf(const ResidualMemory& memory) {
  for (int64_t i = 0; i < rows_.count(); ++i) {
    const uint64_t id =
        rows_.ids.empty() ? static_cast<uint64_t>(number(i)) : rows_.ids[static_cast<size_t>(i)];
    const std::optional<int64_t> row = memory.FindId(id);
    if (!row.has_value()) {
      return {ErrorCode::kNotFound,
              Text("row ", number(i), " has id ", id,
                   ", which is not in the memory; leave-one-out "
                   "is for the rows that were memorized, known by their ids")};
    }
    if (rows_.ids.empty()) RESMEM_RETURN_IF_ERROR(CheckSelf(memory, i, *row));
    exclude_.push_back(*row);
  }
  return {};
}

}  // namespace resmem
