// Finds a dataset's arrays: those named one by one, and those with the usual names in a
// folder or in one file.
#ifndef RESMEM_DATA_DATASET_SOURCES_H_
#define RESMEM_DATA_DATASET_SOURCES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "resmem/data/dataset.h"

namespace resmem {

struct DatasetArrays {
  std::optional<Array> keys, logits, labels, targets, ids, sources, split, slices, tags;
  std::shared_ptr<const RowMaker> made;
  std::optional<TableReading> table;
  std::vector<std::string> key_columns;  // names, of keys that are a whole CSV file
  bool probabilities = false;            // are what `logits` holds

  const std::string& name() const { return made ? made->name() : keys->name(); }
  int64_t rows() const { return made ? made->rows() : keys->rows(); }
};

// Opens what there is; keys are always there, or made.  Shapes are not compared yet.
Result<DatasetArrays> OpenDatasetArrays(const DatasetSources& sources, Task task);

}  // namespace resmem

#endif  // RESMEM_DATA_DATASET_SOURCES_H_
