// Which model made the arrays.  A memory that knows its model refuses another one's arrays.
#ifndef RESMEM_CLI_INPUTS_IMAGES_MODEL_OPTIONS_H_
#define RESMEM_CLI_INPUTS_IMAGES_MODEL_OPTIONS_H_

#include <string>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "inputs/dataset_options.h"
#include "resmem/residual_memory.h"

namespace resmem::cli {

class ModelOptions {
 public:
  // For a new memory, or (`check`) for arrays that must fit a present one.
  void Declare(CommandLine& line, bool check);

  const std::string& file() const { return model_; }  // as given, or empty
  // What arrays of this memory's model need in a further command.
  void AddWords(const std::string& memory_path, const MemoryDescription& memory,
                std::vector<std::string>* words) const;
  // The digest of --model where it is a file, its own words otherwise.
  Result<Fingerprint> Resolve() const;
  // What a new memory remembers of --model: the path of a base model that can be run, or "".
  std::string Remembered() const;

  // The input of `data` for a present memory.  Images, and rows of a table without the base's
  // output, are run through --model, or the model that the memory remembers.  kMismatch where the
  // memory has a fingerprint and the options name another or none, or where the rows themselves
  // show that another model made them; kBadData where their dim or outputs are not the memory's.
  Result<Input> OpenInput(const DatasetOptions& data, const std::string& memory_path,
                          const ResidualMemory& memory, int threads, Console& console) const;

 private:
  Result<std::string> FileFor(const std::string& memory_path, const ResidualMemory& memory) const;
  // Whether --model, or the model that the memory remembers, is one of tables.
  bool ReadsTables(const std::string& memory_path, const MemoryDescription& memory) const;
  Status CheckFingerprint(const std::string& memory_path, const Fingerprint& memory,
                          const Fingerprint& given, Console& console) const;
  Status CheckRows(const std::string& memory_path, const ResidualMemory& memory,
                   const Dataset& dataset, Console& console) const;

  std::string model_, layer_;
  bool any_model_ = false;
};

// "model 1f..., layer pool"
std::string FingerprintText(const Fingerprint& fingerprint);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_IMAGES_MODEL_OPTIONS_H_
