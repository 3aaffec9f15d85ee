// Builds a message from its parts: Text(path, ": row ", row, " has ", found).
#ifndef RESMEM_SUPPORT_TEXT_H_
#define RESMEM_SUPPORT_TEXT_H_

#include <sstream>
#include <string>

namespace resmem {

template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_TEXT_H_
