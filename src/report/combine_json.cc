#include <climits>
#include <cstdint>

#include "report/document.h"
#include "report/node.h"
#include "support/json_reader.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr char kCombined[] = "resmem.report.v1";

}  // namespace

Result<std::string> CombineJson(std::string_view title, std::span<const std::string> documents) {
  Json parts = Json::array();
  for (size_t i = 0; i < documents.size(); ++i) {
    // Checked first by the reader that limits depth; then parsed again with its order kept.
    RESMEM_ASSIGN_OR_RETURN(const SortedJson checked, ParseJson(documents[i]));
    const bool ours = checked.is_object() && checked.contains("schema") &&
                      checked["schema"].is_string() &&
                      checked["schema"].get<std::string>().starts_with("resmem.");
    if (!ours) {
      return Status(ErrorCode::kBadData,
                    Text("document ", i + 1, " of ", documents.size(),
                         " has no \"schema\" of ours; docs/json.md lists them"));
    }
    JsonLimits limits;  // of ParseJson() above
    limits.levels = INT_MAX;
    limits.keys_in_object = limits.keys = INT64_MAX;
    RESMEM_ASSIGN_OR_RETURN(Json document, ReadJson(documents[i], limits));
    if (document["schema"] == kCombined && document.contains("parts")) {
      for (Json& part : document["parts"]) parts.push_back(std::move(part));
    } else {
      parts.push_back(std::move(document));
    }
  }
  const Json document = {{"schema", kCombined}, {"title", title}, {"parts", std::move(parts)}};
  return WriteDocument(document);
}

}  // namespace resmem
