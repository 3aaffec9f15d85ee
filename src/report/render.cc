#include <new>

#include "report/node.h"
#include "report/page/page.h"
#include "resmem/report/report.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

struct Schema {
  const char* kind;
  void (*add)(const Node&, Page*);
};
constexpr std::array<Schema, 7> kSchemas = {{{"evaluation", AddEvaluation},
                                             {"tuning", AddTuning},
                                             {"examples", AddExamples},
                                             {"explanation", AddExplanation},
                                             {"figures", AddFigures},
                                             {"memory", AddMemory},
                                             {"simulation", AddSimulation}}};

std::string KindList() {
  std::string list = "resmem.report.v1";
  for (const Schema& schema : kSchemas) list += std::string(", resmem.") + schema.kind + ".v1";
  return list;
}

// "resmem.<kind>.v<number>" with a number above ours.
bool FromLaterVersion(const std::string& name) {
  const size_t dot = name.rfind(".v");
  return name.starts_with("resmem.") && dot != std::string::npos && dot + 2 < name.size() &&
         name.find_first_not_of("0123456789", dot + 2) == std::string::npos &&
         name.substr(dot + 2) != "1";
}

Status AddDocument(const Node& document, Page* page) {
  const Node schema = document.At("schema");
  const std::string name = schema.Text();
  for (const Schema& known : kSchemas) {
    if (name != std::string("resmem.") + known.kind + ".v1") continue;
    page->runs.push_back(document.At("run"));
    known.add(document, page);
    return {};
  }
  if (FromLaterVersion(name)) {
    return Status(ErrorCode::kTooNew, Text("the document's schema is \"", name.substr(0, 60),
                                           "\", which a later version of resmem wrote; this one "
                                           "reads version 1: update resmem"));
  }
  schema.Fail(Text("one of ", KindList()));
  return {};
}

Result<std::string> Render(std::string_view text) {
  RESMEM_ASSIGN_OR_RETURN(const SortedJson json, ParseJson(text));
  Status problem;
  const Node document(&json, &problem);
  Page page;
  const std::optional<Node> schema = document.Find("schema");
  if (schema && schema->Text() == "resmem.report.v1") {
    page.title = document.At("title").Text();
    for (const Node& part : document.At("parts").Items()) {
      RESMEM_RETURN_IF_ERROR(AddDocument(part, &page));
    }
  } else {
    RESMEM_RETURN_IF_ERROR(AddDocument(document, &page));
  }
  AddRuns(&page);
  RESMEM_RETURN_IF_ERROR(problem);
  return WritePage(page);
}

}  // namespace

Result<std::string> RenderReport(std::string_view json) try { return Render(json); } catch (...) {
  return CaughtException(Text("make a report from a document of ", json.size(), " bytes"));
}

Status WriteReport(std::string_view json, const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const std::string page, RenderReport(json));
  return WriteFileAtomically(FileSystem::Posix(), path,
                             std::as_bytes(std::span<const char>(page.data(), page.size())));
}

}  // namespace resmem
