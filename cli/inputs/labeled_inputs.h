// Raw inputs of a base model of ours, and their labels: --inputs, --labels and --rows.
#ifndef RESMEM_CLI_INPUTS_LABELED_INPUTS_H_
#define RESMEM_CLI_INPUTS_LABELED_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "console/command_line.h"
#include "resmem/matrix_view.h"

namespace resmem::cli {

// In memory.
struct LabeledInputs {
  int64_t columns = 0;
  std::vector<float> values;    // rows x columns
  std::vector<int32_t> labels;  // empty: none were given

  int64_t rows() const { return static_cast<int64_t>(values.size()) / columns; }
  MatrixView view() const { return {values.data(), rows(), columns}; }
};

class LabeledInputsOptions {
 public:
  void Declare(CommandLine& line, bool labels_required);
  std::vector<std::string> Paths() const;  // files, without members
  // The options as they were given, for a further command on the same rows.
  void AddWords(std::vector<std::string>* words) const;
  // Reads the rows asked for.  Labels are whole numbers from 0.
  Result<LabeledInputs> Load() const;

 private:
  std::string inputs_, labels_, rows_;
};

// Share of rows whose largest logit is at the label.
double AccuracyOfLogits(const std::vector<float>& logits, const std::vector<int32_t>& labels);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_LABELED_INPUTS_H_
