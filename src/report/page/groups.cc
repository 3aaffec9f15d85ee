#include <algorithm>

#include "report/chart/strip.h"
#include "report/numbers.h"
#include "report/page/evaluation_sections.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

constexpr size_t kAllShown = 24;    // more groups than this: the ends only, the rest folded
constexpr size_t kEnd = 10;         // how many from each end
constexpr size_t kMostRows = 2000;  // of the folded table; the JSON has them all

struct Group {
  Node node;
  std::string name;
  double total, base, resmem, gain;
};

std::vector<Group> ReadGroups(const Node& list, std::string_view one) {
  std::vector<Group> groups;
  size_t number = 0;
  for (const Node& node : list.Items()) {
    Group group{node, node.At("name").Text(), 0, 0, 0, 0};
    if (group.name.empty()) group.name = std::string(one) + " " + std::to_string(number);
    ++number;
    const int64_t total = node.At("total").Count();
    for (const char* field : {"base_correct", "resmem_correct", "fixed", "harmed"}) {
      if (node.At(field).Count() > total) node.At(field).Fail("at most the group's total");
    }
    if (total == 0) continue;
    group.total = static_cast<double>(total);
    group.base = static_cast<double>(node.At("base_correct").Count()) / group.total;
    group.resmem = static_cast<double>(node.At("resmem_correct").Count()) / group.total;
    group.gain =
        static_cast<double>(node.At("resmem_correct").Count() - node.At("base_correct").Count()) /
        group.total;
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.gain > b.gain; });
  return groups;
}

Html Row(const Group& group, const Scale& scale) {
  return TableRow(Name(group.name), DrawDivergingBar(scale, group.gain), Points(group.gain),
                  Percent(group.base, 1), Percent(group.resmem, 1),
                  CountData(group.node.At("fixed")), CountData(group.node.At("harmed")),
                  CountData(group.node.At("total")));
}

}  // namespace

Html GroupTable(const Node& list, std::string_view one) {
  const std::vector<Group> groups = ReadGroups(list, one);
  Extent extent;
  extent.Include(0);
  int64_t better = 0, worse = 0;
  for (const Group& group : groups) {
    extent.Include(group.gain);
    better += group.gain > 0 ? 1 : 0;
    worse += group.gain < 0 ? 1 : 0;
  }
  const Scale scale = StripScale(extent);
  const auto rows = [&](size_t begin, size_t end) {
    Html html;
    for (size_t i = begin; i < end; ++i) html << Row(groups[i], scale);
    return html;
  };
  Html head;
  head << Element("th", {{"scope", "col"}}, one == "class" ? "Class" : "Slice")
       << Element("th", {{"scope", "col"}, {"class", "wide"}},
                  Element("span", {{"class", "hidden"}}, "gain in percentage points, drawn"),
                  DrawStripAxis(scale));
  for (const char* column : {"Gain", "Base", "With memory", "Fixed", "Harmed", "Rows"}) {
    head << Element("th", {{"scope", "col"}}, column);
  }
  head = Element("tr", {}, head);
  const std::string label = "Gain for each " + std::string(one);

  Html html = Element("p", {{"class", "lede"}}, "Better in ", Grouped(better), ", worse in ",
                      Grouped(worse), ", the same in ",
                      Grouped(static_cast<int64_t>(groups.size()) - better - worse),
                      "; sorted by gain, in percentage points.");
  if (groups.size() <= kAllShown) return html << Table(label, head, rows(0, groups.size()));
  const Html gap = Element("tr", {{"class", "gap"}},
                           Element("td", {{"colspan", "8"}},
                                   Grouped(static_cast<int64_t>(groups.size() - 2 * kEnd)) +
                                       " more between these ends"));
  html << Table(label, head, rows(0, kEnd) << gap << rows(groups.size() - kEnd, groups.size()));
  const size_t listed = std::min(groups.size(), kMostRows);
  std::string summary = "All " + Grouped(static_cast<int64_t>(groups.size()));
  if (listed < groups.size()) {
    summary = "The first " + Grouped(static_cast<int64_t>(listed)) + "; the JSON holds all " +
              Grouped(static_cast<int64_t>(groups.size()));
  }
  return html << Details(summary, Table(label + ", all", head, rows(0, listed)));
}

}  // namespace resmem
