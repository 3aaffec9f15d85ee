#include "predict/reference_prediction.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "fixtures/every_memory.h"
#include "fixtures/small_memory.h"
#include "predict/correction.h"
#include "resmem/predictor.h"

namespace resmem {
namespace {

TEST(ReferencePrediction, AgreesWithThePredictorInEveryForm) {
  constexpr int64_t dim = 3, outputs = 21, count = 30;
  const fixtures::TemporaryFolder folder;
  const RowData data = MakeRows(120, dim, outputs);
  for (const MemoryDescription& description : EveryDescription(dim, outputs)) {
    SCOPED_TRACE(NameOf(description));
    const std::string path = folder / NameOf(description);
    fixtures::Write(path, description, data.view(description));
    const ResidualMemory memory = fixtures::Open(path);
    const Predictor predictor(memory);
    // Keys between those of the memory.
    std::vector<float> keys(data.keys.begin(), data.keys.begin() + count * dim);
    for (float& value : keys) value += 0.25f;
    const MatrixView queries(keys.data(), count, dim);
    const MatrixView logits(data.logits.data() + 7 * outputs, count, outputs);
    Neighbors neighbors;  // of more rows than there are
    ASSERT_TRUE(predictor.FindNeighbors(queries, 200, {}, 1, nullptr, &neighbors).ok());
    for (const auto& [k, sigma] : std::initializer_list<std::pair<int64_t, float>>{
             {0, 0.4f}, {1, 0.4f}, {17, 0.4f}, {17, 1e-6f}, {200, 3.f}}) {
      SCOPED_TRACE(std::to_string(k) + " neighbors, sigma " + std::to_string(sigma));
      PredictOptions options = predictor.DefaultOptions();
      options.parameters.k = k;
      options.parameters.sigma = sigma;
      std::vector<float> scores(count * outputs);
      ASSERT_TRUE(predictor.Score(queries, logits, neighbors, options, scores).ok());
      for (int64_t q = 0; q < count; ++q) {
        const size_t found = CountNeighbors(neighbors.rows_of(q), k);
        const std::vector<double> expected =
            ReferencePrediction(memory, logits.row_span(q), neighbors.rows_of(q).first(found),
                                neighbors.distances_of(q).first(found), options.parameters);
        for (size_t c = 0; c < expected.size(); ++c) {
          EXPECT_NEAR(scores[static_cast<size_t>(q * outputs) + c], expected[c], 2e-5);
        }
      }
    }
  }
}

}  // namespace
}  // namespace resmem
