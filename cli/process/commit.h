#ifndef RESMEM_CLI_PROCESS_COMMIT_H_
#define RESMEM_CLI_PROCESS_COMMIT_H_

#include <string>

namespace resmem::cli {

// The commit that this program was built from, with "-dirty" where files were changed after it;
// "unknown" outside a Git tree.  The function is remade by every build (write_commit.cmake).
std::string BuiltFromCommit();

}  // namespace resmem::cli

#endif  // RESMEM_CLI_PROCESS_COMMIT_H_
