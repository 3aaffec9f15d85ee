#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "kernels/amx.h"
#include "recipe/train_recipe.h"
#include "resmem/models/onnx_model.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/parallel.h"
#include "support/text.h"
#include "train/batches.h"
#include "train/environment.h"
#include "train/epoch_json.h"
#include "train/networks/network.h"
#include "train/optimizer.h"
#include "train/run_state.h"
#include "train/schedule.h"
#include "train/training_data.h"

namespace resmem::train {
namespace {

constexpr int64_t kEvaluationBatch = 250;

double Now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class Trainer {
 public:
  Trainer(const std::string& folder, const TrainObserver& observer)
      : folder_(folder, kTrainRun), observer_(observer) {}
  Status Run();

 private:
  Status Prepare();
  // As the recipe asks, or as the run was begun; the network is set to it.
  Result<Precision> ChoosePrecision(Precision begun);
  // One pass over the training rows; fills loss, accuracy, rate and speed.
  Status LearnEpoch(int64_t epoch, EpochReport* report);
  Result<double> Accuracy(const TrainingData& data, const std::vector<int64_t>& rows);
  Status Export(const std::string& name);
  NamedTensors State();

  RunFolder folder_;
  const TrainObserver& observer_;
  TrainRecipe recipe_;
  int threads_ = 1;
  TrainingData data_, test_;
  std::vector<int64_t> test_rows_;
  TrainSplit split_;
  Normalization normalization_;
  std::optional<BatchMaker> batches_;
  int64_t classes_ = 0;
  std::shared_ptr<Network> network_;
  std::optional<Optimizer> optimizer_;
  torch::Device device_ = torch::kCPU;
};

Status Trainer::Prepare() {
  RESMEM_ASSIGN_OR_RETURN(recipe_, ReadTrainRecipe(folder_.File("recipe.json")));
  threads_ = ResolveThreads(static_cast<int>(recipe_.threads));
  RESMEM_ASSIGN_OR_RETURN(data_, LoadTrainingData(recipe_, recipe_.part));
  RESMEM_ASSIGN_OR_RETURN(split_, DrawTrainSplit(recipe_, data_.labels));
  classes_ = std::max<int64_t>(*std::max_element(data_.labels.begin(), data_.labels.end()) + 1,
                               std::ssize(data_.class_names));
  if (!recipe_.test_part.empty()) {
    RESMEM_ASSIGN_OR_RETURN(test_, LoadTrainingData(recipe_, recipe_.test_part, &data_));
    const int64_t largest = *std::max_element(test_.labels.begin(), test_.labels.end());
    if (largest >= classes_) {
      return Status(ErrorCode::kBadData,
                    Text("the test images have label ", largest, ", but the training images ",
                         "have the classes 0 to ", classes_ - 1));
    }
    test_rows_.resize(static_cast<size_t>(test_.rows()));
    std::iota(test_rows_.begin(), test_rows_.end(), 0);
  }
  RESMEM_ASSIGN_OR_RETURN(normalization_, MeasureNormalization(data_, split_.train));
  batches_.emplace(data_, normalization_, threads_);
  if (torch::cuda::is_available()) device_ = torch::kCUDA;
  torch::manual_seed(recipe_.seed);
  RESMEM_ASSIGN_OR_RETURN(network_, MakeNetwork(recipe_.network, data_.shape, classes_));
  network_->to(device_);
  optimizer_.emplace(network_->parameters(), recipe_.momentum, recipe_.nesterov,
                     recipe_.weight_decay);
  return {};
}

Result<Precision> Trainer::ChoosePrecision(Precision begun) {
  const Precision wanted = begun == Precision::kAuto ? recipe_.precision : begun;
  if (recipe_.precision != Precision::kAuto && wanted != recipe_.precision) {
    return Status(ErrorCode::kMismatch,
                  Text("the recipe asks for ", NameOf(recipe_.precision),
                       ", but the checkpoints of this folder were trained in ", NameOf(wanted),
                       "; train into a new folder"));
  }
  const bool tiles = wanted != Precision::kFloat32 && device_.is_cpu() && AmxActive() &&
                     network_->UseTiles(threads_);
  if (wanted == Precision::kBfloat16 && !tiles) {
    return Status(
        ErrorCode::kUnsupported,
        Text(begun == Precision::kAuto ? "precision bfloat16 is asked for"
                                       : "this run was begun in bfloat16",
             ", which needs a ResNet and a processor with AMX tiles that RESMEM_SIMD does "
             "not switch off; ",
             begun == Precision::kAuto ? "give --precision auto or float32"
                                       : "go on where there is one, or train into a new "
                                         "folder"));
  }
  // On tiles our own loops share the work; libtorch's sums would depend on the thread count.
  SetLibraryThreads(tiles ? 1 : threads_);
  return tiles ? Precision::kBfloat16 : Precision::kFloat32;
}

NamedTensors Trainer::State() {
  NamedTensors state;
  for (const auto& item : network_->named_parameters())
    state.emplace_back(item.key(), item.value());
  const size_t parameters = state.size();
  for (const auto& item : network_->named_buffers()) state.emplace_back(item.key(), item.value());
  for (size_t i = 0; i < parameters; ++i) {
    state.emplace_back("velocity of " + state[i].first, optimizer_->velocities()[i]);
  }
  return state;
}

Status Trainer::LearnEpoch(int64_t epoch, EpochReport* report) {
  network_->train();
  const std::vector<int64_t> order = ShuffledRows(split_.train, recipe_.seed, epoch);
  const int64_t rows = std::ssize(order);
  const int64_t steps = (rows + recipe_.batch - 1) / recipe_.batch;
  const BatchMaker::Augmentation augmentation{recipe_.crop_padding, recipe_.flip, recipe_.seed,
                                              epoch};
  double losses = 0;
  int64_t right = 0;
  const double begin = Now();
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t first = step * recipe_.batch;
    const std::span<const int64_t> chosen(
        order.data() + first, static_cast<size_t>(std::min(recipe_.batch, rows - first)));
    RESMEM_ASSIGN_OR_RETURN(torch::Tensor inputs, batches_->Inputs(chosen, augmentation));
    const torch::Tensor labels = batches_->Labels(chosen).to(device_);
    optimizer_->ZeroGradients();
    const torch::Tensor logits = network_->Forward(inputs.to(device_)).logits;
    const torch::Tensor loss = torch::cross_entropy_loss(
        logits, labels, {}, torch::Reduction::Mean, /*ignore_index=*/-100, recipe_.label_smoothing);
    const double value = loss.item<double>();
    if (!std::isfinite(value)) {
      return Status(ErrorCode::kBadData,
                    Text("the loss is ", value, " in epoch ", epoch + 1, ", step ", step + 1,
                         ": training diverged. The checkpoint before this epoch is kept; train "
                         "again with a smaller --peak-rate (it was ",
                         recipe_.peak_rate, ")"));
    }
    loss.backward();
    report->rate = RateAt(recipe_, epoch * steps + step, steps);
    optimizer_->Step(report->rate);
    losses += value * static_cast<double>(chosen.size());
    right += logits.detach().argmax(1).eq(labels).sum().item<int64_t>();
    if (!observer_.step(epoch, step + 1, steps, value)) {
      return Status(ErrorCode::kCancelled,
                    Text("stopped in epoch ", epoch + 1,
                         "; the same command goes on from the last checkpoint"));
    }
  }
  report->loss = losses / static_cast<double>(rows);
  report->train_accuracy = static_cast<double>(right) / static_cast<double>(rows);
  report->rows_per_second = static_cast<double>(rows) / (Now() - begin);
  return {};
}

Result<double> Trainer::Accuracy(const TrainingData& data, const std::vector<int64_t>& rows) {
  network_->eval();
  const BatchMaker batches(data, normalization_);
  const auto right_of = [&](std::span<const int64_t> chosen) -> Result<int64_t> {
    torch::NoGradGuard no_gradient;  // a thread's own
    RESMEM_ASSIGN_OR_RETURN(torch::Tensor inputs, batches.Inputs(chosen, {}));
    const torch::Tensor logits = network_->Forward(inputs.to(device_)).logits;
    return logits.argmax(1).cpu().eq(batches.Labels(chosen)).sum().item<int64_t>();
  };
  // Either batches run side by side or libtorch shares out the work of one.
  const int side_by_side = at::get_num_threads() == 1 ? threads_ : 1;
  const int64_t count = std::ssize(rows);
  std::vector<Result<int64_t>> right(
      static_cast<size_t>((count + kEvaluationBatch - 1) / kEvaluationBatch), int64_t{0});
  ParallelFor(side_by_side, count, kEvaluationBatch, [&](int64_t begin, int64_t end, int) {
    right[static_cast<size_t>(begin / kEvaluationBatch)] = right_of(
        std::span(rows).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  });
  int64_t sum = 0;
  for (const Result<int64_t>& one : right) {
    RESMEM_RETURN_IF_ERROR(one.status());
    sum += *one;
  }
  return static_cast<double>(sum) / static_cast<double>(count);
}

Status Trainer::Export(const std::string& name) {
  OnnxGraph graph;
  ModelManifest manifest;
  if (data_.table()) {
    manifest.columns = data_.shape.channels;
    const auto mean = torch::tensor(normalization_.mean, torch::kDouble);
    const auto scale = 1.0 / torch::tensor(normalization_.deviation, torch::kDouble);
    const std::string input = graph.Input(kInputName, {data_.shape.channels});
    network_->Export(graph, graph.ScaleShift(input, scale, -mean * scale));
  } else {
    manifest.channels = data_.shape.channels;
    manifest.height = data_.shape.height;
    manifest.width = data_.shape.width;
    manifest.mean = normalization_.mean;
    manifest.deviation = normalization_.deviation;
    network_->Export(graph, graph.Input(kInputName, {data_.shape.channels, data_.shape.height,
                                                     data_.shape.width}));
  }
  manifest.input = kInputName;
  manifest.embedding = kEmbeddingName;
  manifest.logits = kLogitsName;
  manifest.dim = network_->dim();
  manifest.classes = classes_;
  if (std::ssize(data_.class_names) == classes_) manifest.class_names = data_.class_names;
  manifest.network = recipe_.network;
  const std::string path = folder_.File(name + ".onnx");
  RESMEM_RETURN_IF_ERROR(graph.Write(path));
  return WriteModelManifest(path, manifest);
}

Status Trainer::Run() {
  RESMEM_RETURN_IF_ERROR(Prepare());
  const NamedTensors state = State();
  RESMEM_ASSIGN_OR_RETURN(RunProgress progress, RestoreRun(folder_, state, observer_.note));
  RESMEM_ASSIGN_OR_RETURN(progress.precision, ChoosePrecision(progress.precision));
  RESMEM_RETURN_IF_ERROR(WriteSplit(folder_.File("split.npy"), split_, data_.rows()));
  RESMEM_RETURN_IF_ERROR(folder_.CutLog(progress.epochs));
  observer_.note(
      Text(recipe_.network, ": ", network_->ParameterCount(), " parameters, ", split_.train.size(),
           " rows to learn from, ", split_.validation.size(), " held out, ", classes_, " classes, ",
           NameOf(progress.precision), " products",
           progress.epochs > 0 ? Text("; resumed after epoch ", progress.epochs) : std::string()));
  while (progress.epochs < recipe_.epochs) {
    EpochReport report;
    report.epochs = recipe_.epochs;
    report.precision = progress.precision;
    const double begin = Now();
    RESMEM_RETURN_IF_ERROR(LearnEpoch(progress.epochs, &report));
    report.epoch = ++progress.epochs;
    const bool kept =
        std::binary_search(recipe_.keep_epochs.begin(), recipe_.keep_epochs.end(), progress.epochs);
    const bool last = progress.epochs == recipe_.epochs;
    if (last || kept || progress.epochs % recipe_.evaluate_every == 0) {
      if (!split_.validation.empty()) {
        RESMEM_ASSIGN_OR_RETURN(report.validation_accuracy, Accuracy(data_, split_.validation));
      }
      if (!test_rows_.empty()) {
        RESMEM_ASSIGN_OR_RETURN(report.test_accuracy, Accuracy(test_, test_rows_));
      }
      RESMEM_RETURN_IF_ERROR(Export("last"));
    }
    if (report.validation_accuracy > progress.best_accuracy) {
      progress.best_accuracy = report.validation_accuracy;
      progress.best_epoch = progress.epochs;
      RESMEM_RETURN_IF_ERROR(Export("best"));
    }
    if (kept) RESMEM_RETURN_IF_ERROR(Export(folder_.Numbered("epoch-", progress.epochs)));
    progress.seconds += Now() - begin;
    report.seconds = progress.seconds;
    RESMEM_RETURN_IF_ERROR(folder_.Log(EpochJson(report)));
    RESMEM_RETURN_IF_ERROR(SaveRun(folder_, progress, state));
    observer_.epoch(report);
  }
  return {};
}

}  // namespace

Status Train(const std::string& folder, const TrainObserver& observer) try {
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<FileLock> lock, LockRun(folder));
  return Trainer(folder, observer).Run();
} catch (...) {
  return CaughtException("train");
}

}  // namespace resmem::train
