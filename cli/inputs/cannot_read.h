// A file of the user that cannot be opened.
#ifndef RESMEM_CLI_INPUTS_CANNOT_READ_H_
#define RESMEM_CLI_INPUTS_CANNOT_READ_H_

#include <cerrno>
#include <cstring>
#include <string>

#include "resmem/status.h"
#include "resmem_program/system_error.h"

namespace resmem::cli {

// Right after the attempt; `advice`: the end of the message.
inline Status CannotRead(const std::string& path, const std::string& advice) {
  const int error = errno;
  const ErrorCode code = CodeOfSystemError(error);
  return Status(code == ErrorCode::kIo ? ErrorCode::kNotFound : code,
                path + ": cannot be read: " + std::strerror(error) + advice);
}

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_CANNOT_READ_H_
