#include <gtest/gtest.h>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/test_graphs.h"
#include "resmem/models/onnx_model.h"

namespace resmem {
namespace {

class InspectTest : public testing::Test {
 protected:
  Result<OnnxSummary> Inspect(const fixtures::GraphMaker& maker) {
    fixtures::WriteBytes(path_, maker.bytes());
    return InspectOnnx(path_);
  }

  const fixtures::TemporaryFolder folder_;
  const std::string path_ = folder_ / "net.onnx";
};

TEST_F(InspectTest, TellsWhatAFileHolds) {
  const auto summary = Inspect(fixtures::Image());
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->producer, "a test");
  EXPECT_EQ(summary->opset, 13);
  EXPECT_EQ(summary->parameters, 6 + 6 + 3);
  ASSERT_EQ(summary->inputs.size(), 1u);
  EXPECT_EQ(summary->inputs[0].name, "image");
  EXPECT_EQ(summary->inputs[0].type, "float32");
  EXPECT_EQ(summary->inputs[0].shape, (std::vector<std::string>{"n", "3", "2", "2"}));
  ASSERT_EQ(summary->outputs.size(), 1u);
  EXPECT_EQ(summary->outputs[0].name, "y");
  EXPECT_EQ(summary->logits, "y");
  EXPECT_EQ(summary->operators.at("Conv"), 1);
}

TEST_F(InspectTest, OffersTheInputOfTheLastLayerFirstThenWhatLiesBefore) {
  const auto summary = Inspect(fixtures::Image());
  ASSERT_EQ(summary->candidates.size(), 2u);
  EXPECT_EQ(summary->candidates[0].name, "flat");
  EXPECT_EQ(summary->candidates[0].shape, (std::vector<std::string>{"?", "2"}));
  EXPECT_EQ(summary->candidates[1].name, "pool");
  EXPECT_EQ(summary->candidates[1].made_by, "GlobalAveragePool");
  EXPECT_EQ(summary->candidates[1].shape, (std::vector<std::string>{"?", "2", "1", "1"}));
}

TEST_F(InspectTest, TakesAProductOfComputedTensorsForAttentionAndNotForAHead) {
  fixtures::GraphMaker maker = fixtures::Table();
  maker.Node("MatMul", {"y", "h"}, "attention");
  const auto summary = Inspect(maker);
  EXPECT_EQ(summary->candidates[0].name, "h");
}

TEST_F(InspectTest, FollowsWeightsThatAreComputedFromWeights) {
  fixtures::GraphMaker maker;
  maker.Input("x", {-1, 2});
  maker.Weights("w", {2, 2}, {1, 2, 3, 4});
  maker.Node("Transpose", {"w"}, "turned");
  maker.Node("Relu", {"x"}, "h");
  maker.Node("MatMul", {"h", "turned"}, "y");
  maker.Output("y", {-1, 2});
  const auto summary = Inspect(maker);
  ASSERT_EQ(summary->candidates.size(), 1u);
  EXPECT_EQ(summary->candidates[0].name, "h");
}

TEST_F(InspectTest, OffersNeitherMapsNorShapes) {
  fixtures::GraphMaker maker;  // as PyTorch writes x.view(x.size(0), -1)
  maker.Input("image", {-1, 2, 4, 4});
  maker.Weights("w", {2, 2}, {1, 2, 3, 4});
  maker.Node("Relu", {"image"}, "map");
  maker.Node("GlobalAveragePool", {"map"}, "pool");
  maker.Node("Shape", {"map"}, "shape");
  maker.Node("Gather", {"shape"}, "rows");
  maker.Node("Reshape", {"pool", "rows"}, "flat");
  maker.Node("MatMul", {"flat", "w"}, "y");
  maker.Output("y", {-1, 2});
  const auto summary = Inspect(maker);
  ASSERT_EQ(summary->candidates.size(), 2u);
  EXPECT_EQ(summary->candidates[0].name, "flat");
  EXPECT_EQ(summary->candidates[1].name, "pool");
}

TEST_F(InspectTest, TakesWhatGoesIntoASoftmaxForTheLogits) {
  fixtures::GraphMaker maker = fixtures::Table();
  maker.Node("Softmax", {"y"}, "probabilities");
  maker.graph().mutable_output(0)->set_name("probabilities");
  EXPECT_EQ(Inspect(maker)->logits, "y");
}

TEST_F(InspectTest, HasNoCandidateWithoutAHead) {
  fixtures::GraphMaker maker;
  maker.Input("x", {-1, 2});
  maker.Node("Relu", {"x"}, "y");
  maker.Output("y", {-1, 2});
  EXPECT_TRUE(Inspect(maker)->candidates.empty());
}

TEST_F(InspectTest, CountsOperatorsInsideSubgraphs) {
  fixtures::GraphMaker maker = fixtures::Table();
  onnx::NodeProto& branch = maker.Node("If", {"condition"}, "z");
  onnx::AttributeProto* attribute = branch.add_attribute();
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->add_node()->set_op_type("Erf");
  EXPECT_EQ(Inspect(maker)->operators.at("Erf"), 1);
}

}  // namespace
}  // namespace resmem
