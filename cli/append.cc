// resmem append: more rows into a present memory.
#include "command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/memory_options.h"
#include "inputs/model_options.h"
#include "inputs/selected_rows.h"
#include "outputs/memory_output.h"

namespace resmem::cli {
namespace {

class Append : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("add rows to a memory",
               "The rows are found by whoever opens the memory next. An id that lives in the "
               "memory already is refused, and then nothing is added.");
    DeclareMemory(line, &memory_path_);
    data_.Declare(line, DatasetUse::kStore);
    line.Value("--out-of-fold-logits", &out_of_fold_logits_, "FILE",
               "in place of --logits, for a memory that was made of such: each row's from a model "
               "that was trained without it")
        .File();
    roles_.Declare(line, Role::kTrain);
    model_.Declare(line, /*check=*/true);
    output_.Declare(line);
    line.AddExample("this week's labels", "resmem append my.resmem --data week47.npz");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_RETURN_IF_ERROR(data_.ReplaceLogits(out_of_fold_logits_));
    MemoryDescription description;
    std::optional<Dataset> dataset;
    {  // the memory must not stay open while it is written
      RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                              ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
      description = memory.description();
      RESMEM_RETURN_IF_ERROR(CheckCrossFitting(description.cross_fitted));
      RESMEM_ASSIGN_OR_RETURN(dataset, data_.Open(description.task));
      RESMEM_RETURN_IF_ERROR(CheckShapes(memory_path_, description, *dataset));
      RESMEM_RETURN_IF_ERROR(model_.Check(memory_path_, memory, *dataset, console));
    }
    if (description.has_sources != dataset->has_sources()) {
      return Status(ErrorCode::kBadData,
                    description.has_sources
                        ? memory_path_ + " keeps a source for every row; give --sources FILE"
                        : memory_path_ + " keeps no sources; leave --sources out");
    }
    RESMEM_ASSIGN_OR_RETURN(const std::optional<Role> role, roles_.Choose(*dataset, console));
    RESMEM_ASSIGN_OR_RETURN(const RowSource rows, SelectRows(*dataset, role));
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, MemoryWriter::Append(memory_path_, rows.rows()));
    RESMEM_RETURN_IF_ERROR(WriteRows(rows, &writer, console));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, data_.Paths(),
                                         "added " + Counted(rows.rows(), "row") + "; " +
                                             memory_path_ + " holds " + Count(memory.rows()) + "\n",
                                         console));
    return ExitCode::kOk;
  }

 private:
  Status CheckCrossFitting(bool cross_fitted) const {
    if (cross_fitted != out_of_fold_logits_.empty()) return {};
    return Status(
        ErrorCode::kInvalidArgument,
        memory_path_ + (cross_fitted ? " holds out-of-fold logits; give --out-of-fold-logits FILE, "
                                       "from models that were trained without these rows"
                                     : " does not hold out-of-fold logits; give --logits FILE"));
  }

  std::string memory_path_, out_of_fold_logits_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeAppend() {
  return std::make_unique<Append>();
}

}  // namespace resmem::cli
