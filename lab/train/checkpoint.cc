#include "train/checkpoint.h"

#include "recipe/checkpoint_file.h"
#include "support/text.h"

namespace resmem::train {
namespace {

Json Describe(const NamedTensors& state) {
  Json tensors = Json::array();
  for (const auto& [name, tensor] : state) {
    tensors.push_back({{"name", name}, {"shape", tensor.sizes().vec()}});
  }
  return tensors;
}

torch::Tensor Plain(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kCPU, torch::kFloat).contiguous(at::MemoryFormat::Contiguous);
}

}  // namespace

Status SaveCheckpoint(const std::string& path, const Progressed& progressed,
                      const NamedTensors& state) {
  const Json words = {{"epochs", progressed.epochs},
                      {"best_accuracy", progressed.best_accuracy},
                      {"best_epoch", progressed.best_epoch},
                      {"seconds", progressed.seconds},
                      {"precision", PrecisionName(progressed.precision)},
                      {"tensors", Describe(state)}};
  int64_t count = 0;
  for (const auto& [name, tensor] : state) count += tensor.numel();
  return WriteCheckpoint(path, words, count, [&](const AppendFloats& append) -> Status {
    for (const auto& [name, tensor] : state) {
      const torch::Tensor plain = Plain(tensor);
      RESMEM_RETURN_IF_ERROR(append({plain.data_ptr<float>(), static_cast<size_t>(plain.numel())}));
    }
    return {};
  });
}

Result<Progressed> LoadCheckpoint(const std::string& path, const NamedTensors& state) {
  RESMEM_ASSIGN_OR_RETURN(const CheckpointFile file, ReadCheckpoint(path));
  const Json& words = file.words;
  const auto number = [&](const char* name) {
    return words.is_object() && words.contains(name) && words[name].is_number();
  };
  if (!number("epochs") || !number("best_accuracy") || !number("best_epoch") ||
      !number("seconds") || !words.contains("tensors")) {
    return file.reader.Corrupt("its words are not those of a checkpoint");
  }
  std::span<const float> values = file.values();
  int64_t expected = 0;
  for (const auto& [name, tensor] : state) expected += tensor.numel();
  if (words["tensors"] != Describe(state) || std::ssize(values) != expected) {
    return Status(ErrorCode::kMismatch,
                  Text(path,
                       ": the checkpoint of another network; its tensors are not this "
                       "recipe's. Train into a new folder"));
  }
  torch::NoGradGuard no_gradient;
  for (const auto& [name, tensor] : state) {
    const auto count = static_cast<size_t>(tensor.numel());
    torch::Tensor(tensor).copy_(
        torch::from_blob(const_cast<float*>(values.data()), tensor.sizes()));  // only read
    values = values.subspan(count);
  }
  Progressed progressed;
  progressed.epochs = words["epochs"].get<int64_t>();
  progressed.best_accuracy = words["best_accuracy"].get<double>();
  progressed.best_epoch = words["best_epoch"].get<int64_t>();
  progressed.seconds = words["seconds"].get<double>();
  // A checkpoint from before there was a choice says nothing.
  const bool bfloat16 = words.value("precision", Json()) == PrecisionName(Precision::kBfloat16);
  progressed.precision = bfloat16 ? Precision::kBfloat16 : Precision::kFloat32;
  return progressed;
}

}  // namespace resmem::train
