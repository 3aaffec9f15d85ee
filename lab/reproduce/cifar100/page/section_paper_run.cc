#include "console/format.h"
#include "reproduce/cifar100/page/paper_figures.h"
#include "reproduce/cifar100/page/sections.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

// The best mixture over the rows that are judged, at the k and sigma of ResMem.
std::string BestMixture(const Json& judged) {
  const Json* best = nullptr;
  for (const Json& candidate : At(judged, "knn_lm")) {
    if (best == nullptr ||
        NumberAt(candidate, "accuracy/value") > NumberAt(*best, "accuracy/value")) {
      best = &candidate;
    }
  }
  if (best == nullptr) return "–";
  return ShareText(NumberAt(*best, "accuracy/value")) + " (λ " +
         ShortNumber(NumberAt(*best, "lambda")) + ")";
}

void AddJudged(const std::string& name, const Json& judged, Table* table) {
  table->AddRow({name + ": " + ParametersText(At(judged, "parameters")),
                 ShareText(NumberAt(judged, "base/value")),
                 ShareText(NumberAt(judged, "knn/value")), BestMixture(judged),
                 ShareText(NumberAt(judged, "resmem/value")),
                 PointsWithInterval(At(judged, "gain")), ShareText(NumberAt(judged, "gain/tpr")),
                 ShareText(NumberAt(judged, "gain/fpr"))});
}

}  // namespace

void AddPaperRun(Page* page) {
  if (!page->Begin("ResNet-8 with the paper's full recipe", "paper-resnet8-seed1")) return;
  const Json& run = page->result("paper-resnet8-seed1");
  page->Paragraph(Count(CountAt(run, "epochs")) + " epochs on " +
                  Count(CountAt(run, "learned_rows")) + " images, seed " +
                  Count(CountAt(run, "seed")) + ", trained in " +
                  Duration(NumberAt(run, "training_seconds")) + " with products in " +
                  TextAt(run, "precision") + ". The paper gives no weight decay; here it is " +
                  ShortNumber(NumberAt(run, "weight_decay")) + ".");
  Table table = Table::OfNumbers(
      {"setting", "base", "k-NN only", "best kNN-LM", "ResMem", "gain", "TPR", "FPR"});
  table.AddRow({"the paper: k 53, σ 0.7, T 1.4", ShareText(paper::kBase), ShareText(paper::kKnn),
                "–", ShareText(paper::kResMem), PointsText(paper::kGain), ShareText(paper::kTpr),
                ShareText(paper::kFpr)});
  AddJudged("here, the paper's values", At(run, "test"), &table);
  const Json& tuned = page->result("paper-tuned");
  if (tuned.is_object()) {
    AddJudged("tuned on the short run, carried over (a)", At(tuned, "carried_over"), &table);
    AddJudged("the same, σ scaled (a')", At(tuned, "carried_over_scaled"), &table);
    AddJudged("tuned on rows outside the memory (b)", At(tuned, "out_of_memory/test"), &table);
  }
  page->Add(table);
  page->Paragraph(
      "The λ of kNN-LM is the best one on the test rows. kNN-LM runs at ResMem's k and σ; with "
      "values "
      "of its own it might reach more.");
  if (tuned.is_object()) {
    page->Paragraph(
        "(a) k, σ and T were chosen with the network `short-resnet8-seed1` on " +
        Count(CountAt(page->result("short-resnet8-seed1"), "held_out_rows")) +
        " images that it never saw, and used here unchanged; (a') σ is multiplied by the ratio of "
        "the two networks' distances to the tenth neighbor, " +
        NumberText(NumberAt(tuned, "sigma_ratio"), 3) + ", which needs no labels. (b) chosen on " +
        Count(CountAt(tuned, "out_of_memory/chosen/rows")) +
        " training images that were kept out of the memory, but **the network has learned from "
        "them**: its answers there are better than on new images, so the choice leans "
        "toward the base (gain there " +
        PointsWithInterval(At(tuned, "out_of_memory/chosen/gain")) + ").");
  } else {
    page->Paragraph("At tuned values: not run yet, step `paper-tuned`.");
  }
  page->Paragraph("On its own " + Count(CountAt(run, "learned_rows")) +
                  " training images, each of which finds itself in the memory: base " +
                  ShareText(NumberAt(run, "train/base/value")) + ", ResMem " +
                  ShareText(NumberAt(run, "train/resmem/value")) + " (the paper: about 100 %).");
}

void AddLongRun(Page* page) {
  if (!page->Begin("ResNet-8 with a single cycle", "long-resnet8-seed1")) return;
  const Json& run = page->result("long-resnet8-seed1");
  const Json& paper = page->result("paper-resnet8-seed1");
  page->Paragraph("The preset `long`: " + Count(CountAt(run, "epochs")) + " epochs on the same " +
                  Count(CountAt(run, "learned_rows")) + " images, seed " +
                  Count(CountAt(run, "seed")) + ", trained in " +
                  Duration(NumberAt(run, "training_seconds")) + " with products in " +
                  TextAt(run, "precision") + ". At the paper's values, on the test images:");
  Table table = Table::OfNumbers({"recipe", "epochs", "base", "k-NN only", "ResMem", "gain"});
  const auto add = [&](const char* name, const Json& judged) {
    table.AddRow({name, Count(CountAt(judged, "epochs")),
                  ShareWithInterval(At(judged, "test/base")),
                  ShareText(NumberAt(judged, "test/knn/value")),
                  ShareText(NumberAt(judged, "test/resmem/value")),
                  PointsWithInterval(At(judged, "test/gain"))});
  };
  add("`long`", run);
  if (paper.is_object()) add("the paper's", paper);
  page->Add(table);
}

void AddEpochs(Page* page) {
  if (!page->Begin("By epoch (the paper's table \"joint\")", "epochs")) return;
  Table table = Table::OfNumbers(
      {"epoch", "base", "ResMem", "gain", "the paper's base", "its ResMem", "its gain"});
  Figure figure{"Accuracy by epoch, the paper's recipe",
                "",
                {"epoch", false, false},
                {"test accuracy", false, true},
                {}};
  Curve base{"base", false, {}}, resmem{"ResMem", false, {}};
  Curve paper_base{"the paper's base", false, {}}, paper_resmem{"the paper's ResMem", false, {}};
  for (const Json& epoch : At(page->result("epochs"), "epochs")) {
    const int64_t number = CountAt(epoch, "epoch");
    std::vector<std::string> cells = {Count(number), ShareText(NumberAt(epoch, "test/base/value")),
                                      ShareText(NumberAt(epoch, "test/resmem/value")),
                                      PointsWithInterval(At(epoch, "test/gain"))};
    for (const paper::Epoch& known : paper::kEpochs) {
      if (known.epoch != number) continue;
      cells.insert(cells.end(), {ShareText(known.base), ShareText(known.resmem),
                                 PointsText(known.resmem - known.base)});
      paper_base.points.push_back({static_cast<double>(number), known.base, {}});
      paper_resmem.points.push_back({static_cast<double>(number), known.resmem, {}});
    }
    cells.resize(7, "–");
    table.AddRow(cells);
    base.points.push_back(PointOf(static_cast<double>(number), At(epoch, "test/base")));
    resmem.points.push_back(PointOf(static_cast<double>(number), At(epoch, "test/resmem")));
  }
  figure.curves = {resmem, base, paper_resmem, paper_base};
  page->Add(table);
  page->AddFigure("epochs", figure);
}

}  // namespace resmem::cli::reproduce::cifar100
