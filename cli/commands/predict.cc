// resmem predict: corrected predictions for any number of rows, in blocks.
#include <algorithm>
#include <numeric>

#include "console/command.h"
#include "console/format.h"
#include "console/interrupt.h"
#include "console/output.h"
#include "inputs/answer_options.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "outputs/memory_text.h"
#include "outputs/output_paths.h"
#include "outputs/prediction_lines.h"
#include "resmem/data/array_writer.h"
#include "resmem/intervals.h"
#include "resmem/predictor.h"

namespace resmem::cli {
namespace {

class Predict : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  // Scores of one block, and the buffers they are made in.
  struct Scores {
    Neighbors neighbors;
    std::vector<float> base, resmem, percentiles, half_widths;
  };
  Status CheckOptions(const MemoryDescription& description);
  Status ReadIntervals(const ResidualMemory& memory);
  Status ScoreBlock(const Predictor& predictor, const Rows& rows, Scores* scores) const;
  Status WriteBlock(std::span<const int64_t> numbers, const Rows& rows, const Scores& scores,
                    const PredictionLines& lines, Output* out) const;
  Status Classify(std::span<const float> base, std::span<const float> scores,
                  std::vector<float>* probabilities, PredictionLine* line) const;

  std::string memory_path_, output_, scores_;
  SearchedMemory searched_;
  DatasetOptions data_;
  ModelOptions model_;
  AnswerOptions answer_;
  PredictOptions options_;
  LineFormat format_ = LineFormat::kCsv;
  int64_t top_ = 0, block_rows_ = 4096;
  std::string calibrator_;
  std::optional<float> calibrator_temperature_;
  UnknownRate unknown_;
  bool tells_distances_ = false;
  std::optional<double> interval_;
  std::optional<IntervalFit> intervals_;
  std::vector<float> factors_;
};

void Predict::Declare(CommandLine& line) {
  line.About("predict new rows with base and memory",
             "Reads and answers in blocks of rows, so the input may be larger than RAM. Each line "
             "holds the row, its id if given, the name of an image, and the answers of the base "
             "and of ResMem with their probabilities.");
  DeclareMemory(line, &memory_path_);
  data_.Declare(line, DatasetUse::kPredict);
  answer_.Declare(line);
  searched_.Declare(line);
  model_.Declare(line, /*check=*/true);
  line.Group("Output");
  line.Value("--output", &output_, "FILE", "file to write the lines to")
      .Short("-o")
      .File()
      .Default("standard output");
  line.Choice<LineFormat, LineFormat>(
      "--format", &format_, {{"csv", LineFormat::kCsv}, {"jsonl", LineFormat::kJsonLines}},
      "format of the lines, CSV with a header or JSON lines");
  line.Value("--top", &top_, "N", "also print the N most probable classes").Default("off");
  line.Value("--scores", &scores_, "FILE.npy",
             "also write all raw scores as .npy, rows x outputs of float32; a row sums to 1, but "
             "single scores may be below 0 or above 1")
      .File();
  std::string help = "how raw scores become probabilities: ";
  for (const std::string_view name : CalibratorNames()) {
    help += std::string(name == CalibratorNames().front() ? "" : "; ") + std::string(name) + ", " +
            std::string(CalibratorHelp(name));
  }
  Option& calibrator = line.Value("--calibrator", &calibrator_, "WORD", help);
  for (const std::string_view name : CalibratorNames()) calibrator.choices.emplace_back(name);
  calibrator.Default("as stored in the memory");
  line.Value("--calibrator-temperature", &calibrator_temperature_, "X",
             "temperature of --calibrator log-temperature, above 0")
      .Default("as stored in the memory");
  unknown_.Declare(line);
  line.Value("--interval", &interval_, "SHARE",
             "regression: also the interval that holds the true value with this probability, above "
             "0 and below 1; 'resmem intervals' makes it possible (docs/regression.md)")
      .Default("off");
  line.Value("--block", &block_rows_, "ROWS",
             "rows processed at once; the answer does not depend on it");
  DeclareThreads(line, &options_.threads);
  line.AddExample("images, through the memory's own model",
                  "resmem predict my.resmem photo.png cat.jpg");
  line.AddExample("a regression, with intervals of 90 %",
                  "resmem predict my.resmem --data new.npz --interval 0.9");
  line.AddExample("to a file", "resmem predict my.resmem --data new.npz -o predictions.csv");
  line.AddExample("the first ten", "resmem predict my.resmem --data new.npz | head -n 11");
  line.AddExample("the five best classes, as JSON lines",
                  "resmem predict my.resmem --keys z.npy --logits f.npy --top 5 --format jsonl");
}

Status Predict::CheckOptions(const MemoryDescription& description) {
  const auto usage = [](std::string text) {
    return Status(ErrorCode::kInvalidArgument, std::move(text));
  };
  if (block_rows_ < 1) return usage("--block " + Count(block_rows_) + ": give 1 or more rows");
  if (top_ < 0) return usage("--top " + Count(top_) + ": give 0 or more classes");
  if (top_ > 0 && description.task == Task::kRegression) {
    return usage("--top: " + memory_path_ + " is a regression and has no classes");
  }
  top_ = std::min(top_, description.outputs);
  if (calibrator_.empty()) calibrator_ = description.calibrator;
  if (!calibrator_temperature_.has_value()) {
    calibrator_temperature_ = description.calibrator_temperature;
  }
  std::vector<float> trial = {0.5f, 0.5f};
  return ToProbabilities(calibrator_, *calibrator_temperature_, trial);
}

Status Predict::ReadIntervals(const ResidualMemory& memory) {
  if (!interval_.has_value()) return {};
  RESMEM_ASSIGN_OR_RETURN(intervals_, IntervalsOf(memory, memory_path_));
  if (options_.method != intervals_->method || options_.parameters != intervals_->parameters) {
    return {ErrorCode::kInvalidArgument,
            "--interval: intervals belong to the memory's own answer; leave --method, --k and "
            "--sigma out"};
  }
  RESMEM_ASSIGN_OR_RETURN(factors_, IntervalFactors(*intervals_, *interval_));
  return {};
}

Status Predict::ScoreBlock(const Predictor& predictor, const Rows& rows, Scores* scores) const {
  const auto values = static_cast<size_t>(rows.count() * predictor.memory().description().outputs);
  scores->base.resize(values);
  scores->resmem.resize(values);
  RESMEM_RETURN_IF_ERROR(predictor.FindNeighbors(rows.keys, options_.parameters.k, {},
                                                 options_.threads, options_.progress,
                                                 &scores->neighbors));
  PredictOptions base = options_;
  base.method = Method::kBase;
  base.parameters.temperature = 1;  // softmax(f): what the base says without us
  RESMEM_RETURN_IF_ERROR(
      predictor.Score(rows.keys, rows.logits, scores->neighbors, base, scores->base));
  if (intervals_.has_value()) {
    scores->half_widths = HalfWidths(predictor, *intervals_, factors_, scores->neighbors);
  }
  RESMEM_RETURN_IF_ERROR(
      predictor.Score(rows.keys, rows.logits, scores->neighbors, options_, scores->resmem));
  if (!tells_distances_) return {};
  scores->percentiles.resize(static_cast<size_t>(rows.count()));
  return predictor.DistancePercentiles(rows.keys, scores->neighbors, {}, options_.threads,
                                       scores->percentiles);
}

Status Predict::Classify(std::span<const float> base, std::span<const float> scores,
                         std::vector<float>* probabilities, PredictionLine* line) const {
  line->base = ArgMax(base);
  line->base_probability = base[static_cast<size_t>(line->base)];
  line->prediction = ArgMax(scores);
  probabilities->assign(scores.begin(), scores.end());
  if (options_.method == Method::kResMem) {
    RESMEM_RETURN_IF_ERROR(ToProbabilities(calibrator_, *calibrator_temperature_, *probabilities));
  }
  line->probability = (*probabilities)[static_cast<size_t>(line->prediction)];
  line->top.clear();
  if (top_ == 0) return {};
  // By raw score, as the prediction is; equal scores by class.
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + top_, order.end(), [&](int64_t a, int64_t b) {
    const float left = scores[static_cast<size_t>(a)], right = scores[static_cast<size_t>(b)];
    return left != right ? left > right : a < b;
  });
  for (int64_t i = 0; i < top_; ++i) {
    const int64_t label = order[static_cast<size_t>(i)];
    line->top.emplace_back(label, (*probabilities)[static_cast<size_t>(label)]);
  }
  return {};
}

Status Predict::WriteBlock(std::span<const int64_t> numbers, const Rows& rows, const Scores& scores,
                           const PredictionLines& lines, Output* out) const {
  const auto outputs = static_cast<size_t>(rows.logits.columns);
  std::vector<float> probabilities;
  for (int64_t i = 0; i < rows.count(); ++i) {
    PredictionLine line;
    line.row = numbers[static_cast<size_t>(i)];
    if (!rows.ids.empty()) line.id = rows.ids[static_cast<size_t>(i)];
    if (!rows.sources.empty()) line.source = rows.sources[static_cast<size_t>(i)];
    const size_t first = static_cast<size_t>(i) * outputs;
    line.base_values = std::span<const float>(scores.base).subspan(first, outputs);
    line.values = std::span<const float>(scores.resmem).subspan(first, outputs);
    if (intervals_.has_value()) {
      line.half_widths = std::span<const float>(scores.half_widths).subspan(first, outputs);
    }
    if (lines.classification()) {
      RESMEM_RETURN_IF_ERROR(Classify(line.base_values, line.values, &probabilities, &line));
    }
    if (tells_distances_) {
      line.distance_percentile = scores.percentiles[static_cast<size_t>(i)];
      line.unknown = IsUnknown(line.distance_percentile, options_.unknown_rate);
    }
    RESMEM_RETURN_IF_ERROR(out->Write(lines.Line(line)));
  }
  return {};
}

Result<ExitCode> Predict::Run(Console& console) {
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, searched_.Open(memory_path_, console));
  WarnOfManySegments(memory_path_, memory, console);
  const MemoryDescription& description = memory.description();
  RESMEM_RETURN_IF_ERROR(CheckOptions(description));
  RESMEM_ASSIGN_OR_RETURN(const Input input,
                          model_.OpenInput(data_, memory_path_, memory, options_.threads, console));
  const Dataset& dataset = input.dataset;
  std::vector<std::string> inputs = data_.Paths();
  inputs.push_back(memory_path_);
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths({{"-o", output_}, {"--scores", scores_}}, inputs));
  const Predictor predictor(memory);
  const int threads = options_.threads;
  RESMEM_ASSIGN_OR_RETURN(options_, answer_.Choose(predictor));
  options_.threads = threads;
  RESMEM_RETURN_IF_ERROR(unknown_.Apply(predictor, memory_path_, &options_));
  tells_distances_ = predictor.DistanceNeighbors() > 0;
  RESMEM_RETURN_IF_ERROR(ReadIntervals(memory));

  RESMEM_ASSIGN_OR_RETURN(Output out, Output::Open(output_));
  std::optional<ArrayWriter> scores_file;
  if (!scores_.empty()) {
    ArrayInfo info{"scores", ElementType::kFloat32, {dataset.rows(), description.outputs}};
    RESMEM_ASSIGN_OR_RETURN(ArrayWriter writer, ArrayWriter::CreateNpy(scores_, {std::move(info)}));
    scores_file.emplace(std::move(writer));
  }
  const PredictionLines lines(description, format_,
                              {.ids = dataset.has_ids(),
                               .sources = input.images != nullptr,
                               .distance = tells_distances_,
                               .intervals = interval_.has_value(),
                               .top = top_});
  RESMEM_RETURN_IF_ERROR(out.Write(lines.Header()));
  Dataset::Block block;
  Scores scores;
  console.progress()->Report("predicting", 0, dataset.rows());
  const int64_t step = dataset.made() ? std::min(block_rows_, kImagesAtOnce) : block_rows_;
  for (int64_t begin = 0; begin < dataset.rows(); begin += step) {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    const int64_t count = std::min(step, dataset.rows() - begin);
    RESMEM_RETURN_IF_ERROR(dataset.Read(begin, count, &block));
    RESMEM_RETURN_IF_ERROR(ScoreBlock(predictor, block.view, &scores));
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(dataset.row_number(begin + i));
    dataset.Drop(begin, count);
    RESMEM_RETURN_IF_ERROR(WriteBlock(numbers, block.view, scores, lines, &out));
    if (scores_file.has_value()) RESMEM_RETURN_IF_ERROR(scores_file->Write(0, scores.resmem));
    console.progress()->Report("predicting", begin + count, dataset.rows());
  }
  if (scores_file.has_value()) RESMEM_RETURN_IF_ERROR(scores_file->Close());
  RESMEM_RETURN_IF_ERROR(out.Close());
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakePredict() {
  return std::make_unique<Predict>();
}

}  // namespace resmem::cli
