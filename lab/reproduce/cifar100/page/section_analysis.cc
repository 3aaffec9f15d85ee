#include <algorithm>

#include "console/format.h"
#include "reproduce/cifar100/page/sections.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

std::string NameOfSetting(const std::string& name) {
  return name == "paper" ? "the paper's values" : "values tuned on held-out images";
}

// One line of the sweep as a figure and as its summary.
void AddSweep(const Json& sweep, const char* list, const char* field, const char* label,
              bool logarithmic, Table* table, Page* page) {
  Figure figure{std::string("Test accuracy against ") + label,
                "",
                {label, logarithmic, false},
                {"test accuracy", false, true},
                {}};
  Curve curve{"ResMem", false, {}}, base{"base", true, {}};
  const Json* best = nullptr;
  const Json* worst = nullptr;
  for (const Json& point : At(sweep, list)) {
    const double x = NumberAt(point, field);
    curve.points.push_back(PointOf(x, At(point, "accuracy")));
    base.points.push_back({x, NumberAt(sweep, "base/accuracy/value"), {}});
    const double y = NumberAt(point, "accuracy/value");
    if (best == nullptr || y > NumberAt(*best, "accuracy/value")) best = &point;
    if (worst == nullptr || y < NumberAt(*worst, "accuracy/value")) worst = &point;
  }
  if (best == nullptr) return;
  table->AddRow(
      {label, ShortNumber(curve.points.front().x) + " to " + ShortNumber(curve.points.back().x),
       ShareText(NumberAt(*worst, "accuracy/value")) + " at " +
           ShortNumber(NumberAt(*worst, field)),
       ShareText(NumberAt(*best, "accuracy/value")) + " at " + ShortNumber(NumberAt(*best, field)),
       ShareText(curve.points.back().y)});
  figure.curves = {curve, base};
  page->AddFigure(std::string("sensitivity_") + field, figure);
}

}  // namespace

void AddSensitivity(Page* page) {
  if (!page->Begin("Sensitivity to k, σ and T", "sensitivity")) return;
  const Json& sweep = page->result("sensitivity");
  page->Paragraph("One value at a time around the paper's (" + ParametersText(At(sweep, "around")) +
                  "), from one neighbor pass over the test "
                  "images, network `" +
                  TextAt(sweep, "run") + "`, whose base alone reaches " +
                  ShareText(NumberAt(sweep, "base/accuracy/value")) + ".");
  Table table =
      Table::OfNumbers({"value", "range", "lowest", "highest", "at the end of the range"});
  AddSweep(sweep, "by_k", "k", "k", false, &table, page);
  AddSweep(sweep, "by_sigma", "sigma", "σ", false, &table, page);
  AddSweep(sweep, "by_temperature", "temperature", "T", false, &table, page);
  page->Add(table);
}

void AddSuperclasses(Page* page) {
  if (!page->Begin("From coarse to fine: the 20 superclasses", "coarse")) return;
  const Json& result = page->result("coarse");
  page->Paragraph(
      "The paper shows single examples where the base is wrong but close and ResMem "
      "right. Measured with `" +
      TextAt(result, "run") +
      "`: how often the base's wrong answer lies in the truth's superclass.");
  Table table = Table::OfNumbers(
      {"setting", "all base errors", "fixed by ResMem", "not fixed", "fixed - not fixed"});
  for (const auto& [name, judged] : At(result, "at").items()) {
    const Json& coarse = At(judged, "coarse");
    Json difference = At(coarse, "interval");
    difference["value"] = NumberAt(coarse, "difference");
    table.AddRow({NameOfSetting(name), ShareWithInterval(At(coarse, "base_errors")),
                  ShareWithInterval(At(coarse, "fixed")),
                  ShareWithInterval(At(coarse, "not_fixed")), PointsWithInterval(difference)});
    const bool holds = NumberAt(difference, "low") > 0;
    const bool against = NumberAt(difference, "high") < 0;
    page->Paragraph("At " + NameOfSetting(name) +
                    ", the claim that ResMem fixes what the base got "
                    "right coarsely " +
                    (holds     ? "**holds**: fixed errors are within the superclass more often."
                     : against ? "**does not hold**: fixed errors are within it less often."
                               : "**is not shown**: the interval of the difference holds zero."));
  }
  page->Add(table);
}

void AddPooledSuperclasses(Page* page) {
  if (!page->Begin("The same over all seeds", "coarse-pooled")) return;
  const Json& result = page->result("coarse-pooled");
  page->Paragraph(
      "ResNet-8, short preset, " + Counted(std::ssize(At(result, "runs")), "seed") +
      " pooled; the interval resamples test images, each with the answers of all seeds (" +
      Count(CountAt(result, "samples")) + " times).");
  Table table = Table::OfNumbers(
      {"setting", "fixed by ResMem", "errors", "not fixed", "errors", "fixed - not fixed"});
  std::string verdicts;
  for (const auto& [name, judged] : At(result, "at").items()) {
    Json difference = At(judged, "interval");
    difference["value"] = NumberAt(judged, "difference");
    table.AddRow({NameOfSetting(name), ShareText(NumberAt(judged, "fixed/value")),
                  Count(CountAt(judged, "fixed/total")),
                  ShareText(NumberAt(judged, "not_fixed/value")),
                  Count(CountAt(judged, "not_fixed/total")), PointsWithInterval(difference)});
    verdicts += (verdicts.empty() ? "The claim: at " : "; at ") + NameOfSetting(name) +
                (NumberAt(difference, "low") > 0    ? " **holds**"
                 : NumberAt(difference, "high") < 0 ? " **does not hold**"
                                                    : " **is not shown**");
  }
  page->Add(table);
  page->Paragraph(verdicts + ".");
}

void AddExamples(Page* page) {
  if (!page->Begin("Examples", "examples")) return;
  const Json& result = page->result("examples");
  page->Paragraph("Network `" + TextAt(result, "run") +
                  "`, the paper's values. The rule: of each superclass, the first test image (rows "
                  "from 0) that was answered wrongly but within the superclass and is fixed; and "
                  "the first that the memory makes wrong in this way. A superclass without "
                  "such an image has no line.");
  Table table({{"row"},
               {"truth", Table::Align::kLeft},
               {"base", Table::Align::kLeft},
               {"its probability"},
               {"with memory", Table::Align::kLeft},
               {"its probability"}});
  for (const char* const list : {"fixed", "harmed"}) {
    for (const Json& example : At(result, list)) {
      const auto name = [&](const char* field) {
        const std::string text = TextAt(example, field);
        return text == TextAt(example, "truth") ? text : "**" + text + "**";
      };
      table.AddRow({Count(CountAt(example, "row")), TextAt(example, "truth"), name("base"),
                    ShareText(NumberAt(example, "base_probability")), name("resmem"),
                    ShareText(NumberAt(example, "resmem_probability"))});
    }
  }
  page->Add(table);
}

void AddCalibration(Page* page) {
  if (!page->Begin("Probabilities", "calibration")) return;
  const Json& result = page->result("calibration");
  page->Paragraph("Network `" + TextAt(result, "run") + "`, " +
                  ParametersText(At(result, "parameters")) + "; temperatures fitted on " +
                  Count(CountAt(result, "held_out_rows")) +
                  " held-out images by NLL, judged on the test images. Smaller is better.");
  Table table = Table::OfNumbers({"probabilities", "temperature", "NLL", "Brier", "ECE"});
  Figure figure{
      "Reliability", "", {"confidence", false, true}, {"how often it was right", false, true}, {}};
  for (const Json& method : At(result, "methods")) {
    table.AddRow({TextAt(method, "method"), ShortNumber(NumberAt(method, "temperature")),
                  NumberText(NumberAt(method, "nll"), 4), NumberText(NumberAt(method, "brier"), 4),
                  ShareText(NumberAt(method, "ece"))});
    Curve curve{TextAt(method, "method"), false, {}};
    for (const Json& bin : At(method, "bins")) {
      constexpr int64_t kFewest = 50;  // images, for a share that means something
      if (CountAt(bin, "count") < kFewest) continue;
      curve.points.push_back({NumberAt(bin, "confidence"), NumberAt(bin, "accuracy"), {}});
    }
    figure.curves.push_back(std::move(curve));
  }
  figure.curves.push_back({"confidence = accuracy", true, {{0, 0, {}}, {1, 1, {}}}});
  page->Add(table);
  page->AddFigure("reliability", figure);
}

void AddShift(Page* page) {
  if (!page->Begin("Shifted test images", "shift")) return;
  const Json& result = page->result("shift");
  page->Paragraph("Network `" + TextAt(result, "run") +
                  "`; the rules are in "
                  "`lab/reproduce/corruption.h` (whole-number arithmetic, seed " +
                  Count(CountAt(result, "seed")) + "); the memory holds clean images.");
  for (const auto& [setting, clean] : At(result, "clean").items()) {
    Table table = Table::OfNumbers({"images, " + NameOfSetting(setting), "base", "ResMem", "gain"});
    const auto add = [&](const std::string& name, const Json& judged) {
      table.AddRow({name, ShareText(NumberAt(judged, "base/value")),
                    ShareText(NumberAt(judged, "resmem/value")),
                    PointsWithInterval(At(judged, "gain"))});
    };
    add("clean", clean);
    for (const auto& [name, strengths] : At(result, "corruptions").items()) {
      for (const Json& strength : strengths) {
        add(name + " " + Count(CountAt(strength, "strength")), At(strength, "at/" + setting));
      }
    }
    page->Add(table);
  }
  for (const auto& [name, strengths] : At(result, "corruptions").items()) {
    Figure figure{"Accuracy under " + name,
                  "",
                  {"strength (0: clean)", false, false},
                  {"test accuracy", false, true},
                  {}};
    for (const auto& [setting, clean] : At(result, "clean").items()) {
      Curve resmem{"ResMem, " + NameOfSetting(setting), false, {PointOf(0, At(clean, "resmem"))}};
      Curve base{"base", false, {PointOf(0, At(clean, "base"))}};
      for (const Json& strength : strengths) {
        const double x = NumberAt(strength, "strength");
        resmem.points.push_back(PointOf(x, At(strength, "at/" + setting + "/resmem")));
        base.points.push_back(PointOf(x, At(strength, "at/" + setting + "/base")));
      }
      figure.curves.push_back(std::move(resmem));
      if (figure.curves.size() == 1) figure.curves.push_back(std::move(base));
    }
    page->AddFigure("shift_" + name, figure);
  }
}

}  // namespace resmem::cli::reproduce::cifar100
