// resmem index: lists beside the keys, so that a search need not read all of them.
#include <algorithm>

#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "outputs/memory_output.h"
#include "outputs/memory_text.h"
#include "process/last_words.h"
#include "resmem/models/bundle.h"
#include "resmem/models/onnx_model.h"

namespace resmem::cli {
namespace {

class Index : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "make search faster for a recall you choose",
        "Up to about a million rows, exact search is fast and needs no index. For more rows, say "
        "what share of the true neighbors a search must find (--recall). The effort is tuned on "
        "sample queries: yours (--data, recommended: at least 100 new rows like those you will "
        "ask) or the memory's own rows, leaving each one out. Up to 2,000 of your rows are used "
        "and kept in the memory, for retuning after appends. Rows marked test are refused; rows "
        "that are in the memory draw a warning, because each finds itself. If an index would not "
        "be faster, search stays exact and the index says so. Rows appended or deleted later take "
        "effect at once. 'resmem doctor' reports what the index costs in accuracy.");
    DeclareMemory(line, &memory_path_);
    line.Group("Index");
    line.Value("--recall", &options_.recall, "SHARE",
               "share of the true neighbors to find, above 0 and below 1");
    line.Value("--codes", &options_.code_bits, "BITS",
               "bits per value of the codes: 8, 4 or 2; fewer bits make a smaller index, and a "
               "faster one above 256 MiB of codes")
        .Default("8 bits, or 4 if 8-bit codes would exceed 256 MiB");
    line.Flag("--remove", &remove_, "remove the index: search is exact again")
        .Excludes({"--recall", "--codes", "--seed", "--data", "--keys", "--images"});
    line.Value("--seed", &options_.seed, "N",
               "seed of the lists; the same seed gives the same files");
    DeclareThreads(line, &options_.threads);
    DeclareWait(line, &options_.wait_seconds);
    data_.Declare(line, DatasetUse::kAsk);
    roles_.Declare(line, Role::kValidation);
    model_.Declare(line, /*check=*/true);
    output_.Declare(line);
    line.AddExample("nineteen of twenty neighbors", "resmem index my.resmem --recall 0.95");
    line.AddExample("also for new rows, even if they differ from the memory's",
                    "resmem index my.resmem --recall 0.95 --data validation.npz");
    line.AddExample("exact again", "resmem index my.resmem --remove");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange(remove_ ? "the index was removed" : "the index was made");
    if (!remove_) RESMEM_RETURN_IF_ERROR(CheckIndexOptions(options_, memory_path_));
    if (data_.given()) RESMEM_RETURN_IF_ERROR(ReadQueries(console));
    options_.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(
        remove_ ? RemoveIndex(memory_path_, {options_.wait_seconds, options_.progress})
                : IndexMemory(memory_path_, options_));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, data_.Paths(),
                                         memory_path_ + ": " + SearchText(memory) + "\n", console));
    if (remove_) return ExitCode::kOk;
    if (!data_.given() && memory.index().Approximate(memory.description().parameters.k)) {
      console.Note(
          "the recall was measured on the memory's own rows; --data tunes it on rows like those "
          "you will ask");
    }
    SuggestDoctor(memory, console);
    return ExitCode::kOk;
  }

 private:
  void SuggestDoctor(const ResidualMemory& memory, Console& console) const {
    const auto& notes = memory.description().notes;
    if (notes.contains(kTokensNote)) {
      return SuggestNext(
          {"lm", "eval", memory_path_, "--tokens", "TEST.tokens", "--model", "MODEL.onnx"},
          console);
    }
    const auto model = notes.find(kModelNote);
    bool images = data_.from_images();
    if (!data_.given() && model != notes.end()) {
      const auto manifest = ReadModelManifest(RememberedModel(memory_path_, notes));
      images = manifest.ok() && manifest->takes_images();
    }
    std::vector<std::string> words = {"doctor", memory_path_, images ? "--images" : "--data",
                                      "TEST"};
    if (!images) model_.AddWords(memory_path_, memory.description(), &words);
    SuggestNext(words, console);
  }

  Status ReadQueries(Console& console) {
    RESMEM_ASSIGN_OR_RETURN(
        const ResidualMemory memory,
        ResidualMemory::Open(memory_path_, {.verify_blocks = false, .exact = true}));
    RESMEM_ASSIGN_OR_RETURN(const Input input, model_.OpenInput(data_, memory_path_, memory,
                                                                options_.threads, console));
    RESMEM_ASSIGN_OR_RETURN(const std::optional<Role> role, roles_.Choose(input.dataset, console));
    RESMEM_ASSIGN_OR_RETURN(const RowSource rows, SelectRows(input.dataset, role));
    RESMEM_ASSIGN_OR_RETURN(queries_, SampleKeys(rows, IndexOptions::kMostQueries, options_.seed));
    const int64_t dim = memory.description().dim;
    options_.queries =
        MatrixView(queries_.data(), static_cast<int64_t>(queries_.size()) / dim, dim);
    return WarnOfOwnRows(memory, console);
  }

  Status WarnOfOwnRows(const ResidualMemory& memory, Console& console) const {
    if (memory.rows() == 0) return {};
    SearchOptions search;
    search.threads = options_.threads;
    search.progress = console.progress();
    Neighbors nearest;
    RESMEM_RETURN_IF_ERROR(memory.index().Search(options_.queries, search, &nearest));
    const auto own = std::count(nearest.distances.begin(), nearest.distances.end(), 0.0f);
    if (own == 0) return {};
    console.Warn(Count(own) + " of " + Counted(options_.queries.rows, "row") +
                 " given have their own key in the memory: each finds itself, so the recall is too "
                 "optimistic for new rows; give rows that " +
                 memory_path_ + " does not hold");
    return {};
  }

  std::string memory_path_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  IndexOptions options_;
  std::vector<float> queries_;
  bool remove_ = false;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeIndex() {
  return std::make_unique<Index>();
}

}  // namespace resmem::cli
