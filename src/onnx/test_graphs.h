// Small ONNX files, made in the test that reads them.
#ifndef RESMEM_ONNX_TEST_GRAPHS_H_
#define RESMEM_ONNX_TEST_GRAPHS_H_

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "onnx/runtime/runtime.h"

namespace resmem::fixtures {

// Adds parts to a graph.
class GraphMaker {
 public:
  GraphMaker() {
    model_.set_ir_version(8);
    model_.set_producer_name("a test");
    model_.add_opset_import()->set_version(13);
    model_.mutable_graph()->set_name("graph");
  }
  onnx::ModelProto& model() { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  std::string bytes() const { return model_.SerializeAsString(); }

  // A side below 0 is left open.
  void Input(const std::string& name, const std::vector<int64_t>& sides);
  void Output(const std::string& name, const std::vector<int64_t>& sides);
  onnx::TensorProto& Weights(const std::string& name, const std::vector<int64_t>& sides,
                             const std::vector<float>& values);
  onnx::NodeProto& Node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output);
  static void SetInteger(onnx::NodeProto& node, const std::string& name, int64_t value);
  static void SetIntegers(onnx::NodeProto& node, const std::string& name,
                          const std::vector<int64_t>& values);

 private:
  onnx::ModelProto model_;
};

// x (n x 3) -> Gemm -> Relu h (n x 2) -> Gemm y (n x 2):
//   h = (x0 + x1, max(0, x2 - 1)), y = (2 h0 - h1, h1 + 1)
GraphMaker Table();

// image (n x 3 x 2 x 2) -> 1x1 Conv to 2 channels, (red, green + blue) -> GlobalAveragePool pool
// -> Flatten flat -> Gemm y (n x 3) = (p0, p1, p0 + p1)
GraphMaker Image();

// Empty where ONNX Runtime can be loaded.
std::string WhyNoRuntime();

}  // namespace resmem::fixtures

// For SetUp().  Where ./setup could not install ONNX Runtime, the test is skipped; in CI it fails.
#define RESMEM_NEED_RUNTIME()                                                     \
  if (const std::string why = ::resmem::fixtures::WhyNoRuntime(); !why.empty()) { \
    if (std::getenv("CI") != nullptr) FAIL() << why;                              \
    GTEST_SKIP() << "ONNX Runtime is not here: ./setup installs it";              \
  }                                                                               \
  static_assert(true, "")

#endif  // RESMEM_ONNX_TEST_GRAPHS_H_
