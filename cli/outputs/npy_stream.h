// A float32 matrix as .npy, written row block by row block.
#ifndef RESMEM_CLI_OUTPUTS_NPY_STREAM_H_
#define RESMEM_CLI_OUTPUTS_NPY_STREAM_H_

#include <cstdint>
#include <span>
#include <string>

#include "console/output.h"

namespace resmem::cli {

class NpyStream {
 public:
  static Result<NpyStream> Create(const std::string& path, int64_t rows, int64_t columns);
  Status Write(std::span<const float> values);
  Status Close() { return output_.Close(); }

 private:
  explicit NpyStream(Output output) : output_(std::move(output)) {}
  Output output_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_NPY_STREAM_H_
