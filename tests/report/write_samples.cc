// Writes each sample document and its page into a folder, for the browser test.
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/sample.h"
#include "resmem/lm/text_report.h"
#include "resmem/ram_memory.h"
#include "text/hugging_face/test_tokenizers.h"
#include "text/tokenizer/test_model.h"

namespace {

resmem::Status WriteTextSamples(const std::string& folder, const resmem::RunInfo& run) {
  using namespace resmem;  // NOLINT: this function only
  const std::string model = ModelText(SmallPieces());
  RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer,
                          Tokenizer::Parse("small.model", std::as_bytes(std::span(model))));
  std::ofstream(folder + "/tokenizer.json") << TokenizerJson("small.model", tokenizer, run);
  const std::string foreign = ByteLevelTokenizer().dump();  // begins a text with <s>
  RESMEM_ASSIGN_OR_RETURN(const Tokenizer bytes,
                          Tokenizer::Parse("tokenizer.json", std::as_bytes(std::span(foreign))));
  std::ofstream(folder + "/byte_tokenizer.json") << TokenizerJson("tokenizer.json", bytes, run);
  RESMEM_ASSIGN_OR_RETURN(TokenSetWriter writer,
                          TokenSetWriter::Create(folder + "/sample.tokens", tokenizer.size(), 1));
  RESMEM_RETURN_IF_ERROR(writer.Add(std::vector<int32_t>{4, 5}, "title"));
  RESMEM_RETURN_IF_ERROR(writer.Finish(tokenizer.fingerprint(), {}));
  RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(folder + "/sample.tokens"));
  std::ofstream(folder + "/tokens.json") << TokenSetJson(set, 0, run);
  return {};
}

// Two rows of each task, so that every list has a line.
resmem::Status WriteAuditSample(const std::string& path, resmem::Task task,
                                const resmem::RunInfo& run) {
  using namespace resmem;  // NOLINT: this function only
  const RamFolder folder;
  MemoryDescription description;
  description.task = task;
  description.dim = description.outputs = 2;
  const std::vector<float> values = {0, 1, 2, 3};
  const std::vector<int32_t> labels = {0, 1};
  Rows rows;
  rows.keys = rows.logits = MatrixView(values.data(), 2, 2);
  if (task == Task::kClassification) rows.labels = labels;
  if (task == Task::kRegression) rows.targets = rows.keys;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(folder.path(), description, 2, {}));
  RESMEM_RETURN_IF_ERROR(writer.Add(rows));
  RESMEM_RETURN_IF_ERROR(writer.Finish());
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(folder.path()));
  Audit audit;
  audit.checked = 2;
  audit.twins = {{0, 1, 0.5f}};
  audit.suspects = {{1, 0, 1, 0.75f, 0.5f}};
  audit.all_twins = audit.all_suspects = 1;
  HarmReport harm;
  harm.harmful = {{0, 3, 0.25, 1, 0}};
  harm.all_harmful = 1;
  std::ofstream(path) << AuditJson(audit, &harm, memory, run);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace resmem;
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_samples FOLDER\n");
    return 2;
  }
  const RunInfo run = sample::Run();
  const std::vector<std::string> names = sample::ClassNames();
  const std::vector<std::pair<std::string, std::string>> documents = {
      {"combined", sample::Combined()},
      {"evaluation", EvaluationJson(sample::Classification(), run)},
      {"regression", EvaluationJson(sample::Regression(), run)},
      {"tuning", TuningJson(sample::ClassificationTuning(), run)},
      {"regression_tuning", TuningJson(sample::RegressionTuning(), run)},
      {"texts", ExamplesJson(sample::TextExamples(), "the first.", names, run)},
      {"explanation", ExplanationJson(sample::ImageExamples().front().explanation, names, run)},
      {"figures", FiguresJson("Figures", sample::Figures(), run)},
      {"simulation", SimulationJson(sample::Simulation(), run)},
      {"memory", MemoryJson(*run.memory, run)}};
  for (const auto& [name, json] : documents) {
    const std::string path = std::string(argv[1]) + "/" + name;
    std::ofstream(path + ".json") << json;
    const Status written = WriteReport(json, path + ".html");
    if (!written.ok()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), written.message().c_str());
      return 1;
    }
  }
  // Documents without a page.
  std::ofstream(std::string(argv[1]) + "/diagnosis.json")
      << DiagnosisJson(sample::Diagnosed(sample::Classification()), run);
  std::ofstream(std::string(argv[1]) + "/regression_diagnosis.json")
      << DiagnosisJson(sample::Diagnosed(sample::Regression()), run);
  std::ofstream(std::string(argv[1]) + "/onnx.json")
      << OnnxJson("net.onnx", sample::Onnx(), sample::Manifest(), {"0123", "pool"}, run);
  MemoryDifference difference;
  difference.rows_before = difference.rows_after = 50000;
  difference.added = {7};
  difference.removed = {3};
  difference.changed = {5};
  difference.classes = {{1, 1, 1}};
  difference.settings = {{"sigma", "0.5", "0.25"}};
  std::ofstream(std::string(argv[1]) + "/difference.json")
      << DifferenceJson("m.resmem/snapshots/monday", "m.resmem", difference, run);
  Compression compression;
  compression.rows = compression.judged = 100;
  compression.points = {{{}, 66800, 0.7, 1.0, {}},
                        {{KeyType::kInt4, true, 0.95f, 0.02f}, 5400, 0.69, 1.01, {}}};
  std::ofstream(std::string(argv[1]) + "/compression.json")
      << CompressionJson(compression, "small.resmem", 5400, run);
  PrivacyReport privacy;
  privacy.membership = {{Method::kResMem, Clue::kGain, {}, {}, 0.1, {0.05, 0.15}}};
  privacy.labels = {{Method::kBase, 20, 10, 10, 10, 0, 0}};
  privacy.near = {{0.5, 20, 19, 10, 8}};
  privacy.sweep = {{{}, 0.25, {}, 0.75}};
  privacy.advice = privacy.warnings = {"a sentence"};
  std::ofstream(std::string(argv[1]) + "/privacy.json") << PrivacyJson(privacy, run);
  ScrubReport scrubbed;
  scrubbed.files = scrubbed.blocks = scrubbed.broken = 1;
  scrubbed.damage = {"m/segment-000001.resmem: the checksum is wrong"};
  std::ofstream(std::string(argv[1]) + "/scrub.json") << ScrubJson("m.resmem", scrubbed, run);
  const bool audits =
      WriteAuditSample(std::string(argv[1]) + "/audit.json", Task::kClassification, run).ok() &&
      WriteAuditSample(std::string(argv[1]) + "/regression_audit.json", Task::kRegression, run)
          .ok();
  return audits && WriteTextSamples(argv[1], run).ok() ? 0 : 1;
}
