#include <cmath>

#include "console/format.h"
#include "reproduce/imagenet/experiments.h"
#include "reproduce/imagenet/steps.h"

namespace resmem::cli::reproduce::imagenet {
namespace {

constexpr int64_t kImageNetClasses = 1000, kImageNetPhotos = 50'000;

// "no reduction", "64 px, nearest pixel".
std::string ReductionText(const Json& one) {
  const std::string name = TextAt(one, "reduction");
  if (name == "none") return "as they are";
  if (name == "tune") return "the photos that chose";
  return Count(CountAt(one, "side")) + " px, " + (name == "nearest" ? "nearest pixel" : "smooth");
}

const Json& Named(const Json& list, const char* field, const std::string& name) {
  static const Json kNone;
  for (const Json& one : list) {
    if (TextAt(one, field) == name) return one;
  }
  return kNone;
}

std::string AccuracyOf(const Json& one, const std::string& method) {
  return ShareText(NumberAt(Named(At(one, "methods"), "name", method), "accuracy/value"));
}

// Of `left` over `right`.
const Json& PairOfMethods(const Json& one, const std::string& left, const std::string& right) {
  static const Json kNone;
  for (const Json& pair : At(one, "pairs")) {
    if (TextAt(pair, "left") == left && TextAt(pair, "right") == right) return pair;
  }
  return kNone;
}

std::string GainText(const Json& pair) {
  const std::string text = PointsWithInterval(At(pair, "accuracy"));
  return NumberAt(pair, "accuracy/high") < 0 ? "**" + text + "**" : text;
}

std::string NllText(const Json& pair) {
  const double value = NumberAt(pair, "nll/value");
  if (!std::isfinite(value)) return "–";
  return Signed(value, 3) + " (" + Signed(NumberAt(pair, "nll/low"), 3) + " to " +
         Signed(NumberAt(pair, "nll/high"), 3) + ")";
}

// How often a gain's interval lies above 0, below it, or contains it.
struct Tally {
  int gains = 0, losses = 0, open = 0;
  std::string lost;  // where

  void Add(const Json& pair, const std::string& where) {
    if (!pair.is_object()) return;
    if (NumberAt(pair, "accuracy/low") > 0) {
      ++gains;
    } else if (NumberAt(pair, "accuracy/high") < 0) {
      ++losses;
      lost += (lost.empty() ? "" : "; ") + where + " " + PointsWithInterval(At(pair, "accuracy"));
    } else {
      ++open;
    }
  }
  std::string Text() const {
    const std::string all = std::to_string(gains + losses + open);
    return "gains in " + std::to_string(gains) + " of " + all + ", **loses in " +
           std::to_string(losses) + "**, not shown in " + std::to_string(open) +
           (lost.empty() ? "" : " (losses: " + lost + ")");
  }
};

class ImageNetPage {
 public:
  ImageNetPage(const Workspace& workspace, Page* page) : workspace_(workspace), page_(*page) {}

  bool IsStandIn() const {
    return workspace_.classes().size() < kImageNetClasses ||
           workspace_.judge().size() < kImageNetPhotos;
  }
  void AddAnswer();
  void AddTable();
  void AddControls();

 private:
  // The results of the steps of this kind that there are.
  std::vector<const Json*> Results(const std::string& kind) const {
    std::vector<const Json*> results;
    for (const Network& network : workspace_.networks()) {
      const Json& result = page_.result(kind + "-" + network.name);
      if (result.is_object()) results.push_back(&result);
    }
    return results;
  }
  std::string Missing(const std::string& kind) const {
    std::string missing;
    for (const Network& network : workspace_.networks()) {
      const std::string step = kind + "-" + network.name;
      if (!page_.result(step).is_null()) continue;
      missing += (missing.empty() ? "`" : ", `") + step + "`";
    }
    return missing;
  }
  // One sentence for each reduction: what `left` is worth against `right`.
  void AddTallies(const std::string& kind, const std::string& beginning, const std::string& left,
                  const std::string& right, const std::string& inside) const {
    for (const Reduction& reduction : workspace_.reductions()) {
      Tally tally;
      std::string title;
      for (const Json* const result : Results(kind)) {
        const Json& one = Named(At(*result, "reductions"), "reduction", reduction.name);
        if (one.is_null()) continue;
        title = ReductionText(one);
        tally.Add(PairOfMethods(inside.empty() ? one : At(one, inside), left, right),
                  TextAt(*result, "network"));
      }
      if (!title.empty()) {
        page_.Paragraph("- " + beginning + ", photos " + title + ": " + tally.Text() + ".");
      }
    }
  }

  const Workspace& workspace_;
  Page& page_;
};

void ImageNetPage::AddAnswer() {
  if (IsStandIn()) {
    page_.Paragraph(
        "**A stand-in, not the paper's setting.** The paper memorizes ImageNet's 1.28 million "
        "training photos and judges on the 50,000 validation photos of 1,000 classes. Here: " +
        Count(workspace_.classes().size()) + " classes, " + Count(workspace_.memory().size()) +
        " photos in the memory, " + Count(workspace_.tune().size()) + " that choose, " +
        Count(workspace_.judge().size()) +
        " that judge. Networks and photos were made by others; the base's softmax is over these "
        "classes only, which makes its task easier than the paper's.");
  }
  page_.Paragraph("**What came out**, networks with a gain, a loss or neither (95 %, paired):");
  AddTallies("table", "blend against base", "blend", "base", "");
  AddTallies("table", "ResMem (the paper's form, tuned) against base", "ResMem", "base", "");
  AddTallies("table", "ResMem at the paper's k, σ and T against base", "ResMem, the paper's values",
             "base", "");
  AddTallies("controls", "the memory over a last layer fitted again, against that layer (blend)",
             "last layer, blend", "last layer, base", "");
  AddTallies("controls", "the same, ResMem", "last layer, ResMem", "last layer, base", "");
  AddTallies("controls", "the memory alone against that layer (blend)", "blend", "last layer, base",
             "");
  AddTallies("controls", "a memory of the judged photos' own kind (blend)", "blend", "base",
             "by_the_others");
}

void ImageNetPage::AddTable() {
  page_.Heading("The paper's table");
  Table table = Table::OfNumbers(
      {"width", "photos", "base", "k-NN", "ResMem, the paper's values", "its gain", "ResMem, tuned",
       "its gain", "blend", "its gain", "its NLL less the base's"},
      2);
  for (const PaperLine& line : PaperLines()) {
    table.AddRow({line.name, "the paper: 50,000, 1,000 classes", ShareText(line.base), "–",
                  ShareText(line.resmem), PointsText(line.resmem - line.base), "–", "–", "–", "–",
                  "–"});
  }
  for (const Json* const result : Results("table")) {
    for (const Json& one : At(*result, "reductions")) {
      const auto gain = [&](const char* method) {
        return GainText(PairOfMethods(one, method, "base"));
      };
      table.AddRow({TextAt(*result, "network"), ReductionText(one), AccuracyOf(one, "base"),
                    AccuracyOf(one, "k-NN"), AccuracyOf(one, "ResMem, the paper's values"),
                    gain("ResMem, the paper's values"), AccuracyOf(one, "ResMem"), gain("ResMem"),
                    AccuracyOf(one, "blend"), gain("blend"),
                    NllText(PairOfMethods(one, "blend", "base"))});
    }
  }
  page_.Add(table);
  page_.Paragraph(
      "Bold: a loss whose interval lies below 0. \"The photos that chose\" are optimistic: k, σ, T "
      "and the blend were fitted on them, and they may be photos that the networks have learned. "
      "ResMem's and k-NN's values have the highest accuracy there; the blend has the lowest NLL, "
      "and where cross-validation does not support it the memory answers as the base. The paper's "
      "values were chosen for other networks' distances, keys as they are.");
  Table chosen({{"width", Table::Align::kLeft},
                {"keys", Table::Align::kLeft},
                {"ResMem, tuned", Table::Align::kLeft},
                {"blend adopted", Table::Align::kLeft},
                {"memory, MB"}});
  for (const Json* const result : Results("table")) {
    chosen.AddRow(
        {TextAt(*result, "network"), TextAt(*result, "chosen/keys"),
         ParametersText(At(*result, "chosen/parameters")),
         At(*result, "chosen/adopted") == true ? "yes" : "no: " + TextAt(*result, "chosen/reason"),
         NumberText(NumberAt(*result, "memory_bytes") / 1e6, 0)});
  }
  page_.Add(chosen);
  if (const std::string missing = Missing("table"); !missing.empty()) {
    page_.Paragraph("Not run yet: " + missing + ".");
  }
}

void ImageNetPage::AddControls() {
  page_.Heading("The memory, or the photos' resolution?");
  page_.Paragraph(
      "Where the memory holds photos of another resolution than the network learned from, a gain "
      "may "
      "only teach it these photos. Two controls. **Last layer**: the network's last layer is "
      "fitted "
      "again on the rows of the memory, rate and epoch by the NLL of the photos that choose: what "
      "it "
      "gains is adaptation without a memory, and what a memory gains over it is the memory's own. "
      "**A "
      "memory of the judged photos**, reduced in the same way: each fifth of a class is answered "
      "by a "
      "memory of the other four, which also choose k, σ, T and keys, each photo without itself. "
      "It is small, but nothing in it is of another kind.");
  Table table =
      Table::OfNumbers({"width", "photos", "base", "last layer", "its gain", "ResMem over it",
                        "gain over it", "blend over it", "gain over it",
                        "blend without it against it", "memory of their own kind: ResMem", "blend"},
                       2);
  for (const Json* const result : Results("controls")) {
    for (const Json& one : At(*result, "reductions")) {
      const auto gain = [&](const char* left, const char* right) {
        return GainText(PairOfMethods(one, left, right));
      };
      const Json& others = At(one, "by_the_others");
      table.AddRow(
          {TextAt(*result, "network"), ReductionText(one), AccuracyOf(one, "base"),
           AccuracyOf(one, "last layer, base"), gain("last layer, base", "base"),
           AccuracyOf(one, "last layer, ResMem"), gain("last layer, ResMem", "last layer, base"),
           AccuracyOf(one, "last layer, blend"), gain("last layer, blend", "last layer, base"),
           gain("blend", "last layer, base"), GainText(PairOfMethods(others, "ResMem", "base")),
           GainText(PairOfMethods(others, "blend", "base"))});
    }
  }
  page_.Add(table);
  if (const std::string missing = Missing("controls"); !missing.empty()) {
    page_.Paragraph("Not run yet: " + missing + ".");
  }
}

}  // namespace

void WritePage(const Workspace& workspace, std::span<const Step> steps, Page* page) {
  page->Title("The paper's table on ImageNet, MobileNet-V2");
  ImageNetPage written(workspace, page);
  written.AddAnswer();
  page->Paragraph(
      "Generated by `resmem reproduce imagenet` (docs/reproduce.md). Gains are in percentage "
      "points "
      "of accuracy. \"Nearest pixel\" and \"smooth\" are two ways of reducing the judged photos to "
      "the side that the memory's photos have; \"as they are\" goes to the network's size "
      "directly. Nothing was chosen on the judged photos, but for the memories of the judged "
      "photos' "
      "own kind, whose answers never chose for themselves.");
  written.AddTable();
  written.AddControls();
  page->AddSteps(steps);
}

}  // namespace resmem::cli::reproduce::imagenet
