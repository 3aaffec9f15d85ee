#include "resmem/data/dataset.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "data/dataset_checks.h"
#include "data/dataset_sources.h"
#include "data/memory_guard.h"
#include "data/table/label_leak.h"
#include "data/table/label_names.h"
#include "resmem/data/new_classes.h"
#include "support/block_rows.h"
#include "support/text.h"

namespace resmem {
namespace {

// A model makes these rows: few at once, to show progress and to hear a signal.
constexpr int64_t kMadeBlock = 1024;

// In the map where the values can be used there, otherwise through `buffer`.
Status ReadMatrix(const Array& array, int64_t begin, int64_t count, bool check,
                  std::vector<float>* buffer, MatrixView* view) {
  if (const std::optional<MatrixView> in_place = array.InPlace()) {
    *view = in_place->Slice(begin, count);
  } else {
    buffer->resize(static_cast<size_t>(count * array.columns()));
    RESMEM_RETURN_IF_ERROR(array.ReadFloats(begin, count, *buffer));
    *view = MatrixView(buffer->data(), count, array.columns());
  }
  return check ? CheckFinite(array.name(), *view, begin) : Status();
}

// Adds logits for classes that the base does not know.
void AddNewLogits(int64_t classes, float floor, std::vector<float>* buffer, MatrixView* view) {
  std::vector<float> wide(static_cast<size_t>(view->rows * classes), 0.0f);
  for (int64_t row = 0; row < view->rows; ++row) {
    const std::span<float> out =
        std::span(wide).subspan(static_cast<size_t>(row * classes), static_cast<size_t>(classes));
    std::ranges::copy(view->row_span(row), out.begin());
    FillNewLogits(view->columns, floor, out);
  }
  *buffer = std::move(wide);
  *view = MatrixView(buffer->data(), view->rows, classes);
}

Result<std::vector<int64_t>> ReadVector(const Array& array, int64_t begin, int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  RESMEM_RETURN_IF_ERROR(array.ReadIntegers(begin, count, values));
  return values;
}

Status CheckInputs(const RowModel& model, const DatasetArrays& arrays) {
  if (arrays.logits) {
    return {ErrorCode::kInvalidArgument,
            Text(arrays.logits->name(), ": logits were given, but ", model.name(),
                 " is to compute them; give one of the two")};
  }
  if (arrays.keys && arrays.keys->columns() == model.columns()) return {};
  return {ErrorCode::kMismatch,
          Text(arrays.name(), ": has rows of ", arrays.keys ? arrays.keys->columns() : 0,
               " values, but the model ", model.name(), " reads ", model.columns(),
               "; give the columns that it was trained on")};
}

// Labels that are names become numbers; the names are learned, or as they were given.
Status NameClasses(const DatasetSources& sources, int64_t classes, DatasetArrays* arrays,
                   std::vector<std::string>* names) {
  if (!arrays->labels) return {};
  ClassNaming naming;
  naming.known = sources.class_names;
  naming.classes = classes;
  naming.skip_missing = sources.skip_bad;
  naming.new_names = sources.new_classes;
  if (arrays->table) {
    TableLayout& layout = arrays->table->layout;
    const bool known_layout = sources.table && sources.table->layout.has_value();
    naming.numbers_are_names = layout.named_labels;
    naming.numbers_may_be_names = !known_layout;
    if (static_cast<int64_t>(layout.logits.size()) == classes) naming.columns = layout.logits;
  }
  RESMEM_RETURN_IF_ERROR(NumberLabels(naming, &*arrays->labels, names));
  if (arrays->table && !names->empty()) arrays->table->layout.named_labels = true;
  return {};
}

}  // namespace

Result<Dataset> Dataset::Open(const DatasetSources& sources, Task task) {
  if (!(sources.probability_floor > 0 && sources.probability_floor < 1)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("the floor of probabilities is ", sources.probability_floor,
                       "; give one above 0 and below 1"));
  }
  RESMEM_ASSIGN_OR_RETURN(DatasetArrays arrays, OpenDatasetArrays(sources, task));
  RESMEM_RETURN_IF_ERROR(CheckShapes(arrays, task));
  std::vector<std::string> class_names = sources.class_names;
  const int64_t columns = arrays.logits ? arrays.logits->columns() : 0;
  if (sources.model) RESMEM_RETURN_IF_ERROR(CheckInputs(*sources.model, arrays));
  const int64_t classes = arrays.made                            ? arrays.made->outputs()
                          : sources.model                        ? sources.model->outputs()
                          : arrays.probabilities && columns == 1 ? 2
                                                                 : columns;
  RESMEM_RETURN_IF_ERROR(NameClasses(sources, classes, &arrays, &class_names));
  Dataset dataset;
  if (arrays.table) {
    dataset.telltale_ = arrays.table->telltale;
  } else if (task == Task::kClassification && arrays.labels && !arrays.key_columns.empty()) {
    // Labels that are damaged are told about when they are read, with their place.
    Result<std::vector<std::string>> telling =
        ColumnsThatTell(*arrays.keys, arrays.key_columns, *arrays.labels);
    if (telling.ok()) dataset.telltale_ = std::move(*telling);
  }
  dataset.task_ = task;
  dataset.rows_ = arrays.rows();
  dataset.made_ = std::move(arrays.made);
  dataset.model_ = sources.model;
  dataset.keys_ = std::move(arrays.keys);
  dataset.logits_ = std::move(arrays.logits);
  dataset.labels_ = std::move(arrays.labels);
  dataset.targets_ = std::move(arrays.targets);
  dataset.ids_ = std::move(arrays.ids);
  dataset.sources_ = std::move(arrays.sources);
  dataset.split_ = std::move(arrays.split);
  dataset.slices_ = std::move(arrays.slices);
  dataset.tags_ = std::move(arrays.tags);
  dataset.tag_ = sources.tag;
  dataset.role_ = sources.role;
  dataset.class_names_ = std::move(class_names);
  dataset.table_ = std::move(arrays.table);
  if (arrays.probabilities) dataset.floor_ = sources.probability_floor;
  dataset.ids_from_numbers_ = sources.ids_from_numbers;
  RESMEM_RETURN_IF_ERROR(dataset.CountClasses(sources, classes));
  if (sources.skip_bad) RESMEM_RETURN_IF_ERROR(dataset.FindKept());
  return dataset;
}

int64_t Dataset::dim() const {
  return made_ ? made_->dim() : model_ ? model_->dim() : keys_->columns();
}

// `known`: columns of the logits.
Status Dataset::CountClasses(const DatasetSources& sources, int64_t known) {
  const int64_t memorys = std::max(sources.classes, known);
  int64_t wanted = memorys;
  if (sources.new_classes && task_ == Task::kClassification) {
    wanted = std::max(wanted, static_cast<int64_t>(class_names_.size()));
    constexpr int64_t kPiece = 1 << 16;
    for (int64_t begin = 0; labels_ && begin < rows_; begin += kPiece) {
      RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                              ReadVector(*labels_, begin, std::min(kPiece, rows_ - begin)));
      wanted = std::max(wanted, *std::ranges::max_element(values) + 1);
    }
    constexpr int64_t kMostAdded = 1000;  // a number that is no class would make a huge memory
    if (wanted > memorys + kMostAdded) {
      return {ErrorCode::kBadData,
              Text(labels_->name(), ": has a label ", wanted - 1, ", but there are ", memorys,
                   " classes, and at most ", kMostAdded, " are added at once")};
    }
  }
  // Other columns than the base's or the memory's are another model's, which the caller refuses.
  if (wanted == known || known == 0) return {};
  if (known != sources.base_classes && known != sources.classes && sources.classes != 0) return {};
  classes_ = wanted;
  added_classes_ = wanted - memorys;
  new_floor_ = sources.probability_floor;
  return {};
}

int64_t Dataset::outputs() const {
  if (classes_ > 0) return classes_;
  if (made_) return made_->outputs();
  if (model_) return model_->outputs();
  if (!logits_) return 0;
  return floor_ && logits_->columns() == 1 ? 2 : logits_->columns();
}

bool Dataset::has_labels() const {
  if (labels_ || targets_) return true;
  return made_ && task_ == Task::kClassification && !made_->labels().empty();
}

Status Dataset::Read(int64_t begin, int64_t count, Block* block) const {
  if (begin < 0 || count < 0 || begin > rows() || count > rows() - begin) {
    return {ErrorCode::kInvalidArgument, Text("rows ", begin, " to ", begin, " + ", count,
                                              " asked for, but the dataset has ", rows())};
  }
  return GuardMemory(made_ ? made_->name() : keys_->name(), [&] {
    return kept_ ? ReadKept(begin, count, block) : ReadBlock(begin, count, /*check=*/true, block);
  });
}

Status Dataset::ReadKeysAndLogits(int64_t begin, int64_t count, bool check, Block* block) const {
  Rows& view = block->view;
  if (model_) return RunModel(begin, count, check, block);
  if (!made_) {
    RESMEM_RETURN_IF_ERROR(ReadMatrix(*keys_, begin, count, check, &block->keys, &view.keys));
    if (!logits_) return {};
    RESMEM_RETURN_IF_ERROR(ReadMatrix(*logits_, begin, count, check, &block->logits, &view.logits));
    if (floor_) {
      RESMEM_RETURN_IF_ERROR(
          TakeLogarithms(logits_->name(), *floor_, begin, &block->logits, &view.logits));
    }
    if (classes_ > 0) AddNewLogits(classes_, new_floor_, &block->logits, &view.logits);
    return {};
  }
  block->keys.resize(static_cast<size_t>(count * dim()));
  block->logits.resize(static_cast<size_t>(count * made_->outputs()));
  RESMEM_RETURN_IF_ERROR(made_->Make(begin, count, block->keys, block->logits));
  view.keys = MatrixView(block->keys.data(), count, dim());
  view.logits = MatrixView(block->logits.data(), count, made_->outputs());
  RESMEM_RETURN_IF_ERROR(CheckFinite(made_->name() + " (keys)", view.keys, begin));
  RESMEM_RETURN_IF_ERROR(CheckFinite(made_->name() + " (logits)", view.logits, begin));
  if (classes_ > 0) AddNewLogits(classes_, new_floor_, &block->logits, &view.logits);
  return {};
}

Status Dataset::RunModel(int64_t begin, int64_t count, bool check, Block* block) const {
  std::vector<float> buffer;
  MatrixView inputs;
  RESMEM_RETURN_IF_ERROR(ReadMatrix(*keys_, begin, count, check, &buffer, &inputs));
  block->keys.resize(static_cast<size_t>(count * dim()));
  block->logits.resize(static_cast<size_t>(count * model_->outputs()));
  RESMEM_RETURN_IF_ERROR(model_->Run(inputs, block->keys, block->logits));
  block->view.keys = MatrixView(block->keys.data(), count, dim());
  block->view.logits = MatrixView(block->logits.data(), count, model_->outputs());
  if (classes_ > 0) AddNewLogits(classes_, new_floor_, &block->logits, &block->view.logits);
  return {};
}

Status Dataset::ReadLabels(int64_t begin, int64_t count, bool check, Block* block) const {
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
  if (check) {
    RESMEM_RETURN_IF_ERROR(CheckLabels(labels_ ? labels_->name() : made_->name(), values, begin,
                                       outputs(), &block->labels));
  } else {  // -1: none
    constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
    block->labels.clear();
    for (const int64_t value : values) {
      block->labels.push_back(static_cast<int32_t>(std::clamp<int64_t>(value, -1, kLimit)));
    }
  }
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

Status Dataset::ReadTags(int64_t begin, int64_t count, Block* block) const {
  if (!has_tags()) return {};
  block->tags.assign(static_cast<size_t>(count), "");
  if (tags_) {
    RESMEM_ASSIGN_OR_RETURN(block->tags, tags_->ReadText(begin, count));
  }
  for (std::string& tags : block->tags) {
    if (!tag_.empty()) tags += (tags.empty() ? "" : ";") + tag_;
  }
  block->view.tags = block->tags;
  return {};
}

Status Dataset::ReadBlock(int64_t begin, int64_t count, bool check, Block* block) const {
  Rows& view = block->view;
  view = {};
  RESMEM_RETURN_IF_ERROR(ReadKeysAndLogits(begin, count, check, block));
  RESMEM_RETURN_IF_ERROR(ReadLabels(begin, count, check, block));
  RESMEM_RETURN_IF_ERROR(ReadSources(begin, count, block));
  RESMEM_RETURN_IF_ERROR(ReadTags(begin, count, block));
  if (targets_) {
    RESMEM_RETURN_IF_ERROR(
        ReadMatrix(*targets_, begin, count, check, &block->targets, &view.targets));
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
  if (kept_ && count > 0) {
    const int64_t first = row_number(begin), last = row_number(begin + count - 1);
    begin = first, count = last + 1 - first;
  }
  for (const std::optional<Array>* array :
       {&keys_, &logits_, &labels_, &targets_, &ids_, &sources_, &split_, &slices_, &tags_}) {
    if (*array) (*array)->DropRows(begin, count);
  }
}

Status Dataset::Want(Role role) const {
  if (!made_ || !split_) return {};
  std::vector<Role> roles;
  RESMEM_RETURN_IF_ERROR(ReadRoles(*split_, 0, rows_, &roles));
  std::vector<int64_t> wanted;
  for (size_t row = 0; row < roles.size(); ++row) {
    if (roles[row] == role) wanted.push_back(static_cast<int64_t>(row));
  }
  made_->Want(std::move(wanted));
  return {};
}

Result<std::vector<int64_t>> Dataset::CountRoles() const {
  std::vector<int64_t> counts(4, 0);
  if (!split_) {
    counts[static_cast<size_t>(role_.value_or(Role::kUnmarked))] = rows();
    return counts;
  }
  constexpr int64_t kBlock = 1 << 16;
  std::vector<Role> roles;
  int64_t at = 0;  // of the kept rows
  for (int64_t begin = 0; begin < rows_; begin += kBlock) {
    RESMEM_RETURN_IF_ERROR(ReadRoles(*split_, begin, std::min(kBlock, rows_ - begin), &roles));
    for (size_t i = 0; i < roles.size(); ++i) {
      if (kept_ && (at == rows() || row_number(at) != begin + static_cast<int64_t>(i))) continue;
      ++at;
      ++counts[static_cast<size_t>(roles[i])];
    }
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

Result<std::vector<Role>> ReadSplit(const ArraySource& source, int64_t rows) {
  RESMEM_ASSIGN_OR_RETURN(const Array split, OpenArray(source));
  if (split.rows() != rows || split.columns() != 1) {
    return Status(ErrorCode::kBadData,
                  Text(split.name(), ": is ", split.rows(), " x ", split.columns(), ", but there ",
                       "are ", rows, " rows; give one role (train, validation, test) a row"));
  }
  std::vector<Role> roles;
  RESMEM_RETURN_IF_ERROR(ReadRoles(split, 0, rows, &roles));
  return roles;
}

}  // namespace resmem
