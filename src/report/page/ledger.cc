#include "report/page/ledger.h"

#include <algorithm>
#include <cmath>

#include "report/numbers.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

constexpr size_t kListed = 6;  // nearest neighbors shown one by one
constexpr int kDecimals = 4;
constexpr std::pair<const char*, const char*> kParts[] = {{"base", "Of it base part"},
                                                          {"labels", "Of it labels"},
                                                          {"expected", "Of it expected"},
                                                          {"residual", "Of it residual"}};

void CheckLength(const Node& list, size_t outputs) {
  const std::vector<Node> items = list.Items();
  if (items.size() != outputs) list.Fail("as long as the ledger's outputs");
  for (const Node& item : items) item.Number();
}

Html Entry(const Node& list, size_t column) {
  const std::vector<Node> items = list.Items();
  if (column >= items.size()) return {};
  const double value = items[column].Number();
  return Data(items[column], Signed(value, kDecimals));
}

Html LineRow(const Node& line, size_t number, const std::vector<size_t>& columns,
             const std::vector<std::string>& class_names) {
  Html name;
  name << Grouped(static_cast<int64_t>(number + 1)) << ". ";
  const int64_t label = line.At("label").Integer();
  if (label >= 0) name << Name(ClassName(class_names, label)) << " ";
  const std::string source = line.At("source").Text();
  Html small;
  small << "row " << CountData(line.At("row"));
  if (!source.empty()) small << ", " << Name(ShownPath(source));
  name << Element("small", {}, small);
  Html row = Element("th", {{"scope", "row"}}, name);
  row << Element("td", {}, ShortData(line.At("distance")))
      << Element("td", {}, Data(line.At("weight"), Percent(line.At("weight").Share(), 1)));
  for (const size_t column : columns) {
    row << Element("td", {}, Entry(line.At("contribution"), column));
  }
  return Element("tr", {}, row);
}

Html PlainRow(std::string_view style, std::string_view name, const std::vector<Html>& cells) {
  Html row = Element("th", {{"scope", "row"}, {"colspan", "3"}}, name);
  for (const Html& cell : cells) row << Element("td", {}, cell);
  return Element("tr", {{"class", std::string(style)}}, row);
}

constexpr const char* kConvention =
    "The sum is in log space. Base part, labels, expected and residual sum to the log score "
    "exactly, and so do the neighbors in the residual. Labels and expected are logarithms, no sums "
    "over neighbors: each neighbor's share of them is in proportion, by convention.";

// Empty where the memory cannot tell.
Html DistanceOf(const Node& ledger) {
  const auto percentile = ledger.Find("distance_percentile");
  if (!percentile) return {};
  const std::string rate = Percent(1 - ledger.At("unknown_rate").Share(), 1);
  Html text;
  text << (ledger.At("unknown").Flag() ? "Unknown: " : "");
  if (percentile->Number() < 0) {
    text << "there is no neighbor.";
  } else {
    text << "The query lies farther from the memory than "
         << Data(*percentile, Percent(percentile->Number() / 100, 1))
         << " of the rows that the memory was tuned on (unknown from " << rate << " on).";
  }
  return Element("p", {}, text);
}

}  // namespace

Ledger ReadLedger(const Node& node) {
  const std::optional<Node> method = node.Find("method");  // none in older documents
  const bool named = method && method->Text() != "resmem";
  Ledger ledger{node,
                named ? method->Text() : "ResMem",
                {},
                node.At("lines").Items(),
                node.At("base_prediction").Integer(),
                node.At("prediction").Integer()};
  for (const Node& output : node.At("outputs").Items()) ledger.outputs.push_back(output.Count());
  if (ledger.outputs.empty()) node.At("outputs").Fail("a list of one class number or more");
  for (const char* field : {"base", "rounding", "score"}) {
    CheckLength(node.At(field), ledger.outputs.size());
  }
  for (const char* field : {"base_probability", "probability"}) {
    if (const auto list = node.Find(field)) CheckLength(*list, ledger.outputs.size());
  }
  if (const auto parts = node.Find("parts")) {
    for (const auto& [field, name] : kParts) CheckLength(parts->At(field), ledger.outputs.size());
  }
  for (const Node& line : ledger.lines) CheckLength(line.At("contribution"), ledger.outputs.size());
  return ledger;
}

std::vector<Node> ContributionsTo(const Ledger& ledger, int64_t output) {
  std::vector<Node> contributions;
  const std::vector<size_t> columns = ColumnsOf(ledger, {output}, 0);
  if (columns.empty()) return contributions;
  for (const Node& line : ledger.lines) {
    const std::vector<Node> items = line.At("contribution").Items();
    if (columns.front() < items.size()) contributions.push_back(items[columns.front()]);
  }
  return contributions;
}

std::vector<size_t> ColumnsOf(const Ledger& ledger, const std::vector<int64_t>& classes,
                              size_t least) {
  std::vector<size_t> columns;
  const auto add = [&](size_t column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      columns.push_back(column);
    }
  };
  for (const int64_t wanted : classes) {
    const auto found = std::find(ledger.outputs.begin(), ledger.outputs.end(), wanted);
    if (found != ledger.outputs.end()) add(static_cast<size_t>(found - ledger.outputs.begin()));
  }
  std::vector<std::pair<double, size_t>> others;
  const std::vector<Node> scores = ledger.node.At("score").Items();
  for (size_t i = 0; i < scores.size(); ++i) others.emplace_back(-scores[i].Number(), i);
  std::sort(others.begin(), others.end());
  for (const auto& [score, column] : others) {
    if (columns.size() >= least) break;
    add(column);
  }
  return columns;
}

Html LedgerTable(const Ledger& ledger, const std::vector<size_t>& columns,
                 const std::vector<std::string>& class_names) {
  const auto entries = [&](const char* field) {
    std::vector<Html> cells;
    for (const size_t column : columns) cells.push_back(Entry(ledger.node.At(field), column));
    return cells;
  };
  Html head = Element("th", {{"scope", "col"}}, "");
  head << Element("th", {{"scope", "col"}}, "Distance")
       << Element("th", {{"scope", "col"}}, "Weight");
  for (const size_t column : columns) {
    if (column >= ledger.outputs.size()) continue;
    head << Element("th", {{"scope", "col"}}, Name(ClassName(class_names, ledger.outputs[column])));
  }
  head = Element("tr", {}, head);

  const bool logs = ledger.node.Find("parts").has_value();
  Html rows = PlainRow("", logs ? "Without neighbors" : "Base model", entries("base"));
  const size_t listed = ledger.lines.size() <= kListed + 1 ? ledger.lines.size() : kListed;
  Html further_rows;
  std::vector<double> rest(columns.size(), 0.0);
  for (size_t i = 0; i < ledger.lines.size(); ++i) {
    const Html row = LineRow(ledger.lines[i], i, columns, class_names);
    if (i < listed) {
      rows << row;
      continue;
    }
    further_rows << row;
    const std::vector<Node> contribution = ledger.lines[i].At("contribution").Items();
    for (size_t c = 0; c < columns.size(); ++c) {
      if (columns[c] < contribution.size()) rest[c] += contribution[columns[c]].Number();
    }
  }
  Html further;
  if (listed < ledger.lines.size()) {
    const std::string count = Grouped(static_cast<int64_t>(ledger.lines.size() - listed));
    std::vector<Html> cells;
    for (const double sum : rest) cells.push_back(Html() << Signed(sum, kDecimals));
    rows << PlainRow("", count + " further neighbors together", cells);
    further = Details("The " + count + " further neighbors one by one",
                      Table("Further neighbors", head, further_rows));
  }
  rows << PlainRow("", "Rounding to float32", entries("rounding"))
       << PlainRow("sum", logs ? "Log score" : "Score", entries("score"));
  if (ledger.node.Find("probability")) {
    rows << PlainRow("", "Probability", entries("probability"))
         << PlainRow("", "The base's probability", entries("base_probability"));
  }
  if (!logs) return Table("Ledger of the score", head, rows) << further << DistanceOf(ledger.node);
  const Node parts = ledger.node.At("parts");
  for (const auto& [field, name] : kParts) {
    std::vector<Html> cells;
    for (const size_t column : columns) cells.push_back(Entry(parts.At(field), column));
    rows << PlainRow("", name, cells);
  }
  return Table("Ledger of the score", head, rows)
         << further << Element("p", {}, kConvention) << DistanceOf(ledger.node);
}

}  // namespace resmem
