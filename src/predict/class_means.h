// The mean key of each class: the simplest memory there is, and a baseline.
#ifndef RESMEM_PREDICT_CLASS_MEANS_H_
#define RESMEM_PREDICT_CLASS_MEANS_H_

#include <memory>
#include <vector>

#include "memory/keys/key_transformer.h"
#include "resmem/knn_index.h"
#include "resmem/residual_memory.h"

namespace resmem {

class ClassMeans {
 public:
  // One pass over the living rows of a classification memory.
  static Result<std::unique_ptr<ClassMeans>> Make(const ResidualMemory& memory);

  // scores: queries x classes, minus the distance to each mean; the lowest float for a class that
  // has no rows.
  Status Score(MatrixView keys, int threads, std::span<float> scores) const;

 private:
  std::vector<float> means_;  // those that exist, one after the other
  std::vector<int64_t> class_of_mean_;
  int64_t classes_ = 0;
  KeyTransformer transformer_;       // of the memory: means are of keys as they are stored
  std::unique_ptr<KnnIndex> index_;  // over means_; none where no class has rows
};

}  // namespace resmem

#endif  // RESMEM_PREDICT_CLASS_MEANS_H_
