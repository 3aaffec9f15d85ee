#include "train/checkpoint.h"

#include <nlohmann/json.hpp>

#include "format/container_reader.h"
#include "format/container_writer.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem::train {
namespace {

using Json = nlohmann::ordered_json;

// Section 0: the words (JSON); section 1: the values of all tensors, one after the other.
constexpr size_t kWords = 0, kValues = 1;

Json Describe(const NamedTensors& state) {
  Json tensors = Json::array();
  for (const auto& [name, tensor] : state) {
    tensors.push_back({{"name", name}, {"shape", tensor.sizes().vec()}});
  }
  return tensors;
}

torch::Tensor Plain(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kCPU, torch::kFloat).contiguous(at::MemoryFormat::Contiguous);
}

}  // namespace

Status SaveCheckpoint(const std::string& path, const Progressed& progressed,
                      const NamedTensors& state) {
  const Json words = {{"epochs", progressed.epochs},
                      {"best_accuracy", progressed.best_accuracy},
                      {"best_epoch", progressed.best_epoch},
                      {"seconds", progressed.seconds},
                      {"precision", PrecisionName(progressed.precision)},
                      {"tensors", Describe(state)}};
  const std::string text = words.dump();
  int64_t values = 0;
  for (const auto& [name, tensor] : state) values += tensor.numel();
  RESMEM_ASSIGN_OR_RETURN(
      ContainerWriter writer,
      ContainerWriter::Create(FileSystem::Posix(), path, FileKind::kCheckpoint,
                              {{"words", StoredType::kU8, static_cast<int64_t>(text.size()), 1},
                               {"values", StoredType::kF32, values, 1}}));
  RESMEM_RETURN_IF_ERROR(writer.Append(kWords, std::as_bytes(std::span(text.data(), text.size()))));
  for (const auto& [name, tensor] : state) {
    const torch::Tensor plain = Plain(tensor);
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(
        kValues, std::span(plain.data_ptr<float>(), static_cast<size_t>(plain.numel()))));
  }
  return writer.Finish().status();
}

Result<Progressed> LoadCheckpoint(const std::string& path, const NamedTensors& state) {
  RESMEM_ASSIGN_OR_RETURN(const ContainerReader reader,
                          ContainerReader::Open(FileSystem::Posix(), path, FileKind::kCheckpoint));
  if (reader.sections().size() != 2 || reader.sections()[kWords].shape.type != StoredType::kU8 ||
      reader.sections()[kValues].shape.type != StoredType::kF32) {
    return reader.Corrupt("a checkpoint has the sections words and values");
  }
  RESMEM_RETURN_IF_ERROR(reader.VerifyBlocks());
  const auto text = reader.Values<char>(kWords);
  const Json words = Json::parse(
      text.begin(), text.end(), [](int depth, Json::parse_event_t, Json&) { return depth <= 5; },
      false);
  const auto number = [&](const char* name) {
    return words.is_object() && words.contains(name) && words[name].is_number();
  };
  if (!number("epochs") || !number("best_accuracy") || !number("best_epoch") ||
      !number("seconds") || !words.contains("tensors")) {
    return reader.Corrupt("its words are not those of a checkpoint");
  }
  std::span<const float> values = reader.Values<float>(kValues);
  int64_t expected = 0;
  for (const auto& [name, tensor] : state) expected += tensor.numel();
  if (words["tensors"] != Describe(state) || std::ssize(values) != expected) {
    return Status(ErrorCode::kMismatch,
                  Text(path,
                       ": the checkpoint of another network; its tensors are not this "
                       "recipe's. Train into a new folder"));
  }
  torch::NoGradGuard no_gradient;
  for (const auto& [name, tensor] : state) {
    const auto count = static_cast<size_t>(tensor.numel());
    torch::Tensor(tensor).copy_(
        torch::from_blob(const_cast<float*>(values.data()), tensor.sizes()));  // only read
    values = values.subspan(count);
  }
  Progressed progressed;
  progressed.epochs = words["epochs"].get<int64_t>();
  progressed.best_accuracy = words["best_accuracy"].get<double>();
  progressed.best_epoch = words["best_epoch"].get<int64_t>();
  progressed.seconds = words["seconds"].get<double>();
  // A checkpoint from before there was a choice says nothing.
  const bool bfloat16 = words.value("precision", Json()) == PrecisionName(Precision::kBfloat16);
  progressed.precision = bfloat16 ? Precision::kBfloat16 : Precision::kFloat32;
  return progressed;
}

}  // namespace resmem::train
