// Writes the golden memories of the present format version:  write_golden tests/golden/v1
// For a new format version, into a new folder: files that exist are never written again.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "golden/golden_memories.h"
#include "resmem/compress.h"
#include "resmem/snapshots.h"
#include "resmem_program/edit_stream.h"

namespace resmem {
namespace {

struct Example {
  MemoryDescription description;
  std::vector<float> keys, logits, targets;
  std::vector<int32_t> labels;
  std::vector<uint64_t> ids;
  std::vector<std::string> sources;

  Rows view(int64_t begin, int64_t count) const {
    const int64_t dim = description.dim, outputs = description.outputs;
    Rows rows;
    rows.keys = MatrixView(keys.data(), 6, dim).Slice(begin, count);
    rows.logits = MatrixView(logits.data(), 6, outputs).Slice(begin, count);
    const auto b = static_cast<size_t>(begin), n = static_cast<size_t>(count);
    if (description.task == Task::kClassification) {
      rows.labels = std::span(labels).subspan(b, n);
    } else {
      rows.targets = MatrixView(targets.data(), 6, outputs).Slice(begin, count);
    }
    rows.ids = std::span(ids).subspan(b, n);
    if (description.has_sources) rows.sources = std::span(sources).subspan(b, n);
    return rows;
  }
};

Example MakeExample(const std::string& name) {
  Example example;
  MemoryDescription& d = example.description;
  d.dim = 3;
  d.outputs = 4;
  d.parameters = {2, 0.5f, 1.25f};
  d.class_names = {"cat", "dog", "owl", "Käuzchen"};
  d.fingerprint = {"golden", "last"};
  d.has_sources = name == "logits" || name == "worn";
  if (name == "dense_half") {
    d.form = ResidualForm::kDense;
    d.half_residuals = true;
    d.key_type = KeyType::kFloat16;
  } else if (name == "sparse") {
    d.form = ResidualForm::kSparse;
    d.top = 2;
  } else if (name == "regression") {
    d.task = Task::kRegression;
    d.form = ResidualForm::kDense;
  } else if (name == "int8") {
    d.key_type = KeyType::kInt8;
  } else if (name == "unit") {
    d.key_transform = KeyTransform::kUnit;
  } else if (name == "whiten") {
    d.key_transform = KeyTransform::kWhiten;
    d.key_type = KeyType::kFloat16;
  }
  if (name == "blend") {
    d.answer = Method::kBlend;
    Blend& blend = d.blend.emplace();
    blend.parameters = {4, 0.75f, 1.5f};
    blend.prior = 0.5f;
    blend.base_temperature = 1.25f;
    blend.gate_means = {-0.5f, 0.25f, 0.75f};
    blend.gate_deviations = {0.5f, 0.375f, 0.25f};
    blend.coefficients = {{{0.25f, 0.0625f, 0, 0.125f},
                           {0.75f, -0.125f, 0.25f, 0},
                           {-0.5f, 0, 0.125f, 0.0625f},
                           {1.5f, -0.25f, 0, 0.5f}}};
    for (int percent = 0; percent <= 100; ++percent) {
      blend.distances.push_back(0.03125f * static_cast<float>(percent));
      blend.spreads.push_back(0.25f + 0.015625f * static_cast<float>(percent));
    }
  }
  for (int row = 0; row < 6; ++row) {
    for (int i = 0; i < 3; ++i) example.keys.push_back(0.5f * float(row) - 0.25f * float(row * i));
    for (int i = 0; i < 4; ++i) {
      example.logits.push_back(float((row * 5 + i * 3) % 7) * 0.5f);
      example.targets.push_back(float(row + i));
    }
    example.labels.push_back(row % 4);
    example.ids.push_back(static_cast<uint64_t>(100 + 5 * row % 6));
    example.sources.push_back("image " + std::to_string(row));
  }
  return example;
}

Status WriteAnswers(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
  std::ofstream(path.substr(0, path.rfind('.')) + ".txt") << AnswersOf(memory);
  return {};
}

// Rows of another memory in the form that compression writes.
Status Compress(const std::string& from, const std::string& path) {
  return CompressMemory(from, path, {KeyType::kInt4, /*packed=*/true, 0.9f, 0.2f});
}

// As a replica leaves it: a row learned again, one forgotten, and the position.
Status FollowStream(const std::string& path, const Example& example) {
  std::vector<float> keys = {1, 2, 3}, logits = {0.5f, 1, 1.5f, 2};
  const std::vector<int32_t> labels = {2};
  const std::vector<uint64_t> ids = {example.ids[3]}, forget = {example.ids[1], example.ids[3]};
  StreamedEdits edits;
  edits.learn.keys = MatrixView(keys.data(), 1, 3);
  edits.learn.logits = MatrixView(logits.data(), 1, 4);
  edits.learn.labels = labels;
  edits.learn.ids = ids;
  edits.forget = forget;
  edits.position = {"resmem-golden", 1795128357516609009, 12, "seed", 2, 4, {{"week47", 11}}};
  return ApplyEdits(path, 0, edits);
}

Status WriteGolden(const std::string& path, const std::string& name) {
  if (name == "compressed") {
    const std::string plain = path + ".plain";
    RESMEM_RETURN_IF_ERROR(WriteGolden(plain, "plain"));
    RESMEM_RETURN_IF_ERROR(Compress(plain, path));
    std::filesystem::remove_all(plain);
    return WriteAnswers(path);
  }
  const Example example = MakeExample(name);
  MemoryWriter::Options options;
  options.tags = name == "tags";  // of the first rows; those that are appended have none
  const int64_t first = name == "worn" || options.tags ? 4 : 6;
  const std::vector<std::string> tags = {"site=north;time=2026-11-19", "urgent", "",
                                         "site=lab-7;age=41.5;time=2026-11-19T08:30:00Z"};
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(path, example.description, first, options));
  Rows rows = example.view(0, first);
  if (options.tags) rows.tags = tags;
  RESMEM_RETURN_IF_ERROR(writer.Add(rows));
  RESMEM_RETURN_IF_ERROR(writer.Finish());
  if (first < 6) {
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter more, MemoryWriter::Append(path, 2));
    RESMEM_RETURN_IF_ERROR(more.Add(example.view(4, 2)));
    RESMEM_RETURN_IF_ERROR(more.Finish());
  }
  if (name == "worn") {
    const std::vector<uint64_t> ids = {example.ids[1], example.ids[4]};
    RESMEM_RETURN_IF_ERROR(DeleteRows(path, ids));
  }
  if (name == "versions") {
    RESMEM_RETURN_IF_ERROR(TakeSnapshot(path, "whole", {.note = "of six rows"}));
    const std::vector<uint64_t> ids = {example.ids[2]};
    RESMEM_RETURN_IF_ERROR(DeleteRows(path, ids));
  }
  if (name == "streamed") RESMEM_RETURN_IF_ERROR(FollowStream(path, example));
  return name == "plain" ? Status() : WriteAnswers(path);
}

}  // namespace
}  // namespace resmem

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_golden <folder>\n");
    return 2;
  }
  const std::string folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const std::string& name : resmem::GoldenNames()) {
    const resmem::Status status = resmem::WriteGolden(folder + "/" + name + ".resmem", name);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
