// Builds a message from its parts: Text(path, ": row ", row, " has ", found).
#ifndef RESMEM_SUPPORT_TEXT_H_
#define RESMEM_SUPPORT_TEXT_H_

#include <new>
#include <sstream>
#include <string>

namespace resmem {

template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  // A stream that found no memory says so by a flag; half a name of a file would be a wrong one.
  if (!out) throw std::bad_alloc();
  return std::move(out).str();
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_TEXT_H_
