#include "reproduce/cifar100/base.h"

#include <algorithm>
#include <numeric>

#include "reproduce/cifar100/training_run.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

constexpr int64_t kRunTogether = 2000;  // images

// Which model and images the arrays are of.
std::string MadeFrom(const Workspace& workspace, const Fingerprint& fingerprint) {
  return fingerprint.digest + " " + fingerprint.layer + " " + workspace.data_digest();
}

Result<Base> LoadArrays(Workspace& workspace, Base base) {
  RESMEM_ASSIGN_OR_RETURN(base.fingerprint, FingerprintModel(base.model));
  const std::string folder = workspace.Path("arrays", base.name);
  const std::string made_from = MadeFrom(workspace, base.fingerprint);
  const auto embed = [&](const ImageSet& images) -> Result<Embedded> {
    RESMEM_ASSIGN_OR_RETURN(const OnnxModel model,
                            OnnxModel::Open(base.model, workspace.options().runtime));
    return Embed(model, images, workspace.console());
  };
  RESMEM_ASSIGN_OR_RETURN(base.train, KeptArrays(folder + "/train", made_from,
                                                 [&] { return embed(workspace.train()); }));
  RESMEM_ASSIGN_OR_RETURN(
      base.test, KeptArrays(folder + "/test", made_from, [&] { return embed(workspace.test()); }));
  return base;
}

}  // namespace

Result<Embedded> Embed(const OnnxModel& model, const ImageSet& images, Console& console,
                       const ChangePixels& change) {
  Embedded embedded;
  embedded.dim = model.manifest().dim;
  embedded.classes = model.manifest().classes;
  embedded.labels = images.labels();
  const int64_t count = images.size();
  embedded.keys.resize(static_cast<size_t>(count * embedded.dim));
  embedded.logits.resize(static_cast<size_t>(count * embedded.classes));
  std::vector<uint8_t> pixels;
  for (int64_t begin = 0; begin < count; begin += kRunTogether) {
    if (console.progress()->Cancelled()) return Status(ErrorCode::kCancelled, "stopped");
    console.progress()->Report("embedding", begin, count);
    const int64_t rows = std::min(kRunTogether, count - begin);
    pixels.resize(static_cast<size_t>(rows * images.shape().bytes()));
    RESMEM_RETURN_IF_ERROR(images.Read(begin, rows, pixels));
    if (change) RESMEM_RETURN_IF_ERROR(change(begin, pixels));
    const auto part = [&](std::vector<float>& values, int64_t columns) {
      return std::span(values).subspan(static_cast<size_t>(begin * columns),
                                       static_cast<size_t>(rows * columns));
    };
    RESMEM_RETURN_IF_ERROR(model.Run(pixels, rows, part(embedded.keys, embedded.dim),
                                     part(embedded.logits, embedded.classes)));
  }
  console.progress()->Report("embedding", count, count);
  return embedded;
}

Result<Base> LoadBase(Workspace& workspace, const std::string& run, const std::string& model) {
  Base base;
  base.name = run + (model == "last" ? "" : "-" + model);
  const std::string folder = workspace.Path("runs", run);
  base.model = folder + "/" + model + ".onnx";
  RESMEM_ASSIGN_OR_RETURN(const TrainRecipe recipe, ReadTrainRecipe(folder + "/recipe.json"));
  RESMEM_ASSIGN_OR_RETURN(base.split, DrawTrainSplit(recipe, workspace.train().labels()));
  return LoadArrays(workspace, std::move(base));
}

Result<Base> LoadModel(Workspace& workspace, const std::string& name, const std::string& model) {
  Base base;
  base.name = name;
  base.model = model;
  base.split.train.resize(static_cast<size_t>(workspace.train().size()));
  std::iota(base.split.train.begin(), base.split.train.end(), 0);
  return LoadArrays(workspace, std::move(base));
}

Result<ResidualMemory> OpenMemory(Workspace& workspace, const Base& base, const std::string& name,
                                  const Embedded& rows) {
  return OpenMemoryOf(workspace.Path("memories", name), base.fingerprint, rows);
}

}  // namespace resmem::cli::reproduce::cifar100
