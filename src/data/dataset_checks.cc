#include "data/dataset_checks.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "data/layout.h"
#include "support/text.h"

namespace resmem {
namespace {

Status Bad(const std::string& message) {
  return {ErrorCode::kBadData, message};
}

Status CheckVector(const std::optional<Array>& array, const char* advice) {
  if (!array || array->columns() == 1) return {};
  return Bad(Text(array->name(), ": has shape ", ShapeText(array->shape()),
                  ", but one value a row is needed; ", advice));
}

// Sign and value away, an all-ones exponent means NaN or infinity.
bool AllFinite(std::span<const float> values) {
  uint32_t found = 0;
  for (const float value : values) {
    found |= (std::bit_cast<uint32_t>(value) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
  }
  return found == 0;
}

}  // namespace

Status CheckShapes(const DatasetArrays& arrays, Task task) {
  for (const std::optional<Array>* array :
       {&arrays.keys, &arrays.logits, &arrays.labels, &arrays.targets, &arrays.ids, &arrays.sources,
        &arrays.split, &arrays.slices, &arrays.tags}) {
    if (!*array) continue;
    if ((*array)->rows() == 0 || (*array)->columns() == 0) {
      return Bad(Text((*array)->name(), ": is empty (shape ", ShapeText((*array)->shape()),
                      "); export at least one row"));
    }
    if ((*array)->rows() != arrays.rows()) {
      return Bad(Text((*array)->name(), ": has ", (*array)->rows(), " rows, but ", arrays.name(),
                      " has ", arrays.rows(),
                      "; every array has one row an example, export them from the same pass"));
    }
  }
  for (const std::optional<Array>* array : {&arrays.keys, &arrays.logits, &arrays.targets}) {
    if (*array && (*array)->type() == ElementType::kText) {
      return Bad(Text((*array)->name(), ": holds text, but numbers are needed"));
    }
  }
  RESMEM_RETURN_IF_ERROR(
      CheckVector(arrays.labels, "for one-hot labels save their argmax over the classes"));
  RESMEM_RETURN_IF_ERROR(CheckVector(arrays.ids, "save the ids alone"));
  RESMEM_RETURN_IF_ERROR(CheckVector(arrays.sources, "save the sources alone"));
  RESMEM_RETURN_IF_ERROR(CheckVector(arrays.split, "save the split alone"));
  RESMEM_RETURN_IF_ERROR(CheckVector(arrays.slices, "save one slice name a row"));
  RESMEM_RETURN_IF_ERROR(CheckVector(arrays.tags, "save one text a row, tags separated by ;"));
  if (arrays.logits && task == Task::kClassification && arrays.logits->columns() < 2 &&
      !arrays.probabilities) {
    return Bad(Text(arrays.logits->name(), ": has shape ", ShapeText(arrays.logits->shape()),
                    ", but one logit a class is needed, at least 2 columns; for a model with one "
                    "output z save the columns 0 and z"));
  }
  const int64_t outputs = arrays.made     ? arrays.made->outputs()
                          : arrays.logits ? arrays.logits->columns()
                                          : 0;
  if (outputs > 0 && arrays.targets && outputs != arrays.targets->columns()) {
    return Bad(Text(arrays.targets->name(), ": has ", arrays.targets->columns(), " columns, but ",
                    arrays.made ? arrays.made->name() : arrays.logits->name(), " predicts ",
                    outputs, "; both need one column an output"));
  }
  return {};
}

Status CheckFinite(const std::string& name, MatrixView values, int64_t begin) {
  for (int64_t r = 0; r < values.rows; ++r) {
    const std::span<const float> row = values.row_span(r);
    if (AllFinite(row)) continue;
    for (size_t c = 0; c < row.size(); ++c) {
      if (AllFinite(row.subspan(c, 1))) continue;
      return Bad(Text(name, ": row ", begin + r, ", column ", c, " is ", row[c],
                      ", but only finite numbers are allowed; correct the export or leave the row "
                      "out of every array"));
    }
  }
  return {};
}

Status CheckLabels(const std::string& name, std::span<const int64_t> values, int64_t begin,
                   int64_t classes, std::vector<int32_t>* labels) {
  const int64_t limit = classes > 0 ? classes : std::numeric_limits<int32_t>::max();
  labels->resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= limit) {
      return Bad(Text(name, ": row ", begin + static_cast<int64_t>(i), " is label ", values[i],
                      ", but labels are 0 to ", limit - 1,
                      classes > 0 ? ", one for each column of the logits" : "",
                      "; number the classes from 0"));
    }
    (*labels)[i] = static_cast<int32_t>(values[i]);
  }
  return {};
}

Status CheckIds(const std::string& name, std::span<const int64_t> values, int64_t begin,
                std::vector<uint64_t>* ids) {
  ids->resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0) {
      return Bad(Text(name, ": row ", begin + static_cast<int64_t>(i), " is id ", values[i],
                      ", but ids are whole numbers from 0; number the rows from 0"));
    }
    (*ids)[i] = static_cast<uint64_t>(values[i]);
  }
  return {};
}

Status ReadRoles(const Array& split, int64_t begin, int64_t count, std::vector<Role>* roles) {
  // As text whatever the type: numbers print as themselves, and few rows are worth a second way.
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> texts, split.ReadText(begin, count));
  roles->resize(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    if (text == "0" || text == "train") {
      (*roles)[i] = Role::kTrain;
    } else if (text == "1" || text == "validation" || text == "val") {
      (*roles)[i] = Role::kValidation;
    } else if (text == "2" || text == "test") {
      (*roles)[i] = Role::kTest;
    } else {
      return Bad(Text(split.name(), ": row ", begin + static_cast<int64_t>(i), " is \"", text,
                      "\", but a split is 0 or train, 1 or validation, 2 or test"));
    }
  }
  return {};
}

}  // namespace resmem
