// resmem theory: the paper's linear regression, simulated.
#include <filesystem>
#include <memory>

#include "commands/simulation_options.h"
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/output_paths.h"
#include "resmem/report/report.h"
#include "theory/simulation_json.h"

namespace resmem::cli {
namespace {

// A file asked for by an option, opened before the work: a wrong path costs no time.
class OutputFile {
 public:
  static Result<OutputFile> Open(const std::string& path) {
    OutputFile file;
    if (path.empty()) return file;
    RESMEM_ASSIGN_OR_RETURN(Output output, Output::File(path));
    file.output_ = std::make_unique<Output>(std::move(output));
    return file;
  }
  bool wanted() const { return output_ != nullptr; }
  Status Write(const std::string& text) {
    RESMEM_RETURN_IF_ERROR(output_->Write(text));
    return output_->Close();
  }

 private:
  std::unique_ptr<Output> output_;
};

class TheoryCommand : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  std::string Page(const SimulationResult& result, const RunInfo& run) const;

  SimulationChoice choice_;
  std::string csv_, plot_, markdown_, report_;
  bool all_ = false, json_ = false;
};

void TheoryCommand::Declare(CommandLine& line) {
  line.About("simulate the paper's linear regression: risk against n",
             "Draws covariates from a ball, fits the base (least squares of bounded norm), adds "
             "the memory of its residuals and measures the risk of each, the parts T1 and T2 of "
             "the paper's proof, and how fast they fall. By default it runs the paper's setting "
             "and six extensions, up to n = 1,000,000 (docs/theory.md). The same seed gives the "
             "same numbers for any number of threads.");
  choice_.Declare(line);
  line.Group("Output");
  line.Flag("--all", &all_, "print tables of every setting, not only the paper's");
  line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
  line.Value("--csv", &csv_, "FILE", "every point and column as CSV").File();
  line.Value("--plot", &plot_, "FILE", "the first setting's curves as SVG").File();
  line.Value("--markdown", &markdown_, "FILE", "the tables with command, machine and date").File();
  line.Value("--report", &report_, "FILE", "write one HTML page").File();
  line.AddExample("the default run, with its plot", "resmem theory --plot risk.svg");
  line.AddExample(
      "one dimension in detail",
      "resmem theory --dimensions 3 --bounds 0,0.5,0.99 --samples 10..1000000 --steps 4");
  line.AddExample(
      "does averaging help against noise?",
      "resmem theory --noise 0,0.5,1 --k 1,10,100 --samples 100..100000 --report r.html");
}

// A page for people who were not there: what was run, where and when, then the tables.
std::string TheoryCommand::Page(const SimulationResult& result, const RunInfo& run) const {
  std::string command = "resmem";  // whatever path it was called by
  for (size_t i = 1; i < run.command.size(); ++i) command += " " + run.command[i];
  std::string text = "# Risk against n in the paper's linear regression\n\n";
  text += "Written by this command (what it computes: docs/theory.md):\n\n    " + command + "\n\n";
  text += "- machine: " + run.processor + ", " + Counted(run.cores, "core") + ", " + run.simd +
          "\n- build: resmem " + run.version + ", " + run.build + "\n- date: " + run.started +
          "; " + Duration(run.seconds) + "\n- seed: " + std::to_string(result.options.seed) +
          "\n\n";
  if (!plot_.empty()) {
    const std::filesystem::path folder =
        std::filesystem::absolute(markdown_).lexically_normal().parent_path();
    const std::filesystem::path plot = std::filesystem::absolute(plot_).lexically_normal();
    text += "![Risk against n](" + plot.lexically_relative(folder).generic_string() + ")\n\n";
  }
  return text + SimulationText(result, all_);
}

Result<ExitCode> TheoryCommand::Run(Console& console) {
  RESMEM_ASSIGN_OR_RETURN(SimulationOptions options, choice_.Options());
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths(
      {{"--csv", csv_}, {"--plot", plot_}, {"--markdown", markdown_}, {"--report", report_}}, {}));
  RESMEM_ASSIGN_OR_RETURN(OutputFile csv, OutputFile::Open(csv_));
  RESMEM_ASSIGN_OR_RETURN(OutputFile plot, OutputFile::Open(plot_));
  RESMEM_ASSIGN_OR_RETURN(OutputFile markdown, OutputFile::Open(markdown_));
  RESMEM_ASSIGN_OR_RETURN(OutputFile report, OutputFile::Open(report_));
  RunInfo run = DescribeRun(console.words());
  run.seeds["draws"] = options.seed;
  options.progress = console.progress();
  RESMEM_ASSIGN_OR_RETURN(const SimulationResult result, RunSimulation(options));
  run = FinishedRun(std::move(run), console);

  if (csv.wanted()) RESMEM_RETURN_IF_ERROR(csv.Write(SimulationCsv(result)));
  if (plot.wanted()) RESMEM_RETURN_IF_ERROR(plot.Write(SimulationSvg(result)));
  if (markdown.wanted()) RESMEM_RETURN_IF_ERROR(markdown.Write(Page(result, run)));
  if (json_ || report.wanted()) {
    const std::string json = SimulationJson(result, run);
    if (report.wanted()) {
      RESMEM_ASSIGN_OR_RETURN(const std::string page, RenderReport(json));
      RESMEM_RETURN_IF_ERROR(report.Write(page));
    }
    if (json_) RESMEM_RETURN_IF_ERROR(PrintResult(json + "\n"));
  }
  if (!json_) RESMEM_RETURN_IF_ERROR(PrintResult(SimulationText(result, all_)));
  console.Note("time: " + Duration(result.seconds));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeTheory() {
  return std::make_unique<TheoryCommand>();
}

}  // namespace resmem::cli
