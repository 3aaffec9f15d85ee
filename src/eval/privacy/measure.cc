// MeasurePrivacy(): members and held-out rows are asked alike, what is seen of them is ranked.
#include <algorithm>
#include <string>
#include <utility>

#include "eval/key_sample.h"
#include "eval/privacy/advice.h"
#include "eval/privacy/clues.h"
#include "eval/privacy/extraction.h"
#include "eval/privacy/separation.h"
#include "support/guard.h"

namespace resmem {
namespace {

constexpr int64_t kFewestRows = 20;
constexpr int64_t kStarts = 64;  // held-out keys from which KeyRecovery may begin

// ResMem's form at the memory's k and sigma and at larger ones; the memory's first.
std::vector<PredictOptions> Sweep(const Predictor& predictor) {
  std::vector<PredictOptions> sweep;
  const PredictOptions own = predictor.OptionsOf(Method::kResMem);
  for (const int64_t more : {1, 2, 4}) {
    for (const float wider : {1.0f, 2.0f, 4.0f}) {
      PredictOptions options = own;
      options.parameters.k = own.parameters.k * more;
      options.parameters.sigma = own.parameters.sigma * wider;
      if (more > 1 && options.parameters.k > predictor.memory().rows()) continue;
      sweep.push_back(options);
    }
  }
  return sweep;
}

class PrivacyMeter {
 public:
  PrivacyMeter(const Predictor& predictor, const PrivacyOptions& options)
      : predictor_(predictor), options_(options), starts_(kStarts, std::nullopt, options.seed) {
    own_ = predictor.DefaultOptions();
    std::vector<PredictOptions> answers = {predictor.OptionsOf(Method::kBase)};
    if (own_.method != Method::kBase && own_.method != Method::kResMem) answers.push_back(own_);
    answers.push_back(predictor.OptionsOf(Method::kResMem));
    for (PredictOptions& answer : answers) Add(answer, &answers_);
    for (PredictOptions& point : Sweep(predictor)) Add(point, &sweep_);
    own_weights_.resize(sweep_.size());
  }

  Status AddMembers(const AskedRows& rows) {
    RESMEM_RETURN_IF_ERROR(Report(options_, "asking members", members_, options_.most));
    members_ += rows.count();
    RESMEM_RETURN_IF_ERROR(Search(rows));
    const Neighbors left_out = WithoutSelf(neighbors_, rows.self, most_k_);
    See(rows, neighbors_, &distances_.inside);
    See(rows, left_out, &distances_.left_out);
    SeeOwnWeights(rows);
    return Answer(rows, &left_out);
  }

  Status AddHeldOut(const AskedRows& rows, int64_t all) {
    RESMEM_RETURN_IF_ERROR(Report(options_, "asking held-out rows", held_out_, all));
    held_out_ += rows.count();
    Rows keys;
    keys.keys = rows.keys;
    starts_.Add(keys);
    RESMEM_RETURN_IF_ERROR(Search(rows));
    See(rows, neighbors_, &distances_.held_out);
    at_zero_ +=
        std::count(distances_.held_out.end() - rows.count(), distances_.held_out.end(), 0.0);
    return Answer(rows, nullptr);
  }

  Result<PrivacyReport> Finish(std::span<const int64_t> members) {
    if (members_ < kFewestRows || held_out_ < kFewestRows) {
      return Status(ErrorCode::kBadData, std::to_string(members_) + " rows of the memory and " +
                                             std::to_string(held_out_) +
                                             " held-out rows; give at least " +
                                             std::to_string(kFewestRows) + " of each");
    }
    PrivacyReport report;
    report.members = members_;
    report.held_out = held_out_;
    report.method = own_.method;
    report.parameters = own_.parameters;
    report.base_accuracy = answers_[0].held_out_accuracy();
    AddTests(&report);
    for (const AnswerClues& answer : answers_) {
      report.labels.push_back(answer.labels());
      if (answer.method() == own_.method) report.accuracy = answer.held_out_accuracy();
    }
    AddSweep(&report);
    const auto near =
        members.first(static_cast<size_t>(std::clamp<int64_t>(options_.most_near, 0, members_)));
    RESMEM_ASSIGN_OR_RETURN(report.near, AskNearMembers(predictor_, Memorizing(), near, options_));
    RESMEM_ASSIGN_OR_RETURN(
        report.keys, RecoverKeys(predictor_, starts_.keys(), Memorizing().parameters.k, options_));
    report.advice = AdviceOn(report);
    AddWarnings(&report);
    return report;
  }

 private:
  void Add(PredictOptions options, std::vector<AnswerClues>* to) {
    options.threads = options_.threads;
    most_k_ = std::max(most_k_, options.parameters.k);
    to->emplace_back(predictor_, options);
  }

  // The memory's own answer, or ResMem's where that is the base's.
  PredictOptions Memorizing() const {
    return own_.method == Method::kBase ? predictor_.OptionsOf(Method::kResMem) : own_;
  }

  Status Search(const AskedRows& rows) {  // one more, for the place of the row itself
    return predictor_.FindNeighbors(rows.keys, most_k_ + 1, {}, options_.threads, nullptr,
                                    &neighbors_);
  }

  static void See(const AskedRows& rows, const Neighbors& neighbors, std::vector<double>* nearest) {
    for (int64_t q = 0; q < rows.count(); ++q) {
      nearest->push_back(-static_cast<double>(neighbors.distances_of(q)[0]));
    }
  }

  void SeeOwnWeights(const AskedRows& rows) {
    for (size_t s = 0; s < sweep_.size(); ++s) {
      const std::vector<float> weights = WeightsOf(neighbors_, sweep_[s].parameters());
      for (size_t i = 0; i < neighbors_.rows.size(); ++i) {
        const int64_t self = rows.self[i / static_cast<size_t>(neighbors_.k)];
        if (neighbors_.rows[i] == self) own_weights_[s] += static_cast<double>(weights[i]);
      }
    }
  }

  Status Answer(const AskedRows& rows, const Neighbors* left_out) {
    for (AnswerClues& answer : answers_) {
      RESMEM_RETURN_IF_ERROR(answer.Add(rows, neighbors_, left_out));
    }
    for (AnswerClues& point : sweep_) {
      RESMEM_RETURN_IF_ERROR(point.Add(rows, neighbors_, nullptr));
    }
    return {};
  }

  void AddTests(PrivacyReport* report) const {
    const AnswerClues& base = answers_[0];
    const Ranking loss(base.loss().inside, base.loss().held_out);
    const Ranking confidence(base.confidence().inside, base.confidence().held_out);
    const auto add = [&](Method method, Clue clue, const ClueValues& values) {
      const Ranking inside(values.inside, values.held_out);
      const Ranking& of_base = clue == Clue::kConfidence ? confidence : loss;
      report->membership.push_back({method, clue, inside.separation(),
                                    Ranking(values.left_out, values.held_out).separation(),
                                    inside.auc() - of_base.auc(),
                                    inside.DifferenceInterval(of_base)});
    };
    for (const AnswerClues& answer : answers_) {
      add(answer.method(), Clue::kLoss, answer.loss());
      add(answer.method(), Clue::kConfidence, answer.confidence());
      if (answer.method() != Method::kBase) add(answer.method(), Clue::kGain, answer.gain());
    }
    add(own_.method, Clue::kDistance, distances_);
  }

  void AddSweep(PrivacyReport* report) const {
    for (size_t s = 0; s < sweep_.size(); ++s) {
      const ClueValues& gain = sweep_[s].gain();
      report->sweep.push_back(
          {sweep_[s].parameters(), own_weights_[s] / static_cast<double>(members_),
           Ranking(gain.inside, gain.held_out).separation(), sweep_[s].held_out_accuracy()});
    }
  }

  void AddWarnings(PrivacyReport* report) const {
    if (at_zero_ > 0) {
      report->warnings.push_back(
          std::to_string(at_zero_) + " of " + std::to_string(held_out_) +
          " held-out rows have a key that is in the memory; if they are its rows, every figure is "
          "too small");
    }
    if (predictor_.memory().description().cross_fitted) {
      report->warnings.emplace_back(
          "the memory keeps out-of-fold logits, and members were asked with them; a client sends "
          "those of the base that has seen the row, which may give away more");
    }
    if (held_out_ < 1000) {
      report->warnings.emplace_back(
          "with fewer than 1,000 held-out rows the threshold of 0.1 % is the largest of them");
    }
  }

  const Predictor& predictor_;
  const PrivacyOptions& options_;
  PredictOptions own_;
  std::vector<AnswerClues> answers_, sweep_;  // the base's answer first
  std::vector<double> own_weights_;           // of each in sweep_, summed
  ClueValues distances_;
  Neighbors neighbors_;
  KeySample starts_;
  int64_t most_k_ = 1, members_ = 0, held_out_ = 0, at_zero_ = 0;
};

Status CheckMemory(const MemoryDescription& description) {
  if (description.task == Task::kRegression) {
    return {ErrorCode::kUnsupported,
            "a regression: what its answers give away is measured for classes only"};
  }
  if (description.form == ResidualForm::kLogits) return {};
  return {ErrorCode::kUnsupported,
          std::string("the memory keeps no logits (") + ResidualFormName(description.form) +
              " residuals), so its rows cannot be asked as a client would; measure before "
              "'compact --freeze' or 'compress', or memorize again without --freeze"};
}

Status CheckOptions(const PrivacyOptions& options) {
  if (options.most >= 1 && options.most_near >= 0 && options.most_keys >= 0) return {};
  return {ErrorCode::kInvalidArgument,
          "PrivacyOptions: most must be 1 or more, most_near and most_keys 0 or more"};
}

Result<PrivacyReport> Measure(const Predictor& predictor, const RowSource& held_out,
                              const PrivacyOptions& options) {
  const ResidualMemory& memory = predictor.memory();
  RESMEM_RETURN_IF_ERROR(CheckOptions(options));
  RESMEM_RETURN_IF_ERROR(CheckMemory(memory.description()));
  PrivacyMeter meter(predictor, options);
  const std::vector<int64_t> members = ChooseMembers(memory, options.most, options.seed);
  RESMEM_RETURN_IF_ERROR(ReadHeldOut(memory, held_out, [&](const AskedRows& rows) {
    return meter.AddHeldOut(rows, held_out.rows());
  }));
  RESMEM_RETURN_IF_ERROR(
      ReadMembers(memory, members, [&](const AskedRows& rows) { return meter.AddMembers(rows); }));
  return meter.Finish(members);
}

}  // namespace

const char* ClueName(Clue clue) {
  constexpr const char* kNames[] = {"loss", "confidence", "gain", "distance"};
  return kNames[static_cast<size_t>(clue)];
}

Result<PrivacyReport> MeasurePrivacy(const Predictor& predictor, const RowSource& held_out,
                                     const PrivacyOptions& options) try {
  return Measure(predictor, held_out, options);
} catch (...) {
  return CaughtException("measure what the memory gives away");
}

}  // namespace resmem
