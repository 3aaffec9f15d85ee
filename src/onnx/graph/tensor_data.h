// The values of a tensor in an ONNX file: how many there must be and where they lie.
#ifndef RESMEM_ONNX_GRAPH_TENSOR_DATA_H_
#define RESMEM_ONNX_GRAPH_TENSOR_DATA_H_

#include <cstdint>
#include <string>

#include "resmem/status.h"

namespace onnx {
class TensorProto;
}  // namespace onnx

namespace resmem {

// "float32" of TensorProto::FLOAT; "type 99" of what nobody knows.
std::string TensorTypeName(int type);

// The product of the dimensions.  kBadData for a negative one and for more than fit a file.
Result<int64_t> TensorValues(const onnx::TensorProto& tensor);

// That the data given, inside the file or outside, are as many bytes as type and shape say.
// `folder`: of the model.  Messages name the tensor, not the file.
Status CheckTensor(const onnx::TensorProto& tensor, const std::string& folder);

bool IsExternal(const onnx::TensorProto& tensor);
// Reads external data, checked as above, into the tensor.
Status TakeInExternalData(const std::string& folder, onnx::TensorProto* tensor);

}  // namespace resmem

#endif  // RESMEM_ONNX_GRAPH_TENSOR_DATA_H_
