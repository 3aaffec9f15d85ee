// Arrays of the Open Inference Protocol: a name, a type, a shape, and values in JSON or in bytes.
#ifndef RESMEM_SERVER_PROTOCOL_TENSOR_H_
#define RESMEM_SERVER_PROTOCOL_TENSOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/json_value.h"
#include "resmem/status.h"

namespace resmem::serve {

enum class DataType { kFp32, kFp64, kFp16, kUint8, kInt32, kInt64, kUint64, kBytes, kBool };
const char* DataTypeName(DataType type);               // "FP32"
Result<DataType> FindDataType(std::string_view name);  // of an input: all but kBool
int64_t BytesOf(DataType type);                        // of one value; 0 for kBytes

struct Shape {
  std::vector<int64_t> sizes;

  // The number of values, checked: kBadData where it is negative or more than `most`.
  Result<int64_t> Count(int64_t most) const;
  std::string Text() const;  // "[2,64]"
};

// Values as one of these; which one, its type says: FP* in `floats`, UINT8 and BOOL in `bytes`,
// INT* in `whole`, UINT64 in `unsigned_whole`, BYTES in `texts`.
struct Tensor {
  std::string name;
  DataType type = DataType::kFp32;
  Shape shape;
  std::vector<float> floats;
  std::vector<uint8_t> bytes;
  std::vector<int64_t> whole;
  std::vector<uint64_t> unsigned_whole;
  std::vector<std::string> texts;

  int64_t rows() const { return shape.sizes.empty() ? 0 : shape.sizes[0]; }
};

// Fills the values.  `count`: as the shape has it.  Errors: kBadData.
Status ReadJsonValues(const JsonValue& data, int64_t count, Tensor* tensor);
// Little endian; BYTES: each with its length before it, 4 bytes.
Status ReadBinaryValues(std::string_view bytes, int64_t count, Tensor* tensor);

// "data" of an answer, and its bytes.
void AppendJsonValues(const Tensor& tensor, std::string* json);
void AppendBinaryValues(const Tensor& tensor, std::string* bytes);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_PROTOCOL_TENSOR_H_
