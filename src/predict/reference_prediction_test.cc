#include "predict/reference_prediction.h"

#include <gtest/gtest.h>

#include "fixtures/every_memory.h"
#include "fixtures/small_memory.h"
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
    PredictOptions options = predictor.DefaultOptions();
    options.parameters.k = 17;
    options.parameters.sigma = 0.4f;
    // Keys between those of the memory.
    std::vector<float> keys(data.keys.begin(), data.keys.begin() + count * dim);
    for (float& value : keys) value += 0.25f;
    const MatrixView queries(keys.data(), count, dim);
    const MatrixView logits(data.logits.data() + 7 * outputs, count, outputs);
    Neighbors neighbors;
    ASSERT_TRUE(predictor.FindNeighbors(queries, 17, {}, 1, nullptr, &neighbors).ok());
    std::vector<float> scores(count * outputs);
    ASSERT_TRUE(predictor.Score(queries, logits, neighbors, options, scores).ok());
    for (int64_t q = 0; q < count; ++q) {
      const std::vector<double> expected =
          ReferencePrediction(memory, logits.row_span(q), neighbors.rows_of(q),
                              neighbors.distances_of(q), options.parameters);
      for (size_t c = 0; c < expected.size(); ++c) {
        EXPECT_NEAR(scores[static_cast<size_t>(q * outputs) + c], expected[c], 2e-5);
      }
    }
  }
}

}  // namespace
}  // namespace resmem
