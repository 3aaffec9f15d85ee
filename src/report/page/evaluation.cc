#include <algorithm>
#include <cmath>

#include "report/numbers.h"
#include "report/page/evaluation_sections.h"
#include "report/page/page.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

void CheckGain(const Node& gain) {
  const int64_t sum = gain.At("fixed").Count() + gain.At("harmed").Count() +
                      gain.At("both_right").Count() + gain.At("both_wrong").Count();
  if (sum != gain.At("total").Count() || sum == 0) {
    gain.At("total").Fail("the sum of fixed, harmed, both_right and both_wrong, and not 0");
  }
}

Html Tile(std::string_view name, const Html& value, const Html& note) {
  return Element("div", {{"class", "tile"}}, Element("dt", {}, name),
                 Element("dd", {}, Element("strong", {}, value), Element("span", {}, note)));
}

Html AccuracyTile(std::string_view name, const Node& accuracy) {
  Html note;
  note << "95\u202f% interval " << PercentData(accuracy.At("low")) << " to "
       << PercentData(accuracy.At("high"));
  return Tile(name, PercentData(accuracy.At("value")), note);
}

std::string Verdict(double low, double high) {
  if (low > 0) return "The memory helps.";
  if (high < 0) return "The memory does harm here.";
  return "No clear difference.";
}

// Judges answers and probabilities, and says where one is bought with the other.
std::string Verdict(const Node& document) {
  const Interval gain = IntervalOf(document.At("gain"));
  const Node calibration = document.At("calibration");
  const std::optional<Node> base = calibration.At("base").Find("nll"),
                            memory = calibration.At("resmem").Find("nll");
  const bool known = base && memory;
  const bool worse = known && memory->Number() > base->Number();
  const bool better = known && memory->Number() < base->Number();
  if (gain.low > 0 && worse) {
    return "More answers are right, but the probabilities are worse than the base's.";
  }
  if (gain.high < 0 && better) {
    return "The probabilities are better, but fewer answers are right.";
  }
  if (gain.low <= 0 && gain.high >= 0 && worse) {
    return "No clear difference in the answers, and worse probabilities.";
  }
  return Verdict(gain.low, gain.high);
}

// Rivals that are better come before anything else is said.
Html BetterRivals(const Node& document) {
  Html list;
  const std::optional<Node> rivals = document.Find("better_rivals");
  if (!rivals) return list;
  for (const Node& sentence : rivals->Items()) {
    list << Element("p", {{"class", "headline"}}, Name(sentence.Text()));
  }
  return list;
}

Html Headline(const Node& document) {
  const Node gain = document.At("gain");
  CheckGain(gain);
  const std::vector<Node> methods = document.At("methods").Items();
  if (methods.size() < 2) {
    document.At("methods").Fail("a list of two methods or more, the base first and ResMem last");
    return {};
  }
  const Node& base = methods.front();
  const Node& resmem = methods.back();

  Html sentence;
  sentence << "The memory gets " << CountData(gain.At("fixed")) << " of "
           << CountData(gain.At("total")) << " rows right that the base model got wrong, and harms "
           << CountData(gain.At("harmed")) << " that it got right.";
  Html points;
  points << PointsData(gain.At("gain")) << " points";
  Html points_note;
  points_note << "95\u202f% interval " << PointsData(gain.At("low")) << " to "
              << PointsData(gain.At("high"));
  const double p = gain.At("p_value").Share();
  Html chance;
  chance << "If the memory changed nothing on average, a difference at least this large would "
         << "come up by chance with probability " << Data(gain.At("p_value"), PValue(p))
         << " (exact McNemar test on the answers that changed).";
  return Html() << Element("p", {{"class", "verdict"}}, Verdict(document)) << BetterRivals(document)
                << Element("p", {{"class", "headline"}}, sentence)
                << Element("dl", {{"class", "tiles"}},
                           AccuracyTile("Base model alone", base.At("accuracy")),
                           AccuracyTile("With the memory", resmem.At("accuracy")),
                           Tile("Gain", points, points_note))
                << Element("p", {{"class", "quiet"}}, chance);
}

Html RegressionHeadline(const Node& regression) {
  const double base = regression.At("base_mse").Number();
  const double resmem = regression.At("resmem_mse").Number();
  Html sentence;
  sentence << "With the memory the mean squared error goes from "
           << ShortData(regression.At("base_mse")) << " to "
           << ShortData(regression.At("resmem_mse"));
  if (base > 0) sentence << ", " << Percent((resmem - base) / base, 1) << " of the base's";
  sentence << ".";
  const Node low = regression.At("low"), high = regression.At("high");
  Html note;
  note << "95\u202f% interval of the reduction " << ShortData(low) << " to " << ShortData(high);
  return Html() << Element("p", {{"class", "verdict"}}, Verdict(low.Number(), high.Number()))
                << Element("p", {{"class", "headline"}}, sentence)
                << Element("dl", {{"class", "tiles"}},
                           Tile("Base, R\u00b2", ShortData(regression.At("base_r2")), Html()),
                           Tile("ResMem, R\u00b2", ShortData(regression.At("resmem_r2")), note),
                           Tile("k-NN alone, MSE", ShortData(regression.At("knn_mse")), Html()));
}

Html Setting(const Node& document) {
  const Node parameters = document.At("parameters");
  Html text;
  const std::optional<Node> method = document.Find("method");
  if (method && method->Text() != "resmem") {
    text << "The answer is the memory's " << Name(method->Text()) << ": ";
  }
  text << "k = " << CountData(parameters.At("k"))
       << " neighbors, \u03c3 = " << ShortData(parameters.At("sigma"));
  // A regression has no softmax, and no T.
  if (document.At("task").Text() == "classification") {
    text << ", T = " << ShortData(parameters.At("temperature"));
  }
  text << ".";
  if (document.At("leave_one_out").Flag()) {
    text << " The rows are the memory's own, leaving each one out.";
  }
  if (const std::optional<Node> mass = document.Find("mean_residual_mass")) {
    text << " Mean residual mass of the memory " << PercentData(*mass)
         << " (0 if the base has memorized its training rows and nothing is left to add).";
  }
  const Node leaked = document.At("rows_at_distance_zero");
  text << " " << CountData(leaked)
       << " of the rows judged lie at distance zero from a memorized one.";
  return Element("p", {{"class", "quiet"}}, text);
}

// The time of a row in this run, all threads at work on blocks of rows.
Html Latency(const Node& document) {
  const double rows = static_cast<double>(std::max<int64_t>(1, document.At("rows").Count()));
  const Node search = document.At("search_seconds"), score = document.At("score_seconds");
  if (!(search.Number() + score.Number() > 0)) return {};
  const auto of_row = [&](const Node& seconds) {
    return Data(seconds, Typeset(readable::ShortNumber(1000 * seconds.Number() / rows, 2) + " ms"));
  };
  return Element("p", {{"class", "quiet"}}, "What the memory costs: ", of_row(search),
                 " a row to find the neighbors and ", of_row(score),
                 " to score all methods, measured over this run in blocks of rows.");
}

void AddRegressionSections(const Node& regression, Page* page) {
  if (regression.Find("base_errors")) {  // documents from before do not tell
    page->sections.push_back({"How large are the errors?", ErrorSection(regression)});
  }
  const std::optional<Node> intervals = regression.Find("intervals");
  if (intervals && !intervals->Items().empty()) {
    page->sections.push_back({"Can the intervals be believed?", IntervalSection(*intervals)});
  }
}

}  // namespace

void AddEvaluation(const Node& document, Page* page) {
  for (const Node& warning : document.At("warnings").Items()) {
    page->warnings.push_back(warning.Text());
  }
  const bool classification = document.At("task").Text() == "classification";
  if (page->title.empty()) page->title = "Does the memory help?";
  Html headline;
  if (classification) {
    headline = Headline(document);
  } else {
    headline = RegressionHeadline(document.At("regression"));
  }
  headline << Setting(document) << Latency(document);
  if (page->headline.empty()) {
    page->headline = headline;
  } else {
    page->sections.push_back({"Evaluation", headline});
  }
  if (!classification) return AddRegressionSections(document.At("regression"), page);
  page->sections.push_back({"What changed", GainParts(document.At("gain"))});
  page->sections.push_back({"Methods side by side", MethodComparison(document)});
  const auto add_groups = [&](std::string_view field, const char* title, const char* one) {
    const Node groups = document.At(field);
    if (!groups.Items().empty()) page->sections.push_back({title, GroupTable(groups, one)});
  };
  add_groups("classes", "Class by class", "class");
  const std::optional<Node> confusions = document.Find("confusions");
  if (confusions && !confusions->Items().empty()) {
    page->sections.push_back(
        {"What is taken for what", ConfusionSection(*confusions, document.At("classes"))});
  }
  add_groups("slices", "Slice by slice", "slice");
  const std::optional<Node> method = document.Find("method");
  page->sections.push_back(
      {"Can the probabilities be believed?",
       CalibrationSection(document.At("calibration"), !method || method->Text() == "resmem")});
  if (const std::optional<Node> coarse = document.Find("coarse")) {
    page->sections.push_back({"Which mistakes are fixed?", CoarseSection(*coarse)});
  }
}

}  // namespace resmem
