#include "resmem/data/dataset.h"

#include <algorithm>
#include <utility>

#include "data/dataset_checks.h"
#include "data/dataset_sources.h"
#include "data/memory_guard.h"
#include "support/block_rows.h"
#include "support/text.h"

namespace resmem {
namespace {

// A model makes these rows: few at once, to show progress and to hear a signal.
constexpr int64_t kMadeBlock = 1024;

// In the map where the values can be used there, otherwise through `buffer`.
Status ReadMatrix(const Array& array, int64_t begin, int64_t count, std::vector<float>* buffer,
                  MatrixView* view) {
  if (const std::optional<MatrixView> in_place = array.InPlace()) {
    *view = in_place->Slice(begin, count);
  } else {
    buffer->resize(static_cast<size_t>(count * array.columns()));
    RESMEM_RETURN_IF_ERROR(array.ReadFloats(begin, count, *buffer));
    *view = MatrixView(buffer->data(), count, array.columns());
  }
  return CheckFinite(array.name(), *view, begin);
}

Result<std::vector<int64_t>> ReadVector(const Array& array, int64_t begin, int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  RESMEM_RETURN_IF_ERROR(array.ReadIntegers(begin, count, values));
  return values;
}

}  // namespace

Result<Dataset> Dataset::Open(const DatasetSources& sources, Task task) {
  RESMEM_ASSIGN_OR_RETURN(DatasetArrays arrays, OpenDatasetArrays(sources, task));
  RESMEM_RETURN_IF_ERROR(CheckShapes(arrays, task));
  Dataset dataset;
  dataset.task_ = task;
  dataset.rows_ = arrays.rows();
  dataset.made_ = std::move(arrays.made);
  dataset.keys_ = std::move(arrays.keys);
  dataset.logits_ = std::move(arrays.logits);
  dataset.labels_ = std::move(arrays.labels);
  dataset.targets_ = std::move(arrays.targets);
  dataset.ids_ = std::move(arrays.ids);
  dataset.sources_ = std::move(arrays.sources);
  dataset.split_ = std::move(arrays.split);
  dataset.slices_ = std::move(arrays.slices);
  dataset.role_ = sources.role;
  return dataset;
}

int64_t Dataset::dim() const {
  return made_ ? made_->dim() : keys_->columns();
}

int64_t Dataset::outputs() const {
  if (made_) return made_->outputs();
  return logits_ ? logits_->columns() : 0;
}

bool Dataset::has_labels() const {
  if (labels_ || targets_) return true;
  return made_ && task_ == Task::kClassification && !made_->labels().empty();
}

Status Dataset::Read(int64_t begin, int64_t count, Block* block) const {
  if (begin < 0 || count < 0 || begin > rows_ || count > rows_ - begin) {
    return {ErrorCode::kInvalidArgument, Text("rows ", begin, " to ", begin, " + ", count,
                                              " asked for, but the dataset has ", rows_)};
  }
  return GuardMemory(made_ ? made_->name() : keys_->name(),
                     [&] { return ReadChecked(begin, count, block); });
}

Status Dataset::ReadKeysAndLogits(int64_t begin, int64_t count, Block* block) const {
  Rows& view = block->view;
  if (!made_) {
    RESMEM_RETURN_IF_ERROR(ReadMatrix(*keys_, begin, count, &block->keys, &view.keys));
    if (!logits_) return {};
    return ReadMatrix(*logits_, begin, count, &block->logits, &view.logits);
  }
  block->keys.resize(static_cast<size_t>(count * dim()));
  block->logits.resize(static_cast<size_t>(count * outputs()));
  RESMEM_RETURN_IF_ERROR(made_->Make(begin, count, block->keys, block->logits));
  view.keys = MatrixView(block->keys.data(), count, dim());
  view.logits = MatrixView(block->logits.data(), count, outputs());
  RESMEM_RETURN_IF_ERROR(CheckFinite(made_->name() + " (keys)", view.keys, begin));
  return CheckFinite(made_->name() + " (logits)", view.logits, begin);
}

Status Dataset::ReadLabels(int64_t begin, int64_t count, Block* block) const {
  std::vector<int64_t> values;
  if (labels_) {
    RESMEM_ASSIGN_OR_RETURN(values, ReadVector(*labels_, begin, count));
  } else if (made_ && has_labels() && !targets_) {
    const auto labels =
        made_->labels().subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
    values.assign(labels.begin(), labels.end());
  } else {
    return {};
  }
  RESMEM_RETURN_IF_ERROR(CheckLabels(labels_ ? labels_->name() : made_->name(), values, begin,
                                     outputs(), &block->labels));
  block->view.labels = block->labels;
  return {};
}

Status Dataset::ReadSources(int64_t begin, int64_t count, Block* block) const {
  if (sources_) {
    RESMEM_ASSIGN_OR_RETURN(block->sources, sources_->ReadText(begin, count));
  } else if (made_) {
    block->sources.clear();
    for (int64_t row = begin; row < begin + count; ++row) {
      block->sources.push_back(made_->source(row));
    }
  } else {
    return {};
  }
  block->view.sources = block->sources;
  return {};
}

Status Dataset::ReadChecked(int64_t begin, int64_t count, Block* block) const {
  Rows& view = block->view;
  view = {};
  RESMEM_RETURN_IF_ERROR(ReadKeysAndLogits(begin, count, block));
  RESMEM_RETURN_IF_ERROR(ReadLabels(begin, count, block));
  RESMEM_RETURN_IF_ERROR(ReadSources(begin, count, block));
  if (targets_) {
    RESMEM_RETURN_IF_ERROR(ReadMatrix(*targets_, begin, count, &block->targets, &view.targets));
  }
  if (ids_) {
    RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ReadVector(*ids_, begin, count));
    RESMEM_RETURN_IF_ERROR(CheckIds(ids_->name(), values, begin, &block->ids));
    view.ids = block->ids;
  }
  if (slices_) {
    RESMEM_ASSIGN_OR_RETURN(block->slices, slices_->ReadText(begin, count));
    view.slices = block->slices;
  }
  if (split_) {
    RESMEM_RETURN_IF_ERROR(ReadRoles(*split_, begin, count, &block->roles));
    view.roles = block->roles;
  } else if (role_) {
    block->roles.assign(static_cast<size_t>(count), *role_);
    view.roles = block->roles;
  }
  return {};
}

void Dataset::Drop(int64_t begin, int64_t count) const {
  for (const std::optional<Array>* array :
       {&keys_, &logits_, &labels_, &targets_, &ids_, &sources_, &split_, &slices_}) {
    if (*array) (*array)->DropRows(begin, count);
  }
}

Result<std::vector<int64_t>> Dataset::CountRoles() const {
  std::vector<int64_t> counts(4, 0);
  if (!split_) {
    counts[static_cast<size_t>(role_.value_or(Role::kUnmarked))] = rows_;
    return counts;
  }
  constexpr int64_t kBlock = 1 << 16;
  std::vector<Role> roles;
  for (int64_t begin = 0; begin < rows_; begin += kBlock) {
    RESMEM_RETURN_IF_ERROR(ReadRoles(*split_, begin, std::min(kBlock, rows_ - begin), &roles));
    for (const Role role : roles) ++counts[static_cast<size_t>(role)];
  }
  return counts;
}

RowSource ReadDataset(const Dataset& dataset, int64_t block_rows) {
  int64_t step = BlockRows(block_rows, dataset.dim() + dataset.outputs());
  if (dataset.made() && block_rows <= 0) step = std::min(step, kMadeBlock);
  return {dataset.rows(), [&dataset, step](const RowSource::Use& use) -> Status {
            Dataset::Block block;
            for (int64_t begin = 0; begin < dataset.rows(); begin += step) {
              const int64_t count = std::min(step, dataset.rows() - begin);
              RESMEM_RETURN_IF_ERROR(dataset.Read(begin, count, &block));
              RESMEM_RETURN_IF_ERROR(use(begin, block.view));
              dataset.Drop(begin, count);
            }
            return {};
          }};
}

}  // namespace resmem
