#include "resmem/predictor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "fixtures/small_memory.h"

namespace resmem {
namespace {

using namespace fixtures;

constexpr Parameters kParameters = {7, 0.9f, 1.3f};

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> Scores(const Predictor& predictor, const Problem& queries,
                          PredictOptions options) {
  std::vector<float> scores(static_cast<size_t>(queries.rows * queries.classes));
  const Rows view = queries.view();
  const Status status = predictor.Predict(view.keys, view.logits, options, scores);
  EXPECT_TRUE(status.ok()) << status.message();
  return scores;
}

std::vector<double> SoftmaxOf(const float* logits, int64_t classes, double temperature) {
  std::vector<double> p(static_cast<size_t>(classes));
  double total = 0;
  for (int64_t c = 0; c < classes; ++c)
    total += p[static_cast<size_t>(c)] = std::exp(logits[c] / temperature);
  for (double& value : p) value /= total;
  return p;
}

// The definition of spec section 1, written out in double without any of our code.
std::vector<double> ReferenceScore(const Problem& train, const float* key, const float* logits,
                                   const Parameters& parameters, Method method, double lambda) {
  std::vector<std::pair<double, int64_t>> order;
  for (int64_t row = 0; row < train.rows; ++row) {
    double sum = 0;
    for (int64_t d = 0; d < train.dim; ++d) {
      const double difference =
          static_cast<double>(key[d]) - train.keys[static_cast<size_t>(row * train.dim + d)];
      sum += difference * difference;
    }
    order.emplace_back(std::sqrt(sum), row);
  }
  std::sort(order.begin(), order.end());
  order.resize(static_cast<size_t>(std::min(parameters.k, train.rows)));
  double total = 0;
  for (const auto& [distance, row] : order) total += std::exp(-distance / parameters.sigma);
  const double temperature = method == Method::kKnnLm ? 1 : parameters.temperature;
  std::vector<double> score = SoftmaxOf(logits, train.classes, temperature), knn(score.size());
  for (const auto& [distance, row] : order) {
    const double weight = std::exp(-distance / parameters.sigma) / total;
    const auto label = static_cast<size_t>(train.labels[static_cast<size_t>(row)]);
    knn[label] += weight;
    if (method != Method::kResMem) continue;
    const std::vector<double> p = SoftmaxOf(&train.logits[static_cast<size_t>(row * train.classes)],
                                            train.classes, temperature);
    for (size_t c = 0; c < p.size(); ++c) score[c] -= weight * p[c];
    score[label] += weight;
  }
  if (method == Method::kKnn) return knn;
  if (method == Method::kKnnLm) {
    for (size_t c = 0; c < score.size(); ++c) score[c] = (1 - lambda) * score[c] + lambda * knn[c];
  }
  return score;
}

class PredictorTest : public testing::Test {
 protected:
  void Build(const MemoryDescription& description) {
    Write(folder_ / "m.resmem", description, train_.view());
    memory_ = std::make_unique<ResidualMemory>(Open(folder_ / "m.resmem"));
    predictor_ = std::make_unique<Predictor>(*memory_);
  }

  TemporaryFolder folder_;
  Problem train_ = MakeProblem(300, 5, 6, 1);
  Problem queries_ = MakeProblem(90, 5, 6, 2);
  std::unique_ptr<ResidualMemory> memory_;
  std::unique_ptr<Predictor> predictor_;
};

TEST_F(PredictorTest, EveryMethodMatchesItsDefinition) {
  Build(Describe(train_, kParameters));
  for (Method method : {Method::kBase, Method::kKnn, Method::kKnnLm, Method::kResMem}) {
    for (const Parameters& parameters :
         {kParameters, Parameters{1, 0.01f, 0.5f}, Parameters{1000, 5, 3}}) {
      PredictOptions options;
      options.method = method;
      options.parameters = parameters;
      options.lambda = 0.3f;
      const std::vector<float> scores = Scores(*predictor_, queries_, options);
      for (int64_t q = 0; q < queries_.rows; ++q) {
        const std::vector<double> expected =
            ReferenceScore(train_, queries_.view().keys.row(q), queries_.view().logits.row(q),
                           parameters, method, 0.3);
        for (size_t c = 0; c < expected.size(); ++c) {
          EXPECT_NEAR(scores[static_cast<size_t>(q * 6) + c], expected[c], 2e-6)
              << MethodName(method);
        }
      }
    }
  }
}

TEST_F(PredictorTest, ResMemBeatsTheBaseOnClustersItConfuses) {
  Build(Describe(train_, kParameters));
  PredictOptions options = predictor_->DefaultOptions();
  const std::vector<float> resmem = Scores(*predictor_, queries_, options);
  int64_t right = 0, base_right = 0;
  for (int64_t q = 0; q < queries_.rows; ++q) {
    const auto label = queries_.labels[static_cast<size_t>(q)];
    right += ArgMax({&resmem[static_cast<size_t>(q * 6)], 6}) == label;
    base_right += ArgMax(queries_.view().logits.row_span(q)) == label;
  }
  EXPECT_GT(right, base_right + 20);
}

TEST_F(PredictorTest, OneNeighborMemorizesTheTrainingSet) {
  Build(Describe(train_, kParameters));
  PredictOptions options = predictor_->DefaultOptions();
  options.parameters.k = 1;
  const std::vector<float> scores = Scores(*predictor_, train_, options);
  for (int64_t row = 0; row < train_.rows; ++row) {
    EXPECT_EQ(ArgMax({&scores[static_cast<size_t>(row * 6)], 6}),
              train_.labels[static_cast<size_t>(row)]);
  }
}

TEST_F(PredictorTest, ZeroNeighborsGiveTheBaseBitForBit) {
  Build(Describe(train_, kParameters));
  PredictOptions options = predictor_->DefaultOptions();
  options.parameters.k = 0;
  const std::vector<float> resmem = Scores(*predictor_, queries_, options);
  options.method = Method::kBase;
  EXPECT_TRUE(SameBits(resmem, Scores(*predictor_, queries_, options)));
}

TEST_F(PredictorTest, EmptyMemoryGivesTheBaseBitForBit) {
  const MemoryDescription description = Describe(train_, kParameters);
  train_ = MakeProblem(0, 5, 6, 1);
  Build(description);
  PredictOptions options = predictor_->DefaultOptions();
  const std::vector<float> resmem = Scores(*predictor_, queries_, options);
  options.method = Method::kKnnLm;
  options.parameters.temperature = 1;
  const std::vector<float> mixed = Scores(*predictor_, queries_, options);
  options.method = Method::kBase;
  EXPECT_TRUE(SameBits(mixed, Scores(*predictor_, queries_, options)));
  options.parameters = kParameters;
  EXPECT_TRUE(SameBits(resmem, Scores(*predictor_, queries_, options)));
}

TEST_F(PredictorTest, ThreadsAndBatchesDoNotChangeABit) {
  Build(Describe(train_, kParameters));
  PredictOptions options = predictor_->DefaultOptions();
  options.threads = 1;
  const std::vector<float> one = Scores(*predictor_, queries_, options);
  options.threads = 3;
  EXPECT_TRUE(SameBits(one, Scores(*predictor_, queries_, options)));
  std::vector<float> single(6);
  for (int64_t q = 0; q < queries_.rows; ++q) {
    const Rows row = queries_.view().Slice(q, 1);
    ASSERT_TRUE(predictor_->Predict(row.keys, row.logits, options, single).ok());
    EXPECT_EQ(std::memcmp(single.data(), &one[static_cast<size_t>(q * 6)], 6 * sizeof(float)), 0);
  }
}

TEST_F(PredictorTest, ScoresSumToOneAndMayLeaveTheUnitInterval) {
  Build(Describe(train_, kParameters));
  const std::vector<float> scores = Scores(*predictor_, queries_, predictor_->DefaultOptions());
  bool left = false;
  for (int64_t q = 0; q < queries_.rows; ++q) {
    const float* score = &scores[static_cast<size_t>(q * 6)];
    EXPECT_NEAR(std::accumulate(score, score + 6, 0.0), 1, 1e-5);
    for (int c = 0; c < 6; ++c) left |= score[c] < 0 || score[c] > 1;
  }
  EXPECT_TRUE(left);
}

TEST_F(PredictorTest, FrozenAndSparseMemoriesAnswerLikeTheirLogits) {
  MemoryDescription description = Describe(train_, kParameters);
  Build(description);
  const std::vector<float> from_logits =
      Scores(*predictor_, queries_, predictor_->DefaultOptions());
  for (ResidualForm form : {ResidualForm::kDense, ResidualForm::kSparse}) {
    description.form = form;
    description.top = 6;  // of 6 classes: nothing dropped
    Write(folder_ / ResidualFormName(form), description, train_.view());
    const ResidualMemory frozen = Open(folder_ / ResidualFormName(form));
    const Predictor predictor(frozen);
    const std::vector<float> scores = Scores(predictor, queries_, predictor.DefaultOptions());
    for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], from_logits[i], 1e-6);
    PredictOptions other = predictor.DefaultOptions();
    other.parameters.temperature = 2;
    std::vector<float> unused(scores.size());
    EXPECT_EQ(predictor.Predict(queries_.view().keys, queries_.view().logits, other, unused).code(),
              ErrorCode::kInvalidArgument);
  }
}

TEST_F(PredictorTest, DroppedResidualMassBoundsTheSparseError) {
  MemoryDescription description = Describe(train_, kParameters);
  Build(description);
  const std::vector<float> exact = Scores(*predictor_, queries_, predictor_->DefaultOptions());
  description.form = ResidualForm::kSparse;
  description.top = 3;
  Write(folder_ / "sparse", description, train_.view());
  const ResidualMemory sparse = Open(folder_ / "sparse");
  const Predictor predictor(sparse);
  const std::vector<float> scores = Scores(predictor, queries_, predictor.DefaultOptions());
  EXPECT_GT(sparse.dropped_mass(), 0);
  double worst = 0;
  for (size_t i = 0; i < scores.size(); ++i)
    worst = std::max(worst, std::fabs(double{scores[i]} - exact[i]));
  EXPECT_GT(worst, 0);
  EXPECT_LT(worst, 1.0 / 3);  // an entry left out is at most the third largest of a sum of 2
}

TEST_F(PredictorTest, NearestClassMeanPicksTheNearestMean) {
  Build(Describe(train_, kParameters));
  PredictOptions options = predictor_->DefaultOptions();
  options.method = Method::kNearestClassMean;
  const std::vector<float> scores = Scores(*predictor_, queries_, options);
  std::vector<double> means(6 * 5), counts(6);
  for (int64_t row = 0; row < train_.rows; ++row) {
    const auto label = static_cast<size_t>(train_.labels[static_cast<size_t>(row)]);
    ++counts[label];
    for (size_t d = 0; d < 5; ++d)
      means[label * 5 + d] += train_.keys[static_cast<size_t>(row) * 5 + d];
  }
  for (int64_t q = 0; q < queries_.rows; ++q) {
    for (size_t c = 0; c < 6; ++c) {
      double sum = 0;
      for (size_t d = 0; d < 5; ++d) {
        const double difference =
            means[c * 5 + d] / counts[c] - queries_.keys[static_cast<size_t>(q) * 5 + d];
        sum += difference * difference;
      }
      EXPECT_NEAR(scores[static_cast<size_t>(q) * 6 + c], -std::sqrt(sum), 1e-5);
    }
  }
}

TEST_F(PredictorTest, RegressionAddsTheWeightedResidual) {
  MemoryDescription description = Describe(train_, {2, 1.0f, 1.0f});
  description.task = Task::kRegression;
  description.form = ResidualForm::kDense;
  description.outputs = 1;
  const std::vector<float> keys = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0}, predictions = {1, 2},
                           targets = {3, 2.5f};
  Rows rows;
  rows.keys = MatrixView(keys.data(), 2, 5);
  rows.logits = MatrixView(predictions.data(), 2, 1);
  rows.targets = MatrixView(targets.data(), 2, 1);
  Write(folder_ / "r", description, rows);
  const ResidualMemory memory = Open(folder_ / "r");
  const Predictor predictor(memory);
  const std::vector<float> query(5, 0.0f), base = {10};
  std::vector<float> score(1);
  ASSERT_TRUE(predictor
                  .Predict(MatrixView(query.data(), 1, 5), MatrixView(base.data(), 1, 1),
                           predictor.DefaultOptions(), score)
                  .ok());
  const double near = 1, far = std::exp(-1.0);
  EXPECT_NEAR(score[0], 10 + (near * 2 + far * 0.5) / (near + far), 1e-5);
}

TEST_F(PredictorTest, WrongInputIsRefusedWithTheValueFound) {
  Build(Describe(train_, kParameters));
  const Rows view = queries_.view();
  std::vector<float> scores(static_cast<size_t>(queries_.rows * 6));
  const PredictOptions good = predictor_->DefaultOptions();
  const auto code = [&](MatrixView keys, MatrixView logits, const PredictOptions& options) {
    const Status status = predictor_->Predict(keys, logits, options, scores);
    EXPECT_FALSE(status.ok() || status.message().empty());
    return status.code();
  };
  MatrixView narrow = view.keys, few = view.logits;
  narrow.columns = 4;
  EXPECT_EQ(code(narrow, view.logits, good), ErrorCode::kBadData);
  few.columns = 5;
  EXPECT_EQ(code(view.keys, few, good), ErrorCode::kBadData);
  EXPECT_EQ(code(view.keys, view.logits.Slice(0, 3), good), ErrorCode::kBadData);
  for (Parameters bad :
       {Parameters{-1, 1, 1}, Parameters{1, 0, 1}, Parameters{1, 1, -2}, Parameters{1, NAN, 1}}) {
    PredictOptions options = good;
    options.parameters = bad;
    EXPECT_EQ(code(view.keys, view.logits, options), ErrorCode::kInvalidArgument);
  }
  PredictOptions mixing = good;
  mixing.method = Method::kKnnLm;
  mixing.lambda = 1.5f;
  EXPECT_EQ(code(view.keys, view.logits, mixing), ErrorCode::kInvalidArgument);
  PredictOptions means = good;
  means.method = Method::kNearestClassMean;
  Neighbors none;
  none.queries = 3;
  std::vector<float> three(3 * 6);
  EXPECT_EQ(predictor_->Score(view.keys, view.logits.Slice(0, 3), none, means, three).code(),
            ErrorCode::kBadData);
  Problem broken = queries_;
  broken.logits[8] = NAN;
  EXPECT_EQ(code(view.keys, broken.view().logits, good), ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
