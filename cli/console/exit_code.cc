#include "console/exit_code.h"

namespace resmem::cli {

ExitCode ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return ExitCode::kOk;
    case ErrorCode::kInvalidArgument:
      return ExitCode::kUsage;
    case ErrorCode::kBadData:
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
    case ErrorCode::kTooNew:
    case ErrorCode::kMismatch:
    case ErrorCode::kUnsupported:
      return ExitCode::kBadInput;
    case ErrorCode::kResourceExhausted:
      return ExitCode::kOutOfResources;
    case ErrorCode::kIo:
      return ExitCode::kFailure;
    case ErrorCode::kCancelled:
      return ExitCode::kInterrupted;
    case ErrorCode::kInternal:
      return ExitCode::kBug;
  }
  return ExitCode::kFailure;
}

}  // namespace resmem::cli
