// resmem append: more rows into a present memory.
#include <algorithm>

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "outputs/memory_output.h"
#include "outputs/memory_text.h"
#include "process/last_words.h"
#include "resmem/data/new_classes.h"
#include "resmem/evaluation.h"

namespace resmem::cli {
namespace {

class Append : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("add rows to a memory",
               "The next process that opens the memory finds the new rows. If an id is already in "
               "the memory, nothing is added. If the memory has an index, new rows are searched "
               "exactly until there are 16,384 of them; then they join the index. A note says how "
               "many rows have a key that is there already (of 1,000 of them, in memories of up to "
               "256 MiB of keys).");
    DeclareMemory(line, &memory_path_);
    data_.Declare(line, DatasetUse::kStore);
    line.Value("--out-of-fold-logits", &out_of_fold_logits_, "FILE",
               "instead of --logits, for a memory made from out-of-fold logits: each row's logits "
               "from a model trained without that row")
        .File();
    line.Flag(
        "--new-classes", &new_classes_,
        "labels may be classes that the memory and its base do not have: they are added after "
        "the others, and the base counts as giving each the probability --floor "
        "(docs/new_classes.md)");
    roles_.Declare(line, Role::kTrain);
    model_.Declare(line, /*check=*/true);
    line.Group("Change");
    line.Value("--token", &options_.token, "TEXT",
               "a name of these rows: where the memory knows it (the latest 1,000 are kept), they "
               "are there already and nothing is added, so that a command may be repeated");
    DeclareWait(line, &options_.change.wait_seconds);
    output_.Declare(line);
    line.AddExample("this week's labels", "resmem append my.resmem --data week47.npz");
    line.AddExample("by a job that is started again where it failed",
                    "resmem append my.resmem --data week47.npz --token week47 --wait 60");
    line.AddExample("rows of a class that the base does not know",
                    "resmem append my.resmem --data otters.npz --new-classes");
    line.AddExample("images, one folder per class, through the memory's own model",
                    "resmem append my.resmem --images week47");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the rows were added: do not add them again");
    RESMEM_RETURN_IF_ERROR(data_.ReplaceLogits(out_of_fold_logits_));
    data_.set_new_classes(new_classes_);
    MemoryDescription description;
    std::optional<Input> input;
    {  // the memory must not stay open while it is written
      RESMEM_ASSIGN_OR_RETURN(
          const ResidualMemory memory,
          ResidualMemory::Open(memory_path_, {.verify_blocks = false, .exact = true}));
      description = memory.description();
      RESMEM_RETURN_IF_ERROR(CheckCrossFitting(description.cross_fitted));
      RESMEM_ASSIGN_OR_RETURN(
          input, model_.OpenInput(data_, memory_path_, memory, /*threads=*/0, console));
    }
    const Dataset& dataset = input->dataset;
    const bool nameless = input->images != nullptr && !description.has_sources;
    if (description.has_sources != dataset.has_sources() && !nameless) {
      return Status(ErrorCode::kBadData,
                    description.has_sources
                        ? memory_path_ + " keeps a source for every row; give --sources FILE"
                        : memory_path_ + " keeps no sources; leave --sources out");
    }
    RESMEM_ASSIGN_OR_RETURN(const std::optional<Role> role, roles_.Choose(dataset, console));
    RESMEM_ASSIGN_OR_RETURN(RowSource rows, SelectRows(dataset, role));
    if (options_.token.empty()) NoteDuplicates(rows, console);
    if (nameless) rows = WithoutSources(rows);
    options_.change.progress = console.progress();
    options_.tags = dataset.has_tags();
    RESMEM_ASSIGN_OR_RETURN(const bool added, dataset.added_classes() > 0
                                                  ? AppendClasses(dataset, rows, console)
                                                  : Add(rows, console));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, OpenChanged(memory_path_, console));
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, data_.Paths(),
                                         (added ? "added " : "added before, by the same token: ") +
                                             Counted(rows.rows(), "row") + "; " + memory_path_ +
                                             " holds " + Count(memory.rows()) + "\n",
                                         console));
    WarnOfObstacle(memory_path_, memory, console);
    return ExitCode::kOk;
  }

 private:
  // Reading a large memory would take longer than appending to it.  What is wrong with the rows or
  // the memory is told by those who need them.
  void NoteDuplicates(const RowSource& rows, Console& console) const {
    constexpr int64_t kMostRows = 1000, kMostBytes = int64_t{256} << 20;
    const auto memory = ResidualMemory::Open(memory_path_, {.verify_blocks = false});
    if (!memory.ok() || memory->rows() == 0) return;
    const int64_t dim = memory->description().dim;
    if (memory->capacity() > kMostBytes / 4 / dim) return;
    const Result<std::vector<float>> keys = SampleKeys(rows, kMostRows, 0);
    if (!keys.ok()) return;
    const MatrixView queries(keys->data(), std::ssize(*keys) / dim, dim);
    Neighbors nearest;
    SearchOptions search;
    search.k = 1;
    if (!memory->index().Search(queries, search, &nearest).ok()) return;
    const auto there = std::count(nearest.distances.begin(), nearest.distances.end(), 0.0f);
    if (there == 0) return;
    console.Note(Count(there) + " of " + Counted(queries.rows, "row") +
                 (queries.rows < rows.rows() ? " looked at" : "") + " have the key of a row that " +
                 memory_path_ + " holds already");
  }
  // False where the memory knows the token of these rows.
  Result<bool> Add(const RowSource& rows, Console& console) const {
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                            MemoryWriter::Append(memory_path_, rows.rows(), options_));
    if (writer.repeated()) return false;
    RESMEM_RETURN_IF_ERROR(WriteRows(rows, &writer, console));
    return true;
  }
  Result<bool> AppendClasses(const Dataset& dataset, const RowSource& rows,
                             Console& console) const {
    RESMEM_ASSIGN_OR_RETURN(const bool added,
                            AppendNewClasses(memory_path_, dataset.outputs(), dataset.class_names(),
                                             dataset.new_class_floor(), rows, options_));
    if (!added) return false;
    console.Note(memory_path_ + ": classes added: " + Count(dataset.added_classes()) + ", now " +
                 Count(dataset.outputs()) + "; tune it again on validation rows that hold them");
    return true;
  }

  // The names of images, for a memory that has no place for them.
  static RowSource WithoutSources(const RowSource& rows) {
    return RowSource(rows.rows(), [rows](const RowSource::Use& use) {
      return rows.Read([&](int64_t begin, Rows block) {
        block.sources = {};
        return use(begin, block);
      });
    });
  }

  Status CheckCrossFitting(bool cross_fitted) const {
    if (cross_fitted != out_of_fold_logits_.empty()) return {};
    return Status(
        ErrorCode::kInvalidArgument,
        memory_path_ + (cross_fitted ? " holds out-of-fold logits; give --out-of-fold-logits FILE, "
                                       "from models trained without these rows"
                                     : " does not hold out-of-fold logits; give --logits FILE"));
  }

  std::string memory_path_, out_of_fold_logits_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  bool new_classes_ = false;
  AppendOptions options_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeAppend() {
  return std::make_unique<Append>();
}

}  // namespace resmem::cli
