#include "protocol/tensor.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "protocol/json_text.h"

namespace resmem::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are little endian");

constexpr std::array<const char*, 9> kNames = {"FP32",  "FP64",   "FP16",  "UINT8", "INT32",
                                               "INT64", "UINT64", "BYTES", "BOOL"};
constexpr size_t kInputs = 8;  // BOOL is for answers
constexpr std::array<int64_t, 9> kSizes = {4, 8, 2, 1, 4, 8, 8, 0, 1};

Status Wrong(const Tensor& tensor, const std::string& what) {
  return {ErrorCode::kBadData, "input \"" + tensor.name + "\": " + what};
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent == 0) {
    const float small = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -small : small;
  }
  const uint32_t bits = exponent == 31 ? sign | 0x7F800000 | (fraction << 13)
                                       : sign | ((exponent + 112) << 23) | (fraction << 13);
  return std::bit_cast<float>(bits);
}

template <class Stored, class Value, class Convert>
void Copy(std::string_view bytes, int64_t count, std::vector<Value>* values,
          const Convert& convert) {
  values->resize(static_cast<size_t>(count));
  for (size_t i = 0; i < values->size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    (*values)[i] = convert(stored);
  }
}

Status ReadTexts(std::string_view bytes, int64_t count, Tensor* tensor) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t length = 0;
    if (bytes.size() < sizeof length) return Wrong(*tensor, "its bytes end before its last text");
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (bytes.size() < length) return Wrong(*tensor, "a text is longer than what is left");
    tensor->texts.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return bytes.empty() ? Status() : Wrong(*tensor, "there are bytes after its last text");
}

Status ReadNumber(const JsonNumber& number, size_t i, Tensor* tensor) {
  const auto refuse = [&](const char* wanted) {
    return Wrong(*tensor, "value " + std::to_string(i) + " is not " + wanted);
  };
  switch (tensor->type) {
    case DataType::kFp32:
    case DataType::kFp64:
    case DataType::kFp16: {
      const double value = number.AsDouble();
      if (std::fabs(value) > std::numeric_limits<float>::max()) return refuse("a float32");
      tensor->floats.push_back(static_cast<float>(value));
      return {};
    }
    case DataType::kUint64: {
      uint64_t value = 0;
      if (!number.AsUint64(&value)) return refuse("a whole number of 64 bits without a sign");
      tensor->unsigned_whole.push_back(value);
      return {};
    }
    default: {
      int64_t value = 0;
      if (!number.AsInt64(&value)) return refuse("a whole number");
      if (tensor->type == DataType::kUint8) {
        if (value < 0 || value > 255) return refuse("in 0 .. 255");
        tensor->bytes.push_back(static_cast<uint8_t>(value));
        return {};
      }
      if (tensor->type == DataType::kInt32 && value != static_cast<int32_t>(value)) {
        return refuse("a whole number of 32 bits");
      }
      tensor->whole.push_back(value);
      return {};
    }
  }
}

Status ReadJsonTexts(const JsonValue& data, int64_t count, Tensor* tensor) {
  if (static_cast<int64_t>(data.list.size()) != count ||
      (count > 0 && data.kind != JsonValue::Kind::kList)) {
    return Wrong(*tensor, "its data is not a flat list of " + std::to_string(count) + " texts");
  }
  for (const JsonValue& text : data.list) {
    if (text.kind != JsonValue::Kind::kText) return Wrong(*tensor, "its data is not all text");
    tensor->texts.push_back(text.text);
  }
  return {};
}

template <class Stored, class Value>
void AppendAs(const std::vector<Value>& values, std::string* bytes) {
  for (const Value value : values) {
    const auto stored = static_cast<Stored>(value);
    bytes->append(reinterpret_cast<const char*>(&stored), sizeof stored);
  }
}

}  // namespace

const char* DataTypeName(DataType type) {
  return kNames[static_cast<size_t>(type)];
}

Result<DataType> FindDataType(std::string_view name) {
  for (size_t i = 0; i < kInputs; ++i) {
    if (name == kNames[i]) return static_cast<DataType>(i);
  }
  return Status(ErrorCode::kBadData, "datatype \"" + std::string(name.substr(0, 40)) +
                                         "\" is not one of FP32, FP64, FP16, UINT8, INT32, "
                                         "INT64, UINT64, BYTES");
}

int64_t BytesOf(DataType type) {
  return kSizes[static_cast<size_t>(type)];
}

Result<int64_t> Shape::Count(int64_t most) const {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t size : sizes) {
    if (size < 0) return Status(ErrorCode::kBadData, "the shape " + Text() + " is negative");
    if (size == 0) {
      empty = true;
      continue;
    }
    if (size > most / count) {
      return Status(ErrorCode::kBadData, "the shape " + Text() +
                                             " is larger than this server "
                                             "accepts (--max-body); send fewer rows at a time");
    }
    count *= size;
  }
  return empty ? 0 : count;
}

std::string Shape::Text() const {
  std::string text;
  AppendNumbers(std::span<const int64_t>(sizes.data(), std::min<size_t>(sizes.size(), 8)), &text);
  return text;
}

Status ReadJsonValues(const JsonValue& data, int64_t count, Tensor* tensor) {
  if (tensor->type == DataType::kBytes) return ReadJsonTexts(data, count, tensor);
  if (data.kind != JsonValue::Kind::kNumbers) {
    return Wrong(*tensor, std::string("its data is ") + KindName(data.kind) + ", not numbers");
  }
  if (static_cast<int64_t>(data.numbers.size()) != count) {
    return Wrong(*tensor, "has " + std::to_string(data.numbers.size()) +
                              " values where its shape " + tensor->shape.Text() + " has " +
                              std::to_string(count));
  }
  for (size_t i = 0; i < data.numbers.size(); ++i) {
    RESMEM_RETURN_IF_ERROR(ReadNumber(data.numbers[i], i, tensor));
  }
  return {};
}

Status ReadBinaryValues(std::string_view bytes, int64_t count, Tensor* tensor) {
  if (tensor->type == DataType::kBytes) return ReadTexts(bytes, count, tensor);
  if (static_cast<int64_t>(bytes.size()) / BytesOf(tensor->type) != count ||
      static_cast<int64_t>(bytes.size()) % BytesOf(tensor->type) != 0) {
    return Wrong(*tensor, "has " + std::to_string(bytes.size()) + " bytes where its shape " +
                              tensor->shape.Text() + " of " + DataTypeName(tensor->type) + " has " +
                              std::to_string(count) + " values");
  }
  const auto same = [](auto value) { return value; };
  switch (tensor->type) {
    case DataType::kFp32:
      Copy<float>(bytes, count, &tensor->floats, same);
      break;
    case DataType::kFp64:
      Copy<double>(bytes, count, &tensor->floats, [](double v) { return static_cast<float>(v); });
      break;
    case DataType::kFp16:
      Copy<uint16_t>(bytes, count, &tensor->floats, HalfToFloat);
      break;
    case DataType::kUint8:
      Copy<uint8_t>(bytes, count, &tensor->bytes, same);
      break;
    case DataType::kInt32:
      Copy<int32_t>(bytes, count, &tensor->whole, same);
      break;
    case DataType::kInt64:
      Copy<int64_t>(bytes, count, &tensor->whole, same);
      break;
    default:
      Copy<uint64_t>(bytes, count, &tensor->unsigned_whole, same);
  }
  for (const float value : tensor->floats) {
    if (!std::isfinite(value)) return Wrong(*tensor, "holds a value that is not finite");
  }
  return {};
}

void AppendJsonValues(const Tensor& tensor, std::string* json) {
  switch (tensor.type) {
    case DataType::kBool:
      *json += '[';
      for (size_t i = 0; i < tensor.bytes.size(); ++i) {
        *json += i > 0 ? "," : "";
        *json += tensor.bytes[i] != 0 ? "true" : "false";
      }
      *json += ']';
      return;
    case DataType::kUint8:
      return AppendNumbers(std::span<const uint8_t>(tensor.bytes), json);
    case DataType::kInt32:
    case DataType::kInt64:
      return AppendNumbers(std::span<const int64_t>(tensor.whole), json);
    case DataType::kUint64:
      return AppendNumbers(std::span<const uint64_t>(tensor.unsigned_whole), json);
    case DataType::kBytes:
      *json += '[';
      for (size_t i = 0; i < tensor.texts.size(); ++i) {
        if (i > 0) *json += ',';
        AppendText(tensor.texts[i], json);
      }
      *json += ']';
      return;
    default:
      return AppendNumbers(std::span<const float>(tensor.floats), json);
  }
}

void AppendBinaryValues(const Tensor& tensor, std::string* bytes) {
  switch (tensor.type) {
    case DataType::kBool:
    case DataType::kUint8:
      return AppendAs<uint8_t>(tensor.bytes, bytes);
    case DataType::kInt32:
      return AppendAs<int32_t>(tensor.whole, bytes);
    case DataType::kInt64:
      return AppendAs<int64_t>(tensor.whole, bytes);
    case DataType::kUint64:
      return AppendAs<uint64_t>(tensor.unsigned_whole, bytes);
    case DataType::kBytes:
      for (const std::string& text : tensor.texts) {
        AppendAs<uint32_t>(std::vector<size_t>{text.size()}, bytes);
        *bytes += text;
      }
      return;
    default:
      return AppendAs<float>(tensor.floats, bytes);
  }
}

}  // namespace resmem::serve
