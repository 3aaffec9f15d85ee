#include "memories/validation_rows.h"

#include <algorithm>

#include "resmem/data/dataset.h"

namespace resmem::serve {
namespace {

constexpr int64_t kBlockRows = 1024;

Status CheckData(const Dataset& data, const std::string& path, const MemoryDescription& memory) {
  if (!data.has_logits() || !data.has_labels()) {
    return {ErrorCode::kBadData, path + ": validation rows need logits and labels, too"};
  }
  if (data.dim() == memory.dim && data.outputs() == memory.outputs) return {};
  return {ErrorCode::kMismatch, path + ": has keys of " + std::to_string(data.dim()) +
                                    " columns and logits of " + std::to_string(data.outputs()) +
                                    ", but the memory's are " + std::to_string(memory.dim) +
                                    " and " + std::to_string(memory.outputs)};
}

template <class T>
void Add(std::span<const T> from, std::vector<T>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

Result<RowSet> ReadValidationRows(const std::string& path, const ResidualMemory& memory) {
  const MemoryDescription& description = memory.description();
  DatasetSources sources;
  sources.all = path;
  sources.class_names = description.class_names;
  RESMEM_ASSIGN_OR_RETURN(const Dataset data, Dataset::Open(sources, description.task));
  RESMEM_RETURN_IF_ERROR(CheckData(data, path, description));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> roles, data.CountRoles());
  const bool marked = roles[static_cast<size_t>(Role::kValidation)] > 0;
  const int64_t row_bytes =
      (description.dim + 2 * description.outputs) * static_cast<int64_t>(sizeof(float));
  const int64_t most =
      std::clamp<int64_t>(kMostValidationBytes / row_bytes, 1, kMostValidationRows);
  RowSet set;
  set.dim = description.dim;
  set.outputs = description.outputs;
  Dataset::Block block;
  for (int64_t begin = 0; begin < data.rows() && set.rows < most; begin += kBlockRows) {
    RESMEM_RETURN_IF_ERROR(data.Read(begin, std::min(kBlockRows, data.rows() - begin), &block));
    const Rows& rows = block.view;
    for (int64_t i = 0; i < rows.count() && set.rows < most; ++i) {
      if (marked && rows.roles[static_cast<size_t>(i)] != Role::kValidation) continue;
      Add(rows.keys.row_span(i), &set.keys);
      Add(rows.logits.row_span(i), &set.logits);
      if (description.task == Task::kClassification) {
        set.labels.push_back(rows.labels[static_cast<size_t>(i)]);
      } else {
        Add(rows.targets.row_span(i), &set.targets);
      }
      ++set.rows;
    }
  }
  return set;
}

}  // namespace resmem::serve
