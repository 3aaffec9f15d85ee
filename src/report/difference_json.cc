#include <algorithm>

#include "report/document.h"

namespace resmem {
namespace {

// The first of the ids, as far as a document should go.
Json FirstIds(const std::vector<uint64_t>& ids) {
  constexpr size_t kMost = 1000;
  Json list = Json::array();
  for (size_t i = 0; i < std::min(kMost, ids.size()); ++i) list.push_back(ids[i]);
  return list;
}

}  // namespace

std::string DifferenceJson(const std::string& before, const std::string& after,
                           const MemoryDifference& difference, const RunInfo& run) {
  Json document = StartDocument("difference", run);
  document["before"] = before;
  document["after"] = after;
  document["rows_before"] = difference.rows_before;
  document["rows_after"] = difference.rows_after;
  document["added"] = difference.added.size();
  document["removed"] = difference.removed.size();
  document["changed"] = difference.changed.size();
  document["added_ids"] = FirstIds(difference.added);
  document["removed_ids"] = FirstIds(difference.removed);
  document["changed_ids"] = FirstIds(difference.changed);
  Json classes = Json::array();
  for (const MemoryDifference::ClassRows& rows : difference.classes) {
    classes.push_back({{"label", rows.label}, {"added", rows.added}, {"removed", rows.removed}});
  }
  document["classes"] = std::move(classes);
  Json settings = Json::array();
  for (const MemoryDifference::Setting& setting : difference.settings) {
    settings.push_back(
        {{"name", setting.name}, {"before", setting.before}, {"after", setting.after}});
  }
  document["settings"] = std::move(settings);
  return WriteDocument(document);
}

}  // namespace resmem
