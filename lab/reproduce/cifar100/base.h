// A trained network and what it makes of every image.
#ifndef RESMEM_LAB_REPRODUCE_CIFAR100_BASE_H_
#define RESMEM_LAB_REPRODUCE_CIFAR100_BASE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "recipe/train_recipe.h"
#include "reproduce/cifar100/workspace.h"
#include "reproduce/embedded.h"
#include "resmem/residual_memory.h"

namespace resmem::cli::reproduce::cifar100 {

struct Base {
  std::string name;   // in arrays/ and memories/
  std::string model;  // the .onnx file
  Fingerprint fingerprint;
  TrainSplit split;      // rows of `train`
  Embedded train, test;  // every image
};
// `run`: a finished training run; `model`: "last", or "epoch-0128".
Result<Base> LoadBase(Workspace& workspace, const std::string& run,
                      const std::string& model = "last");
// Any prepared model that has learned from all training images.
Result<Base> LoadModel(Workspace& workspace, const std::string& name, const std::string& model);

// `change` may corrupt the pixels before they go in: the number of the first image, its bytes.
using ChangePixels = std::function<Status(int64_t first, std::span<uint8_t> pixels)>;
Result<Embedded> Embed(const OnnxModel& model, const ImageSet& images, Console& console,
                       const ChangePixels& change = {});

// A memory of these rows of `rows_of` in memories/NAME; one that holds them already is opened.
// Row ids are the places in `rows`.
Result<ResidualMemory> OpenMemory(Workspace& workspace, const Base& base, const std::string& name,
                                  const Embedded& rows);

}  // namespace resmem::cli::reproduce::cifar100

#endif  // RESMEM_LAB_REPRODUCE_CIFAR100_BASE_H_
