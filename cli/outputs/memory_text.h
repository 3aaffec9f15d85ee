// What a memory is, in lines for people.
#ifndef RESMEM_CLI_OUTPUTS_MEMORY_TEXT_H_
#define RESMEM_CLI_OUTPUTS_MEMORY_TEXT_H_

#include <string>

#include "console/console.h"
#include "console/format.h"
#include "resmem/residual_memory.h"

namespace resmem::cli {

Table MemoryTable(const std::string& path, const ResidualMemory& memory);

// How it is searched: exactly, or by its index and how well.
std::string SearchText(const ResidualMemory& memory);

// Where rows cannot be in the index that the memory has: why.
void WarnOfObstacle(const std::string& path, const ResidualMemory& memory, Console& console);
void WarnOfManySegments(const std::string& path, const ResidualMemory& memory, Console& console);

// The plain warning where the base has memorized its training set.
void WarnIfNothingToAdd(const ResidualMemory& memory, Console& console);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_MEMORY_TEXT_H_
