#include "base_model/model_file.h"

#include <algorithm>

#include "format/container_reader.h"
#include "format/container_writer.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

// The matrices in the order of the file.
template <typename SomeNetwork>
auto PartsOf(SomeNetwork& network) {
  std::vector parts = {&network.standardizer.mean, &network.standardizer.scale};
  for (auto& layer : network.layers) {
    parts.push_back(&layer.weights);
    parts.push_back(&layer.bias);
  }
  return parts;
}

std::vector<SectionShape> Sections(int64_t inputs, int64_t hidden, int64_t classes) {
  std::vector<SectionShape> sections = {{"mean", StoredType::kF32, 1, inputs},
                                        {"scale", StoredType::kF32, 1, inputs}};
  if (hidden > 0) {
    sections.push_back({"hidden_weights", StoredType::kF32, inputs, hidden});
    sections.push_back({"hidden_bias", StoredType::kF32, 1, hidden});
  }
  sections.push_back({"output_weights", StoredType::kF32, hidden > 0 ? hidden : inputs, classes});
  sections.push_back({"output_bias", StoredType::kF32, 1, classes});
  return sections;
}

constexpr size_t kLinearSections = 4, kHiddenSections = 6;

}  // namespace

Status SaveNetwork(const Network& network, const std::string& path) {
  if (IsDeviceOrPipe(path)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(path, ": a device or pipe cannot hold a model; name a file"));
  }
  const int64_t hidden = network.layers.size() > 1 ? network.key_dim() : 0;
  RESMEM_ASSIGN_OR_RETURN(
      ContainerWriter writer,
      ContainerWriter::Create(FileSystem::Posix(), FollowLinks(path), FileKind::kBaseModel,
                              Sections(network.inputs(), hidden, network.classes())));
  const auto parts = PartsOf(network);
  for (size_t i = 0; i < parts.size(); ++i) {
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(i, *parts[i]));
  }
  return writer.Finish().status();
}

Result<Network> LoadNetwork(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const ContainerReader reader,
                          ContainerReader::Open(FileSystem::Posix(), path, FileKind::kBaseModel));
  const auto& sections = reader.sections();
  if (sections.size() != kLinearSections && sections.size() != kHiddenSections) {
    return reader.Corrupt(Text("a base model has ", kLinearSections, " or ", kHiddenSections,
                               " sections, but the file has ", sections.size()));
  }
  const int64_t inputs = sections[0].shape.columns;
  const int64_t hidden = sections.size() == kHiddenSections ? sections[2].shape.columns : 0;
  const int64_t classes = sections.back().shape.columns;
  RESMEM_RETURN_IF_ERROR(reader.ExpectSections(Sections(inputs, hidden, classes)));
  RESMEM_RETURN_IF_ERROR(reader.VerifyBlocks());
  // From here on the sizes are those of sections that lie in the file.
  Network network = MakeNetwork(inputs, hidden, classes);
  network.standardizer.mean.resize(static_cast<size_t>(inputs));
  network.standardizer.scale.resize(static_cast<size_t>(inputs));
  const auto parts = PartsOf(network);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::span<const float> values = reader.Values<float>(i);
    std::copy(values.begin(), values.end(), parts[i]->begin());
  }
  return network;
}

}  // namespace resmem
