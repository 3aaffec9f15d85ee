// --rows BEGIN:END, a part of the input.
#ifndef RESMEM_CLI_INPUTS_ROW_RANGE_H_
#define RESMEM_CLI_INPUTS_ROW_RANGE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "console/command_line.h"

namespace resmem::cli {

Option& DeclareRowRange(CommandLine& line, std::string* text);

// "0:50000", "50000:" or "": begin and end among the `rows` of what `name` says.
Result<std::pair<int64_t, int64_t>> ParseRowRange(const std::string& text, int64_t rows,
                                                  const std::string& name);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_ROW_RANGE_H_
