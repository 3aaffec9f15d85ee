// A small base model of our own, for tables, embeddings and the demo: multinomial
// logistic or one hidden layer.  Any other model comes in through its exported arrays.
#ifndef RESMEM_LAB_BASE_MODEL_BASE_MODEL_H_
#define RESMEM_LAB_BASE_MODEL_BASE_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "resmem/matrix_view.h"
#include "resmem/progress.h"
#include "resmem/status.h"

namespace resmem {

struct BaseModelOptions {
  // Units of the hidden layer, whose values before ReLU are the key.  0: a linear model, whose
  // key is the standardized input.
  int64_t hidden = 64;
  int64_t epochs = 15;
  int64_t batch = 128;  // rows a step
  // The peak, reached after a twentieth of the steps; then half a cosine down to 0.  A weight
  // moves at this rate over the number of inputs of its layer, so that one value suits few inputs
  // and many: about 4, less where training diverges.
  float learning_rate = 4.0f;
  float momentum = 0.9f;
  float weight_decay = 1e-4f;  // weights shrink by this share of the rate at each step
  uint64_t seed = 1;           // of the first weights, the order of the rows and the folds
  int threads = 0;             // 0: as many as the machine has
  Progress* progress = nullptr;
};

// Each input column is brought to mean 0 and deviation 1 by the training rows, and held within
// +-5; that is part of the model.  The same seed gives the same bits for any number of threads
// and at every level of RESMEM_SIMD.  A row's key and logits do not depend on the rows around it.
// Immutable once made: const methods need no lock on any number of threads.
class BaseModel {
 public:
  // Softmax cross-entropy by stochastic gradient descent.  Errors: kInvalidArgument (options, or
  // a rate so large that training diverged), kBadData, kResourceExhausted, kCancelled.
  static Result<BaseModel> Train(MatrixView inputs, std::span<const int32_t> labels,
                                 int64_t classes, const BaseModelOptions& options);
  BaseModel(BaseModel&&) noexcept;
  BaseModel& operator=(BaseModel&&) noexcept;
  ~BaseModel();

  int64_t inputs() const;  // columns
  int64_t dim() const;     // of the key
  int64_t classes() const;
  int64_t parameters() const;

  // keys: rows x dim(), logits: rows x classes(); either may be empty.
  // Errors: kMismatch (another number of columns), kBadData, kInvalidArgument.
  Status Run(MatrixView inputs, int threads, std::span<float> keys, std::span<float> logits) const;

  // The same model gives the same bytes: DigestFile() of the file is its fingerprint.
  Status Save(const std::string& path) const;
  static Result<BaseModel> Load(const std::string& path);  // kNotFound, kCorrupt, kTooNew, kIo

 private:
  struct Impl;
  explicit BaseModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Logits of each row from a model that was trained without it: `folds` models, each on the rows
// of the other folds, which `seed` draws.  Residuals made from them show what the base gets wrong
// on rows it has not seen.  logits: rows x classes.
Status OutOfFoldLogits(MatrixView inputs, std::span<const int32_t> labels, int64_t classes,
                       const BaseModelOptions& options, int64_t folds, std::span<float> logits);

}  // namespace resmem

#endif  // RESMEM_LAB_BASE_MODEL_BASE_MODEL_H_
