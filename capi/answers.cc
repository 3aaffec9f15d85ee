// Predictions, neighbors and stored rows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "capi/handle.h"
#include "resmem/data/export.h"

using namespace resmem;        // NOLINT: this file is a border, with names of both sides
using namespace resmem::capi;  // NOLINT

namespace resmem::capi {
namespace {

// Queries, checked against the memory.
struct Queries {
  MatrixView keys, logits;
};

Result<Queries> ReadQueries(const State& state, const resmem_matrix* keys,
                            const resmem_matrix* logits) {
  if (keys == nullptr || logits == nullptr) return Invalid("keys or logits is NULL");
  Queries queries;
  RESMEM_ASSIGN_OR_RETURN(queries.keys, View(*keys, "keys"));
  RESMEM_ASSIGN_OR_RETURN(queries.logits, View(*logits, "logits"));
  const MemoryDescription& description = state.memory.description();
  if (queries.logits.rows != queries.keys.rows || queries.keys.columns != description.dim ||
      queries.logits.columns != description.outputs) {
    return Status(ErrorCode::kBadData,
                  "keys are " + std::to_string(queries.keys.rows) + " x " +
                      std::to_string(queries.keys.columns) + " and logits " +
                      std::to_string(queries.logits.rows) + " x " +
                      std::to_string(queries.logits.columns) + "; the memory wants as many rows " +
                      "of both, keys of " + std::to_string(description.dim) +
                      " columns and logits of " + std::to_string(description.outputs));
  }
  return queries;
}

Status CheckOutput(const resmem_output* output, int64_t rows, int64_t columns, const char* name) {
  if (output == nullptr) return {};
  if (output->rows == rows && output->columns == columns &&
      (output->data != nullptr || rows == 0)) {
    return {};
  }
  return Invalid(std::string(name) + ": is " + std::to_string(output->rows) + " x " +
                 std::to_string(output->columns) + " or NULL, " + std::to_string(rows) + " x " +
                 std::to_string(columns) + " floats are needed");
}

Status MakeProbabilities(const State& state, Method method, std::span<float> values) {
  const MemoryDescription& description = state.memory.description();
  if (method == Method::kNearestClassMean) {
    return {ErrorCode::kUnsupported, "nearest-class-mean has scores but no probabilities"};
  }
  if (method != Method::kResMem) return {};  // they are probabilities
  const auto outputs = static_cast<size_t>(description.outputs);
  for (size_t begin = 0; begin < values.size(); begin += outputs) {
    RESMEM_RETURN_IF_ERROR(ToProbabilities(description.calibrator,
                                           description.calibrator_temperature,
                                           values.subspan(begin, outputs)));
  }
  return {};
}

Status CheckRowNumbers(const State& state, const int64_t* rows, int64_t count) {
  if (count < 0 || (rows == nullptr && count > 0)) return Invalid("rows is NULL or negative");
  for (int64_t i = 0; i < count; ++i) {
    if (rows[i] >= 0 && rows[i] < state.memory.capacity()) continue;
    return Invalid("row " + std::to_string(rows[i]) + ": the memory has rows 0 to " +
                   std::to_string(state.memory.capacity() - 1));
  }
  return {};
}

void CopyRow(const ResidualMemory& memory, int64_t row, int64_t to,
             const resmem_row_arrays& arrays) {
  const auto dim = static_cast<size_t>(memory.description().dim);
  const auto outputs = static_cast<size_t>(memory.description().outputs);
  const auto line = [&](float* array, size_t columns) {
    return std::span<float>(array + static_cast<size_t>(to) * columns, columns);
  };
  if (arrays.keys != nullptr) memory.DecodeKey(row, line(arrays.keys, dim));
  if (arrays.residuals != nullptr) {
    memory.Residual(row, memory.description().parameters.temperature,
                    line(arrays.residuals, outputs));
  }
  if (arrays.logits != nullptr) {
    std::ranges::copy(memory.logits(row), line(arrays.logits, outputs).begin());
  }
  if (arrays.targets != nullptr) {
    std::ranges::copy(memory.target(row), line(arrays.targets, outputs).begin());
  }
  if (arrays.labels != nullptr) arrays.labels[to] = memory.label(row);
  if (arrays.ids != nullptr) arrays.ids[to] = memory.id(row);
  if (arrays.deleted != nullptr) arrays.deleted[to] = memory.deleted(row) ? 1 : 0;
}

void InitRowArrays(resmem_row_arrays* arrays) {
  *arrays = {};
  arrays->size = sizeof(*arrays);
}

}  // namespace
}  // namespace resmem::capi

void resmem_predict_options_init(resmem_predict_options* options) {
  *options = {};
  options->size = sizeof(*options);
  options->k = -1;
  options->lambda = PredictOptions().lambda;
  options->unknown_rate = PredictOptions().unknown_rate;
}

int resmem_predict(resmem_memory* memory, const resmem_matrix* keys, const resmem_matrix* logits,
                   const resmem_predict_options* options, const resmem_output* scores,
                   const resmem_output* probabilities) {
  return Guarded([&]() -> Status {
    if (memory == nullptr) return Invalid("the memory is NULL");
    const auto state = CurrentState(memory);
    const MemoryDescription& description = state->memory.description();
    RESMEM_ASSIGN_OR_RETURN(const Queries queries, ReadQueries(*state, keys, logits));
    const int64_t rows = queries.keys.rows, outputs = description.outputs;
    RESMEM_RETURN_IF_ERROR(CheckOutput(scores, rows, outputs, "scores"));
    RESMEM_RETURN_IF_ERROR(CheckOutput(probabilities, rows, outputs, "probabilities"));
    const resmem_output* first = scores != nullptr ? scores : probabilities;
    if (first == nullptr) return Invalid("give scores or probabilities");
    if (probabilities != nullptr && description.task == Task::kRegression) {
      return Invalid("probabilities: a regression has none");
    }
    RESMEM_ASSIGN_OR_RETURN(PredictOptions predicting, ReadPredictOptions(*state, options));
    Watch watch(options != nullptr ? &options->watch : nullptr);
    predicting.progress = &watch;
    const std::span<float> values(first->data, static_cast<size_t>(rows * outputs));
    RESMEM_RETURN_IF_ERROR(
        state->predictor.Predict(queries.keys, queries.logits, predicting, values));
    if (probabilities == nullptr) return {};
    const std::span<float> target(probabilities->data, values.size());
    if (target.data() != values.data()) std::ranges::copy(values, target.begin());
    return MakeProbabilities(*state, predicting.method, target);
  });
}

int resmem_neighbors(resmem_memory* memory, const resmem_matrix* keys, int64_t k,
                     const int64_t* exclude, int32_t threads, const resmem_watch* watch,
                     int64_t* rows, float* distances, uint64_t* ids) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || keys == nullptr) return Invalid("the memory or keys is NULL");
    const auto state = CurrentState(memory);
    RESMEM_ASSIGN_OR_RETURN(const MatrixView view, View(*keys, "keys"));
    if (view.columns != state->memory.description().dim) {
      return {ErrorCode::kBadData,
              "keys have " + std::to_string(view.columns) + " columns, the memory has " +
                  std::to_string(state->memory.description().dim) + " dimensions"};
    }
    if (k < 1) return Invalid("k " + std::to_string(k) + ": give 1 or more neighbors");
    if (view.rows == 0) return {};
    if (rows == nullptr || distances == nullptr) return Invalid("rows or distances is NULL");
    Watch progress(watch);
    std::span<const int64_t> excluded;
    if (exclude != nullptr) excluded = {exclude, static_cast<size_t>(view.rows)};
    // More than there are would only take memory.
    const int64_t found = std::min(k, std::max<int64_t>(1, state->memory.capacity()));
    Neighbors neighbors;
    RESMEM_RETURN_IF_ERROR(
        state->predictor.FindNeighbors(view, found, excluded, threads, &progress, &neighbors));
    for (int64_t q = 0; q < view.rows; ++q) {
      for (int64_t i = 0; i < k; ++i) {
        const bool there = i < neighbors.k;
        const int64_t row = there ? neighbors.rows_of(q)[static_cast<size_t>(i)] : -1;
        rows[q * k + i] = row;
        distances[q * k + i] = row < 0 ? std::numeric_limits<float>::infinity()
                                       : neighbors.distances_of(q)[static_cast<size_t>(i)];
        if (ids != nullptr) ids[q * k + i] = row < 0 ? UINT64_MAX : state->memory.id(row);
      }
    }
    return {};
  });
}

int resmem_distance_percentiles(resmem_memory* memory, const resmem_matrix* keys, int32_t threads,
                                const resmem_watch* watch, float* percentiles) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || keys == nullptr) return Invalid("the memory or keys is NULL");
    const auto state = CurrentState(memory);
    RESMEM_ASSIGN_OR_RETURN(const MatrixView view, View(*keys, "keys"));
    if (percentiles == nullptr && view.rows > 0) return Invalid("percentiles is NULL");
    const MemoryDescription& description = state->memory.description();
    if (!description.blend.has_value()) {
      return {ErrorCode::kUnsupported,
              std::string("this memory answers by ") + MethodName(description.answer) +
                  " and does not know the distances of tuning rows: tune it on held-out rows; "
                  "where a blend is adopted it knows them"};
    }
    Watch progress(watch);
    Neighbors neighbors;
    RESMEM_RETURN_IF_ERROR(state->predictor.FindNeighbors(
        view, state->predictor.DistanceNeighbors(), {}, threads, &progress, &neighbors));
    return state->predictor.DistancePercentiles(view, neighbors, {}, threads,
                                                {percentiles, static_cast<size_t>(view.rows)});
  });
}

int resmem_weights(const float* distances, int64_t queries, int64_t k, float sigma,
                   float* weights) {
  return Guarded([&]() -> Status {
    if (queries < 0 || k < 0) return Invalid("queries or k is negative");
    if (!(sigma > 0)) return Invalid("sigma " + std::to_string(sigma) + ": give a value above 0");
    if (queries == 0 || k == 0) return {};
    if (distances == nullptr || weights == nullptr) return Invalid("distances or weights is NULL");
    Neighbors neighbors;
    neighbors.queries = queries;
    neighbors.k = k;
    neighbors.distances.assign(distances, distances + queries * k);
    for (const float distance : neighbors.distances) {
      neighbors.rows.push_back(std::isinf(distance) ? -1 : 0);
    }
    std::ranges::copy(WeightsOf(neighbors, {.k = k, .sigma = sigma}), weights);
    return {};
  });
}

int resmem_export(resmem_memory* memory, const char* path, const char* const* parts,
                  int64_t part_count, const resmem_watch* watch) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || path == nullptr) return Invalid("the memory or path is NULL");
    if (part_count < 0 || (part_count > 0 && parts == nullptr)) {
      return Invalid("parts is NULL or their number negative");
    }
    Watch progress(watch);
    ExportOptions options;
    options.parts.assign(parts, parts + part_count);
    options.progress = &progress;
    return ExportMemory(CurrentState(memory)->memory, path, options).status();
  });
}

int resmem_read_rows(resmem_memory* memory, const int64_t* rows, int64_t count,
                     const resmem_row_arrays* arrays) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || arrays == nullptr) return Invalid("the memory or arrays is NULL");
    const auto state = CurrentState(memory);
    const MemoryDescription& description = state->memory.description();
    RESMEM_ASSIGN_OR_RETURN(const resmem_row_arrays wanted, ReadOptions(arrays, InitRowArrays));
    RESMEM_RETURN_IF_ERROR(CheckRowNumbers(*state, rows, count));
    const bool regression = description.task == Task::kRegression;
    if (wanted.logits != nullptr && description.form != ResidualForm::kLogits) {
      return {ErrorCode::kUnsupported, "logits: the memory keeps residuals instead"};
    }
    if ((wanted.labels != nullptr && regression) || (wanted.targets != nullptr && !regression)) {
      return Invalid("labels are of a classification, targets of a regression");
    }
    for (int64_t i = 0; i < count; ++i) CopyRow(state->memory, rows[i], i, wanted);
    return state->memory.damage();
  });
}

int resmem_find_ids(resmem_memory* memory, const uint64_t* ids, int64_t count, int64_t* rows) {
  return Guarded([&]() -> Status {
    if (memory == nullptr) return Invalid("the memory is NULL");
    if (count < 0 || (count > 0 && (ids == nullptr || rows == nullptr))) {
      return Invalid("ids or rows is NULL or negative");
    }
    const auto state = CurrentState(memory);
    for (int64_t i = 0; i < count; ++i) {
      const std::optional<int64_t> row = state->memory.FindId(ids[i]);
      if (!row) {
        return {ErrorCode::kNotFound,
                memory->path + ": no living row has the id " + std::to_string(ids[i])};
      }
      rows[i] = *row;
    }
    return {};
  });
}

int resmem_explain(resmem_memory* memory, const resmem_matrix* key, const resmem_matrix* logits,
                   const resmem_predict_options* options, const uint64_t* without_id, char** json) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || json == nullptr) return Invalid("the memory or json is NULL");
    const auto state = CurrentState(memory);
    RESMEM_ASSIGN_OR_RETURN(const Queries query, ReadQueries(*state, key, logits));
    if (query.keys.rows != 1) {
      return Invalid("one row is explained at a time, not " + std::to_string(query.keys.rows));
    }
    RESMEM_ASSIGN_OR_RETURN(PredictOptions predicting, ReadPredictOptions(*state, options));
    int64_t exclude = -1;
    if (without_id != nullptr) {
      const int code = resmem_find_ids(memory, without_id, 1, &exclude);
      if (code != RESMEM_OK) return {static_cast<ErrorCode>(code), resmem_last_error()};
    }
    RESMEM_ASSIGN_OR_RETURN(const Explanation explanation,
                            Explain(state->predictor, query.keys.row_span(0),
                                    query.logits.row_span(0), predicting, exclude));
    return GiveText(ExplanationJson(explanation, state->memory.description().class_names,
                                    DescribeCall("explain", *memory, *state)),
                    json);
  });
}
