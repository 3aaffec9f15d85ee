// The commands print numbers and tables by the library's rules, and by no others.
#ifndef RESMEM_CLI_CONSOLE_FORMAT_H_
#define RESMEM_CLI_CONSOLE_FORMAT_H_

#include "resmem_program/readable.h"

namespace resmem::cli {

using namespace readable;

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_FORMAT_H_
