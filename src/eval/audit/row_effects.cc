// What each row of a memory does to the answers of held-out rows, by computing them without it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "eval/answers/row_block.h"
#include "resmem/audit.h"
#include "support/guard.h"

namespace resmem {
namespace {

constexpr double kLeastProbability = 0x1p-23;  // as in Calibration
constexpr int64_t kQueriesAtOnce = 64;

// Of one answer.
struct Loss {
  double value = 0;
  bool right = false;
};

class HarmMeter {
 public:
  HarmMeter(const Predictor& predictor, const AuditOptions& options)
      : predictor_(predictor), description_(predictor.memory().description()) {
    answer_ = predictor.DefaultOptions();
    if (answer_.method == Method::kBase) answer_ = predictor.OptionsOf(Method::kResMem);
    answer_.threads = options.threads;
  }

  Status See(const Rows& rows) {
    const int64_t k = answer_.parameters.k;
    if (k == 0) return {};
    // One more, for the place of the one that is left out.
    RESMEM_RETURN_IF_ERROR(
        predictor_.FindNeighbors(rows.keys, k + 1, {}, answer_.threads, nullptr, &neighbors_));
    for (int64_t begin = 0; begin < rows.count(); begin += kQueriesAtOnce) {
      RESMEM_RETURN_IF_ERROR(SeePart(rows, begin, std::min(begin + kQueriesAtOnce, rows.count())));
    }
    return {};
  }

  HarmReport Take(int64_t listed) {
    HarmReport report;
    report.method = answer_.method;
    report.rows = rows_;
    report.loss = rows_ == 0 ? 0 : loss_ / static_cast<double>(rows_);
    for (const auto& [row, effect] : effects_) {
      if (effect.harm > 0) report.harmful.push_back(effect);
    }
    std::stable_sort(report.harmful.begin(), report.harmful.end(),
                     [](const RowEffect& a, const RowEffect& b) { return a.harm > b.harm; });
    report.all_harmful = static_cast<int64_t>(report.harmful.size());
    if (listed > 0 && report.all_harmful > listed) {
      report.harmful.resize(static_cast<size_t>(listed));
    }
    return report;
  }

 private:
  // A question with all its neighbors (`without` -1), or without one of them.
  struct Variant {
    int64_t query = 0, without = -1;
  };

  Status SeePart(const Rows& rows, int64_t begin, int64_t end) {
    variants_.clear();
    lists_ = {};
    lists_.k = answer_.parameters.k;
    for (int64_t q = begin; q < end; ++q) {
      AddList(q, -1);
      for (const int64_t row : FirstRows(q)) AddList(q, row);
    }
    lists_.queries = static_cast<int64_t>(variants_.size());
    const MatrixView keys = Repeat(rows.keys, &keys_), logits = Repeat(rows.logits, &logits_);
    scores_.resize(variants_.size() * static_cast<size_t>(description_.outputs));
    RESMEM_RETURN_IF_ERROR(predictor_.Score(keys, logits, lists_, answer_, scores_));
    Loss with;
    for (size_t v = 0; v < variants_.size(); ++v) {
      Loss loss;
      RESMEM_RETURN_IF_ERROR(Judge(rows, variants_[v].query, v, &loss));
      if (variants_[v].without < 0) {
        with = loss;
        loss_ += loss.value;
        ++rows_;
        continue;
      }
      RowEffect& effect = effects_[variants_[v].without];
      effect.row = variants_[v].without;
      ++effect.answers;
      effect.harm += with.value - loss.value;
      effect.wrong_with += !with.right && loss.right;
      effect.wrong_without += with.right && !loss.right;
    }
    return {};
  }

  // The neighbors that have a say.
  std::vector<int64_t> FirstRows(int64_t query) const {
    std::vector<int64_t> first;
    for (const int64_t row : neighbors_.rows_of(query).first(static_cast<size_t>(lists_.k))) {
      if (row >= 0) first.push_back(row);
    }
    return first;
  }

  void AddList(int64_t query, int64_t without) {
    variants_.push_back({query, without});
    const auto rows = neighbors_.rows_of(query);
    const auto distances = neighbors_.distances_of(query);
    int64_t taken = 0;
    for (size_t i = 0; i < rows.size() && taken < lists_.k; ++i) {
      if (rows[i] >= 0 && rows[i] == without) continue;
      lists_.rows.push_back(rows[i]);
      lists_.distances.push_back(distances[i]);
      ++taken;
    }
    for (; taken < lists_.k; ++taken) {  // of a small memory
      lists_.rows.push_back(-1);
      lists_.distances.push_back(std::numeric_limits<float>::infinity());
    }
  }

  MatrixView Repeat(MatrixView values, std::vector<float>* out) const {
    out->clear();
    for (const Variant& variant : variants_) {
      const std::span<const float> row = values.row_span(variant.query);
      out->insert(out->end(), row.begin(), row.end());
    }
    return {out->data(), static_cast<int64_t>(variants_.size()), values.columns};
  }

  Status Judge(const Rows& rows, int64_t query, size_t variant, Loss* loss) {
    const auto outputs = static_cast<size_t>(description_.outputs);
    const std::span<float> scores = std::span(scores_).subspan(variant * outputs, outputs);
    if (description_.task == Task::kRegression) {
      const std::span<const float> target = rows.targets.row_span(query);
      for (size_t c = 0; c < outputs; ++c) {
        const double error = static_cast<double>(scores[c]) - static_cast<double>(target[c]);
        loss->value += error * error / static_cast<double>(outputs);
      }
      return {};
    }
    const int32_t label = rows.labels[static_cast<size_t>(query)];
    loss->right = ArgMax(scores) == label;
    if (answer_.method == Method::kResMem) {
      RESMEM_RETURN_IF_ERROR(
          ToProbabilities(description_.calibrator, description_.calibrator_temperature, scores));
    }
    const auto probability = static_cast<double>(scores[static_cast<size_t>(label)]);
    loss->value = -std::log(std::max(probability, kLeastProbability));
    return {};
  }

  const Predictor& predictor_;
  const MemoryDescription& description_;
  PredictOptions answer_;
  Neighbors neighbors_, lists_;
  std::vector<Variant> variants_;
  std::vector<float> keys_, logits_, scores_;
  std::map<int64_t, RowEffect> effects_;
  int64_t rows_ = 0;
  double loss_ = 0;
};

Result<HarmReport> RunMeasure(const Predictor& predictor, const RowSource& rows,
                              const AuditOptions& options) {
  HarmMeter meter(predictor, options);
  RowBlock block;
  const Status read = rows.Read([&](int64_t begin, const Rows& all) -> Status {
    constexpr int64_t kPiece = 1024;  // to hear a signal
    for (int64_t done = 0; done < all.count(); done += kPiece) {
      if (options.progress != nullptr) {
        options.progress->Report("leaving rows out", begin + done, rows.rows());
        if (options.progress->Cancelled()) {
          return {ErrorCode::kCancelled, "stopped while leaving rows out"};
        }
      }
      RESMEM_RETURN_IF_ERROR(block.Load(predictor.memory(), begin + done,
                                        all.Slice(done, std::min(kPiece, all.count() - done)),
                                        std::nullopt, /*leave_one_out=*/false));
      RESMEM_RETURN_IF_ERROR(meter.See(block.rows()));
    }
    return {};
  });
  RESMEM_RETURN_IF_ERROR(read);
  RESMEM_RETURN_IF_ERROR(predictor.memory().damage());
  return meter.Take(options.listed);
}

}  // namespace

Result<HarmReport> MeasureHarm(const Predictor& predictor, const RowSource& rows,
                               const AuditOptions& options) try {
  return RunMeasure(predictor, rows, options);
} catch (...) {
  return CaughtException("measure the effect of rows");
}

}  // namespace resmem
