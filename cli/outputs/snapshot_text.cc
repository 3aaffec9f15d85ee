#include "outputs/snapshot_text.h"

#include <algorithm>

#include "console/format.h"
#include "inputs/class_names.h"

namespace resmem::cli {

std::string SnapshotsText(const SnapshotList& list) {
  if (list.snapshots.empty()) return "";
  using Align = Table::Align;
  Table table({{"name", Align::kLeft},
               {"rows"},
               {"bytes"},
               {"only here"},
               {"taken", Align::kLeft},
               {"note", Align::kLeft}});
  std::string problems;
  for (const SnapshotInfo& info : list.snapshots) {
    if (info.problem.empty()) {
      table.AddRow({info.name, Count(info.rows), Bytes(info.bytes), Bytes(info.own_bytes),
                    info.created, info.note});
    } else {
      table.AddRow({info.name, "-", "-", "-", "-", "cannot be read"});
      problems += info.problem + "\n";
    }
  }
  return table.Text() + problems;
}

std::string SnapshotsLine(const SnapshotList& list) {
  constexpr size_t kShown = 5;
  std::string names;
  for (size_t i = 0; i < std::min(kShown, list.snapshots.size()); ++i) {
    names += (i == 0 ? "" : ", ") + list.snapshots[i].name;
  }
  if (list.snapshots.size() > kShown) {
    names += " and " + Count(static_cast<int64_t>(list.snapshots.size() - kShown)) + " more";
  }
  return Count(static_cast<int64_t>(list.snapshots.size())) + " (" + names + "), " +
         Bytes(list.own_bytes) + " only they hold";
}

std::string IdsText(std::span<const uint64_t> ids) {
  constexpr size_t kShown = 10;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, ids.size()); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
  }
  if (ids.size() > kShown)
    text += " and " + Count(static_cast<int64_t>(ids.size() - kShown)) + " more";
  return text;
}

std::string DifferenceText(const MemoryDifference& difference,
                           const std::vector<std::string>& class_names) {
  if (difference.none()) {
    return "no difference: " + Counted(difference.rows_after, "row") + "\n";
  }
  std::string text = Counted(difference.rows_before, "row") + " before, " +
                     Count(difference.rows_after) + " after\n";
  const auto rows = [&](const char* what, const std::vector<uint64_t>& ids) {
    if (ids.empty()) return;
    text += std::string(what) + " " + Counted(static_cast<int64_t>(ids.size()), "row") + ": " +
            IdsText(ids) + "\n";
  };
  rows("added", difference.added);
  rows("removed", difference.removed);
  rows("changed", difference.changed);
  if (!difference.classes.empty()) {
    constexpr size_t kShown = 20;
    Table table = Table::OfNumbers({"class", "added", "removed"});
    for (size_t i = 0; i < std::min(kShown, difference.classes.size()); ++i) {
      const MemoryDifference::ClassRows& line = difference.classes[i];
      table.AddRow({ClassText(class_names, line.label), Count(line.added), Count(line.removed)});
    }
    text += "\n" + table.Text();
    if (difference.classes.size() > kShown) {
      text += Count(static_cast<int64_t>(difference.classes.size() - kShown)) + " more classes\n";
    }
  }
  if (!difference.settings.empty()) {
    using Align = Table::Align;
    Table table({{"setting", Align::kLeft}, {"before", Align::kLeft}, {"after", Align::kLeft}});
    for (const MemoryDifference::Setting& setting : difference.settings) {
      table.AddRow({setting.name, setting.before.empty() ? "-" : setting.before,
                    setting.after.empty() ? "-" : setting.after});
    }
    text += "\n" + table.Text();
  }
  return text;
}

std::vector<SnapshotRows> WarnOfRowsInSnapshots(const std::string& path,
                                                std::span<const uint64_t> ids, Console& console) {
  auto found = FindInSnapshots(path, ids);
  if (!found.ok()) {
    console.Warn("a snapshot of " + path + " may hold the rows still: " + found.status().message());
    return {};
  }
  for (const SnapshotRows& snapshot : *found) {
    console.Warn(Counted(static_cast<int64_t>(snapshot.ids.size()), "row") + " (" +
                 IdsText(snapshot.ids) +
                 (snapshot.ids.size() == 1 ? ") lives on in" : ") live on in") + " the snapshot " +
                 snapshot.name + "; to forget them there, too: resmem snapshot drop " + path + " " +
                 snapshot.name);
  }
  return std::move(*found);
}

}  // namespace resmem::cli
