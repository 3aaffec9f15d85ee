// A small base model of our own, for tables, embeddings and the demo: multinomial
// logistic or one hidden layer.  Any other model comes in through its exported arrays.
#ifndef RESMEM_BASE_MODEL_H_
#define RESMEM_BASE_MODEL_H_

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
  int64_t hidden = 64;        // units of the hidden layer, whose output is the key; 0: a linear
                              // model, whose key is the input itself
  int64_t epochs = 10;
  int64_t batch = 128;
  float learning_rate = 0.1f; // peak; one cycle of cosine decay after a short warm-up
  float momentum = 0.9f;
  float weight_decay = 1e-4f;
  uint64_t seed = 1;
  int threads = 0;
  Progress* progress = nullptr;
};

// Inputs are standardised with the training rows' mean and deviation, kept in the model.
// The same seed gives the same bits for any number of threads.
class BaseModel {
 public:
  static Result<BaseModel> Train(MatrixView inputs, std::span<const int32_t> labels, int64_t classes,
                                 const BaseModelOptions& options);
  BaseModel(BaseModel&&) noexcept;
  BaseModel& operator=(BaseModel&&) noexcept;
  ~BaseModel();

  int64_t inputs() const;
  int64_t dim() const;      // of the key
  int64_t classes() const;
  int64_t parameters() const;
  // keys: rows x dim(), logits: rows x classes().
  Status Run(MatrixView inputs, int threads, std::span<float> keys, std::span<float> logits) const;
  // Of the weights: what a memory keeps as fingerprint.
  std::string Digest() const;
  Status Save(const std::string& path) const;
  static Result<BaseModel> Load(const std::string& path);

 private:
  struct Impl;
  explicit BaseModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Logits of each row from a model that was trained without it: `folds` models, each on the
// other folds.  The cure for a base that has memorised its training set.  logits: rows x classes.
Status OutOfFoldLogits(MatrixView inputs, std::span<const int32_t> labels, int64_t classes,
                       const BaseModelOptions& options, int64_t folds, std::span<float> logits);

}  // namespace resmem

#endif  // RESMEM_BASE_MODEL_H_
