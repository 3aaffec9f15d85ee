#include "get_data.h"

#include "process/run_program.h"
#include "process/sibling.h"

namespace resmem::cli {

Result<std::string> RunGetData(const std::vector<std::string>& words) {
  constexpr char kGetter[] = "resmem-get-data";
  std::vector<std::string> command = {FindSibling(kGetter)};
  if (command[0].empty()) {
    return Status(ErrorCode::kNotFound,
                  std::string(kGetter) + " is not installed beside resmem-lab; install it again");
  }
  command.insert(command.end(), words.begin(), words.end());
  RESMEM_ASSIGN_OR_RETURN(const ProgramEnd end, RunToEnd(command));
  if (end.exit_code != 0) return Status(ErrorCode::kIo, end.LastLine());
  return end.output;
}

}  // namespace resmem::cli
