#include "resmem/intervals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/guard.h"
#include "support/json_reader.h"
#include "support/text.h"

namespace resmem {
namespace {

using Output = IntervalFit::Output;

struct BlockAnswers {
  std::vector<float> answers;
  Neighbors neighbors;
};

// The weighted deviation of the residuals that each answer was made of, queries x outputs.
std::vector<double> DeviationsOf(const Predictor& predictor, const Neighbors& neighbors,
                                 const Parameters& parameters) {
  const ResidualMemory& memory = predictor.memory();
  const auto outputs = static_cast<size_t>(memory.description().outputs);
  const std::vector<float> weights = WeightsOf(neighbors, parameters);
  std::vector<double> deviations(static_cast<size_t>(neighbors.queries) * outputs);
  std::vector<float> residual(outputs);
  std::vector<double> sum(outputs), squares(outputs);
  for (int64_t q = 0; q < neighbors.queries; ++q) {
    std::ranges::fill(sum, 0.0);
    std::ranges::fill(squares, 0.0);
    const std::span<const int64_t> rows = neighbors.rows_of(q);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto weight = static_cast<double>(weights[static_cast<size_t>(q * neighbors.k) + i]);
      if (weight == 0 || rows[i] < 0) continue;
      memory.Residual(rows[i], memory.description().parameters.temperature, residual);
      for (size_t c = 0; c < outputs; ++c) {
        const auto value = static_cast<double>(residual[c]);
        sum[c] += weight * value;
        squares[c] += weight * value * value;
      }
    }
    for (size_t c = 0; c < outputs; ++c) {
      deviations[static_cast<size_t>(q) * outputs + c] =
          std::sqrt(std::max(0.0, squares[c] - sum[c] * sum[c]));
    }
  }
  return deviations;
}

// Calls `use` with each block and what the memory answers to it.
template <typename Use>
Status AnswerRows(const Predictor& predictor, const RowSource& rows, int threads, const Use& use) {
  PredictOptions options = predictor.DefaultOptions();
  options.threads = threads;
  const int64_t outputs = predictor.memory().description().outputs;
  BlockAnswers made;
  return rows.Read([&](int64_t, const Rows& block) -> Status {
    if (block.targets.columns != outputs || block.logits.columns != outputs) {
      return {ErrorCode::kBadData, Text("intervals need targets and predictions of ", outputs,
                                        " columns, as the memory has")};
    }
    RESMEM_RETURN_IF_ERROR(predictor.FindNeighbors(block.keys, options.parameters.k, {}, threads,
                                                   nullptr, &made.neighbors));
    made.answers.resize(static_cast<size_t>(block.count() * outputs));
    RESMEM_RETURN_IF_ERROR(
        predictor.Score(block.keys, block.logits, made.neighbors, options, made.answers));
    return use(block, made);
  });
}

Status CheckRegression(const MemoryDescription& description) {
  if (description.task != Task::kRegression) {
    return {ErrorCode::kUnsupported,
            "intervals are for regressions; a classification has probabilities"};
  }
  if (description.outputs <= kMostIntervalOutputs) return {};
  return {ErrorCode::kUnsupported, Text("intervals of ", description.outputs,
                                        " outputs are too many, at most ", kMostIntervalOutputs)};
}

// Ascending, and at most kMostIntervalScores of them: ranks that are not kept count as the next.
std::vector<float> Ranks(std::vector<float> values) {
  std::ranges::sort(values);
  const auto count = std::ssize(values);
  if (count <= kMostIntervalScores) return values;
  std::vector<float> kept;
  for (int64_t i = 1; i <= kMostIntervalScores; ++i) {
    const int64_t rank = (i * count + kMostIntervalScores - 1) / kMostIntervalScores;
    kept.push_back(values[static_cast<size_t>(rank - 1)]);
  }
  return kept;
}

// The smallest kept value of rank `rank` or above, of `rows` values in all.
float ValueOfRank(const std::vector<float>& kept, int64_t rank, int64_t rows) {
  const auto count = std::ssize(kept);
  const int64_t at = (rank * count + rows - 1) / rows;
  return kept[static_cast<size_t>(std::clamp<int64_t>(at, 1, count) - 1)];
}

// Of a conformal interval: 0 where there are too few rows.
int64_t RankFor(double share, int64_t rows) {
  const auto rank = static_cast<int64_t>(std::ceil(share * static_cast<double>(rows + 1) - 1e-9));
  return rank <= rows ? std::max<int64_t>(rank, 1) : 0;
}

double Pinball(double value, double end, double level) {
  return value >= end ? level * (value - end) : (1 - level) * (end - value);
}

struct Ends {
  double low, high;

  bool Hold(double value) const { return low <= value && value <= high; }
  double Loss(double value, double share) const {
    return (Pinball(value, low, (1 - share) / 2) + Pinball(value, high, (1 + share) / 2)) / 2;
  }
};

bool ReadFloats(const Json& json, const char* field, std::vector<float>* out) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_array() || found->empty() ||
      std::ssize(*found) > kMostIntervalScores) {
    return false;
  }
  for (const Json& value : *found) {
    if (!value.is_number()) return false;
    out->push_back(value.get<float>());
    if (!std::isfinite(out->back()) || out->back() < 0) return false;
  }
  return std::ranges::is_sorted(*out);
}

bool ReadFit(const Json& json, int64_t outputs, IntervalFit* fit) {
  const auto number = [&](const char* field) {
    const auto found = json.find(field);
    return found != json.end() && found->is_number() ? found->get<double>() : -1.0;
  };
  if (!json.is_object() || !(number("rows") >= 1) || number("rows") > 1e15) return false;
  fit->rows = static_cast<int64_t>(number("rows"));
  const auto all = json.find("outputs");
  if (all == json.end() || !all->is_array() || std::ssize(*all) != outputs) return false;
  for (const Json& one : *all) {
    Output& output = fit->outputs.emplace_back();
    if (!one.is_object() || !one.contains("constant") || !one["constant"].is_number() ||
        !ReadFloats(one, "scores", &output.scores) ||
        !ReadFloats(one, "base_misses", &output.base_misses)) {
      return false;
    }
    output.constant = one["constant"].get<float>();
    if (!(output.constant > 0) || !std::isfinite(output.constant)) return false;
  }
  return true;
}

// What answers depend on.
std::string AnswerText(Method method, const Parameters& parameters) {
  return Text(MethodName(method), " ", parameters.k, " ", parameters.sigma);
}

}  // namespace

Result<IntervalFit> FitIntervals(const Predictor& predictor, const RowSource& rows,
                                 int threads) try {
  const MemoryDescription& description = predictor.memory().description();
  RESMEM_RETURN_IF_ERROR(CheckRegression(description));
  const auto outputs = static_cast<size_t>(description.outputs);
  std::vector<std::vector<double>> misses(outputs), deviations(outputs);
  std::vector<std::vector<float>> base_misses(outputs);
  int64_t trained = 0;
  RESMEM_RETURN_IF_ERROR(AnswerRows(
      predictor, rows, threads, [&](const Rows& block, const BlockAnswers& made) -> Status {
        trained += std::ranges::count(block.roles, Role::kTrain);
        const std::vector<double> of_block =
            DeviationsOf(predictor, made.neighbors, predictor.DefaultOptions().parameters);
        for (int64_t row = 0; row < block.count(); ++row) {
          for (size_t c = 0; c < outputs; ++c) {
            const size_t at = static_cast<size_t>(row) * outputs + c;
            const auto target = static_cast<double>(block.targets.row(row)[c]);
            misses[c].push_back(std::abs(target - static_cast<double>(made.answers[at])));
            deviations[c].push_back(of_block[at]);
            base_misses[c].push_back(static_cast<float>(
                std::abs(target - static_cast<double>(block.logits.row(row)[c]))));
          }
        }
        return {};
      }));
  if (trained > 0) {
    return Status(
        ErrorCode::kInvalidArgument,
        Text(trained, " rows are marked train; intervals need rows that neither the base ",
             "nor the memory has seen"));
  }
  IntervalFit fit;
  fit.rows = std::ssize(misses[0]);
  if (fit.rows == 0) return Status(ErrorCode::kInvalidArgument, "no rows to fit intervals on");
  const PredictOptions options = predictor.DefaultOptions();
  fit.method = options.method;
  fit.parameters = options.parameters;
  for (size_t c = 0; c < outputs; ++c) {
    double sum = 0;
    for (const double deviation : deviations[c]) sum += deviation;
    Output output;
    // Where all residuals are equal, any constant gives intervals of one width.
    output.constant = std::max(static_cast<float>(sum / static_cast<double>(fit.rows)), 1e-30f);
    // Rounded up by a little, so that the row that a score comes from is within its interval.
    constexpr double kUp = 1 + 1e-6;
    std::vector<float> scores;
    for (size_t i = 0; i < misses[c].size(); ++i) {
      scores.push_back(static_cast<float>(
          kUp * misses[c][i] / (deviations[c][i] + static_cast<double>(output.constant))));
    }
    output.scores = Ranks(std::move(scores));
    output.base_misses = Ranks(std::move(base_misses[c]));
    fit.outputs.push_back(std::move(output));
  }
  return fit;
} catch (...) {
  return CaughtException("fit intervals");
}

std::string IntervalFitText(const IntervalFit& fit) {
  Json json = {{"rows", fit.rows}, {"answer", AnswerText(fit.method, fit.parameters)}};
  json["outputs"] = Json::array();
  for (const Output& output : fit.outputs) {
    json["outputs"].push_back({{"constant", output.constant},
                               {"scores", output.scores},
                               {"base_misses", output.base_misses}});
  }
  return json.dump();
}

Result<IntervalFit> IntervalsOf(const ResidualMemory& memory, const std::string& name) try {
  const MemoryDescription& description = memory.description();
  RESMEM_RETURN_IF_ERROR(CheckRegression(description));
  const auto note = description.notes.find(kIntervalsNote);
  if (note == description.notes.end()) {
    return Status(
        ErrorCode::kNotFound,
        Text(name, ": has no intervals; fit them on held-out rows with: resmem intervals"));
  }
  IntervalFit fit;
  const Result<Json> json = ReadJson(note->second, {.levels = 5});
  if (!json.ok() || !ReadFit(*json, description.outputs, &fit)) {
    return Status(ErrorCode::kCorrupt, Text(name, ": its note \"", kIntervalsNote,
                                            "\" is damaged; fit the intervals again"));
  }
  const PredictOptions options = Predictor(memory).DefaultOptions();
  fit.method = options.method;
  fit.parameters = options.parameters;
  const auto answer = json->find("answer");
  if (answer == json->end() || !answer->is_string() ||
      answer->get<std::string>() != AnswerText(fit.method, fit.parameters)) {
    return Status(ErrorCode::kMismatch,
                  Text(name, ": its answer was changed since its intervals were fitted; fit them ",
                       "again with: resmem intervals"));
  }
  return fit;
} catch (...) {
  return CaughtException("read the intervals");
}

Result<std::vector<float>> IntervalFactors(const IntervalFit& fit, double share) {
  if (!(share > 0 && share < 1)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("an interval of the share ", share, ": give one above 0 and below 1"));
  }
  const int64_t rank = RankFor(share, fit.rows);
  if (rank == 0) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("an interval of the share ", share, " cannot be told from ", fit.rows,
                       " held-out rows; give at least ", std::ceil(share / (1 - share) - 1e-9)));
  }
  std::vector<float> factors;
  for (const Output& output : fit.outputs) {
    factors.push_back(ValueOfRank(output.scores, rank, fit.rows));
  }
  return factors;
}

std::vector<float> HalfWidths(const Predictor& predictor, const IntervalFit& fit,
                              std::span<const float> factors, const Neighbors& neighbors) {
  const std::vector<double> deviations = DeviationsOf(predictor, neighbors, fit.parameters);
  std::vector<float> widths;
  widths.reserve(deviations.size());
  for (size_t i = 0; i < deviations.size(); ++i) {
    const size_t c = i % fit.outputs.size();
    widths.push_back(
        static_cast<float>(static_cast<double>(factors[c]) *
                           (deviations[i] + static_cast<double>(fit.outputs[c].constant))));
  }
  return widths;
}

Result<IntervalJudge> IntervalJudge::Make(const Predictor& predictor, IntervalFit fit,
                                          std::span<const double> shares) {
  IntervalJudge judge(predictor, std::move(fit));
  for (const double share : shares) {
    RESMEM_ASSIGN_OR_RETURN(judge.factors_.emplace_back(), IntervalFactors(judge.fit_, share));
    judge.sums_.emplace_back().share = share;
  }
  return judge;
}

void IntervalJudge::Add(const Rows& rows, std::span<const float> answers,
                        const Neighbors& neighbors) {
  const std::vector<double> deviations = DeviationsOf(*predictor_, neighbors, fit_.parameters);
  const size_t outputs = fit_.outputs.size();
  for (size_t s = 0; s < sums_.size(); ++s) {
    IntervalJudgment& sum = sums_[s];
    const int64_t rank = RankFor(sum.share, fit_.rows);
    for (size_t at = 0; at < answers.size(); ++at) {
      const Output& output = fit_.outputs[at % outputs];
      const auto row = static_cast<int64_t>(at / outputs);
      const auto target = static_cast<double>(rows.targets.row(row)[at % outputs]);
      const auto base = static_cast<double>(rows.logits.row(row)[at % outputs]);
      const auto answer = static_cast<double>(answers[at]);
      const double half = static_cast<double>(factors_[s][at % outputs]) *
                          (deviations[at] + static_cast<double>(output.constant));
      const auto base_half = static_cast<double>(ValueOfRank(output.base_misses, rank, fit_.rows));
      const Ends ours{answer - half, answer + half}, bases{base - base_half, base + base_half};
      ++sum.values;
      sum.covered += ours.Hold(target);
      sum.base_covered += bases.Hold(target);
      sum.width += 2 * half;
      sum.base_width += 2 * base_half;
      sum.pinball += ours.Loss(target, sum.share);
      sum.base_pinball += bases.Loss(target, sum.share);
    }
  }
}

std::vector<IntervalJudgment> IntervalJudge::Finish() const {
  std::vector<IntervalJudgment> means = sums_;
  for (IntervalJudgment& mean : means) {
    const auto values = static_cast<double>(std::max<int64_t>(mean.values, 1));
    for (double* const sum : {&mean.width, &mean.base_width, &mean.pinball, &mean.base_pinball}) {
      *sum /= values;
    }
  }
  return means;
}

Result<std::vector<IntervalJudgment>> JudgeIntervals(const Predictor& predictor,
                                                     const IntervalFit& fit, const RowSource& rows,
                                                     std::span<const double> shares,
                                                     int threads) try {
  RESMEM_ASSIGN_OR_RETURN(IntervalJudge judge, IntervalJudge::Make(predictor, fit, shares));
  RESMEM_RETURN_IF_ERROR(
      AnswerRows(predictor, rows, threads, [&](const Rows& block, const BlockAnswers& made) {
        judge.Add(block, made.answers, made.neighbors);
        return Status();
      }));
  return judge.Finish();
} catch (...) {
  return CaughtException("judge intervals");
}

}  // namespace resmem
