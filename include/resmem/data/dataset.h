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
};

struct DatasetSources {
  // A folder or .npz/.safetensors file whose arrays have the usual names: keys (or
  // embeddings, features), logits (or predictions), labels (or targets), ids, sources,
  // split, slices.  The first of such names that is there is used; regression looks for
  // predictions and targets first.  A source named below takes precedence.
  std::string all;
  std::optional<ArraySource> keys, logits, labels, targets, ids, sources, split, slices;
  // Instead of `all`, keys and logits; also gives labels and sources if those are not named.
  std::shared_ptr<const RowMaker> made;
  std::optional<Role> role;  // every row's role, if there is no split array
};

// A dataset on disk, read in blocks of rows.  Opening checks that the row counts agree.
// Every value read is checked: not finite, or a label outside 0 .. classes-1, is kBadData
// with file, row, column, the value found and what was allowed.
class Dataset {
 public:
  static Result<Dataset> Open(const DatasetSources& sources, Task task = Task::kClassification);

  Task task() const { return task_; }
  int64_t rows() const { return rows_; }
  int64_t dim() const;      // columns of keys
  int64_t outputs() const;  // columns of logits: classes, or regression outputs; 0 without logits
  bool has_labels() const;  // or targets, for regression
  bool has_logits() const { return logits_.has_value() || made_ != nullptr; }
  bool has_ids() const { return ids_.has_value(); }
  bool has_sources() const { return sources_.has_value() || made_ != nullptr; }
  bool has_slices() const { return slices_.has_value(); }
  // Reading runs a model: read few rows at once, to show progress and to react to a signal.
  bool made() const { return made_ != nullptr; }

  // Buffers for one block.  Reused between calls; `view` points into it or into the map.
  struct Block {
    Rows view;
    std::vector<float> keys, logits, targets;
    std::vector<int32_t> labels;
    std::vector<uint64_t> ids;
    std::vector<std::string> sources;
    std::vector<Role> roles;
    std::vector<std::string> slices;
  };
  // Reads and checks rows [begin, begin + count).
  Status Read(int64_t begin, int64_t count, Block* block) const;
  // The same rows will not be needed again: their pages may be released.
  void Drop(int64_t begin, int64_t count) const;

  // How many rows have each role.
  Result<std::vector<int64_t>> CountRoles() const;  // indexed by Role

 private:
  Status ReadChecked(int64_t begin, int64_t count, Block* block) const;
  Status ReadKeysAndLogits(int64_t begin, int64_t count, Block* block) const;
  Status ReadLabels(int64_t begin, int64_t count, Block* block) const;
  Status ReadSources(int64_t begin, int64_t count, Block* block) const;

  Task task_ = Task::kClassification;
  int64_t rows_ = 0;
  std::optional<Array> keys_, logits_, labels_, targets_, ids_, sources_, split_, slices_;
  std::shared_ptr<const RowMaker> made_;
  std::optional<Role> role_;
};

// The file's rows.  block_rows 0: blocks of about 64 MB.
RowSource ReadDataset(const Dataset& dataset, int64_t block_rows = 0);

}  // namespace resmem

#endif  // RESMEM_DATA_DATASET_H_
