#include "inputs/labeled_inputs.h"

#include <limits>
#include <utility>

#include "inputs/dataset_options.h"
#include "inputs/row_range.h"
#include "resmem/data/array.h"
#include "resmem/predictor.h"

namespace resmem::cli {
namespace {

Result<std::vector<int32_t>> ReadLabels(const Array& array, int64_t begin, int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  RESMEM_RETURN_IF_ERROR(array.ReadIntegers(begin, count, numbers));
  std::vector<int32_t> labels;
  labels.reserve(numbers.size());
  for (const int64_t number : numbers) {
    if (number < 0 || number > std::numeric_limits<int32_t>::max()) {
      return Status(ErrorCode::kBadData,
                    array.name() + ": row " +
                        std::to_string(begin + static_cast<int64_t>(labels.size())) + " is " +
                        std::to_string(number) + ", but a label is a class number from 0");
    }
    labels.push_back(static_cast<int32_t>(number));
  }
  return labels;
}

}  // namespace

void LabeledInputsOptions::AddWords(std::vector<std::string>* words) const {
  for (const auto& [option, value] :
       {std::pair<const char*, const std::string&>{"--inputs", inputs_},
        {"--labels", labels_},
        {"--rows", rows_}}) {
    if (!value.empty()) words->insert(words->end(), {option, value});
  }
}

void LabeledInputsOptions::Declare(CommandLine& line, bool labels_required) {
  line.Group("Input");
  line.Value("--inputs", &inputs_, "FILE",
             "inputs of the model, rows x columns: " + ArrayFormatsHelp() +
                 "; images are flattened, and the model standardizes every column")
      .Required()
      .File();
  Option& labels =
      line.Value("--labels", &labels_, "FILE", "class number of each row, counted from 0");
  labels.File();
  if (labels_required) labels.Required();
  DeclareRowRange(line, &rows_);
}

std::vector<std::string> LabeledInputsOptions::Paths() const {
  std::vector<std::string> paths = {FilePart(inputs_)};
  if (!labels_.empty()) paths.push_back(FilePart(labels_));
  return paths;
}

Result<LabeledInputs> LabeledInputsOptions::Load() const {
  RESMEM_ASSIGN_OR_RETURN(const ArraySource source, ParseArraySource(inputs_));
  RESMEM_ASSIGN_OR_RETURN(const Array array, OpenArray(source));
  RESMEM_ASSIGN_OR_RETURN(const auto range, ParseRowRange(rows_, array.rows(), array.name()));
  const int64_t count = range.second - range.first;
  LabeledInputs inputs;
  inputs.columns = array.columns();
  if (count == 0 || inputs.columns == 0) {
    return Status(ErrorCode::kBadData, array.name() + " has no values; give rows x columns");
  }
  inputs.values.resize(static_cast<size_t>(count * inputs.columns));
  RESMEM_RETURN_IF_ERROR(array.ReadFloats(range.first, count, inputs.values));
  if (labels_.empty()) return inputs;
  RESMEM_ASSIGN_OR_RETURN(const ArraySource label_source, ParseArraySource(labels_));
  RESMEM_ASSIGN_OR_RETURN(const Array labels, OpenArray(label_source));
  if (labels.rows() != array.rows() || labels.columns() != 1) {
    return Status(ErrorCode::kBadData, labels.name() + " is " + std::to_string(labels.rows()) +
                                           " x " + std::to_string(labels.columns()) + ", but " +
                                           array.name() + " has " + std::to_string(array.rows()) +
                                           " rows; give one label per row");
  }
  RESMEM_ASSIGN_OR_RETURN(inputs.labels, ReadLabels(labels, range.first, count));
  return inputs;
}

double AccuracyOfLogits(const std::vector<float>& logits, const std::vector<int32_t>& labels) {
  const size_t classes = logits.size() / labels.size();
  int64_t correct = 0;
  for (size_t row = 0; row < labels.size(); ++row) {
    correct += ArgMax(std::span(logits).subspan(row * classes, classes)) == labels[row];
  }
  return static_cast<double>(correct) / static_cast<double>(labels.size());
}

}  // namespace resmem::cli
