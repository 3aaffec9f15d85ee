// Writes each sample document and its page into a folder, for the browser test.
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/sample.h"
#include "resmem/lm/text_report.h"
#include "text/tokenizer/test_model.h"

namespace {

resmem::Status WriteTextSamples(const std::string& folder, const resmem::RunInfo& run) {
  using namespace resmem;  // NOLINT: this function only
  const std::string model = ModelText(SmallPieces());
  RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer,
                          Tokenizer::Parse("small.model", std::as_bytes(std::span(model))));
  std::ofstream(folder + "/tokenizer.json") << TokenizerJson("small.model", tokenizer, run);
  RESMEM_ASSIGN_OR_RETURN(TokenSetWriter writer,
                          TokenSetWriter::Create(folder + "/sample.tokens", tokenizer.size(), 1));
  RESMEM_RETURN_IF_ERROR(writer.Add(std::vector<int32_t>{4, 5}, "title"));
  RESMEM_RETURN_IF_ERROR(writer.Finish(tokenizer.fingerprint(), {}));
  RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(folder + "/sample.tokens"));
  std::ofstream(folder + "/tokens.json") << TokenSetJson(set, 0, run);
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
  ScrubReport scrubbed;
  scrubbed.files = scrubbed.blocks = scrubbed.broken = 1;
  scrubbed.damage = {"m/segment-000001.resmem: the checksum is wrong"};
  std::ofstream(std::string(argv[1]) + "/scrub.json") << ScrubJson("m.resmem", scrubbed, run);
  return WriteTextSamples(argv[1], run).ok() ? 0 : 1;
}
