#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "memory/manifest/description.h"
#include "memory/memory_parts.h"
#include "memory/rows/id_index.h"
#include "resmem/snapshots.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string YesOrNo(bool value) {
  return value ? "yes" : "no";
}

void CompareSettings(const MemoryDescription& a, const MemoryDescription& b,
                     std::vector<MemoryDifference::Setting>* settings) {
  const auto compare = [&](const std::string& name, const std::string& before,
                           const std::string& after) {
    if (before != after) settings->push_back({name, before, after});
  };
  const auto both = [&](const char* name, auto text_of) { compare(name, text_of(a), text_of(b)); };
  using D = const MemoryDescription&;
  both("k", [](D d) { return Text(d.parameters.k); });
  both("sigma", [](D d) { return Text(d.parameters.sigma); });
  both("temperature", [](D d) { return Text(d.parameters.temperature); });
  both("tuned", [](D d) { return YesOrNo(d.tuned); });
  both("answer", [](D d) { return std::string(MethodName(d.answer)); });
  if (a.blend && b.blend && !(*a.blend == *b.blend)) {
    settings->push_back({"blend", "fitted", "fitted again"});
  }
  both("calibrator", [](D d) { return d.calibrator; });
  both("calibrator_temperature", [](D d) { return Text(d.calibrator_temperature); });
  both("key_transform", [](D d) { return std::string(KeyTransformName(d.key_transform)); });
  both("key_type", [](D d) { return std::string(KeyTypeName(d.key_type)); });
  both("form", [](D d) { return std::string(ResidualFormName(d.form)); });
  both("outputs", [](D d) { return Text(d.outputs); });
  both("cross_fitted", [](D d) { return YesOrNo(d.cross_fitted); });
  both("model", [](D d) { return d.fingerprint.digest; });
  both("layer", [](D d) { return d.fingerprint.layer; });
  if (a.class_names != b.class_names) {
    settings->push_back({"class_names", Text(a.class_names.size()), Text(b.class_names.size())});
  }
  std::map<std::string, std::pair<std::string, std::string>> notes;
  for (const auto& [name, text] : a.notes) notes[name].first = text;
  for (const auto& [name, text] : b.notes) notes[name].second = text;
  for (const auto& [name, texts] : notes) {
    // Long ones are for programs.
    constexpr size_t kLongest = 200;
    const auto shown = [](const std::string& text) {
      return text.size() <= kLongest ? text : Text(text.size(), " bytes");
    };
    if (texts.first == texts.second) continue;
    settings->push_back({Text("note ", name), shown(texts.first), shown(texts.second)});
  }
}

class RowComparison {
 public:
  RowComparison(const StoredRows& before, const StoredRows& after)
      : before_(before), after_(after), before_ids_(before), after_ids_(after) {
    const MemoryDescription& a = before.manifest().description;
    const MemoryDescription& b = after.manifest().description;
    classes_ = a.task == Task::kClassification;
    keys_ = a.key_transform == b.key_transform && a.key_type == b.key_type;
    key_a_.resize(static_cast<size_t>(a.dim));
    key_b_.resize(static_cast<size_t>(a.dim));
  }

  Status Run(MemoryDifference* difference) {
    RESMEM_RETURN_IF_ERROR(before_.VerifyIds());
    RESMEM_RETURN_IF_ERROR(after_.VerifyIds());
    std::map<int32_t, MemoryDifference::ClassRows> classes;
    for (int64_t row = 0; row < before_.capacity(); ++row) {
      if (before_.deleted(row)) continue;
      const uint64_t id = before_.id(row);
      const std::optional<int64_t> now = after_ids_.Find(id);
      if (!now) {
        difference->removed.push_back(id);
        if (classes_) ++classes[LabelOf(before_, row)].removed;
      } else if (Differ(row, *now)) {
        difference->changed.push_back(id);
      }
    }
    for (int64_t row = 0; row < after_.capacity(); ++row) {
      if (after_.deleted(row)) continue;
      const uint64_t id = after_.id(row);
      if (before_ids_.Find(id)) continue;
      difference->added.push_back(id);
      if (classes_) ++classes[LabelOf(after_, row)].added;
    }
    for (auto& [label, rows] : classes) {
      rows.label = label;
      difference->classes.push_back(rows);
    }
    for (auto* ids : {&difference->added, &difference->removed, &difference->changed}) {
      std::sort(ids->begin(), ids->end());
    }
    return {};
  }

 private:
  static int32_t LabelOf(const StoredRows& rows, int64_t row) {
    const auto [segment, local] = rows.Find(row);
    return segment->label(local);
  }

  bool Differ(int64_t a, int64_t b) {
    const auto [segment_a, local_a] = before_.Find(a);
    const auto [segment_b, local_b] = after_.Find(b);
    // One file, or two names of one: nothing of it needs to be read.
    if (local_a == local_b && segment_a->file().header_hash() == segment_b->file().header_hash()) {
      return false;
    }
    if (segment_a->source(local_a) != segment_b->source(local_b)) return true;
    if (classes_) {
      if (segment_a->label(local_a) != segment_b->label(local_b)) return true;
    } else if (!std::ranges::equal(before_.target(a), after_.target(b))) {
      return true;
    }
    if (!keys_) return false;
    before_.DecodeKey(a, key_a_);
    after_.DecodeKey(b, key_b_);
    return key_a_ != key_b_;
  }

  const StoredRows& before_;
  const StoredRows& after_;
  const IdIndex before_ids_, after_ids_;
  bool classes_ = false, keys_ = false;
  std::vector<float> key_a_, key_b_;
};

}  // namespace

Result<MemoryDifference> CompareMemories(const ResidualMemory& before,
                                         const ResidualMemory& after) try {
  const MemoryDescription& a = before.description();
  const MemoryDescription& b = after.description();
  if (a.task != b.task || a.dim != b.dim ||
      (a.task == Task::kRegression && a.outputs != b.outputs)) {
    return Status(
        ErrorCode::kMismatch,
        Text("the memories cannot be compared: ", TaskName(a.task), ", ", a.dim, " dimensions and ",
             a.outputs, " outputs against ", TaskName(b.task), ", ", b.dim, " and ", b.outputs));
  }
  MemoryDifference difference;
  difference.rows_before = before.rows();
  difference.rows_after = after.rows();
  CompareSettings(a, b, &difference.settings);
  RESMEM_RETURN_IF_ERROR(
      RowComparison(MemoryParts::Rows(before), MemoryParts::Rows(after)).Run(&difference));
  RESMEM_RETURN_IF_ERROR(MemoryParts::CheckFiles(before));
  RESMEM_RETURN_IF_ERROR(MemoryParts::CheckFiles(after));
  return difference;
} catch (...) {
  return CaughtException("compare the memories");
}

}  // namespace resmem
