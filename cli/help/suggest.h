// The word that was probably meant.
#ifndef RESMEM_CLI_HELP_SUGGEST_H_
#define RESMEM_CLI_HELP_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace resmem::cli {

// The nearest of `words` by edits (a swap of neighbors is one), "" where none is near.
std::string NearestWord(std::string_view word, const std::vector<std::string>& words);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_HELP_SUGGEST_H_
