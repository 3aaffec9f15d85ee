// resmem plan: what a memory will cost and gain, from samples of its rows.
#include <stdlib.h>

#include <cmath>
#include <filesystem>

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/runtime_options.h"
#include "inputs/shard_plan_options.h"
#include "resmem/shard/forecast.h"

namespace resmem::cli {
namespace {

class Plan : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  static std::string SamplesText(const Forecast& forecast);
  std::string ForecastText(const Forecast& forecast) const;
  std::string MachinesText(const ShardPlan& plan, const Forecast& forecast) const;

  std::string scratch_;
  int64_t machines_ = 1;
  ShardPlanOptions plan_;
  ForecastOptions options_;
  OnnxOptions runtime_;
};

void Plan::Declare(CommandLine& line) {
  line.About(
      "what a memory will cost and gain, before it is built",
      "Builds memories of small samples, asks them the queries, and says what the whole will take "
      "on disk and in RAM, how long it will take to build and to ask, and what it will gain, each "
      "with an interval. Small samples are drawn up to four times. The intervals hold the scatter "
      "of the samples and of the queries; that a gain grows with the logarithm of the rows is "
      "assumed.");
  plan_.Declare(line, ShardPlanOptions::Use::kForecast);
  line.Group("Samples");
  line.Value("--samples", &options_.shares, "LIST", "shares of the rows, three or more");
  line.Value("--sample-seed", &options_.seed, "N", "seed of the samples");
  line.Value("--scratch", &scratch_, "FOLDER", "where samples are built, one at a time")
      .Default("the system's folder for temporary files")
      .Folder();
  line.Flag("--check", &options_.check,
            "also build the whole memory, and say how far off the forecast was");
  line.Value("--machines", &machines_, "N", "also say what each of N shards would take");
  plan_.DeclareModel(line, ShardPlanOptions::Use::kForecast);
  DeclareThreads(line, &runtime_.threads);
  DeclareRuntime(line, &runtime_);
  line.AddExample("tokens",
                  "resmem plan --tokens train.tokens --queries valid.tokens --model run/last.onnx");
  line.AddExample("arrays, for four machines",
                  "resmem plan --data train.npz --queries validation.npz --machines 4");
}

// Of one query among many: often less than a millisecond.
std::string QueryText(double seconds) {
  constexpr double kMillisecond = 1e-3;
  return seconds < kMillisecond ? Fixed(std::max(0.0, seconds) * 1e6, 1) + " us"
                                : Duration(seconds);
}

std::string Plan::SamplesText(const Forecast& forecast) {
  Table table =
      Table::OfNumbers({"rows", "disk", "RAM", "build", "a query", "gain, points", "NLL gain"});
  for (const MemoryMeasure& sample : forecast.samples) {
    table.AddRow({Count(sample.rows), Bytes(sample.disk_bytes), Bytes(sample.ram_bytes),
                  Duration(sample.build_seconds), QueryText(sample.ask_seconds),
                  SignedPoints(sample.gain), Signed(sample.nll_gain, 4)});
  }
  return table.Text();
}

std::string Plan::ForecastText(const Forecast& forecast) const {
  using Measured = double (*)(const MemoryMeasure&);
  using Show = std::string (*)(double);
  const Show bytes = [](double value) {
    return Bytes(static_cast<int64_t>(std::max(0.0, std::round(value))));
  };
  const Show seconds = [](double value) { return Duration(std::max(0.0, value)); };
  const Show nll = [](double value) { return Signed(value, 4); };
  struct Line {
    const char* name;
    const Estimate& estimate;
    Show show;
    Measured measured;
    bool relative;
  };
  const Line lines[] = {
      {"disk", forecast.disk_bytes, bytes,
       [](const MemoryMeasure& m) { return static_cast<double>(m.disk_bytes); }, true},
      {"RAM", forecast.ram_bytes, bytes,
       [](const MemoryMeasure& m) { return static_cast<double>(m.ram_bytes); }, true},
      {"build", forecast.build_seconds, seconds,
       [](const MemoryMeasure& m) { return m.build_seconds; }, true},
      {"a query", forecast.ask_seconds, QueryText,
       [](const MemoryMeasure& m) { return m.ask_seconds; }, true},
      {"gain, points", forecast.gain, SignedPoints, [](const MemoryMeasure& m) { return m.gain; },
       false},
      {"NLL gain", forecast.nll_gain, nll, [](const MemoryMeasure& m) { return m.nll_gain; },
       false},
  };
  std::vector<std::string> titles = {"", "forecast", "95 % from", "to"};
  if (forecast.whole) titles.insert(titles.end(), {"measured", "off by"});
  Table table = Table::OfNumbers(titles);
  for (const Line& line : lines) {
    const Estimate& at = line.estimate;
    std::vector<std::string> cells = {line.name, line.show(at.value), line.show(at.low),
                                      line.show(at.high)};
    if (forecast.whole) {
      const double truth = line.measured(*forecast.whole), off = at.value - truth;
      cells.push_back(line.show(truth));
      cells.push_back(line.relative ? (truth == 0 ? "" : Signed(100 * off / truth, 1) + " %")
                                    : line.show(off));
    }
    table.AddRow(std::move(cells));
  }
  return table.Text();
}

std::string Plan::MachinesText(const ShardPlan& plan, const Forecast& forecast) const {
  const auto whole = static_cast<double>(forecast.rows);
  int64_t most = 0;
  for (const ShardRange& range : plan.shards) most = std::max(most, range.rows());
  const double share = static_cast<double>(most) / whole;
  const auto bytes = [&](const Estimate& estimate) {
    return Bytes(static_cast<int64_t>(std::max(0.0, estimate.value * share)));
  };
  return "\nEach of " + Count(machines_) + " machines, at most: " + bytes(forecast.disk_bytes) +
         " on disk, " + bytes(forecast.ram_bytes) + " in RAM, " +
         Duration(std::max(0.0, forecast.build_seconds.value * share)) + " to build, " +
         QueryText(forecast.ask_seconds.value * share) + " a query.\n\n" + ShardTable(plan);
}

Result<ExitCode> Plan::Run(Console& console) {
  if (machines_ < 1) {
    return Status(ErrorCode::kInvalidArgument,
                  "--machines " + std::to_string(machines_) + ": give 1 or more");
  }
  RESMEM_ASSIGN_OR_RETURN(const ShardPlan plan, plan_.Plan(machines_, runtime_));
  std::error_code error;
  const std::filesystem::path parent = scratch_.empty()
                                           ? std::filesystem::temp_directory_path(error)
                                           : std::filesystem::path(scratch_);
  std::string folder = (parent / "resmem-plan-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return Status(ErrorCode::kIo,
                  parent.string() + ": no folder can be made there; name another with --scratch");
  }
  options_.scratch = folder;
  const auto forecast = ForecastMemory(plan, options_, {runtime_, console.progress()});
  std::filesystem::remove_all(folder, error);
  if (!forecast.ok()) return forecast.status();
  RESMEM_RETURN_IF_ERROR(PrintResult(
      Counted(forecast->rows, "row") + "; asked with " + Count(forecast->queries) +
      " queries; k = " + Count(plan.parameters.k) +
      (plan.recall.has_value() ? ", recall " + ShortNumber(*plan.recall) : std::string(", exact")) +
      "\n\n" + SamplesText(*forecast) + "\n" + ForecastText(*forecast) +
      (machines_ > 1 ? MachinesText(plan, *forecast) : std::string())));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakePlan() {
  return std::make_unique<Plan>();
}

}  // namespace resmem::cli
