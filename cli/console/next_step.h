// "next: resmem lm train wiki.tokens -o NEW.run": what a user most likely wants to do now.
//
// The command must work as it stands once words in capitals are replaced by the user's own files;
// tests/cli/hints_test.py runs every one.
#ifndef RESMEM_CLI_CONSOLE_NEXT_STEP_H_
#define RESMEM_CLI_CONSOLE_NEXT_STEP_H_

#include <string>
#include <vector>

#include "console/console.h"

namespace resmem::cli {

// The words after "resmem"; dropped by --quiet.
void SuggestNext(const std::vector<std::string>& words, Console& console);

// "resmem append my.resmem --data rows.npz", as a shell takes it; `words`: those after "resmem".
std::string CommandText(const std::vector<std::string>& words);

// A word as a shell wants it: in quotes where it holds a blank or another special character.
std::string ShellWord(const std::string& word);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_NEXT_STEP_H_
