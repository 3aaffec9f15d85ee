// resmem runtime info: in which ONNX Runtime a model would run, and why in that one.
#include <nlohmann/json.hpp>

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/images/runtime_options.h"
#include "resmem/models/runtime.h"

namespace resmem::cli {
namespace {

std::string Document(const RuntimeUse& use) {
  nlohmann::ordered_json document = {
      {"schema", "resmem.runtime.v1"}, {"path", use.path},
      {"version", use.version},        {"pinned", PinnedRuntimeVersion()},
      {"reason", use.reason},          {"places", nlohmann::ordered_json::array()}};
  for (const RuntimePlace& place : use.places) {
    document["places"].push_back({{"path", place.path}, {"finding", place.finding}});
  }
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

class RuntimeInfo : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("show which ONNX Runtime is used, and why",
               "Exit code 3 if there is none that can be used; 'resmem runtime install' gets one.");
    DeclareRuntime(line, &options_);
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    line.AddExample("for people", "resmem runtime info");
  }

  Result<ExitCode> Run(Console&) override {
    const RuntimeUse use = DescribeRuntime(options_.library);
    if (json_) {
      RESMEM_RETURN_IF_ERROR(PrintResult(Document(use)));
    } else {
      Table facts = Table::Facts();
      facts.AddRow({"used", use.path.empty() ? "none" : use.path + ", version " + use.version});
      if (!use.path.empty()) facts.AddRow({"why", use.reason});
      for (const RuntimePlace& place : use.places) {
        facts.AddRow({"place", place.path + ": " + place.finding});
      }
      RESMEM_RETURN_IF_ERROR(PrintResult(facts.Text()));
    }
    if (use.path.empty()) return Status(use.error, use.reason);
    return ExitCode::kOk;
  }

 private:
  OnnxOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRuntimeInfo() {
  return std::make_unique<RuntimeInfo>();
}

}  // namespace resmem::cli
