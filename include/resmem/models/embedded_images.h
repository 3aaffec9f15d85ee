// Images as rows of a dataset: a base model gives each its key and logits when it is read.
#ifndef RESMEM_MODELS_EMBEDDED_IMAGES_H_
#define RESMEM_MODELS_EMBEDDED_IMAGES_H_

#include <cstdint>
#include <memory>

#include "resmem/data/dataset.h"
#include "resmem/models/image_set.h"
#include "resmem/models/onnx_model.h"
#include "resmem/status.h"

namespace resmem {

struct EmbedOptions {
  int64_t begin = 0;  // images [begin, end) of the set; end 0: all
  int64_t end = 0;
  int threads = 0;  // that decode images (0: all processors); the model has its own
  // What was made is kept up to this many bytes, because some work reads its rows twice.
  int64_t kept_bytes = int64_t{1} << 30;
};

// For DatasetSources::made.  Runs the model in batches, whatever number of rows is read at once;
// the values do not depend on it.
class EmbeddedImages : public RowMaker {
 public:
  // kMismatch where the images have another shape than the model reads, or labels that it does
  // not know; kInvalidArgument where the range is not one of the set.
  static Result<std::shared_ptr<const EmbeddedImages>> Create(OnnxModel model, ImageSet images,
                                                              const EmbedOptions& options = {});

  virtual const OnnxModel& model() const = 0;
  virtual const ImageSet& images() const = 0;
  virtual int64_t image_of(int64_t row) const = 0;  // its number in images()
};

}  // namespace resmem

#endif  // RESMEM_MODELS_EMBEDDED_IMAGES_H_
