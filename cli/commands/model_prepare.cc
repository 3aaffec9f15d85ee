// resmem model prepare: an ONNX file of any framework becomes a base model.
#include <charconv>

#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/class_names.h"
#include "inputs/images/runtime_options.h"
#include "outputs/model_text.h"
#include "outputs/output_paths.h"
#include "resmem/lm/tokenizer.h"
#include "resmem/models/onnx_model.h"

namespace resmem::cli {
namespace {

class ModelPrepare : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status ParseSize();

  std::string source_, output_, size_, classes_file_, tokenizer_path_;
  PrepareOptions options_;
  OnnxOptions runtime_;
};

void ModelPrepare::Declare(CommandLine& line) {
  line.About("turn an ONNX file into a base model with embedding and logits as outputs",
             "Adds the embedding to the graph's outputs, runs the graph once, and writes it with a "
             "manifest (NEW.onnx, NEW.json) that says how to prepare images. External data is "
             "included; if the graph ends in Softmax, its input becomes the logits. A causal "
             "language model takes token ids and, if it wants, attention_mask, position_ids and "
             "past_key_values (docs/lm.md).");
  line.Argument("FILE.onnx", &source_, "a model from any framework").File();
  line.Group("Output");
  line.Value("--output", &output_, "NEW.onnx", "the base model").Short("-o").Required().File();
  line.Group("Tensors");
  line.Value("--embedding", &options_.embedding, "NAME", "the tensor whose values are the keys")
      .Default("the first that resmem model inspect lists");
  line.Value("--logits", &options_.logits, "NAME", "the tensor before softmax")
      .Default("the graph's output");
  line.Group("Images");
  line.Value("--input-mean", &options_.mean, "LIST",
             "subtracted from pixel / 255: one value per channel, or one for all")
      .Default("0");
  line.Value("--input-std", &options_.deviation, "LIST",
             "then divides: one value per channel, or one for all")
      .Default("1");
  line.Value("--size", &size_, "HxW", "height and width, if the graph leaves them open");
  line.Value("--resize", &options_.resize, "N",
             "resize the shorter side of each image to N pixels, then crop the center")
      .Default("only images of the model's own size");
  line.Group("Language models");
  line.Value("--context", &options_.context, "TOKENS", "the longest window that the model reads")
      .Default("what config.json beside the file says, else up to 512");
  line.Value("--tokenizer", &tokenizer_path_, "FILE",
             "the model's tokenizer, so that tokens of another one are refused")
      .File();
  line.Group("Names");
  line.Value("--classes", &classes_file_, "FILE", "names of the classes, one per line").File();
  line.Value("--network", &options_.network, "TEXT", "name of the network");
  line.Group("Runtime");
  DeclareRuntime(line, &runtime_);
  line.AddExample("a language model",
                  "resmem model prepare gpt2/model.onnx -o gpt2.onnx --tokenizer gpt2");
  line.AddExample("a CIFAR network",
                  "resmem model prepare resnet20.onnx -o base.onnx --classes names.txt \\\n"
                  "    --input-mean .507,.4865,.4409 --input-std .2673,.2564,.2761");
  line.AddExample("an ImageNet network",
                  "resmem model prepare mobilenet.onnx -o base.onnx --resize 256 \\\n"
                  "    --input-mean .485,.456,.406 --input-std .229,.224,.225");
}

Status ModelPrepare::ParseSize() {
  if (size_.empty()) return {};
  const char* end = size_.data() + size_.size();
  const auto height = std::from_chars(size_.data(), end, options_.height);
  options_.width = options_.height;
  bool good = height.ec == std::errc() && options_.height > 0;
  if (good && height.ptr != end) {
    const auto width = std::from_chars(height.ptr + 1, end, options_.width);
    good = *height.ptr == 'x' && width.ec == std::errc() && width.ptr == end && options_.width > 0;
  }
  if (good) return {};
  return {ErrorCode::kInvalidArgument, "--size " + size_ + ": give HEIGHTxWIDTH, such as 224x224"};
}

Result<ExitCode> ModelPrepare::Run(Console& console) {
  RESMEM_RETURN_IF_ERROR(ParseSize());
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths({{"-o", output_}, {"-o", ManifestPath(output_)}},
                                          {source_, ManifestPath(source_)}));
  if (!classes_file_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(options_.class_names, ReadClassNames(classes_file_));
  }
  if (options_.context < 0) {
    return Status(ErrorCode::kInvalidArgument, "--context: allowed are 1 and more");
  }
  int64_t pieces = 0;
  if (!tokenizer_path_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(tokenizer_path_));
    options_.tokenizer = tokenizer.fingerprint();
    pieces = tokenizer.size();
  }
  RESMEM_ASSIGN_OR_RETURN(const ModelManifest manifest,
                          PrepareOnnx(source_, options_, output_, runtime_));
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint fingerprint, FingerprintModel(output_));
  Table table = Table::Facts();
  table.AddRow({"model", output_});
  table.AddRow({"manifest", ManifestPath(output_)});
  AddManifest(manifest, fingerprint, &table);
  RESMEM_RETURN_IF_ERROR(PrintResult(table.Text()));
  if (manifest.takes_images() && options_.mean.empty() && options_.deviation.empty()) {
    console.Note(
        "pixels go in as pixel / 255; most networks were trained with --input-mean and "
        "--input-std");
  }
  if (manifest.takes_tokens()) {
    if (pieces > manifest.classes) {
      console.Warn(tokenizer_path_ + " has " + Counted(pieces, "piece") + ", but the model knows " +
                   Count(manifest.classes) + ": lm memorize will refuse its tokens");
    }
    SuggestNext({"lm", "memorize", "TRAIN.tokens", "--model", output_, "-o", "NEW.resmem"},
                console);
    return ExitCode::kOk;
  }
  SuggestNext(
      {"embed", output_, manifest.takes_images() ? "IMAGES" : "TABLE.npy", "-o", "NEW.arrays"},
      console);
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeModelPrepare() {
  return std::make_unique<ModelPrepare>();
}

}  // namespace resmem::cli
