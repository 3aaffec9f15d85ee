// resmem compress: the smallest form of a memory that answers nearly as well.
#include <optional>

#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "process/last_words.h"
#include "resmem/compress.h"
#include "resmem/report/report.h"

namespace resmem::cli {
namespace {

// What rows lose by it, with its interval: "0.02 points (-0.10 .. 0.14)".
std::string PointsText(const CompressionLoss& loss) {
  return Fixed(loss.points, 2) + " points (" + Fixed(loss.points_interval.low, 2) + " .. " +
         Fixed(loss.points_interval.high, 2) + ")";
}
std::string PerplexityText(const CompressionLoss& loss) {
  return Fixed(loss.perplexity, 2) + " % (" + Fixed(loss.perplexity_interval.low, 2) + " .. " +
         Fixed(loss.perplexity_interval.high, 2) + ")";
}

class Compress : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "make a memory of fewer bytes a row that answers nearly as well",
        "Tries keys of 8 and 4 bits, and residuals of which each row keeps the entries that hold a "
        "share of its mass, on held-out rows that you give. Writes the smallest form whose loss of "
        "accuracy and perplexity stays within what you ask, cross-validated, and shows what each "
        "form costs and loses. What is judged is the memory's own answer. The new memory has no "
        "index and no snapshots, its temperature is frozen, and it cannot be read back as rows "
        "with logits. Needs room for about ten candidates beside the new memory while it runs.");
    DeclareMemory(line, &memory_path_);
    line.Group("Compression");
    line.Value("--output", &output_path_, "PATH", "the new memory").Short("-o").Required().Folder();
    line.Value("--loss", &options_.loss, "POINTS", "accuracy that may be lost, in points");
    line.Value("--perplexity-loss", &perplexity_loss_, "PERCENT",
               "perplexity, exp(NLL), that may be lost, in percent")
        .Default("5 times --loss");
    line.Value("--shares", &options_.shares, "LIST",
               "shares of each row's residual mass to try, above 0, at most 1");
    line.Value("--least", &options_.least, "LIST",
               "residual masses to try below which a row keeps its key and label only, 0 to 1");
    line.Value("--folds", &options_.folds, "N", "folds of the cross-validation");
    line.Value("--seed", &options_.seed, "N", "seed of the folds");
    line.Flag("--overwrite", &overwrite_, "replace a memory at --output");
    line.Flag("--dry-run", &dry_run_, "show the curve, write nothing");
    DeclareThreads(line, &options_.threads);
    data_.Declare(line, DatasetUse::kTune);
    roles_.Declare(line, Role::kValidation);
    model_.Declare(line, /*check=*/true);
    line.Group("Output");
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    line.AddExample("at most 0.1 points of accuracy and 0.5 % of perplexity",
                    "resmem compress my.resmem -o small.resmem --loss 0.1 --data validation.npz");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the compressed memory was written");
    options_.perplexity_loss = perplexity_loss_.value_or(5 * options_.loss);
    options_.scratch = output_path_ + ".candidates";
    options_.progress = console.progress();
    RESMEM_ASSIGN_OR_RETURN(const Compression compression, Choose(console));
    const CompressionPoint& chosen = compression.points[compression.chosen];
    int64_t bytes = chosen.bytes;
    if (!dry_run_) {
      RESMEM_RETURN_IF_ERROR(
          CompressMemory(memory_path_, output_path_, chosen.form,
                         {.overwrite = overwrite_, .progress = console.progress()}));
      RESMEM_ASSIGN_OR_RETURN(const ResidualMemory written,
                              ResidualMemory::Open(output_path_, {.verify_blocks = false}));
      bytes = written.bytes_on_disk();
    }
    if (json_) {
      RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, data_.Paths()));
      run.seeds["folds"] = options_.seed;
      RESMEM_RETURN_IF_ERROR(
          PrintResult(CompressionJson(compression, dry_run_ ? "" : output_path_, bytes,
                                      FinishedRun(std::move(run), console)) +
                      "\n"));
    } else {
      RESMEM_RETURN_IF_ERROR(PrintResult(Text(compression, bytes)));
    }
    Warn(compression, console);
    if (dry_run_) console.Note("dry run: nothing was written");
    return ExitCode::kOk;
  }

 private:
  Result<Compression> Choose(Console& console) {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    indexed_ = memory.index_info().has_value();
    RESMEM_ASSIGN_OR_RETURN(const Input input, model_.OpenInput(data_, memory_path_, memory,
                                                                options_.threads, console));
    RESMEM_ASSIGN_OR_RETURN(options_.only, roles_.Choose(input.dataset, console));
    return ChooseCompression(memory_path_, ReadDataset(input.dataset), options_);
  }

  void Warn(const Compression& compression, Console& console) const {
    const CompressionLoss& loss = compression.cross_validated;
    if (compression.chosen == 0) {
      console.Warn("no smaller form stays within " + ShortNumber(options_.loss) + " points and " +
                   ShortNumber(options_.perplexity_loss) +
                   " % of perplexity on these rows; the memory " + (dry_run_ ? "would be" : "was") +
                   " copied as it is; ask for a larger --loss");
    } else if (loss.points_interval.high > options_.loss ||
               loss.perplexity_interval.high > options_.perplexity_loss) {
      console.Note("the interval of the loss reaches beyond what was asked: " +
                   Counted(compression.judged, "row") +
                   " cannot tell it apart; more held-out rows make it narrower");
    }
    if (indexed_) {
      console.Note("the new memory has no index: " +
                   CommandText({"index", output_path_, "--recall", "0.95"}) + " makes one");
    }
  }

  std::string Text(const Compression& compression, int64_t bytes) const {
    const auto a_row = [&](int64_t all) {
      return Fixed(static_cast<double>(all) / static_cast<double>(compression.rows), 1);
    };
    Table curve =
        Table::OfNumbers({"form", "bytes a row", "accuracy", "lost", "NLL", "perplexity lost"});
    for (size_t i = 0; i < compression.points.size(); ++i) {
      const CompressionPoint& point = compression.points[i];
      curve.AddRow({(i == compression.chosen ? "> " : "  ") + StoredFormText(point.form),
                    a_row(point.bytes), Percent(point.accuracy), PointsText(point.loss),
                    Fixed(point.nll, 4), PerplexityText(point.loss)});
    }
    Table facts = Table::Facts();
    facts.AddRow({"chosen", StoredFormText(compression.points[compression.chosen].form)});
    facts.AddRow({"bytes a row", a_row(compression.bytes) + " before, " + a_row(bytes) + " after"});
    facts.AddRow({"accuracy lost", PointsText(compression.cross_validated) +
                                       ", cross-validated with " + Counted(options_.folds, "fold") +
                                       " of " + Counted(compression.judged, "row")});
    facts.AddRow({"perplexity lost", PerplexityText(compression.cross_validated)});
    return curve.Text() + "\n" + facts.Text();
  }

  std::string memory_path_, output_path_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  CompressionOptions options_;
  std::optional<double> perplexity_loss_;
  bool json_ = false, overwrite_ = false, dry_run_ = false, indexed_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeCompress() {
  return std::make_unique<Compress>();
}

}  // namespace resmem::cli
