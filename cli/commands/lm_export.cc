// resmem lm export: what a language model makes of a text, as arrays.
#include <algorithm>

#include "console/command.h"
#include "console/format.h"
#include "console/interrupt.h"
#include "console/output.h"
#include "inputs/text/token_options.h"
#include "outputs/output_paths.h"
#include "resmem/data/array_writer.h"

namespace resmem::cli {
namespace {

// In the order of the arrays.
const std::vector<std::string> kParts = {"keys", "logits", "labels", "documents"};

class LmExport : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("what a language model makes of a text, as arrays: keys, logits, labels",
               "One line for each token that has a successor, in the order of the text, as resmem "
               "lm memorize reads it: keys are the model's embeddings, logits its scores of the "
               "next token, labels the next token, documents the number of the token's document. "
               "Written window by window: the arrays may be larger than RAM. Logits take 4 bytes "
               "for each token and each piece of the vocabulary.");
    line.Argument("TOKENS", &tokens_path_, "token set from resmem lm tokens").File();
    line.Value("--parts", &parts_, "LIST", "arrays to write: keys, logits, labels, documents")
        .Default("keys,logits,labels");
    rows_.DeclareForNew(line);
    line.Group("Output");
    line.Value("--output", &output_, "PATH", "FILE.npz, or a folder for one .npy per array")
        .Short("-o")
        .Required()
        .File();
    line.Group("Model");
    model_.Declare(line);
    line.AddExample("the first ten documents, for a method of your own",
                    "resmem lm export train.tokens --documents 10 --model gpt2.onnx -o train.npz");
  }

  Result<ExitCode> Run(Console& console) override;

 private:
  std::string tokens_path_, output_;
  std::vector<std::string> parts_;
  TokenModelOptions model_;
  TokenRowsChoice rows_;
};

Result<ExitCode> LmExport::Run(Console& console) {
  if (parts_.empty()) parts_ = {"keys", "logits", "labels"};
  for (const std::string& part : parts_) {
    if (std::ranges::find(kParts, part) != kParts.end()) continue;
    return Status(ErrorCode::kInvalidArgument,
                  "'" + part + "' is no part of a text; there are keys, logits, labels, documents");
  }
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths({{"-o", output_}}, {tokens_path_, model_.path()}));
  RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(tokens_path_));
  RESMEM_ASSIGN_OR_RETURN(const TokenModel model, model_.Open());
  RESMEM_ASSIGN_OR_RETURN(const TokenRows rows, TokenRows::Make(model, set, rows_.ForNew(model)));
  const ModelManifest& manifest = model.manifest();
  std::vector<ArrayToWrite> arrays;
  for (const std::string& part : kParts) {
    if (std::ranges::find(parts_, part) == parts_.end()) continue;
    ArrayInfo info{part, ElementType::kFloat32, {rows.rows()}};
    if (part == "keys") info.shape.push_back(manifest.dim);
    if (part == "logits") info.shape.push_back(manifest.classes);
    if (part == "labels") info.type = ElementType::kInt32;
    if (part == "documents") info.type = ElementType::kInt64;
    arrays.push_back({std::move(info), 0});
  }
  RESMEM_ASSIGN_OR_RETURN(ArrayWriter writer, ArrayWriter::Create(output_, arrays));
  const auto write = [&](int64_t first, const Rows& block) -> Status {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    console.progress()->Report("exporting", first, rows.rows());
    std::vector<int64_t> documents;
    for (int64_t row = first; row < first + block.count(); ++row) {
      documents.push_back(rows.windows().DocumentOfRow(row));
    }
    for (size_t i = 0; i < arrays.size(); ++i) {
      const std::string& part = arrays[i].info.member;
      const auto all = [&](MatrixView view) {
        return std::span(view.row(0), static_cast<size_t>(view.rows * view.columns));
      };
      RESMEM_RETURN_IF_ERROR(part == "keys"     ? writer.Write(i, all(block.keys))
                             : part == "logits" ? writer.Write(i, all(block.logits))
                             : part == "labels" ? writer.Write(i, block.labels)
                                                : writer.Write(i, documents));
    }
    return {};
  };
  RESMEM_RETURN_IF_ERROR(rows.Source().Read(write));
  RESMEM_RETURN_IF_ERROR(writer.Close());
  Table table = Table::Facts();
  for (const ArrayToWrite& array : arrays) {
    std::string shape;
    for (const int64_t side : array.info.shape) shape += (shape.empty() ? "" : " x ") + Count(side);
    table.AddRow({array.info.member, shape + " of " + ElementTypeName(array.info.type)});
  }
  RESMEM_RETURN_IF_ERROR(
      PrintResult(output_ + ": " + Counted(rows.rows(), "token") + "\n" + table.Text()));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeLmExport() {
  return std::make_unique<LmExport>();
}

}  // namespace resmem::cli
