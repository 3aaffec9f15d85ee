// --json, --save and --report: one document on standard output, in a file, as a page.
#ifndef RESMEM_CLI_OUTPUTS_DOCUMENT_OUTPUT_H_
#define RESMEM_CLI_OUTPUTS_DOCUMENT_OUTPUT_H_

#include <string>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/status.h"

namespace resmem::cli {

class DocumentOutput {
 public:
  void Declare(CommandLine& line);
  // Whether a document is needed at all.
  bool wanted() const { return json_ || !save_.empty() || !report_.empty(); }
  // It takes the place of the text for people.
  bool on_stdout() const { return json_; }
  // kInvalidArgument where a file to be written is one of the `inputs`.
  Status CheckPaths(const std::vector<std::string>& inputs) const;
  Status Write(const std::string& document, Console& console) const;

 private:
  bool json_ = false;
  std::string save_, report_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_DOCUMENT_OUTPUT_H_
