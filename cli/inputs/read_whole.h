// A stream to its end.
#ifndef RESMEM_CLI_INPUTS_READ_WHOLE_H_
#define RESMEM_CLI_INPUTS_READ_WHOLE_H_

#include <array>
#include <istream>
#include <string>

namespace resmem::cli {

// False where the system refused, which errno tells.  An iterator over the buffer would throw
// there.
inline bool ReadWhole(std::istream& file, std::string* text) {
  std::array<char, 1 << 16> block;
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    text->append(block.data(), static_cast<size_t>(file.gcount()));
  }
  return !file.bad();
}

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_READ_WHOLE_H_
