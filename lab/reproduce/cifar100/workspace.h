// The folder that a reproduction works in, and the images that it is about:
//
//   runs/NAME/       training runs, as `resmem train` makes them
//   arrays/NAME/     train/ and test/ with keys, logits and labels of every image
//   memories/NAME    memories
//   models/          models that were prepared from a file of the user's
//   steps/NAME.json  results of the finished steps
//   data/            --quick only: the first images of the data, as CIFAR-100 files
#ifndef RESMEM_LAB_REPRODUCE_CIFAR100_WORKSPACE_H_
#define RESMEM_LAB_REPRODUCE_CIFAR100_WORKSPACE_H_

#include <optional>
#include <string>
#include <vector>

#include "console/console.h"
#include "resmem/models/image_set.h"
#include "resmem/models/onnx_model.h"
#include "resmem/status.h"

namespace resmem::cli::reproduce::cifar100 {

struct WorkspaceOptions {
  std::string data;
  std::string folder;
  std::string pretrained;  // an ONNX file; empty: none
  bool quick = false;
  int64_t training_threads = 1;  // 1: two runs can share two cores
  OnnxOptions runtime;           // its threads are for everything but training
};

class Workspace {
 public:
  // Makes the folders.  Errors: those of ImageSet::Open; kBadData where the images have no
  // superclasses and so are not CIFAR-100.
  static Result<Workspace> Open(WorkspaceOptions options, Console& console);

  const WorkspaceOptions& options() const { return options_; }
  Console& console() const { return *console_; }
  std::string Path(const std::string& kind, const std::string& name) const {
    return options_.folder + "/" + kind + "/" + name;
  }
  int threads() const { return options_.runtime.threads; }

  // Where the training program finds the images.
  const std::string& data() const { return data_; }
  const ImageSet& train() const { return *train_; }
  const ImageSet& test() const { return *test_; }
  // Of pixels and labels, however they are packed.
  const std::string& data_digest() const { return data_digest_; }
  // Superclass of each class.
  const std::vector<int32_t>& coarse_of_class() const { return coarse_of_class_; }
  // A tenth of the training images: 5,000 of CIFAR-100's.
  int64_t held_out_rows() const { return train().size() / 10; }

 private:
  Workspace(WorkspaceOptions options, Console& console)
      : options_(std::move(options)), console_(&console) {}
  Status OpenImages(const std::string& folder);

  WorkspaceOptions options_;
  Console* console_;
  std::string data_, data_digest_;
  std::optional<ImageSet> train_, test_;
  std::vector<int32_t> coarse_of_class_;
};

}  // namespace resmem::cli::reproduce::cifar100

#endif  // RESMEM_LAB_REPRODUCE_CIFAR100_WORKSPACE_H_
