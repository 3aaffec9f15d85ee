#include "base_model/base_model.h"

#include <numeric>

#include "base_model/model_file.h"
#include "base_model/network.h"
#include "base_model/trainer.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

std::vector<int64_t> AllRows(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

struct BaseModel::Impl {
  Network network;
};

BaseModel::BaseModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BaseModel::BaseModel(BaseModel&&) noexcept = default;
BaseModel& BaseModel::operator=(BaseModel&&) noexcept = default;
BaseModel::~BaseModel() = default;

Result<BaseModel> BaseModel::Train(MatrixView inputs, std::span<const int32_t> labels,
                                   int64_t classes, const BaseModelOptions& options) try {
  RESMEM_RETURN_IF_ERROR(CheckTraining(inputs, labels, classes, options));
  RESMEM_ASSIGN_OR_RETURN(Network network, TrainNetwork(inputs, labels, classes,
                                                        AllRows(inputs.rows), options, "training"));
  return BaseModel(std::make_unique<Impl>(Impl{std::move(network)}));
} catch (...) {
  return CaughtException("train the model");
}

int64_t BaseModel::inputs() const {
  return impl_->network.inputs();
}
int64_t BaseModel::dim() const {
  return impl_->network.key_dim();
}
int64_t BaseModel::classes() const {
  return impl_->network.classes();
}

int64_t BaseModel::parameters() const {
  int64_t count = 0;
  for (const Layer& layer : impl_->network.layers) count += (layer.inputs + 1) * layer.outputs;
  return count;
}

Status BaseModel::Run(MatrixView inputs, int threads, std::span<float> keys,
                      std::span<float> logits) const try {
  const Network& network = impl_->network;
  if (inputs.columns != network.inputs()) {
    return Status(ErrorCode::kMismatch,
                  Text("inputs have ", inputs.columns, " columns, but the model takes ",
                       network.inputs(), "; give it rows like those it was trained on"));
  }
  const auto right_size = [&](std::span<float> out, int64_t columns) {
    return out.empty() || static_cast<int64_t>(out.size()) == inputs.rows * columns;
  };
  if (!right_size(keys, network.key_dim()) || !right_size(logits, network.classes())) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("room for ", keys.size(), " key values and ", logits.size(),
                       " logits was given, but ", inputs.rows, " rows need ",
                       inputs.rows * network.key_dim(), " and ", inputs.rows * network.classes()));
  }
  RESMEM_RETURN_IF_ERROR(CheckInputsFinite(inputs, threads));
  RunNetwork(network, inputs, AllRows(inputs.rows), threads, keys, logits);
  return Status();
} catch (...) {
  return CaughtException("run the model");
}

Status BaseModel::Save(const std::string& path) const try {
  return SaveNetwork(impl_->network, path);
} catch (...) {
  return CaughtException("save the model");
}

Result<BaseModel> BaseModel::Load(const std::string& path) try {
  RESMEM_ASSIGN_OR_RETURN(Network network, LoadNetwork(path));
  return BaseModel(std::make_unique<Impl>(Impl{std::move(network)}));
} catch (...) {
  return CaughtException("load the model");
}

}  // namespace resmem
