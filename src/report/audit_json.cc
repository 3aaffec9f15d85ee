#include <functional>

#include "report/document.h"

namespace resmem {
namespace {

template <typename T>
Json ListOf(const std::vector<T>& lines, const std::function<Json(const T&)>& line) {
  Json list = Json::array();
  for (const T& one : lines) list.push_back(line(one));
  return list;
}

}  // namespace

std::string AuditJson(const Audit& audit, const HarmReport* harm, const ResidualMemory& memory,
                      const RunInfo& run) {
  const bool classes = memory.description().task == Task::kClassification;
  const auto label = [&](const char* name, int64_t row, Json* json) {
    if (classes) (*json)[name] = memory.label(row);
  };
  Json document = StartDocument("audit", run);
  document["checked"] = audit.checked;
  document["duplicate_distance"] = Number(audit.duplicate_distance);
  document["all_twins"] = audit.all_twins;
  document["twins"] = ListOf<TwinRows>(audit.twins, [&](const TwinRows& pair) {
    Json json = {{"id", memory.id(pair.row)},
                 {"other", memory.id(pair.other)},
                 {"distance", Number(pair.distance)}};
    label("label", pair.row, &json);
    label("other_label", pair.other, &json);
    return json;
  });
  if (classes) {
    document["suspected"] = audit.suspected;
    document["all_suspects"] = audit.all_suspects;
    document["suspects"] = ListOf<SuspectRow>(audit.suspects, [&](const SuspectRow& suspect) {
      return Json({{"id", memory.id(suspect.row)},
                   {"label", memory.label(suspect.row)},
                   {"suggested", suspect.suggested},
                   {"base", suspect.base},
                   {"disagreement", Number(suspect.disagreement)},
                   {"residual", Number(suspect.residual)}});
    });
  }
  if (harm != nullptr) {
    document["method"] = MethodName(harm->method);
    document["rows"] = harm->rows;
    document["loss"] = Number(harm->loss);
    document["all_harmful"] = harm->all_harmful;
    document["harmful"] = ListOf<RowEffect>(harm->harmful, [&](const RowEffect& effect) {
      Json json = {{"id", memory.id(effect.row)},
                   {"harm", Number(effect.harm)},
                   {"answers", effect.answers}};
      label("label", effect.row, &json);
      if (classes) {
        json["wrong_with"] = effect.wrong_with;
        json["wrong_without"] = effect.wrong_without;
      }
      return json;
    });
  }
  return WriteDocument(document);
}

}  // namespace resmem
