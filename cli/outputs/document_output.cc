#include "outputs/document_output.h"

#include "console/output.h"
#include "outputs/output_paths.h"
#include "resmem/report/report.h"

namespace resmem::cli {

void DocumentOutput::Declare(CommandLine& line) {
  line.Group("Output");
  line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
  line.Value("--save", &save_, "FILE", "save the JSON document, for resmem report").File();
  line.Value("--report", &report_, "FILE", "write one HTML page").File();
}

Status DocumentOutput::CheckPaths(const std::vector<std::string>& inputs) const {
  return CheckOutputPaths({{"--save", save_}, {"--report", report_}}, inputs);
}

Status DocumentOutput::Write(const std::string& document, Console& console) const {
  if (!save_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(Output file, Output::File(save_));
    RESMEM_RETURN_IF_ERROR(file.Write(document + "\n"));
    RESMEM_RETURN_IF_ERROR(file.Close());
    console.Note("wrote " + save_);
  }
  if (!report_.empty()) {
    RESMEM_RETURN_IF_ERROR(WriteReport(document, report_));
    console.Note("wrote " + report_);
  }
  return json_ ? PrintResult(document + "\n") : Status();
}

}  // namespace resmem::cli
