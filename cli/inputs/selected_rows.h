// Of a dataset with a split, the rows of one role.
#ifndef RESMEM_CLI_INPUTS_SELECTED_ROWS_H_
#define RESMEM_CLI_INPUTS_SELECTED_ROWS_H_

#include <optional>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/data/dataset.h"
#include "resmem/evaluation.h"

namespace resmem::cli {

// --only: all, train, validation or test.  Not given: the rows of the role that the command is
// made for, where the data mark any; else all.
class RoleOptions {
 public:
  void Declare(CommandLine& line, Role made_for);
  // None: all rows.  Says on the console what was left out.  Rows marked test are nothing to choose
  // an index's effort on (made_for validation), and to memorize only where --only all says so.
  Result<std::optional<Role>> Choose(const Dataset& dataset, Console& console) const;

 private:
  Role made_for_ = Role::kUnmarked;
  std::optional<std::optional<Role>> only_;
};

// The rows of `dataset` with that role (none: all), in blocks.  Where some are left out and the
// data have no ids, a row's id is its number in the data.
Result<RowSource> SelectRows(const Dataset& dataset, std::optional<Role> role);

// All of `rows` into the memory, and Finish().  Nothing is left behind after Ctrl-C.
Status WriteRows(const RowSource& rows, MemoryWriter* writer, Console& console);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_SELECTED_ROWS_H_
