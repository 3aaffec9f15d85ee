#include "memory/rows/check_rows.h"

#include <cmath>
#include <limits>

#include "kernels/int4_keys.h"
#include "kernels/long_row.h"
#include "memory/manifest/manifest.h"
#include "resmem/row_filter.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr float kLargestHalf = 65504.0f;
constexpr float kLargestFloat = std::numeric_limits<float>::max();

Status BadData(const std::string& message) {
  return {ErrorCode::kBadData, message};
}

Status CheckCount(const char* name, int64_t found, int64_t expected) {
  if (found == expected) return {};
  return BadData(
      Text(found, " ", name, " were given for ", expected, " rows of keys; give one for each row"));
}

// `limit`: the largest magnitude that the stored type holds.
Status CheckMatrix(const char* name, const MatrixView& matrix, int64_t rows, int64_t columns,
                   float limit, int64_t first_row) {
  RESMEM_RETURN_IF_ERROR(CheckCount(name, matrix.rows, rows));
  if (matrix.columns != columns) {
    return BadData(Text(name, " have ", matrix.columns, " columns where the memory has ", columns));
  }
  for (int64_t row = 0; row < rows; ++row) {
    const float* const values = matrix.row(row);
    if (AllWithin(values, columns, limit)) continue;
    int64_t c = 0;
    while (std::abs(values[c]) <= limit) ++c;
    const char* const allowed =
        !std::isfinite(values[c]) ? "but must be finite; remove or repair the row"
        : limit == kLargestInt4   ? "but int4 ends at 1.26e30; scale the keys down"
                                  : "but float16 ends at 65504; store float32";
    return BadData(Text(name, ", row ", first_row + row, ", column ", c, ": found ", values[c],
                        ", ", allowed));
  }
  return {};
}

Status CheckLabels(std::span<const int32_t> labels, const MemoryDescription& description,
                   int64_t rows, int64_t first_row) {
  RESMEM_RETURN_IF_ERROR(CheckCount("labels", static_cast<int64_t>(labels.size()), rows));
  for (int64_t row = 0; row < rows; ++row) {
    const int32_t label = labels[static_cast<size_t>(row)];
    if (label >= 0 && label < description.outputs) continue;
    return BadData(Text("labels, row ", first_row + row, ": found ", label, ", allowed are 0 to ",
                        description.outputs - 1));
  }
  return {};
}

// Both are finite, but their difference may be too large.
Status CheckRegressionResiduals(const Rows& rows, bool half, int64_t first_row) {
  const float limit = half ? kLargestHalf : kLargestFloat;
  for (int64_t row = 0; row < rows.count(); ++row) {
    for (int64_t c = 0; c < rows.targets.columns; ++c) {
      const float residual = rows.targets.row(row)[c] - rows.logits.row(row)[c];
      if (std::abs(residual) <= limit) continue;
      return BadData(Text("targets, row ", first_row + row, ", column ", c, ": the residual is ",
                          residual, ", but at most ", limit, " can be stored; ",
                          half ? "store residuals as float32" : "scale the targets down"));
    }
  }
  return {};
}

}  // namespace

Status CheckStoredKeys(MatrixView keys, const MemoryDescription& description, int64_t first_row) {
  return CheckMatrix(description.key_transform == KeyTransform::kNone ? "keys" : "transformed keys",
                     keys, keys.rows, description.dim,
                     description.key_type == KeyType::kFloat16 ? kLargestHalf
                     : description.key_type == KeyType::kInt4  ? kLargestInt4
                                                               : kLargestFloat,
                     first_row);
}

Status CheckRows(const Rows& rows, const MemoryDescription& description, int64_t first_row) {
  const int64_t count = rows.count();
  RESMEM_RETURN_IF_ERROR(
      CheckMatrix("keys", rows.keys, count, description.dim, kLargestFloat, first_row));
  const char* const outputs =
      description.task == Task::kClassification ? "logits" : "base predictions";
  RESMEM_RETURN_IF_ERROR(
      CheckMatrix(outputs, rows.logits, count, description.outputs, kLargestFloat, first_row));
  if (description.task == Task::kClassification) {
    RESMEM_RETURN_IF_ERROR(CheckLabels(rows.labels, description, count, first_row));
  } else {
    RESMEM_RETURN_IF_ERROR(
        CheckMatrix("targets", rows.targets, count, description.outputs, kLargestFloat, first_row));
    RESMEM_RETURN_IF_ERROR(CheckRegressionResiduals(rows, description.half_residuals, first_row));
  }
  if (!rows.ids.empty()) {
    RESMEM_RETURN_IF_ERROR(CheckCount("ids", static_cast<int64_t>(rows.ids.size()), count));
    for (int64_t row = 0; row < count; ++row) {
      const uint64_t id = rows.ids[static_cast<size_t>(row)];
      if (id <= kLargestId) continue;
      return BadData(
          Text("ids, row ", first_row + row, ": found ", id, ", allowed are 0 to ", kLargestId));
    }
  }
  const auto sources = std::ssize(rows.sources);
  if (description.has_sources) return CheckCount("sources", sources, count);
  if (sources == 0) return {};
  return BadData(Text(sources, " sources were given, but the memory keeps none; leave them out, ",
                      "or create it with sources"));
}

Status CheckRowTags(const Rows& rows, bool announced, int64_t first_row) {
  if (rows.tags.empty()) return {};
  RESMEM_RETURN_IF_ERROR(CheckCount("tags", std::ssize(rows.tags), rows.count()));
  if (!announced) return BadData("tags were given, but rows without tags were announced");
  for (size_t row = 0; row < rows.tags.size(); ++row) {
    const Status status = CheckTags(rows.tags[row]);
    if (status.ok()) continue;
    return BadData(
        Text("tags, row ", first_row + static_cast<int64_t>(row), ": ", status.message()));
  }
  return {};
}

}  // namespace resmem
