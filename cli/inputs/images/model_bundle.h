// A memory gets its model to carry (resmem/models/bundle.h).
#ifndef RESMEM_CLI_INPUTS_IMAGES_MODEL_BUNDLE_H_
#define RESMEM_CLI_INPUTS_IMAGES_MODEL_BUNDLE_H_

#include <string>
#include <utility>

#include "resmem/residual_memory.h"

namespace resmem::cli {

// Copies `model` and its manifest into the memory's folder and has the memory remember the copy.
// Gives how many bytes were copied.  kMismatch where another model made the memory.
Result<int64_t> BundleModel(const std::string& memory_path, const std::string& model,
                            const ChangeOptions& change);

// The same for a memory that is being made, of which nothing can be seen yet: its manifest, written
// with the notes that this adds to `description`, will make both visible at once.  The copy goes
// with this object unless it is kept.
class BundleOfNewMemory {
 public:
  // False where the memory has a bundle already, which the memory that is replaced may need until
  // then: BundleModel() afterwards.
  static bool CanBeMade(const std::string& memory_path);
  static Status Describe(const std::string& model, MemoryDescription* description);
  // Into the folder that MemoryWriter::Create() has taken, which goes, too, where it is
  // `new_folder` and empty then.
  static Result<BundleOfNewMemory> Copy(const std::string& memory_path, const std::string& model,
                                        const MemoryDescription& description, bool new_folder);
  BundleOfNewMemory(BundleOfNewMemory&& other) noexcept;
  ~BundleOfNewMemory();
  void Keep() { folder_.clear(); }

 private:
  BundleOfNewMemory(std::string folder, std::string new_folder)
      : folder_(std::move(folder)), new_folder_(std::move(new_folder)) {}
  std::string folder_, new_folder_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_IMAGES_MODEL_BUNDLE_H_
