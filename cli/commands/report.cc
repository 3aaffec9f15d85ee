// resmem report: a page for people from the JSON of any command.
#include "resmem/report/report.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "console/command.h"
#include "inputs/cannot_read.h"
#include "inputs/read_whole.h"
#include "outputs/output_paths.h"

namespace resmem::cli {
namespace {

Result<std::string> ReadDocument(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return CannotRead(path, "; give a JSON document that a command printed with --json");
  std::string text;
  if (!ReadWhole(file, &text)) return Status(ErrorCode::kIo, path + ": " + std::strerror(errno));
  return text;
}

// The same error, with the file that it is about in front.
Status InFile(const std::string& path, const Status& status) {
  return Status(status.code(), path + ": " + status.message());
}

// The memory and the values that a result is about, as words: those that a tuning chose, those that
// anything else was computed with; "" where it has none.
std::string ValuesOf(const std::string& document) {
  const auto json = nlohmann::json::parse(document, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "";
  // Of a tuning: the blend's where it became the memory's answer, else ResMem's.
  const auto place = [&] {
    using Pointer = nlohmann::json::json_pointer;
    const Pointer adopted("/blend/adopted"), blend("/blend/fitted/parameters");
    if (!json.contains("chosen")) return Pointer("/parameters");
    const bool blended = json.contains(adopted) && json[adopted] == true && json.contains(blend);
    return blended ? blend : Pointer("/chosen");
  }();
  if (!json.contains(place) || !json[place].is_object()) return "";
  std::string words;
  for (const auto& [key, value] : json[place].items()) {
    words += (words.empty() ? "" : ", ") + key + " = " + value.dump();
  }
  const auto path = nlohmann::json::json_pointer("/run/memory/path");
  if (json.contains(path) && json[path].is_string()) {
    words = json[path].get<std::string>() + " with " + words;
  }
  return words;
}

class Report : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("write one HTML page from JSON results",
               "The page is self-contained: it opens from disk without a network, prints well, and "
               "runs no scripts.");
    line.Argument("RESULTS", &results_,
                  "JSON document printed by eval, tune, explain or theory with --json")
        .File();
    line.Group("Input");
    line.Value("--with", &more_, "FILE,...", "more results for the same page, in this order")
        .File();
    line.Value("--title", &title_, "TEXT", "title of the page if it combines several results");
    line.Group("Output");
    line.Value("--output", &output_, "FILE", "the page to write").Short("-o").File().Required();
    line.AddExample("an evaluation and the tuning before it",
                    "resmem report eval.json --with tune.json -o report.html");
  }

  Result<ExitCode> Run(Console& console) override {
    std::vector<std::string> inputs = more_;
    inputs.push_back(results_);
    RESMEM_RETURN_IF_ERROR(CheckOutputPaths({{"-o", output_}}, inputs));
    RESMEM_ASSIGN_OR_RETURN(std::string document, ReadDocument(results_));
    if (!more_.empty()) {
      std::vector<std::string> documents = {std::move(document)};
      for (const std::string& path : more_) {
        RESMEM_ASSIGN_OR_RETURN(std::string further, ReadDocument(path));
        documents.push_back(std::move(further));
      }
      WarnOfDifferences(documents, console);
      RESMEM_ASSIGN_OR_RETURN(document, CombineJson(title_, documents));
    }
    const Status written = WriteReport(document, output_);
    if (written.code() == ErrorCode::kBadData || written.code() == ErrorCode::kTooNew) {
      return InFile(results_, written);
    }
    RESMEM_RETURN_IF_ERROR(written);
    console.Note("wrote " + output_);
    return ExitCode::kOk;
  }

 private:
  // One page is read as one story: results of other values than the first belong to another.
  void WarnOfDifferences(const std::vector<std::string>& documents, Console& console) const {
    std::string first_values, first_path;
    for (size_t i = 0; i < documents.size(); ++i) {
      const std::string values = ValuesOf(documents[i]);
      const std::string& path = i == 0 ? results_ : more_[i - 1];
      if (values.empty()) continue;
      if (first_values.empty()) {
        first_values = values;
        first_path = path;
      } else if (values != first_values) {
        console.Warn(path + " is of " + values + ", " + first_path + " of " + first_values +
                     ": the page shows both, as of different memories or times");
      }
    }
  }

  std::string results_, output_, title_ = "Results";
  std::vector<std::string> more_;
};

}  // namespace

std::unique_ptr<Command> MakeReport() {
  return std::make_unique<Report>();
}

}  // namespace resmem::cli
