// The living rows of a memory as arrays, for methods of one's own (docs/own_method.md).
#ifndef RESMEM_DATA_EXPORT_H_
#define RESMEM_DATA_EXPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/data/array.h"
#include "resmem/progress.h"
#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

// One array of an export.
struct ExportPart {
  std::string name;
  std::string help;     // what it holds, in a few words
  bool usual = true;    // exported where no parts are named
  bool present = true;  // whether the memory has it
};
// Every part there is, in the order of the arrays.
std::vector<ExportPart> ExportParts(const MemoryDescription& description, bool tags = true);

struct ExportOptions {
  std::vector<std::string> parts;  // by name; empty: the usual ones that the memory has
  Progress* progress = nullptr;
  // Only these rows, by id; none: all living ones.
  std::optional<std::vector<uint64_t>> ids{};
};

struct ExportedArrays {
  int64_t rows = 0;
  std::vector<ArrayInfo> arrays;
};

// Writes one line for each living row, by ascending row number, to `path` as ArrayWriter does: an
// .npz file or a folder.  Memory use does not grow with the rows.  Errors: kInvalidArgument (a part
// that there is not, or that this memory does not have), kNotFound (an id), kCorrupt, kCancelled,
// kIo, kResourceExhausted.
Result<ExportedArrays> ExportMemory(const ResidualMemory& memory, const std::string& path,
                                    const ExportOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_DATA_EXPORT_H_
