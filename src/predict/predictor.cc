#include "resmem/predictor.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/vector_math.h"
#include "memory/memory_parts.h"
#include "predict/blend.h"
#include "predict/class_means.h"
#include "predict/correction.h"
#include "predict/input_checks.h"
#include "support/guard.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

// Queries whose neighbors are held at once by Predict().
constexpr int64_t kBlockQueries = 4096;

Status CheckShapes(const MemoryDescription& description, MatrixView logits,
                   const Neighbors& neighbors, std::span<const float> scores) {
  if (logits.columns != description.outputs) {
    return {ErrorCode::kBadData,
            Text("the logits have ", logits.columns, " columns, but the memory has ",
                 description.outputs, " outputs; give the same model's logits")};
  }
  if (neighbors.queries != logits.rows) {
    return {ErrorCode::kInvalidArgument,
            Text("neighbors of ", neighbors.queries, " queries were given for ", logits.rows,
                 " rows of logits")};
  }
  if (static_cast<int64_t>(scores.size()) != logits.rows * logits.columns) {
    return {ErrorCode::kInvalidArgument, Text("room for ", scores.size(), " scores was given, ",
                                              logits.rows * logits.columns, " are needed")};
  }
  for (int64_t q = 0; q < logits.rows; ++q) {
    const Status status = CheckLogits(logits.row_span(q), q);
    if (!status.ok()) return status;
  }
  return {};
}

Status CheckOptions(const ResidualMemory& memory, const Neighbors& neighbors,
                    const PredictOptions& options) {
  const MemoryDescription& description = memory.description();
  RESMEM_RETURN_IF_ERROR(CheckParameters(options.parameters));
  if (options.method == Method::kKnnLm && !(options.lambda >= 0 && options.lambda <= 1)) {
    return {ErrorCode::kInvalidArgument,
            Text("lambda is ", options.lambda, "; it must lie in 0 .. 1")};
  }
  if (neighbors.k < std::min(options.parameters.k, memory.rows()) &&
      options.method != Method::kBase && options.method != Method::kNearestClassMean) {
    return {ErrorCode::kInvalidArgument, Text("k is ", options.parameters.k, ", but only ",
                                              neighbors.k, " neighbors a query were searched")};
  }
  if (NeedsBlend(options.method) && !description.blend) {
    return {ErrorCode::kInvalidArgument,
            Text("the method is ", MethodName(options.method),
                 ", but this memory has none: fit it on held-out rows with resmem tune")};
  }
  if (options.method != Method::kResMem && !NeedsBlend(options.method)) return {};
  return CheckFrozenTemperature(description, options.parameters.temperature);
}

// Scores one query after the other; each thread has its own.
class Scorer {
 public:
  Scorer(const ResidualMemory& memory, const PredictOptions& options)
      : options_(options),
        classify_(memory.description().task == Task::kClassification),
        correction_(memory),
        sum_(static_cast<size_t>(memory.description().outputs)) {
    if (!NeedsBlend(options.method)) return;
    blend_ = &*memory.description().blend;
    blend_row_.emplace(memory);
  }

  void Score(std::span<const float> logits, const Neighbors& neighbors, int64_t q,
             std::span<float> score) {
    if (options_.method == Method::kBase)
      return Base(logits, options_.parameters.temperature, score);
    if (NeedsBlend(options_.method)) return Blended(logits, neighbors, q, score);
    correction_.Weigh(neighbors.rows_of(q), neighbors.distances_of(q), options_.parameters);
    if (options_.method == Method::kResMem) {
      Base(logits, options_.parameters.temperature, score);
      return correction_.AddTo(options_.parameters.temperature, score);
    }
    const float scale = correction_.neighbors().scale;
    correction_.SumAnswers(sum_);
    if (options_.method == Method::kKnn) {
      for (size_t c = 0; c < score.size(); ++c) score[c] = sum_[c] * scale;
      return;
    }
    // Without neighbors there is nothing to mix in: the base alone.
    const float lambda = correction_.empty() ? 0.0f : options_.lambda;
    Base(logits, 1.0f, score);
    for (size_t c = 0; c < score.size(); ++c) {
      score[c] = (1.0f - lambda) * score[c] + lambda * (sum_[c] * scale);
    }
  }

 private:
  void Base(std::span<const float> logits, float temperature, std::span<float> score) const {
    if (classify_) {
      Softmax(logits.data(), static_cast<int64_t>(logits.size()), temperature, score.data());
    } else {
      std::copy(logits.begin(), logits.end(), score.begin());
    }
  }

  void Blended(std::span<const float> logits, const Neighbors& neighbors, int64_t q,
               std::span<float> score) {
    const Blend& blend = *blend_;
    if (classify_) {
      return blend_row_->Predict(blend, options_.parameters, logits, neighbors.rows_of(q),
                                 neighbors.distances_of(q), score);
    }
    blend_row_->LoadRegression(neighbors.rows_of(q), neighbors.distances_of(q),
                               options_.parameters);
    blend_row_->Answer(blend, logits, score);
  }

  const PredictOptions& options_;
  const bool classify_;
  const Blend* blend_ = nullptr;  // where the method is one
  std::optional<BlendRow> blend_row_;
  Correction correction_;
  std::vector<float> sum_;
};

}  // namespace

bool NeedsBlend(Method method) {
  return method == Method::kBlend || method == Method::kLogitBoost;
}

struct Predictor::Impl {
  explicit Impl(const ResidualMemory& memory_in) : memory(memory_in) {}

  // Made when first asked for: most users never do.
  Result<const ClassMeans*> Means() {
    std::lock_guard<std::mutex> lock(mutex);
    if (means == nullptr) {
      RESMEM_ASSIGN_OR_RETURN(means, ClassMeans::Make(memory));
    }
    return means.get();
  }

  const ResidualMemory& memory;
  std::mutex mutex;
  std::unique_ptr<ClassMeans> means;  // guarded by mutex; constant once set
};

Predictor::Predictor(const ResidualMemory& memory) : impl_(std::make_unique<Impl>(memory)) {}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;

const ResidualMemory& Predictor::memory() const {
  return impl_->memory;
}

PredictOptions Predictor::DefaultOptions() const {
  return OptionsOf(memory().description().answer);
}

PredictOptions Predictor::OptionsOf(Method method) const {
  const MemoryDescription& description = memory().description();
  PredictOptions options;
  options.method = method;
  options.parameters = description.parameters;
  if (NeedsBlend(method) && description.blend) options.parameters = description.blend->parameters;
  if (method == Method::kBase) {  // as it would answer without us
    options.parameters.k = 0;
    options.parameters.temperature = 1;
  }
  return options;
}

int64_t Predictor::DistanceNeighbors() const {
  const std::optional<Blend>& blend = memory().description().blend;
  return blend ? std::min(static_cast<int64_t>(kGuardNeighbor), blend->parameters.k) : 0;
}

float Predictor::DistancePercentile(const Neighbors& neighbors, int64_t q) const {
  const std::optional<Blend>& blend = memory().description().blend;
  if (!blend || neighbors.k == 0) return -1;
  if (neighbors.k < std::min(DistanceNeighbors(), memory().rows())) return -1;
  const size_t count = CountNeighbors(neighbors.rows_of(q), blend->parameters.k);
  if (count == 0) return -1;
  return PercentileOf(*blend, neighbors.distances_of(q)[std::min(kGuardNeighbor, count) - 1]);
}

Status Predictor::FindNeighbors(MatrixView keys, int64_t k, std::span<const int64_t> exclude,
                                int threads, Progress* progress, Neighbors* out) const try {
  if (k < 0) return {ErrorCode::kInvalidArgument, Text("k is ", k, "; it must be at least 0")};
  if (keys.columns != memory().description().dim) {
    return {ErrorCode::kBadData,
            Text("the keys have ", keys.columns, " columns, but the memory's keys have ",
                 memory().description().dim, "; give the same model's embeddings")};
  }
  if (k == 0 || memory().rows() == 0) {
    *out = Neighbors();
    out->queries = keys.rows;
    return {};
  }
  SearchOptions options;
  options.k = std::min(k, memory().rows());
  options.threads = threads;
  options.exclude = exclude;
  options.progress = progress;
  RESMEM_RETURN_IF_ERROR(memory().index().Search(keys, options, out));
  return MemoryParts::CheckFiles(memory());
} catch (...) {
  return CaughtException("find the neighbors");
}

Status Predictor::DistancePercentiles(MatrixView keys, const Neighbors& found,
                                      std::span<const int64_t> exclude, int threads,
                                      std::span<float> percentiles) const {
  if (static_cast<int64_t>(percentiles.size()) != keys.rows) {
    return {ErrorCode::kInvalidArgument,
            Text("room for ", percentiles.size(), " percentiles was given, ", keys.rows,
                 " are needed")};
  }
  const int64_t wanted = DistanceNeighbors();
  Neighbors searched;
  const bool enough = found.queries == keys.rows && found.k >= std::min(wanted, memory().rows());
  if (!enough) {
    RESMEM_RETURN_IF_ERROR(FindNeighbors(keys, wanted, exclude, threads, nullptr, &searched));
  }
  for (int64_t q = 0; q < keys.rows; ++q) {
    percentiles[static_cast<size_t>(q)] = DistancePercentile(enough ? found : searched, q);
  }
  return {};
}

bool IsUnknown(float percentile, double rate) {
  return percentile < 0 || percentile >= static_cast<float>(100 * (1 - rate));
}

Status CheckUnknownRate(double rate) {
  if (rate >= 0 && rate <= 1) return {};
  return {ErrorCode::kInvalidArgument,
          Text("the unknown rate is ", rate, "; give a share, 0 to 1")};
}

Status Predictor::Score(MatrixView keys, MatrixView logits, const Neighbors& neighbors,
                        const PredictOptions& options, std::span<float> scores) const try {
  const MemoryDescription& description = memory().description();
  RESMEM_RETURN_IF_ERROR(CheckShapes(description, logits, neighbors, scores));
  RESMEM_RETURN_IF_ERROR(CheckOptions(memory(), neighbors, options));
  if (options.method == Method::kNearestClassMean) {
    if (description.task != Task::kClassification) {
      return {ErrorCode::kUnsupported,
              "nearest class mean needs classes; this memory is for regression"};
    }
    if (keys.rows != logits.rows || keys.columns != description.dim) {
      return {ErrorCode::kBadData, Text("the keys are ", keys.rows, " x ", keys.columns, ", but ",
                                        logits.rows, " x ", description.dim, " are needed")};
    }
    RESMEM_ASSIGN_OR_RETURN(const ClassMeans* means, impl_->Means());
    RESMEM_RETURN_IF_ERROR(means->Score(keys, options.threads, scores));
    return MemoryParts::CheckFiles(memory());
  }
  const int threads = ResolveThreads(options.threads);
  std::vector<Scorer> scorers(static_cast<size_t>(threads), Scorer(memory(), options));
  const auto outputs = static_cast<size_t>(description.outputs);
  ParallelFor(threads, logits.rows, 16, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t q = begin; q < end; ++q) {
      scorers[static_cast<size_t>(worker)].Score(
          logits.row_span(q), neighbors, q,
          scores.subspan(static_cast<size_t>(q) * outputs, outputs));
    }
  });
  return MemoryParts::CheckFiles(memory());
} catch (...) {
  return CaughtException("score the queries");
}

Status Predictor::Predict(MatrixView keys, MatrixView logits, const PredictOptions& options,
                          std::span<float> scores) const try {
  if (keys.rows != logits.rows) {
    return {ErrorCode::kBadData, Text("there are ", keys.rows, " rows of keys but ", logits.rows,
                                      " rows of logits; they must belong together")};
  }
  RESMEM_RETURN_IF_ERROR(CheckParameters(options.parameters));
  const int64_t outputs = memory().description().outputs;
  Neighbors neighbors;
  for (int64_t begin = 0; begin < keys.rows; begin += kBlockQueries) {
    const int64_t count = std::min(kBlockQueries, keys.rows - begin);
    const MatrixView block = keys.Slice(begin, count);
    RESMEM_RETURN_IF_ERROR(
        FindNeighbors(block, options.parameters.k, {}, options.threads, nullptr, &neighbors));
    if (static_cast<int64_t>(scores.size()) < (begin + count) * outputs) {
      return {ErrorCode::kInvalidArgument, Text("room for ", scores.size(), " scores was given, ",
                                                keys.rows * outputs, " are needed")};
    }
    RESMEM_RETURN_IF_ERROR(Score(block, logits.Slice(begin, count), neighbors, options,
                                 scores.subspan(static_cast<size_t>(begin * outputs),
                                                static_cast<size_t>(count * outputs))));
    if (options.progress != nullptr) {
      options.progress->Report("predict", begin + count, keys.rows);
      if (options.progress->Cancelled()) return {ErrorCode::kCancelled, "stopped while predicting"};
    }
  }
  return {};
} catch (...) {
  return CaughtException("predict");
}

int64_t ArgMax(std::span<const float> scores) {
  return ArgMax(scores.data(), static_cast<int64_t>(scores.size()));
}

}  // namespace resmem
