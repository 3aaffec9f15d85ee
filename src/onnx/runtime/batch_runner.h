// Rows through a session, batch by batch.
#ifndef RESMEM_ONNX_RUNTIME_BATCH_RUNNER_H_
#define RESMEM_ONNX_RUNTIME_BATCH_RUNNER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "onnx/runtime/session.h"
#include "resmem/models/onnx_model.h"

namespace resmem {

// The values a row of an output: rows x columns, with any number of ones behind.  kUnsupported for
// another shape, with what to do.
Result<int64_t> ColumnsOf(const std::string& name, std::span<const int64_t> shape, int64_t rows);

// The shape of `rows` rows of input.
std::vector<int64_t> InputShape(const ModelManifest& manifest, int64_t rows);

// Rows of a batch: `fixed` where the graph allows only that many, else as many as keep the
// input within a megabyte or two, at most 32: larger ones leave the processor's caches.
int64_t RowsOfBatch(const ModelManifest& manifest, int64_t fixed);

class BatchRunner {
 public:
  // `fixed`: the number of rows the graph takes, 0 for any.
  BatchRunner(Session session, const ModelManifest& manifest, int64_t fixed, int threads);

  // Writes rows [begin, begin + count) as the graph takes them.  Called from several threads.
  using Fill = std::function<void(int64_t begin, int64_t count, float* input)>;
  // Sizes are checked by the caller; keys or logits may be empty.
  Status Run(int64_t count, const Fill& fill, std::span<float> keys, std::span<float> logits) const;

  const Session& session() const { return session_; }
  int threads() const { return threads_; }

 private:
  struct Wanted {
    std::string name;
    int64_t columns;
    std::span<float> out;
  };
  Status RunBatch(int64_t begin, int64_t rows, std::span<float> input,
                  std::span<const Wanted> wanted) const;

  Session session_;
  ModelManifest manifest_;
  bool fixed_;
  int64_t batch_;
  int threads_;
};

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_BATCH_RUNNER_H_
