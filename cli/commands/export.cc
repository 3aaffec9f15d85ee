// resmem export: what a memory holds, as arrays.
#include "resmem/data/export.h"
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/output_paths.h"
#include "process/last_words.h"

namespace resmem::cli {
namespace {

std::string PartsHelp() {
  std::string help = "arrays to write:";
  for (const ExportPart& part : ExportParts(MemoryDescription())) {
    help += (help.back() == ':' ? " " : ", ") + part.name + " (" + part.help + ")";
  }
  return help;
}

std::string ShapeText(const ArrayInfo& array) {
  std::string text;
  for (const int64_t extent : array.shape) text += (text.empty() ? "" : " x ") + Count(extent);
  return text;
}

class Export : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("what a memory holds, as arrays: keys, labels, logits or residuals, ids, sources",
               "One line for each living row, in the order of row numbers; deleted rows are left "
               "out. Written block by block: the memory may be larger than RAM. 'resmem memorize "
               "--data' reads the result back where the memory keeps "
               "logits, or is a regression. docs/own_method.md builds a method of its own from the "
               "arrays.");
    DeclareMemory(line, &memory_path_);
    line.Value("--parts", &parts_, "LIST", PartsHelp())
        .Default("all that the memory has; residuals only if it keeps no logits");
    line.Value("--output", &output_, "PATH", "FILE.npz, or a folder for one .npy per array")
        .Short("-o")
        .Required()
        .File();
    line.AddExample("everything", "resmem export my.resmem -o my.npz");
    line.AddExample("keys and labels, as a folder of .npy files",
                    "resmem export my.resmem --parts keys,labels -o arrays");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_RETURN_IF_ERROR(CheckOutputPaths({{"-o", output_}}, {memory_path_}));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_ASSIGN_OR_RETURN(const ExportedArrays exported,
                            ExportMemory(memory, output_, {parts_, console.progress()}));
    AnnounceOutput("the arrays are complete");
    Table table = Table::Facts();
    for (const ArrayInfo& array : exported.arrays) {
      table.AddRow({array.member, ShapeText(array) + " of " + ElementTypeName(array.type)});
    }
    RESMEM_RETURN_IF_ERROR(
        PrintResult(output_ + ": " + Counted(exported.rows, "row") + "\n" + table.Text()));
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_, output_;
  std::vector<std::string> parts_;
};

}  // namespace

std::unique_ptr<Command> MakeExport() {
  return std::make_unique<Export>();
}

}  // namespace resmem::cli
