// A table whose columns have roles, as options: --data FILE.csv, --label-column and so on.
#ifndef RESMEM_CLI_INPUTS_TABLE_OPTIONS_H_
#define RESMEM_CLI_INPUTS_TABLE_OPTIONS_H_

#include <string>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/data/dataset.h"
#include "resmem/residual_memory.h"

namespace resmem::cli {

class TableOptions {
 public:
  // `new_memory`: scales may be chosen; `labels`, `logits`: the command reads them.
  // Which roles columns can have for a command.
  struct Use {
    bool new_memory, labels, logits, sources, tags, split, slices;
  };
  void Declare(CommandLine& line, const Use& use);

  // Whether `data` is a table: by its name, as standard input, or because columns have roles.
  bool IsTable(const std::string& data) const;

  // The table, as the memory knows it (null: of a new memory).
  Result<TableSource> Source(const std::string& data, const std::string& memory_name,
                             const MemoryDescription* memory) const;

 private:
  TableRoles roles_;
  bool labels_ = true;
};

// What was done to the rows on reading: filled, skipped, not known.
void NoteReading(const Dataset& dataset, Console& console);

// What a memory remembers of the data it was made of.
void RememberReading(const Dataset& dataset, MemoryDescription* description);

// The floor of a memory's probabilities; empty where it was made of logits.
std::optional<float> FloorOf(const MemoryDescription& memory);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_TABLE_OPTIONS_H_
