#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "console/interrupt.h"
#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

constexpr int64_t kWarmUp = 50, kMeasured = 1000;

double Now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

Json Summary(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    const auto last = static_cast<double>(seconds.size() - 1);
    return 1000 * seconds[static_cast<size_t>(std::lround(share * last))];
  };
  return {{"median_ms", at(0.5)}, {"p95_ms", at(0.95)}, {"runs", std::ssize(seconds)}};
}

// Seconds of work(i) for images i, after a few that do not count.
Result<Json> TimeEach(int64_t images, const std::function<Status(int64_t)>& work) {
  std::vector<double> seconds;
  for (int64_t i = 0; i < kWarmUp + kMeasured; ++i) {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    const double begin = Now();
    RESMEM_RETURN_IF_ERROR(work(i % images));
    if (i >= kWarmUp) seconds.push_back(Now() - begin);
  }
  return Summary(std::move(seconds));
}

Result<Json> TimeNetwork(const Workspace& workspace, const std::string& onnx) {
  RESMEM_ASSIGN_OR_RETURN(const OnnxModel model,
                          OnnxModel::Open(onnx, {1, workspace.options().runtime.library}));
  const int64_t images = std::min<int64_t>(workspace.test().size(), kMeasured);
  const int64_t bytes = workspace.test().shape().bytes();
  std::vector<uint8_t> pixels(static_cast<size_t>(images * bytes));
  RESMEM_RETURN_IF_ERROR(workspace.test().Read(0, images, pixels));
  std::vector<float> key(static_cast<size_t>(model.manifest().dim));
  std::vector<float> logits(static_cast<size_t>(model.manifest().classes));
  return TimeEach(images, [&](int64_t i) {
    const std::span<const uint8_t> all(pixels);
    return model.Run(all.subspan(static_cast<size_t>(i * bytes), static_cast<size_t>(bytes)), 1,
                     key, logits);
  });
}

}  // namespace

Result<Json> MeasureLatency(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  RESMEM_ASSIGN_OR_RETURN(
      const ResidualMemory memory,
      OpenMemory(workspace, base, base.name, base.train.Take(base.split.train)));
  Json result = {{"run", context.base},
                 {"memory_rows", memory.rows()},
                 {"dim", memory.description().dim},
                 {"parameters", ToJson(kPaperParameters)}};
  double load = 0;
  if (getloadavg(&load, 1) == 1) result["load_average"] = load;
  RESMEM_ASSIGN_OR_RETURN(result["network"], TimeNetwork(workspace, base.model));

  const Predictor predictor(memory);
  const Rows rows = base.test.view();
  PredictOptions options = predictor.DefaultOptions();
  options.parameters = kPaperParameters;
  options.threads = 1;
  Neighbors neighbors;
  std::vector<float> scores(static_cast<size_t>(base.test.classes));
  RESMEM_ASSIGN_OR_RETURN(
      result["knn_step"], TimeEach(rows.count(), [&](int64_t i) -> Status {
        RESMEM_RETURN_IF_ERROR(predictor.FindNeighbors(rows.keys.Slice(i, 1), kPaperParameters.k,
                                                       {}, 1, nullptr, &neighbors));
        return predictor.Score(rows.keys.Slice(i, 1), rows.logits.Slice(i, 1), neighbors, options,
                               scores);
      }));
  if (!context.ResultOf("short-resnet14-seed1").is_null()) {
    const std::string next = workspace.Path("runs", "short-resnet14-seed1") + "/last.onnx";
    RESMEM_ASSIGN_OR_RETURN(result["resnet14"], TimeNetwork(workspace, next));
  }
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
