#include "outputs/audit_text.h"

#include <algorithm>

#include "console/format.h"
#include "inputs/class_names.h"
#include "outputs/exact_number.h"

namespace resmem::cli {
namespace {

class AuditLines {
 public:
  AuditLines(const ResidualMemory& memory, int64_t shown)
      : memory_(memory),
        names_(memory.description().class_names),
        classes_(memory.description().task == Task::kClassification),
        shown_(static_cast<size_t>(shown)) {}

  std::string Suspects(const Audit& audit) const {
    std::string text = "\nlikely label errors: " + Count(audit.all_suspects) + " of " +
                       Counted(audit.suspected, "row") +
                       "; another label has more than half of the weight of the neighbors\n";
    if (audit.suspects.empty()) return text;
    Table table = Start({"id", "label", "neighbors say", "base says", "disagreement", "residual"});
    for (const SuspectRow& suspect : First(audit.suspects)) {
      Add(suspect.row,
          {ClassText(names_, memory_.label(suspect.row)), ClassText(names_, suspect.suggested),
           ClassText(names_, suspect.base), Fixed(static_cast<double>(suspect.disagreement), 3),
           Fixed(static_cast<double>(suspect.residual), 3)},
          &table);
    }
    return text + table.Text() + More(audit.all_suspects);
  }

  std::string Twins(const Audit& audit) const {
    std::string text = "\nnear-duplicates: " + Counted(audit.all_twins, "pair") + " at most " +
                       ShortNumber(audit.duplicate_distance) +
                       " apart, a hundredth of the median distance to the nearest row\n";
    if (audit.twins.empty()) return text;
    std::vector<std::string> header = {"id", "other", "distance"};
    if (classes_) header.insert(header.end(), {"label", "other's label"});
    Table table = Start(header);
    for (const TwinRows& pair : First(audit.twins)) {
      std::vector<std::string> fields = {std::to_string(memory_.id(pair.other)),
                                         ShortNumber(static_cast<double>(pair.distance))};
      if (classes_) {
        fields.push_back(ClassText(names_, memory_.label(pair.row)));
        fields.push_back(ClassText(names_, memory_.label(pair.other)));
      }
      Add(pair.row, std::move(fields), &table);
    }
    return text + table.Text() + More(audit.all_twins);
  }

  std::string Harmful(const HarmReport& harm) const {
    const char* const loss = classes_ ? "NLL" : "squared error";
    std::string text = "\nharmful rows: " + Count(harm.all_harmful) + "; without one of them the " +
                       loss + " of " + Counted(harm.rows, "held-out row") + " is lower (" +
                       MethodName(harm.method) + ", mean now " + Fixed(harm.loss, 4) + ")\n";
    if (harm.harmful.empty()) return text;
    std::vector<std::string> header = {"id", "harm", "answers"};
    if (classes_) header.insert(header.end(), {"wrong with", "wrong without", "label"});
    Table table = Start(header);
    for (const RowEffect& effect : First(harm.harmful)) {
      std::vector<std::string> fields = {Fixed(effect.harm, 4), Count(effect.answers)};
      if (classes_) {
        fields.push_back(Count(effect.wrong_with));
        fields.push_back(Count(effect.wrong_without));
        fields.push_back(ClassText(names_, memory_.label(effect.row)));
      }
      Add(effect.row, std::move(fields), &table);
    }
    return text + table.Text() + More(harm.all_harmful);
  }

 private:
  Table Start(std::vector<std::string> header) const {
    if (memory_.description().has_sources) header.emplace_back("source");
    return Table::OfNumbers(header, memory_.description().has_sources ? 1 : 0);
  }
  void Add(int64_t row, std::vector<std::string> fields, Table* table) const {
    fields.insert(fields.begin(), std::to_string(memory_.id(row)));
    if (memory_.description().has_sources) fields.emplace_back(memory_.source(row));
    table->AddRow(fields);
  }
  template <typename T>
  std::span<const T> First(const std::vector<T>& list) const {
    return std::span(list).first(std::min(shown_, list.size()));
  }
  std::string More(int64_t all) const {
    const int64_t more = all - static_cast<int64_t>(shown_);
    return more > 0 ? Count(more) + " more\n" : "";
  }

  const ResidualMemory& memory_;
  const std::vector<std::string>& names_;
  const bool classes_;
  const size_t shown_;
};

}  // namespace

std::string AuditText(const ResidualMemory& memory, const Audit& audit, const HarmReport* harm,
                      int64_t shown) {
  const AuditLines lines(memory, shown);
  std::string text = Counted(memory.rows(), "row") + ", " + Count(audit.checked) +
                     " asked for their neighbors, each without itself\n";
  if (memory.description().task == Task::kClassification) text += lines.Suspects(audit);
  text += lines.Twins(audit);
  if (harm != nullptr) text += lines.Harmful(*harm);
  return text;
}

std::string AuditCsv(const ResidualMemory& memory, const Audit& audit, const HarmReport* harm) {
  const bool classes = memory.description().task == Task::kClassification;
  const auto id = [&](int64_t row) { return std::to_string(memory.id(row)); };
  const auto label = [&](int64_t row) {
    return classes ? std::to_string(memory.label(row)) : std::string();
  };
  std::string text = "list,id,label,suggested,base,disagreement,residual,other,distance,harm\n";
  for (const SuspectRow& suspect : audit.suspects) {
    text += "suspects," + id(suspect.row) + "," + label(suspect.row) + "," +
            std::to_string(suspect.suggested) + "," + std::to_string(suspect.base) + "," +
            ExactNumber(suspect.disagreement) + "," + ExactNumber(suspect.residual) + ",,,\n";
  }
  for (const TwinRows& pair : audit.twins) {
    text += "twins," + id(pair.row) + "," + label(pair.row) + ",,,,," + id(pair.other) + "," +
            ExactNumber(pair.distance) + ",\n";
  }
  if (harm == nullptr) return text;
  for (const RowEffect& effect : harm->harmful) {
    text += "harmful," + id(effect.row) + "," + label(effect.row) + ",,,,,,," +
            ExactNumber(static_cast<float>(effect.harm)) + "\n";
  }
  return text;
}

}  // namespace resmem::cli
