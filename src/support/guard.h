// Nothing is thrown across the library's border: every public entry that may allocate is a function
// with a try block that ends here.
#ifndef RESMEM_SUPPORT_GUARD_H_
#define RESMEM_SUPPORT_GUARD_H_

#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "resmem/status.h"
#include "resmem_program/system_error.h"
#include "support/text.h"

namespace resmem {

// An error met deep inside code that returns values, such as a broken block that a sum of residuals
// reads.  Never crosses the border: CaughtException() gives its Status.
class StatusError : public std::exception {
 public:
  explicit StatusError(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }
  const char* what() const noexcept override { return status_.message().c_str(); }

 private:
  Status status_;
};

// Fits into a std::string without memory of its own.
inline constexpr char kOutOfMemory[] = "out of memory";
static_assert(sizeof(kOutOfMemory) <= 16);

// In a catch (...): what was thrown, as a Status; `doing` names the work in the message.  Where
// not even the message finds memory, it is kOutOfMemory.
inline Status CaughtException(std::string_view doing) noexcept try {
  const auto out_of_memory = [&] {
    return Status(ErrorCode::kResourceExhausted,
                  Text("not enough memory to ", doing, "; give fewer rows at a time"));
  };
  const auto bug = [&](std::string_view what) {
    return Status(ErrorCode::kInternal, Text("cannot ", doing, ": ", what,
                                             "; this is a bug in resmem: please report it with "
                                             "what led to it"));
  };
  try {
    throw;
  } catch (const StatusError& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  } catch (const std::system_error& error) {  // of a file or a thread
    return Status(CodeOfSystemError(error.code().value()),
                  Text("cannot ", doing, ": ", error.what()));
  } catch (const std::exception& error) {
    return bug(error.what());
  } catch (...) {
    return bug("something was thrown that says nothing of itself");
  }
} catch (...) {
  return Status(ErrorCode::kResourceExhausted, kOutOfMemory);
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_GUARD_H_
