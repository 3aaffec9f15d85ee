// Text that may come from a file, on its way to a terminal.
#ifndef RESMEM_CLI_CONSOLE_PLAIN_TEXT_H_
#define RESMEM_CLI_CONSOLE_PLAIN_TEXT_H_

#include <cstdio>
#include <string>
#include <string_view>

namespace resmem::cli {

// How many bytes at the front of `text`, which is not empty, make a control character that a
// terminal would obey: C0 but for tab and line feed, DEL, and C1, whose UTF-8 has two bytes; 0:
// none.
size_t ControlBytes(std::string_view text);

// With \x1b for an escape and the like.
std::string Plain(std::string_view text);
void PutPlain(std::string_view text, std::FILE* file);  // takes no memory

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_PLAIN_TEXT_H_
