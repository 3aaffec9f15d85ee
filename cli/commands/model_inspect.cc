// resmem model inspect: what an ONNX file holds, and what in it may serve as embedding.
#include <algorithm>
#include <optional>

#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/model_text.h"
#include "resmem/models/model_report.h"
#include "resmem/models/onnx_model.h"

namespace resmem::cli {
namespace {

class ModelInspect : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("show what an ONNX file holds and which tensors can serve as the embedding",
               "Reads the file without running it. The first candidate is the input of the last "
               "layer (Gemm or MatMul); the others come before it.");
    line.Argument("FILE.onnx", &path_, "a model from any framework").File();
    line.Group("Output");
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    line.AddExample("for people", "resmem model inspect resnet20.onnx");
  }

  Result<ExitCode> Run(Console& console) override;

 private:
  std::string Words(const OnnxSummary& summary) const;

  std::string path_;
  bool json_ = false;
  std::optional<ModelManifest> prepared_;
  Fingerprint fingerprint_;
};

std::string OperatorsText(const OnnxSummary& summary) {
  std::vector<std::pair<int64_t, std::string>> counts;
  for (const auto& [name, count] : summary.operators) counts.emplace_back(-count, name);
  std::sort(counts.begin(), counts.end());
  constexpr size_t kMost = 12;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, counts.size()); ++i) {
    text += (i == 0 ? "" : ", ") + Count(-counts[i].first) + " " + Printable(counts[i].second);
  }
  if (counts.size() > kMost) text += " and " + Counted(counts.size() - kMost, "other");
  return text;
}

std::string ModelInspect::Words(const OnnxSummary& summary) const {
  Table facts = Table::Facts();
  facts.AddRow(
      {"model", path_ + ": " + Counted(summary.parameters, "parameter") + ", opset " +
                    std::to_string(summary.opset) +
                    (summary.producer.empty() ? "" : ", by " + Printable(summary.producer))});
  for (const auto& [what, tensors] :
       {std::pair{"input", &summary.inputs}, std::pair{"output", &summary.outputs}}) {
    for (const OnnxTensor& tensor : *tensors) {
      facts.AddRow(
          {what, Printable(tensor.name) + ": " + ShapeText(tensor.shape) + " " + tensor.type});
    }
  }
  facts.AddRow({"operators", OperatorsText(summary)});
  if (prepared_) {
    AddManifest(*prepared_, fingerprint_, &facts);
    return facts.Text();
  }
  facts.AddRow({"logits", summary.logits.empty() ? "unclear: name them with --logits"
                                                 : Printable(summary.logits)});
  if (summary.candidates.empty()) {
    facts.AddRow({"embedding",
                  "unclear, there is no Gemm or MatMul with weights: name it with "
                  "--embedding"});
    return facts.Text();
  }
  using Align = Table::Align;
  Table candidates(
      {{"embedding?", Align::kLeft}, {"shape", Align::kLeft}, {"made by", Align::kLeft}});
  for (const OnnxTensor& tensor : summary.candidates) {
    candidates.AddRow({Printable(tensor.name), ShapeText(tensor.shape), Printable(tensor.made_by)});
  }
  return facts.Text() + "\n" + candidates.Text();
}

Result<ExitCode> ModelInspect::Run(Console& console) {
  RESMEM_ASSIGN_OR_RETURN(const OnnxSummary summary, InspectOnnx(path_));
  auto manifest = ReadModelManifest(path_);
  if (manifest.ok()) {
    prepared_ = *manifest;
    RESMEM_ASSIGN_OR_RETURN(fingerprint_, FingerprintModel(path_));
  } else if (manifest.status().code() != ErrorCode::kNotFound) {
    console.Warn(manifest.status().message());
  }
  if (json_) {
    RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, {path_}));
    RESMEM_RETURN_IF_ERROR(PrintResult(
        OnnxJson(path_, summary, prepared_, fingerprint_, FinishedRun(run, console)) + "\n"));
    return ExitCode::kOk;
  }
  RESMEM_RETURN_IF_ERROR(PrintResult(Words(summary)));
  // What prepare refuses is not suggested: a graph of several inputs that are not of tokens, or one
  // that is unclear.
  const bool takes_rows = summary.inputs.size() == 1 && summary.inputs[0].type == "float32" &&
                          !summary.inputs[0].shape.empty();
  if (!prepared_ && !summary.candidates.empty() && !summary.logits.empty() &&
      (takes_rows || summary.takes_tokens)) {
    SuggestNext({"model", "prepare", path_, "-o", "NEW.onnx"}, console);
  }
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeModelInspect() {
  return std::make_unique<ModelInspect>();
}

}  // namespace resmem::cli
