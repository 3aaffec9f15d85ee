// What a command that made, changed or checked a memory prints: words for people, or with --json
// the memory's document as it now is.
#ifndef RESMEM_CLI_OUTPUTS_MEMORY_OUTPUT_H_
#define RESMEM_CLI_OUTPUTS_MEMORY_OUTPUT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/residual_memory.h"
#include "resmem/snapshots.h"

namespace resmem::cli {

class MemoryOutput {
 public:
  void Declare(CommandLine& line);
  bool json() const { return json_; }
  // For the document: rows that snapshots hold.
  void TellRowsInSnapshots(std::vector<SnapshotRows> rows) { in_snapshots_ = std::move(rows); }
  // `inputs`: paths for the run's manifest.
  Status Print(const std::string& path, const ResidualMemory& memory,
               const std::vector<std::string>& inputs, const std::string& words,
               const Console& console) const;

 private:
  bool json_ = false;
  std::optional<std::vector<SnapshotRows>> in_snapshots_;
};

// A memory whose rows this command has just changed: they count, even where the index of others is
// broken, which is a warning.
Result<ResidualMemory> OpenChanged(const std::string& path, Console& console);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_MEMORY_OUTPUT_H_
