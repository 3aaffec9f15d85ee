// A checkpoint on disk: words (JSON) and the values of all arrays, one after the other.
//
// A container of ours (docs/memory_format.md, section 2) and not libtorch's archive, which is a
// pickle that can run code when it is loaded.
#ifndef RESMEM_LAB_RECIPE_CHECKPOINT_FILE_H_
#define RESMEM_LAB_RECIPE_CHECKPOINT_FILE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "format/container_reader.h"
#include "format/json_fields.h"

namespace resmem {

// Writes it atomically.  `append` is called once and gives all `count` values to its argument, in
// as many pieces as it likes.
using AppendFloats = std::function<Status(std::span<const float>)>;
Status WriteCheckpoint(const std::string& path, const Json& words, int64_t count,
                       const std::function<Status(const AppendFloats&)>& append);

// Every block of it checked.
struct CheckpointFile {
  ContainerReader reader;
  Json words;

  std::span<const float> values() const;
};
Result<CheckpointFile> ReadCheckpoint(const std::string& path);

}  // namespace resmem

#endif  // RESMEM_LAB_RECIPE_CHECKPOINT_FILE_H_
