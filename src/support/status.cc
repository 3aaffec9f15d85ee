#include "resmem/status.h"

#include <cerrno>

#include "resmem_program/system_error.h"

namespace resmem {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return "ok";
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kBadData:
      return "bad data";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kTooNew:
      return "too new";
    case ErrorCode::kMismatch:
      return "mismatch";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kIo:
      return "input/output";
    case ErrorCode::kResourceExhausted:
      return "out of resources";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kInternal:
      return "internal error";
  }
  return "unknown";
}

ErrorCode CodeOfSystemError(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EAGAIN:  // no thread or process more
      return ErrorCode::kResourceExhausted;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace resmem
