// The answers that a memory can give, side by side on test images: what each is, and what the blend
// is worth against every other one, paired.
#include <algorithm>
#include <cmath>

#include "reproduce/answers.h"
#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"
#include "reproduce/cifar100/tuned_memory.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

class Contest {
 public:
  Contest(Workspace& workspace, Rows held_out, Rows test)
      : workspace_(workspace), held_out_(held_out), test_(test) {}

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
                            ProbabilitiesOf(predictor, test_, neighbors, options));
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
                              ProbabilitiesOf(predictor, held_out_, none, options));
      const double nll = Mean(AnswersOf("", {}, p, held_out_.labels).nll);
      if (nll < least) best = t;
      least = std::min(least, nll);
    }
    options.parameters.temperature = best;
    return Answer(name, predictor, options);
  }

  // k-NN with the k and sigma that tuning found for it, by NLL.
  Result<Answers> Knn(const std::string& name, const Predictor& predictor,
                      const Rivals::NeighborRival& rival) const {
    PredictOptions options = predictor.OptionsOf(Method::kKnn);
    options.parameters.k = rival.k;
    options.parameters.sigma = rival.sigma;
    return Answer(name, predictor, options);
  }

  // The base's last layer as tuning fitted it once more: softmax(scale f + W z + offset).
  Answers LastLayer(const std::string& name, const Rivals::LastLayer& layer) const {
    const size_t classes = layer.offset.size();
    std::vector<float> probabilities;
    for (int64_t row = 0; row < test_.count(); ++row) {
      std::vector<double> scores(layer.offset.begin(), layer.offset.end());
      const std::span<const float> key = test_.keys.row_span(row);
      const std::span<const float> logits = test_.logits.row_span(row);
      for (size_t c = 0; c < classes; ++c) {
        scores[c] += double{layer.scale} * double{logits[c]};
        for (size_t d = 0; d < key.size(); ++d) {
          scores[c] += double{key[d]} * double{layer.weights[d * classes + c]};
        }
      }
      const double largest = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double& score : scores) sum += score = std::exp(score - largest);
      for (const double score : scores) probabilities.push_back(static_cast<float>(score / sum));
    }
    return AnswersOf(name, {}, probabilities, test_.labels);
  }

  // kNN-LM with k, sigma and lambda of the lowest NLL on the held-out rows.
  Result<Answers> KnnLm(const std::string& name, const Predictor& predictor) const;

 private:
  static constexpr int64_t kMostNeighbors = 1024;  // as far as tuning follows k

  Workspace& workspace_;
  Rows held_out_, test_;
};

Result<Answers> Contest::KnnLm(const std::string& name, const Predictor& predictor) const {
  RESMEM_ASSIGN_OR_RETURN(const Neighbors neighbors, Search(predictor, held_out_));
  RESMEM_ASSIGN_OR_RETURN(const double typical,
                          TypicalDistance(workspace_, predictor.memory(), held_out_));
  PredictOptions base = predictor.OptionsOf(Method::kBase), best = base;
  RESMEM_ASSIGN_OR_RETURN(const std::vector<float> p0,
                          ProbabilitiesOf(predictor, held_out_, neighbors, base));
  const auto classes = static_cast<size_t>(predictor.memory().description().outputs);
  double least = INFINITY;
  PredictOptions options = predictor.OptionsOf(Method::kKnn);
  for (const int64_t k : {5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1024}) {
    for (const double share : {0.02, 0.04, 0.06, 0.09, 0.13, 0.2, 0.3, 0.45, 0.7, 1.0, 2.0, 4.0}) {
      options.parameters.k = std::min(k, neighbors.k);
      options.parameters.sigma = static_cast<float>(share * typical);
      RESMEM_ASSIGN_OR_RETURN(const std::vector<float> p,
                              ProbabilitiesOf(predictor, held_out_, neighbors, options));
      for (int step = 1; step < 40; ++step) {
        const double lambda = step / 40.0;
        double nll = 0;
        for (size_t row = 0; row < held_out_.labels.size(); ++row) {
          const size_t at = row * classes + static_cast<size_t>(held_out_.labels[row]);
          nll -= std::log(std::max((1 - lambda) * p0[at] + lambda * p[at], kLeastProbability));
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
  const Rivals &of_raw = tuned.raw().tuning.rivals, &of_chosen = tuned.chosen().tuning.rivals;
  if (of_raw.last_layer) {
    all.push_back(contest.LastLayer("base, last layer refit", *of_raw.last_layer));
  }
  RESMEM_RETURN_IF_ERROR(add(contest.Answer("ResMem", raw, raw.OptionsOf(Method::kResMem))));
  if (of_raw.knn) RESMEM_RETURN_IF_ERROR(add(contest.Knn("k-NN", raw, *of_raw.knn)));
  RESMEM_RETURN_IF_ERROR(add(contest.KnnLm("kNN-LM", raw)));
  RESMEM_RETURN_IF_ERROR(add(contest.Answer("blend, keys as they are", raw, raw.DefaultOptions())));
  RESMEM_RETURN_IF_ERROR(
      add(contest.Answer("ResMem, chosen keys", chosen, chosen.OptionsOf(Method::kResMem))));
  if (of_chosen.knn) {
    RESMEM_RETURN_IF_ERROR(add(contest.Knn("k-NN, chosen keys", chosen, *of_chosen.knn)));
  }
  RESMEM_RETURN_IF_ERROR(add(contest.KnnLm("kNN-LM, chosen keys", chosen)));
  RESMEM_ASSIGN_OR_RETURN(
      const TunedMemory boosted,
      TuneWithKeys(workspace, base, rows, held_out_rows,
                   tuned.chosen().memory.description().key_transform, Method::kLogitBoost));
  const Predictor boost(boosted.memory);
  RESMEM_RETURN_IF_ERROR(
      add(contest.Answer("logit-boost, chosen keys", boost, boost.DefaultOptions())));
  RESMEM_RETURN_IF_ERROR(
      add(contest.Answer("blend, chosen keys", chosen, chosen.DefaultOptions())));
  Json methods = Json::array(), pairs = Json::array();
  for (const Answers& answers : all) {
    methods.push_back(ToJson(answers));
    if (answers.name != all.back().name) pairs.push_back(PairOf(all.back(), answers));
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
