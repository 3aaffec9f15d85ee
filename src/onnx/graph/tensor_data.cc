#include "onnx/graph/tensor_data.h"

#include <onnx/onnx_pb.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>

#include "support/checked_math.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

struct TypeFacts {
  const char* name;
  int64_t bits;  // of one value in raw data; 0: has no raw form
};
// By TensorProto's number.  Those after bfloat16 are newer than the classes we are built with.
constexpr std::array<TypeFacts, 24> kTypes = {
    {{"no type", 0},        {"float32", 32},     {"uint8", 8},          {"int8", 8},
     {"uint16", 16},        {"int16", 16},       {"int32", 32},         {"int64", 64},
     {"string", 0},         {"bool", 8},         {"float16", 16},       {"float64", 64},
     {"uint32", 32},        {"uint64", 64},      {"complex64", 64},     {"complex128", 128},
     {"bfloat16", 16},      {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
     {"float8e5m2fnuz", 8}, {"uint4", 4},        {"int4", 4},           {"float4e2m1", 4}}};

const TypeFacts* FactsOf(int type) {
  if (type <= 0 || type >= static_cast<int>(kTypes.size())) return nullptr;
  return &kTypes[static_cast<size_t>(type)];
}

Status Bad(const onnx::TensorProto& tensor, const std::string& what) {
  return {ErrorCode::kBadData, Text("tensor \"", tensor.name(), "\" ", what)};
}

// Values in the typed fields, of which one is used: complex numbers take two entries each,
// four-bit numbers half of one.
int64_t TypedEntries(const onnx::TensorProto& tensor) {
  return int64_t{tensor.float_data_size()} + tensor.int32_data_size() + tensor.string_data_size() +
         tensor.int64_data_size() + tensor.double_data_size() + tensor.uint64_data_size();
}

Result<int64_t> BytesOf(const onnx::TensorProto& tensor) {
  RESMEM_ASSIGN_OR_RETURN(const int64_t values, TensorValues(tensor));
  const TypeFacts* facts = FactsOf(tensor.data_type());
  if (facts == nullptr) {
    return Bad(tensor, Text("has type ", tensor.data_type(), ", which ONNX does not know"));
  }
  const auto bits = CheckedMultiply(values, facts->bits);
  if (!bits) return Bad(tensor, "is too large for any file");
  return (*bits + 7) / 8;
}

struct ExternalPlace {
  std::string path;
  int64_t offset = 0;
};

std::optional<int64_t> ParseNumber(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Where `location` leads, if that is inside `folder`, links followed.
Result<std::string> ResolveInside(const onnx::TensorProto& tensor, const std::string& folder,
                                  const std::string& location) {
  namespace fs = std::filesystem;
  const fs::path relative(location);
  const auto outside = [&] {
    return Bad(tensor, Text("keeps its data in \"", location.substr(0, 200),
                            "\", outside the folder of the model; only files beside the model are "
                            "read"));
  };
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute()) {
    return outside();
  }
  for (const fs::path& part : relative) {
    if (part == "..") return outside();
  }
  std::error_code error;
  const fs::path home = fs::canonical(folder, error);
  const fs::path file = error ? fs::path() : fs::canonical(home / relative, error);
  if (error) {
    return Status(ErrorCode::kNotFound,
                  Text("tensor \"", tensor.name(), "\" keeps its data in ", folder, "/", location,
                       ", which is not there; put it beside the model again"));
  }
  if (std::mismatch(home.begin(), home.end(), file.begin(), file.end()).first != home.end()) {
    return outside();
  }
  if (!fs::is_regular_file(file, error)) {
    return Bad(tensor, Text("keeps its data in ", file.string(), ", which is no regular file"));
  }
  return file.string();
}

Result<ExternalPlace> CheckExternal(const onnx::TensorProto& tensor, const std::string& folder,
                                    int64_t bytes) {
  std::string location;
  ExternalPlace place;
  std::optional<int64_t> length;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const auto number = ParseNumber(entry.value());
    if (!number) {
      return Bad(tensor, Text("has external data with the ", entry.key(), " \"",
                              entry.value().substr(0, 40), "\", which is no size"));
    }
    if (entry.key() == "offset") place.offset = *number;
    if (entry.key() == "length") length = number;
  }
  if (length.value_or(bytes) != bytes) {
    return Bad(tensor, Text("has ", *length, " bytes of external data, its shape needs ", bytes));
  }
  RESMEM_ASSIGN_OR_RETURN(place.path, ResolveInside(tensor, folder, location));
  std::error_code error;
  const auto size = std::filesystem::file_size(place.path, error);
  const auto end = CheckedAdd(place.offset, bytes);
  if (error || !end || static_cast<uintmax_t>(*end) > size) {
    return Bad(tensor,
               Text("needs ", bytes, " bytes from offset ", place.offset, " of ", place.path,
                    ", which has only ", size, "; it was cut short, export the model again"));
  }
  return place;
}

}  // namespace

std::string TensorTypeName(int type) {
  const TypeFacts* facts = FactsOf(type);
  return facts == nullptr ? Text("type ", type) : facts->name;
}

bool IsExternal(const onnx::TensorProto& tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL || tensor.external_data_size() > 0;
}

Result<int64_t> TensorValues(const onnx::TensorProto& tensor) {
  int64_t values = 1;
  for (const int64_t dimension : tensor.dims()) {
    const auto product = CheckedMultiply(values, dimension);
    if (!product || *product > int64_t{1} << 40) {
      return Bad(tensor, Text("has a dimension of ", dimension, ", which no tensor in a file has"));
    }
    values = *product;
  }
  return values;
}

Status CheckTensor(const onnx::TensorProto& tensor, const std::string& folder) {
  if (tensor.has_segment())
    return Bad(tensor, "is cut into segments, which are not supported: save it in one piece");
  RESMEM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(tensor));
  if (IsExternal(tensor)) {
    const auto place = CheckExternal(tensor, folder, bytes);
    return place.ok() ? Status() : place.status();
  }
  const int64_t entries = TypedEntries(tensor);
  if (tensor.has_raw_data()) {
    const auto found = static_cast<int64_t>(tensor.raw_data().size());
    if (found == bytes && entries == 0 && tensor.data_type() != onnx::TensorProto::STRING)
      return {};
    return Bad(tensor, Text("has ", found, " bytes of data, its shape and type (",
                            TensorTypeName(tensor.data_type()), ") need ", bytes));
  }
  RESMEM_ASSIGN_OR_RETURN(const int64_t values, TensorValues(tensor));
  const int64_t bits = FactsOf(tensor.data_type())->bits;
  const bool complex = tensor.data_type() == onnx::TensorProto::COMPLEX64 ||
                       tensor.data_type() == onnx::TensorProto::COMPLEX128;
  const int64_t needed = complex ? 2 * values : bits == 4 ? (values + 1) / 2 : values;
  if (entries == needed) return {};
  return Bad(tensor, Text("has ", entries, " values, its shape needs ", needed));
}

Status TakeInExternalData(const std::string& folder, onnx::TensorProto* tensor) {
  RESMEM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(*tensor));
  RESMEM_ASSIGN_OR_RETURN(const ExternalPlace place, CheckExternal(*tensor, folder, bytes));
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(place.path));
  if (place.offset + bytes > static_cast<int64_t>(file.bytes().size())) {
    return Bad(*tensor, Text("needs more of ", place.path, " than is there now"));
  }
  const auto part =
      file.bytes().subspan(static_cast<size_t>(place.offset), static_cast<size_t>(bytes));
  tensor->set_raw_data(part.data(), part.size());
  tensor->clear_external_data();
  tensor->clear_data_location();
  return {};
}

}  // namespace resmem
