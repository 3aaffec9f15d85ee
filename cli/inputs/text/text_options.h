// The text that a command reads.
#ifndef RESMEM_CLI_INPUTS_TEXT_TEXT_OPTIONS_H_
#define RESMEM_CLI_INPUTS_TEXT_TEXT_OPTIONS_H_

#include <string>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/lm/text_source.h"

namespace resmem::cli {

class TextChoice {
 public:
  // The arguments TEXT... and the option --form.
  void Declare(CommandLine& line);
  Result<TextSource> Open() const { return TextSource::Open(paths_, options_); }
  const std::vector<std::string>& paths() const { return paths_; }
  // The paths and the form as they were given, for a further command on the same text.
  void AddWords(std::vector<std::string>* words) const;

 private:
  std::vector<std::string> paths_;
  TextSourceOptions options_;
};

// A plain warning for each thing that was left out or replaced.
void WarnOfCounts(const TextCounts& counts, const std::string& first_broken_record,
                  Console& console);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_TEXT_TEXT_OPTIONS_H_
