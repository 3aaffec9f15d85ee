// Help as text, 80 columns wide.
#ifndef RESMEM_CLI_HELP_HELP_H_
#define RESMEM_CLI_HELP_HELP_H_

#include <string>

#include "console/command_line.h"

namespace resmem::cli {

std::string HelpText(const CommandLine& line);
// "resmem eval [options] MEMORY"
std::string UsageText(const CommandLine& line);

// Breaks `text` between words; every line after the first begins with `indent` blanks.
std::string Wrap(const std::string& text, size_t indent, size_t width = 80);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_HELP_HELP_H_
