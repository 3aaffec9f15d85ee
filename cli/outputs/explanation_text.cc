#include "outputs/explanation_text.h"

#include <algorithm>

#include "console/format.h"
#include "inputs/class_names.h"

namespace resmem::cli {
namespace {

using Align = Table::Align;

// The outputs that the table shows: the winner and the runner-up, or the first values.
std::vector<size_t> ShownOutputs(const Explanation& explanation, Task task) {
  const size_t outputs = explanation.score.size();
  if (task == Task::kRegression || outputs < 2) {
    return outputs < 2 ? std::vector<size_t>{0} : std::vector<size_t>{0, 1};
  }
  const auto winner = static_cast<size_t>(explanation.prediction);
  size_t second = winner == 0 ? 1 : 0;
  for (size_t i = 0; i < outputs; ++i) {
    if (i != winner && explanation.score[i] > explanation.score[second]) second = i;
  }
  return {winner, second};
}

std::string Signed(double value) {
  return (value < 0 ? "" : "+") + Fixed(value, 6);
}

// "" where the memory cannot tell.
std::string DistanceLine(const Explanation& explanation) {
  return explanation.distance ? "distance       " + DistanceText(explanation) + "\n" : "";
}

}  // namespace

std::string DistanceText(const Explanation& explanation) {
  const Explanation::Distance& distance = *explanation.distance;
  const std::string from =
      " (unknown from " + ShortNumber(100 * (1 - distance.unknown_rate)) + " % on)";
  if (distance.percentile < 0) return "unknown: no neighbor";
  return std::string(distance.unknown ? "unknown: " : "") + "farther than " +
         Fixed(static_cast<double>(distance.percentile), 1) + " % of the rows it was tuned on" +
         from;
}

std::string ExplanationText(const Explanation& explanation, const MemoryDescription& memory,
                            int64_t lines) {
  const bool classification = memory.task == Task::kClassification;
  const std::vector<size_t> shown = ShownOutputs(explanation, memory.task);
  std::vector<Table::Column> columns = {{"part", Align::kLeft}, {"id"}};
  if (memory.has_sources) columns.push_back({"source", Align::kLeft});
  if (classification) columns.push_back({"label", Align::kLeft});
  columns.push_back({"distance"});
  columns.push_back({"weight"});
  const size_t before_values = columns.size();
  for (const size_t output : shown) {
    const auto number = static_cast<int64_t>(output);
    columns.push_back({classification ? ClassText(memory.class_names, number)
                                      : "output " + std::to_string(number)});
  }
  Table table(columns);
  const auto add = [&](std::vector<std::string> cells, const auto& value_of) {
    cells.resize(before_values);
    for (const size_t output : shown) cells.push_back(value_of(output));
    table.AddRow(std::move(cells));
  };
  add({explanation.parts ? "without neighbors" : "base"},
      [&](size_t output) { return Signed(explanation.base[output]); });
  const size_t named =
      std::min(explanation.lines.size(), static_cast<size_t>(std::max<int64_t>(0, lines)));
  for (size_t i = 0; i < named; ++i) {
    const Explanation::Line& line = explanation.lines[i];
    std::vector<std::string> cells = {"neighbor " + std::to_string(i + 1), std::to_string(line.id)};
    if (memory.has_sources) cells.push_back(line.source);
    if (classification) cells.push_back(ClassText(memory.class_names, line.label));
    cells.push_back(ShortNumber(line.distance));
    cells.push_back(Fixed(line.weight, 6));
    add(std::move(cells), [&](size_t output) { return Signed(line.contribution[output]); });
  }
  if (named < explanation.lines.size()) {
    add({std::to_string(explanation.lines.size() - named) + " more"}, [&](size_t output) {
      double sum = 0;
      for (size_t i = named; i < explanation.lines.size(); ++i) {
        sum += explanation.lines[i].contribution[output];
      }
      return Signed(sum);
    });
  }
  // As resmem predict shows them.
  const auto add_probabilities = [&] {
    add({"probability"}, [&](size_t output) {
      return Fixed(static_cast<double>(explanation.probability[output]), 6);
    });
    add({"base's probability"}, [&](size_t output) {
      return Fixed(static_cast<double>(explanation.base_probability[output]), 6);
    });
  };
  if (explanation.parts) {
    const Explanation::Parts& parts = *explanation.parts;
    add({"rounding"}, [&](size_t output) { return Scientific(explanation.rounding[output]); });
    add({"log score"}, [&](size_t output) { return Signed(explanation.eta[output]); });
    add_probabilities();
    add({"of which base part"}, [&](size_t output) { return Signed(parts.base[output]); });
    add({"labels"}, [&](size_t output) { return Signed(parts.labels[output]); });
    add({"expected"}, [&](size_t output) { return Signed(parts.expected[output]); });
    add({"residual"}, [&](size_t output) { return Signed(parts.residual[output]); });
    return table.Text() +
           "\nbase part, labels, expected and residual sum to the log score exactly, and so do the "
           "neighbors in\nthe residual; their shares of labels and expected, two logarithms, are "
           "in proportion, by convention,\nand \"without neighbors\" is what these shares leave of "
           "base part, labels and expected\n\nbase's answer  " +
           ClassText(memory.class_names, explanation.base_prediction) + "\nour answer     " +
           ClassText(memory.class_names, explanation.prediction) + "\n" + DistanceLine(explanation);
  }
  add({"rounding"}, [&](size_t output) { return Scientific(explanation.rounding[output]); });
  add({"score"},
      [&](size_t output) { return Signed(static_cast<double>(explanation.score[output])); });
  if (classification) add_probabilities();
  std::string text = table.Text();
  if (!classification) return text + DistanceLine(explanation);

  text += "\nbase's answer  " + ClassText(memory.class_names, explanation.base_prediction) +
          "\nour answer     " + ClassText(memory.class_names, explanation.prediction) + "\n" +
          DistanceLine(explanation);
  if (explanation.flip_set.empty()) {
    return text + "flip set       none: removing neighbors does not change the answer\n";
  }
  text += "flip set       " +
          Counted(static_cast<int64_t>(explanation.flip_set.size()), "neighbor") + ":";
  constexpr size_t kShownIds = 10;
  const size_t ids = std::min(kShownIds, explanation.flip_set.size());
  for (size_t i = 0; i < ids; ++i) {
    const auto line = static_cast<size_t>(explanation.flip_set[i]);
    text += " " + std::to_string(explanation.lines[line].id);
  }
  if (ids < explanation.flip_set.size()) {
    text += " and " + std::to_string(explanation.flip_set.size() - ids) + " more";
  }
  return text +
         " (by id; found greedily: without them, and with the others reweighted, the answer "
         "differs)\n";
}

}  // namespace resmem::cli
