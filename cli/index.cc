// resmem index: lists beside the keys, so that a search need not read all of them.
#include "command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "outputs/memory_text.h"

namespace resmem::cli {
namespace {

class Index : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("make search faster for a recall you choose",
               "Up to about a million rows exact search is fast and needs no index. Beyond, name "
               "the share of true neighbors that answers must hold: how much is read for it is "
               "found by trying on rows of the memory. Rows that are appended or deleted later "
               "count at once. 'resmem doctor' tells what the index costs in accuracy.");
    DeclareMemory(line, &memory_path_);
    line.Group("Index");
    line.Value("--recall", &options_.recall, "SHARE", "of the true neighbors, above 0 and below 1");
    line.Value("--codes", &options_.code_bits, "BITS",
               "8, or 4: a quarter of the bytes for codes; more rows are measured");
    line.Flag("--remove", &remove_, "take the index away: search is exact again");
    line.Value("--seed", &options_.seed, "N", "of the lists; the same seed gives the same files");
    DeclareThreads(line, &options_.threads);
    output_.Declare(line);
    line.AddExample("nineteen of twenty neighbors", "resmem index my.resmem --recall 0.95");
    line.AddExample("exact again", "resmem index my.resmem --remove");
  }

  Result<ExitCode> Run(Console& console) override {
    options_.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(remove_ ? RemoveIndex(memory_path_)
                                   : IndexMemory(memory_path_, options_));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {},
                                         memory_path_ + ": " + SearchText(memory) + "\n", console));
    if (!remove_) console.Note("next: resmem doctor " + memory_path_ + " --data TEST");
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_;
  IndexOptions options_;
  bool remove_ = false;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeIndex() {
  return std::make_unique<Index>();
}

}  // namespace resmem::cli
