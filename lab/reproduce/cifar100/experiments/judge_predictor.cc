// The answers that a memory can give, side by side on test images: what each is, and what the blend
// is worth against every other one, paired.
#include <algorithm>
#include <cmath>

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"
#include "reproduce/cifar100/tuned_memory.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

// A probability below this counts as this, as in Evaluate().
constexpr double kFloor = 0x1p-23;

// One method's answers to the test rows.
struct Answers {
  std::string name;
  Json chosen = Json::object();
  std::vector<double> nll;
  std::vector<bool> right;
};

Answers AnswersOf(std::string name, Json chosen, std::span<const float> probabilities,
                  std::span<const int32_t> labels) {
  Answers answers{std::move(name), std::move(chosen), {}, {}};
  const size_t classes = probabilities.size() / labels.size();
  for (size_t row = 0; row < labels.size(); ++row) {
    const std::span<const float> p = probabilities.subspan(row * classes, classes);
    const auto label = static_cast<size_t>(labels[row]);
    answers.nll.push_back(-std::log(std::max(double{p[label]}, kFloor)));
    answers.right.push_back(ArgMax(p) == labels[row]);
  }
  return answers;
}

double Mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Of left - right: mean and its 95 % interval, paired.
Json Difference(std::span<const double> left, std::span<const double> right) {
  std::vector<double> differences;
  for (size_t i = 0; i < left.size(); ++i) differences.push_back(left[i] - right[i]);
  const double mean = Mean(differences);
  double squares = 0;
  for (const double value : differences) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(differences.size());
  const double reach = 1.959964 * std::sqrt(squares / (count - 1) / count);
  return {{"value", mean}, {"low", mean - reach}, {"high", mean + reach}};
}

Json Pair(const Answers& left, const Answers& right) {
  int64_t fixed = 0, harmed = 0, both_right = 0, both_wrong = 0;
  for (size_t i = 0; i < left.right.size(); ++i) {
    ++(left.right[i] ? (right.right[i] ? both_right : fixed)
                     : (right.right[i] ? harmed : both_wrong));
  }
  return {{"left", left.name},
          {"right", right.name},
          {"accuracy", ToJson(MakePairedGain(fixed, harmed, both_right, both_wrong))},
          {"nll", Difference(left.nll, right.nll)}};
}

class Contest {
 public:
  Contest(Workspace& workspace, Rows held_out, Rows test)
      : workspace_(workspace), held_out_(held_out), test_(test) {}

  // The probabilities of one method, k neighbors and more being searched once.
  Result<std::vector<float>> Probabilities(const Predictor& predictor, const Rows& rows,
                                           const Neighbors& neighbors,
                                           const PredictOptions& options) const {
    const auto classes = static_cast<size_t>(predictor.memory().description().outputs);
    std::vector<float> scores(static_cast<size_t>(rows.count()) * classes);
    RESMEM_RETURN_IF_ERROR(predictor.Score(rows.keys, rows.logits, neighbors, options, scores));
    if (options.method != Method::kResMem) return scores;
    const MemoryDescription& description = predictor.memory().description();
    for (size_t begin = 0; begin < scores.size(); begin += classes) {
      RESMEM_RETURN_IF_ERROR(ToProbabilities(description.calibrator,
                                             description.calibrator_temperature,
                                             std::span(scores).subspan(begin, classes)));
    }
    return scores;
  }

  Result<Neighbors> Search(const Predictor& predictor, const Rows& rows) const {
    Neighbors neighbors;
    RESMEM_RETURN_IF_ERROR(predictor.FindNeighbors(rows.keys, kMostNeighbors, {},
                                                   workspace_.threads(),
                                                   workspace_.console().progress(), &neighbors));
    return neighbors;
  }

  // The memory's answer by this method, with these parameters or its own.
  Result<Answers> Answer(const std::string& name, const Predictor& predictor,
                         const PredictOptions& options) const {
    RESMEM_ASSIGN_OR_RETURN(const Neighbors neighbors, Search(predictor, test_));
    RESMEM_ASSIGN_OR_RETURN(const std::vector<float> probabilities,
                            Probabilities(predictor, test_, neighbors, options));
    Json chosen = {{"parameters", ToJson(options.parameters)}};
    if (options.method == Method::kKnnLm) chosen["lambda"] = options.lambda;
    return AnswersOf(name, std::move(chosen), probabilities, test_.labels);
  }

  // softmax(f / T), T by the held-out rows where `fitted`.
  Result<Answers> Base(const std::string& name, const Predictor& predictor, bool fitted) const {
    PredictOptions options = predictor.OptionsOf(Method::kBase);
    Neighbors none;
    none.queries = held_out_.count();
    double least = INFINITY;
    float best = 1;
    for (float t = 0.4f; fitted && t < 5; t *= 1.02f) {
      options.parameters.temperature = t;
      RESMEM_ASSIGN_OR_RETURN(const std::vector<float> p,
                              Probabilities(predictor, held_out_, none, options));
      const double nll = Mean(AnswersOf("", {}, p, held_out_.labels).nll);
      if (nll < least) best = t;
      least = std::min(least, nll);
    }
    options.parameters.temperature = best;
    return Answer(name, predictor, options);
  }

  // kNN-LM with k, sigma and lambda of the lowest NLL on the held-out rows.
  Result<Answers> KnnLm(const std::string& name, const Predictor& predictor) const;

 private:
  static constexpr int64_t kMostNeighbors = 800;

  Workspace& workspace_;
  Rows held_out_, test_;
};

Result<Answers> Contest::KnnLm(const std::string& name, const Predictor& predictor) const {
  RESMEM_ASSIGN_OR_RETURN(const Neighbors neighbors, Search(predictor, held_out_));
  RESMEM_ASSIGN_OR_RETURN(const double typical,
                          TypicalDistance(workspace_, predictor.memory(), held_out_));
  PredictOptions base = predictor.OptionsOf(Method::kBase), best = base;
  RESMEM_ASSIGN_OR_RETURN(const std::vector<float> p0,
                          Probabilities(predictor, held_out_, neighbors, base));
  const auto classes = static_cast<size_t>(predictor.memory().description().outputs);
  double least = INFINITY;
  PredictOptions options = predictor.OptionsOf(Method::kKnn);
  for (const int64_t k : {5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 600, 800}) {
    for (const double share : {0.02, 0.04, 0.06, 0.09, 0.13, 0.2, 0.3, 0.45, 0.7, 1.0, 2.0, 4.0}) {
      options.parameters.k = std::min(k, neighbors.k);
      options.parameters.sigma = static_cast<float>(share * typical);
      RESMEM_ASSIGN_OR_RETURN(const std::vector<float> p,
                              Probabilities(predictor, held_out_, neighbors, options));
      for (int step = 1; step < 40; ++step) {
        const double lambda = step / 40.0;
        double nll = 0;
        for (size_t row = 0; row < held_out_.labels.size(); ++row) {
          const size_t at = row * classes + static_cast<size_t>(held_out_.labels[row]);
          nll -= std::log(std::max((1 - lambda) * p0[at] + lambda * p[at], kFloor));
        }
        if (nll >= least) continue;
        least = nll;
        best = options;
        best.method = Method::kKnnLm;
        best.lambda = static_cast<float>(lambda);
      }
    }
  }
  return Answer(name, predictor, best);
}

}  // namespace

Result<Json> JudgeAnswers(Workspace& workspace, const Base& base, const Embedded& rows,
                          const Embedded& held_out, const Embedded& test) {
  const Rows held_out_rows = held_out.view();
  RESMEM_ASSIGN_OR_RETURN(const TunedMemories tuned,
                          TuneWithEveryKeys(workspace, base, rows, held_out_rows));
  const Predictor raw(tuned.raw().memory), chosen(tuned.chosen().memory);
  const Contest contest(workspace, held_out_rows, test.view());
  std::vector<Answers> all;
  const auto add = [&](Result<Answers> answers) -> Status {
    RESMEM_RETURN_IF_ERROR(answers.status());
    all.push_back(std::move(*answers));
    return {};
  };
  RESMEM_RETURN_IF_ERROR(add(contest.Base("base", raw, false)));
  RESMEM_RETURN_IF_ERROR(add(contest.Base("base, T fitted", raw, true)));
  RESMEM_RETURN_IF_ERROR(add(contest.Answer("ResMem", raw, raw.OptionsOf(Method::kResMem))));
  RESMEM_RETURN_IF_ERROR(add(contest.KnnLm("kNN-LM", raw)));
  RESMEM_RETURN_IF_ERROR(add(contest.Answer("blend, keys as they are", raw, raw.DefaultOptions())));
  RESMEM_RETURN_IF_ERROR(
      add(contest.Answer("ResMem, chosen keys", chosen, chosen.OptionsOf(Method::kResMem))));
  RESMEM_RETURN_IF_ERROR(add(contest.KnnLm("kNN-LM, chosen keys", chosen)));
  RESMEM_RETURN_IF_ERROR(
      add(contest.Answer("blend, chosen keys", chosen, chosen.DefaultOptions())));
  Json methods = Json::array(), pairs = Json::array();
  for (const Answers& answers : all) {
    const auto right = std::count(answers.right.begin(), answers.right.end(), true);
    methods.push_back({{"name", answers.name},
                       {"chosen", answers.chosen},
                       {"accuracy", ToJson(MakeAccuracy(right, std::ssize(answers.right)))},
                       {"nll", Mean(answers.nll)}});
    if (answers.name != all.back().name) pairs.push_back(Pair(all.back(), answers));
  }
  return Json{{"memory_rows", rows.count()},
              {"held_out_rows", held_out.count()},
              {"test_rows", test.count()},
              {"cross_validated_nll_by_keys", tuned.NllByKeys()},
              {"keys", tuned.chosen().KeysName()},
              {"adopted", tuned.chosen().tuning.blend->adopted},
              {"reason", tuned.chosen().tuning.blend->reason},
              {"methods", std::move(methods)},
              {"pairs", std::move(pairs)}};
}

Result<Json> JudgePredictor(const Context& context, const std::string& run) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, run));
  RESMEM_ASSIGN_OR_RETURN(Json result,
                          JudgeAnswers(workspace, base, base.train.Take(base.split.train),
                                       base.train.Take(base.split.validation), base.test));
  result["run"] = run;
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
