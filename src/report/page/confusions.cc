#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/numbers.h"
#include "report/page/evaluation_sections.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

constexpr size_t kConfusionsListed = 15;  // confusions in the table
constexpr size_t kMostInMatrix = 20;      // classes
constexpr int kShades = 5;                // of a cell in style.css

struct Confused {
  Node node;
  std::string label, answer;
  int64_t base = 0, resmem = 0;
};

std::vector<Confused> ReadConfused(const Node& list) {
  std::vector<Confused> pairs;
  for (const Node& node : list.Items()) {
    pairs.push_back({node, node.At("label").Text(), node.At("answer").Text(),
                     node.At("base").Count(), node.At("resmem").Count()});
  }
  return pairs;
}

Html Change(int64_t base, int64_t resmem) {
  const int64_t change = resmem - base;
  const char* style = change < 0 ? "fewer" : change > 0 ? "more" : "same";
  return Element("span", {{"class", style}}, change > 0 ? "+" : "", Grouped(change));
}

Html ListedConfusions(const std::vector<Confused>& pairs) {
  Html rows;
  for (size_t i = 0; i < std::min(pairs.size(), kConfusionsListed); ++i) {
    const Confused& pair = pairs[i];
    rows << TableRow(Html() << Name(pair.label) << " \u2192 " << Name(pair.answer),
                     CountData(pair.node.At("base")), CountData(pair.node.At("resmem")),
                     Change(pair.base, pair.resmem));
  }
  return Table("Most frequent confusions",
               Heading({"Truth \u2192 answer", "Base", "With memory", "Change"}), rows);
}

// Truth in rows, the answers with the memory in columns; right answers on the diagonal.
Html ConfusionMatrix(const std::vector<Node>& classes, const std::vector<Confused>& pairs) {
  std::vector<std::string> names;
  for (const Node& node : classes) names.push_back(node.At("name").Text());
  for (const Confused& pair : pairs) {
    // A class without rows is answered too.
    if (names.size() > kMostInMatrix) return {};
    if (std::count(names.begin(), names.end(), pair.answer) == 0) names.push_back(pair.answer);
  }
  if (names.size() > kMostInMatrix) return {};
  std::map<std::pair<std::string, std::string>, const Confused*> wrong;
  int64_t largest = 1;
  for (const Confused& pair : pairs) {
    wrong[{pair.label, pair.answer}] = &pair;
    largest = std::max(largest, pair.resmem);
  }
  Html head = Element("th", {{"scope", "col"}}, "Truth");
  for (const std::string& name : names) head << Element("th", {{"scope", "col"}}, Name(name));
  Html rows;
  for (const Node& node : classes) {
    const std::string label = node.At("name").Text();
    Html row = Element("th", {{"scope", "row"}}, Name(label));
    for (const std::string& answer : names) {
      if (answer == label) {
        row << Element("td", {{"class", "diagonal"}}, CountData(node.At("resmem_correct")));
        continue;
      }
      const auto at = wrong.find({label, answer});
      if (at == wrong.end()) {
        row << Element("td", {{"class", "shade0"}}, "\u00b7");
        continue;
      }
      const Confused& pair = *at->second;
      const int64_t shade = pair.resmem == 0 ? 0
                                             : 1 + (kShades - 1) * (pair.resmem - 1) /
                                                       std::max<int64_t>(1, largest - 1);
      row << Element("td", {{"class", "shade" + std::to_string(shade)}},
                     CountData(pair.node.At("resmem")), " ", Change(pair.base, pair.resmem));
    }
    rows << Element("tr", {}, row);
  }
  return Element("div", {{"class", "matrix"}},
                 Table("Confusion matrix", Element("tr", {}, head), rows));
}

}  // namespace

Html ConfusionSection(const Node& list, const Node& classes) {
  const std::vector<Confused> pairs = ReadConfused(list);
  Html lede;
  lede << "Which class is taken for which: the most frequent confusions of base and memory "
       << "together, and how often each happens.";
  Html html = Element("p", {{"class", "lede"}}, lede) << ListedConfusions(pairs);
  const Html matrix = ConfusionMatrix(classes.Items(), pairs);
  if (matrix.empty()) return html;
  return html << Details(
             "The confusion matrix with the memory",
             Element("p", {{"class", "caption"}},
                     "Rows are true classes, columns the answers with the memory; right answers "
                     "on the diagonal. The small number is the change from the base.")
                 << matrix);
}

}  // namespace resmem
