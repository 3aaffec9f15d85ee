// Writes each sample document and its page into a folder, for the browser test.
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "report/sample.h"

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
  // A document without a page.
  std::ofstream(std::string(argv[1]) + "/onnx.json")
      << OnnxJson("net.onnx", sample::Onnx(), sample::Manifest(), {"0123", "pool"}, run);
  return 0;
}
