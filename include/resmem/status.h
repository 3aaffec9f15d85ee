// Errors as values.  The library throws nothing across its border: what can fail
// returns a Status, or a Result<T> that holds either a value or the Status that
// says why there is none.
//
// A message names the place, the value found, what was allowed and the next step.
#ifndef RESMEM_STATUS_H_
#define RESMEM_STATUS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace resmem {

// The whole list.  docs/errors.md gives each one's exit code.
enum class ErrorCode {
  kOk = 0,
  kInvalidArgument,    // the call itself is wrong: k = 0, sigma <= 0
  kBadData,            // the caller's arrays are wrong: NaN, a label outside the classes, a shape
  kNotFound,           // no such file, array member or row id
  kCorrupt,            // a file of ours fails a checksum or contradicts itself
  kTooNew,             // a file of ours was written by a later version
  kMismatch,           // two valid things that do not belong together: another model's arrays
  kUnsupported,        // valid, but not supported by this build
  kIo,                 // the system refused to read or write
  kResourceExhausted,  // no space, no memory, or another process holds the memory
  kCancelled,          // the caller asked to stop
  kInternal,           // a bug of ours: something happened that the code does not expect
};

// "bad data", "corrupt", ...: the word that programs print.
std::string_view ErrorCodeName(ErrorCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == ErrorCode::kOk; }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit, so that `return value;` works
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: the same for errors

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // Require ok().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace resmem

#define RESMEM_CONCAT_INNER(a, b) a##b
#define RESMEM_CONCAT(a, b) RESMEM_CONCAT_INNER(a, b)

// Leaves the function with the error of `expression`, if it is one.
#define RESMEM_RETURN_IF_ERROR(expression)         \
  do {                                             \
    ::resmem::Status resmem_status = (expression); \
    if (!resmem_status.ok()) return resmem_status; \
  } while (false)

// Sets `target` (which may be a declaration) to the value of the Result `expression`.
#define RESMEM_ASSIGN_OR_RETURN(target, expression) \
  RESMEM_ASSIGN_OR_RETURN_INNER(RESMEM_CONCAT(resmem_result_, __LINE__), target, expression)
#define RESMEM_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                     \
  if (!result.ok()) return result.status();                       \
  target = std::move(result).value()

#endif  // RESMEM_STATUS_H_
