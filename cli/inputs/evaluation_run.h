// What eval and compare share: the rows, the parameters, and one Evaluate().
#ifndef RESMEM_CLI_INPUTS_EVALUATION_RUN_H_
#define RESMEM_CLI_INPUTS_EVALUATION_RUN_H_

#include <string>

#include "console/command_line.h"
#include "console/console.h"
#include "inputs/answer_options.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "outputs/document_output.h"
#include "resmem/evaluation.h"
#include "resmem/report/report.h"

namespace resmem::cli {

class EvaluationRun {
 public:
  // In the order of the help.
  void DeclareInput(CommandLine& line);
  void DeclareModelAndOutput(CommandLine& line);

  EvaluationOptions& options() { return options_; }
  // An option that was given and that a regression cannot follow.
  void set_for_classes_only(const std::string& option) { for_classes_only_ = option; }
  void set_coarse_file(const std::string& file) { coarse_file_ = file; }

  // Evaluates; warnings go to the console, the report to its file, JSON to standard output.
  Result<Evaluation> Run(Console& console);
  bool json() const { return output_.on_stdout(); }

 private:
  std::string memory_path_, for_classes_only_, coarse_file_;
  SearchedMemory searched_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  AnswerOptions answer_;
  EvaluationOptions options_;
  DocumentOutput output_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_EVALUATION_RUN_H_
