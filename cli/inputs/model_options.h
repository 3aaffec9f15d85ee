// Which model made the arrays.  A memory that knows its model refuses another one's arrays.
#ifndef RESMEM_CLI_INPUTS_MODEL_OPTIONS_H_
#define RESMEM_CLI_INPUTS_MODEL_OPTIONS_H_

#include <string>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/residual_memory.h"

namespace resmem::cli {

class ModelOptions {
 public:
  // For a new memory, or (`check`) for arrays that must fit a present one.
  void Declare(CommandLine& line, bool check);

  // The digest of --model where it is a file, its own words otherwise.
  Result<Fingerprint> Resolve() const;
  // kMismatch where the memory has a fingerprint and the options name another or none, or where
  // the arrays themselves show that another model made them.
  Status Check(const std::string& memory_path, const ResidualMemory& memory, const Dataset& dataset,
               Console& console) const;

 private:
  Status CheckFingerprint(const std::string& memory_path, const Fingerprint& memory,
                          Console& console) const;

  std::string model_, layer_;
  bool any_model_ = false;
};

// "model 1f..., layer pool"
std::string FingerprintText(const Fingerprint& fingerprint);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_MODEL_OPTIONS_H_
