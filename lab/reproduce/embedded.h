// What a network makes of images, in memory and in a folder of arrays; and a memory of it.
#ifndef RESMEM_LAB_REPRODUCE_EMBEDDED_H_
#define RESMEM_LAB_REPRODUCE_EMBEDDED_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem::cli::reproduce {

struct Embedded {
  int64_t dim = 0, classes = 0;
  std::vector<float> keys, logits;  // rows x dim, rows x classes
  std::vector<int32_t> labels;

  int64_t count() const { return std::ssize(labels); }
  Rows view() const;
  Embedded Take(std::span<const int64_t> rows) const;
};
// Every key divided by its length.
Embedded WithUnitKeys(Embedded embedded);

// keys.npy, logits.npy and labels.npy in `folder`, which is made.
Status WriteEmbedded(const std::string& folder, const Embedded& embedded);
Result<Embedded> ReadEmbedded(const std::string& folder);

// The folder's arrays where they were made from what `made_from` says, else what `make` gives,
// which is then kept there.  `made_from` is one line.
Result<Embedded> KeptArrays(const std::string& folder, const std::string& made_from,
                            const std::function<Result<Embedded>()>& make);

// A memory of these rows at `path`, over what is there.
Result<ResidualMemory> MakeMemory(const std::string& path, const MemoryDescription& description,
                                  const Embedded& rows);
// A memory of these rows at `path`; one that holds them already is opened.  Row ids are the places
// in `rows`.
Result<ResidualMemory> OpenMemoryOf(const std::string& path, const Fingerprint& fingerprint,
                                    const Embedded& rows);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_EMBEDDED_H_
