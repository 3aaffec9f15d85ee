#include "train/run_state.h"

#include "recipe/recipe_codec.h"

namespace resmem::train {
namespace {

struct RunProgressLayout {
  // A checkpoint from before there was a choice says nothing of the precision.
  static constexpr bool MayLack(std::string_view name) { return name == "precision"; }

  template <typename Progress, typename Visit>
  static void Each(Progress& p, Visit&& visit) {
    visit("epochs", p.epochs);
    visit("best_accuracy", p.best_accuracy);
    visit("best_epoch", p.best_epoch);
    visit("seconds", p.seconds);
    visit("precision", p.precision);
  }
};

Status Give(const torch::Tensor& tensor, const AppendFloats& append) {
  const torch::Tensor plain =
      tensor.detach().to(torch::kCPU, torch::kFloat).contiguous(at::MemoryFormat::Contiguous);
  return append({plain.data_ptr<float>(), static_cast<size_t>(plain.numel())});
}

void Take(std::span<const float> values, const torch::Tensor& tensor) {
  torch::NoGradGuard no_gradient;
  torch::Tensor(tensor).copy_(
      torch::from_blob(const_cast<float*>(values.data()), tensor.sizes()));  // only read
}

std::vector<StateArray> Arrays(const NamedTensors& state) {
  std::vector<StateArray> arrays;
  for (const auto& [name, tensor] : state) {
    arrays.push_back(
        {{{"name", name}, {"shape", tensor.sizes().vec()}},
         tensor.numel(),
         [tensor = tensor](const AppendFloats& append) { return Give(tensor, append); },
         [tensor = tensor](std::span<const float> values) { Take(values, tensor); }});
  }
  return arrays;
}

}  // namespace

Status SaveRun(const RunFolder& folder, const RunProgress& progress, const NamedTensors& state) {
  Json words;
  AddFields<RunProgressLayout>(progress, &words);
  return folder.Save(progress.epochs, std::move(words), Arrays(state));
}

Result<RunProgress> RestoreRun(const RunFolder& folder, const NamedTensors& state,
                               const std::function<void(const std::string&)>& note) {
  RunProgress progress;
  const auto take = [&](const std::string& path, const Json& words) -> Status {
    RunProgress found;
    found.precision = Precision::kFloat32;
    RESMEM_RETURN_IF_ERROR(ReadFields<RunProgressLayout>(words, path, &found));
    progress = found;
    return {};
  };
  RESMEM_RETURN_IF_ERROR(folder.Restore(take, Arrays(state), note));
  return progress;
}

}  // namespace resmem::train
