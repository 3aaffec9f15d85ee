#include "eval/answers/row_answers.h"

#include <gtest/gtest.h>

#include <vector>

#include "fixtures/small_memory.h"
#include "kernels/every_simd_level.h"

namespace resmem {
namespace {

class RowAnswersTest : public testing::Test {
 protected:
  RowAnswersTest() {
    MemoryDescription description = fixtures::Describe(train_, parameters_);
    description.form = ResidualForm::kSparse;
    description.top = 12;
    fixtures::Write(folder_ / "m.resmem", description, train_.view());
  }

  static constexpr int64_t kClasses = 300;
  const Parameters parameters_{7, 0.9f, 1.3f};
  const fixtures::TemporaryFolder folder_;
  const fixtures::Problem train_ = fixtures::MakeProblem(400, 5, kClasses, 1);
  const fixtures::Problem queries_ = fixtures::MakeProblem(60, 5, kClasses, 2);
};

TEST_F(RowAnswersTest, EveryAnswerIsThatOfThePredictor) {
  const ResidualMemory memory = fixtures::Open(folder_ / "m.resmem");
  const Predictor predictor(memory);
  const Rows rows = queries_.view();
  for (const int64_t k : {int64_t{7}, int64_t{0}}) {
    Parameters parameters = parameters_;
    parameters.k = k;
    Neighbors neighbors;
    ASSERT_TRUE(predictor.FindNeighbors(rows.keys, k, {}, 1, nullptr, &neighbors).ok());
    const auto scores = [&](Method method, float lambda, float temperature) {
      PredictOptions options;
      options.parameters = parameters;
      options.parameters.temperature = temperature;
      options.method = method;
      options.lambda = lambda;
      std::vector<float> values(queries_.logits.size());
      const Status status = predictor.Score(rows.keys, rows.logits, neighbors, options, values);
      EXPECT_TRUE(status.ok()) << status.message();
      return values;
    };
    AtEverySimdLevel([&] {
      const std::vector<float> own = scores(Method::kBase, 0, 1);
      const std::vector<float> base = scores(Method::kBase, 0, 1.3f);
      const std::vector<float> knn = scores(Method::kKnn, 0, 1.3f);
      const std::vector<float> mixed = scores(Method::kKnnLm, 0.3f, 1.3f);
      const std::vector<float> resmem = scores(Method::kResMem, 0, 1.3f);
      RowAnswers answers(memory, parameters);
      for (int64_t q = 0; q < rows.count(); ++q) {
        const auto of = [&](const std::vector<float>& all) {
          return std::span(all).subspan(static_cast<size_t>(q * kClasses), kClasses);
        };
        answers.Load(rows.logits.row_span(q), neighbors.rows_of(q), neighbors.distances_of(q));
        EXPECT_TRUE(std::ranges::equal(answers.probabilities(), of(own)));
        EXPECT_TRUE(std::ranges::equal(answers.resmem_scores(), of(resmem)));
        EXPECT_EQ(answers.Base(), ArgMax(of(base)));
        EXPECT_EQ(answers.Knn(), ArgMax(of(knn)));
        EXPECT_EQ(answers.KnnLm(0.3f), ArgMax(of(mixed)));
        EXPECT_EQ(answers.ResMem(), ArgMax(of(resmem)));
      }
    });
  }
}

}  // namespace
}  // namespace resmem
