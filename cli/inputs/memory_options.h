// The memory that a command works on.
#ifndef RESMEM_CLI_INPUTS_MEMORY_OPTIONS_H_
#define RESMEM_CLI_INPUTS_MEMORY_OPTIONS_H_

#include <string>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/data/dataset.h"
#include "resmem/report/report.h"
#include "resmem/residual_memory.h"
#include "resmem/row_filter.h"

namespace resmem::cli {

// The argument MEMORY.
void DeclareMemory(CommandLine& line, std::string* path);

// --wait SECONDS, for commands that change it.
void DeclareWait(CommandLine& line, double* seconds);
// The same of one that makes it, which another process may be making.
void DeclareWaitForMaker(CommandLine& line, double* seconds);

// --exact, for commands that search it.
void DeclareExact(CommandLine& line, bool* exact);

// A memory that a command searches: the whole of it, or the rows with certain tags.
class SearchedMemory {
 public:
  void Declare(CommandLine& line);  // --exact and --where

  // Says how many rows match, and warns where they are fewer than the memory's k.
  Result<ResidualMemory> Open(const std::string& path, Console& console) const;

 private:
  bool exact_ = false;
  std::string where_;
};

// --where, for commands that choose rows by it.
void DeclareWhere(CommandLine& line, std::string* where, const std::string& help);

// The filter that `where` is.  kBadData where no row of the memory has tags.
Result<RowFilter> ParseWhere(const std::string& where, const std::string& path,
                             const ResidualMemory& memory);

// kBadData where the rows' dim or outputs are not the memory's.
Status CheckShapes(const std::string& memory_path, const MemoryDescription& memory,
                   const Dataset& dataset);

// The manifest of this run, for JSON and reports.  Reads the input files for their digests.
Result<RunInfo> DescribeThisRun(const Console& console, const std::vector<std::string>& inputs);
RunInfo FinishedRun(RunInfo run, const Console& console);  // with its seconds

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_MEMORY_OPTIONS_H_
