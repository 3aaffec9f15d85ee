// Rows (resmem/rows.h) in files of any framework, read block by block.
#ifndef RESMEM_DATA_DATASET_H_
#define RESMEM_DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/data/array.h"
#include "resmem/data/table.h"
#include "resmem/rows.h"
#include "resmem/status.h"

namespace resmem {

// Keys and logits that are computed as they are read, instead of arrays: by a base model from
// images (embedded_images.h).  May be called from any number of threads.
class RowMaker {
 public:
  virtual ~RowMaker() = default;
  virtual const std::string& name() const = 0;  // for messages
  virtual int64_t rows() const = 0;
  virtual int64_t dim() const = 0;
  virtual int64_t outputs() const = 0;
  // Rows [begin, begin + count): count x dim() keys and count x outputs() logits.
  virtual Status Make(int64_t begin, int64_t count, std::span<float> keys,
                      std::span<float> logits) const = 0;
  virtual std::span<const int32_t> labels() const = 0;  // one per row; empty: unknown
  virtual std::string source(int64_t row) const = 0;
  // From now on only these rows, ascending, will be used: Make() may give zeros for the others.
  // Not while Make() runs.
  virtual void Want(std::vector<int64_t> /*rows*/) const {}
};

// A base model of tables: keys and logits from rows of numbers.  May be called from any number of
// threads.
class RowModel {
 public:
  virtual ~RowModel() = default;
  virtual const std::string& name() const = 0;  // for messages
  virtual int64_t columns() const = 0;          // of its inputs
  virtual int64_t dim() const = 0;
  virtual int64_t outputs() const = 0;
  virtual Status Run(MatrixView inputs, std::span<float> keys, std::span<float> logits) const = 0;
};

// Probabilities below it count as it: trees say 0, which has no logarithm.
inline constexpr float kProbabilityFloor = 1e-4f;

struct DatasetSources {
  // A folder or .npz/.safetensors file whose arrays have the usual names: keys (or
  // embeddings, features), logits (or predictions), labels (or targets), ids, sources,
  // split, slices, tags.  The first of such names that is there is used; regression looks for
  // predictions and targets first.  A source named below takes precedence.
  std::string all;
  std::optional<ArraySource> keys, logits, labels, targets, ids, sources, split, slices, tags;
  std::string tag;  // every row's, besides those that it has (row_filter.h)
  // Instead of `all`, keys and logits; also gives labels and sources if those are not named.
  std::shared_ptr<const RowMaker> made;
  // Where set, what would be the keys are this model's inputs.
  std::shared_ptr<const RowModel> model;
  std::optional<Role> role;  // every row's role, if there is no split array
  // Instead of `all`: a table whose columns have roles.  A source named above takes precedence over
  // its column.
  std::optional<TableSource> table;
  // Names of the classes in their order, for labels that are names; empty: learned from the labels.
  std::vector<std::string> class_names;
  // Instead of logits, also found by that name: each counts as its logarithm, one below the floor
  // as the floor.  One column is the probability of class 1 of two.
  std::optional<ArraySource> probabilities;
  float probability_floor = kProbabilityFloor;
  // Classes of the memory that the rows are for, where that may be more than the logits have
  // columns: those that the base does not know follow (new_classes.h).  0: as many as there are
  // columns.
  int64_t classes = 0, base_classes = 0;
  // Labels may be classes beyond these: see Dataset::added_classes().
  bool new_classes = false;
  // Rows with a key, logit or target that is not finite, or without a label, are left out.
  bool skip_bad = false;
  // With skip_bad: without ids, a row's id is its number in the data.
  bool ids_from_numbers = false;
};

// What the data are for: a regression where they have targets and no labels, or predictions of one
// column; a classifier has two logits or more.  Standard input is not read.
Result<Task> FindTask(const DatasetSources& sources);

// Whether these values may be probabilities: none below 0, and a sum of 1.
bool LooksLikeProbabilities(std::span<const float> values);

// Rows that skip_bad left out.
struct SkippedRows {
  int64_t rows = 0;
  std::vector<std::string> places;  // the first few, as "row 17 (keys, column 3 is nan)"
};

// A dataset on disk, read in blocks of rows.  Opening checks that the row counts agree.
// Every value read is checked: not finite, or a label outside 0 .. classes-1, is kBadData
// with file, row, column, the value found and what was allowed.
class Dataset {
 public:
  static Result<Dataset> Open(const DatasetSources& sources, Task task = Task::kClassification);

  Task task() const { return task_; }
  int64_t rows() const { return kept_ ? static_cast<int64_t>(kept_->size()) : rows_; }
  int64_t dim() const;      // columns of keys
  int64_t outputs() const;  // columns of logits: classes, or regression outputs; 0 without logits
  bool has_labels() const;  // or targets, for regression
  bool has_logits() const { return logits_.has_value() || made(); }
  bool has_ids() const { return ids_.has_value(); }
  bool has_sources() const { return sources_.has_value() || made_ != nullptr; }
  bool has_slices() const { return slices_.has_value(); }
  bool has_tags() const { return tags_.has_value() || !tag_.empty(); }
  // Classes of the labels beyond those of the memory; outputs() counts them, too.
  int64_t added_classes() const { return added_classes_; }
  float new_class_floor() const { return new_floor_; }  // what the base gives each
  // Of probabilities that took the place of logits.
  std::optional<float> probability_floor() const { return floor_; }
  // Of labels that are names, or as they were given; else empty.
  const std::vector<std::string>& class_names() const { return class_names_; }
  const std::optional<TableReading>& table() const { return table_; }
  // Key columns of a table or CSV file of which each value goes with one label only: perhaps copies
  // of the label.
  const std::vector<std::string>& telltale() const { return telltale_; }
  const SkippedRows& skipped() const { return skipped_; }
  // Of a row, in the data: the same unless rows are skipped.
  int64_t row_number(int64_t row) const { return kept_ ? (*kept_)[static_cast<size_t>(row)] : row; }
  // Reading runs a model: read few rows at once, to show progress and to react to a signal.
  bool made() const { return made_ != nullptr || model_ != nullptr; }

  // Buffers for one block.  Reused between calls; `view` points into it or into the map.
  struct Block {
    Rows view;
    std::vector<float> keys, logits, targets;
    std::vector<int32_t> labels;
    std::vector<uint64_t> ids;
    std::vector<std::string> sources;
    std::vector<Role> roles;
    std::vector<std::string> slices, tags;
  };
  // Reads and checks rows [begin, begin + count).
  Status Read(int64_t begin, int64_t count, Block* block) const;
  // The same rows will not be needed again: their pages may be released.
  void Drop(int64_t begin, int64_t count) const;

  // Only rows of this role will be used: a model that makes the rows need not run on the others,
  // whose keys and logits may then be zeros.
  Status Want(Role role) const;

  // How many rows have each role.
  Result<std::vector<int64_t>> CountRoles() const;  // indexed by Role

 private:
  Status ReadBlock(int64_t begin, int64_t count, bool check, Block* block) const;
  Status ReadKept(int64_t begin, int64_t count, Block* block) const;
  Status FindKept();
  Status CountClasses(const DatasetSources& sources, int64_t known);
  Status ReadKeysAndLogits(int64_t begin, int64_t count, bool check, Block* block) const;
  Status ReadLabels(int64_t begin, int64_t count, bool check, Block* block) const;
  Status ReadSources(int64_t begin, int64_t count, Block* block) const;
  Status RunModel(int64_t begin, int64_t count, bool check, Block* block) const;
  Status ReadTags(int64_t begin, int64_t count, Block* block) const;

  Task task_ = Task::kClassification;
  int64_t rows_ = 0;  // bad ones included
  std::optional<Array> keys_, logits_, labels_, targets_, ids_, sources_, split_, slices_, tags_;
  std::string tag_;
  std::shared_ptr<const RowMaker> made_;
  std::shared_ptr<const RowModel> model_;
  std::optional<Role> role_;
  std::vector<std::string> class_names_, telltale_;
  std::optional<TableReading> table_;
  std::optional<float> floor_;
  // With classes that the base does not know: how many in all, and what the base gives each of
  // them.
  int64_t classes_ = 0, added_classes_ = 0;
  float new_floor_ = kProbabilityFloor;
  std::optional<std::vector<int64_t>> kept_;  // row numbers, ascending; none: all are
  bool ids_from_numbers_ = false;
  SkippedRows skipped_;
};

// These rows of `rows`, copied; an id given for each takes the place of its own.
void GatherRows(const Rows& rows, std::span<const int64_t> which, std::span<const uint64_t> ids,
                Dataset::Block* out);

// The file's rows.  block_rows 0: blocks of about 64 MB.
RowSource ReadDataset(const Dataset& dataset, int64_t block_rows = 0);

// The role of each of `rows` rows, from an array of a split: train, validation or test, or 0, 1, 2.
// Errors: those of OpenArray(), kBadData (another number of rows, or what is no role).
Result<std::vector<Role>> ReadSplit(const ArraySource& source, int64_t rows);

}  // namespace resmem

#endif  // RESMEM_DATA_DATASET_H_
