#include <cmath>

#include "console/format.h"
#include "reproduce/cifar100/page/paper_figures.h"
#include "reproduce/cifar100/page/sections.h"

namespace resmem::cli::reproduce::cifar100 {

void AddLatency(Page* page) {
  if (!page->Begin("Time for one image", "latency")) return;
  const Json& result = page->result("latency");
  page->Paragraph("One image at a time on one thread, median and 95th percentile of " +
                  Count(CountAt(result, "network/runs")) + "; " +
                  Count(CountAt(result, "memory_rows")) + " keys of " +
                  Count(CountAt(result, "dim")) + " floats, k " +
                  Count(CountAt(result, "parameters/k")) +
                  ". **Another machine and other programs than the paper's** (machine: last "
                  "section); load average during the measurement " +
                  NumberText(NumberAt(result, "load_average"), 1) +
                  (NumberAt(result, "load_average") > 1.5
                       ? ": the machine was busy with other work, a quiet one is faster."
                       : "."));
  Table table = Table::OfNumbers({"", "median", "95th percentile", "the paper"});
  const auto add = [&](const std::string& name, const char* field, double known) {
    const Json& times = At(result, field);
    if (times.is_null()) return;
    table.AddRow({name, NumberText(NumberAt(times, "median_ms"), 3) + " ms",
                  NumberText(NumberAt(times, "p95_ms"), 3) + " ms", NumberText(known, 1) + " ms"});
  };
  add("ResNet-8", "network", paper::kResNet8Milliseconds);
  add("k-NN step: search and correction", "knn_step", paper::kKnnMilliseconds);
  add("ResNet-14, for comparison", "resnet14", paper::kResNet14Milliseconds);
  page->Add(table);
  const double network = NumberAt(result, "network/median_ms");
  const double step = NumberAt(result, "knn_step/median_ms");
  const double next = NumberAt(result, "resnet14/median_ms");
  if (!(next > 0)) return;
  page->Paragraph(
      "The paper: ResMem on ResNet-8 costs less than ResNet-14 (20.7 against 26.2 ms). "
      "Here: " +
      NumberText(network + step, 3) + " against " + NumberText(next, 3) + " ms, " +
      (network + step < next ? "also less."
                             : "**more**: the networks run so much "
                               "faster here that the search weighs more."));
}

void AddBytes(Page* page) {
  if (!page->Begin("What it takes in bytes", "bytes")) return;
  const Json& result = page->result("bytes");
  const auto megabytes = [](double bytes) { return NumberText(bytes / 1e6, 2) + " MB"; };
  Table table = Table::OfNumbers({"", "here", "the paper", "test accuracy", "gain"});
  const auto network = [&](const char* name, const char* field, double known) {
    const Json& found = At(result, field);
    if (found.is_null()) return;
    table.AddRow(
        {std::string(name) + ", " + Count(CountAt(found, "parameters")) + " parameters, as a file",
         megabytes(NumberAt(found, "file_bytes")), megabytes(known) + " (with one image in work)",
         "–", "–"});
  };
  network("ResNet-8", "network", paper::kResNet8Bytes);
  network("ResNet-14", "next_network", paper::kResNet14Bytes);
  table.AddRow(
      {Count(CountAt(result, "rows")) + " keys of " + Count(CountAt(result, "dim")) + " floats",
       megabytes(NumberAt(result, "key_bytes")), megabytes(paper::kKeyBytes), "–", "–"});
  for (const Json& form : At(result, "forms")) {
    table.AddRow({"memory on disk: " + TextAt(form, "name"), megabytes(NumberAt(form, "bytes")),
                  "–", ShareText(NumberAt(form, "test/resmem/value")),
                  PointsWithInterval(At(form, "test/gain"))});
  }
  page->Add(table);
  page->Paragraph(
      "The paper counts keys only; a memory also holds labels, residuals or logits, "
      "and row numbers. Its ResNet-8 has about 68,000 parameters, its ResNet-14 about 128,000. 1 "
      "MB is 1,000,000 bytes.");
}

void AddPretrained(Page* page) {
  if (!page->Begin("A network from elsewhere", "pretrained-resnet20")) return;
  const Json& result = page->result("pretrained-resnet20");
  page->Paragraph("`" + TextAt(result, "file") + "`, embedding tensor `" +
                  TextAt(result, "embedding") +
                  "`: " + ShareText(NumberAt(result, "test/base/value")) +
                  " on the test images and " + ShareText(NumberAt(result, "train/base/value")) +
                  " on its training images. What it has memorized leaves a mean residual of " +
                  NumberText(NumberAt(result, "test/mean_residual_mass"), 3) +
                  " at T 1.4 (0: nothing to remember, 1: always wrong).");
  if (TextAt(result, "file") == paper::kPretrainedFile) {
    const auto same = [&](const char* field, double known) {
      return std::abs(NumberAt(result, field) - known) < 0.00005;
    };
    const bool agrees = same("test/base/value", paper::kPretrainedTest) &&
                        same("train/base/value", paper::kPretrainedTrain);
    page->Paragraph("Known for this file: " + ShareText(paper::kPretrainedTest) + " and " +
                    ShareText(paper::kPretrainedTrain) + "; " +
                    (agrees ? "both come out here." : "**they do not come out here**."));
  }
  Table table =
      Table::OfNumbers({"k, σ, T chosen", "values", "base", "ResMem", "gain", "TPR", "FPR"});
  const auto add = [&](const std::string& name, const Json& judged) {
    table.AddRow(
        {name, ParametersText(At(judged, "parameters")), ShareText(NumberAt(judged, "base/value")),
         ShareText(NumberAt(judged, "resmem/value")), PointsWithInterval(At(judged, "gain")),
         ShareText(NumberAt(judged, "gain/tpr")), ShareText(NumberAt(judged, "gain/fpr"))});
  };
  add("the paper's for ResNet-8", At(result, "test"));
  add("on training images outside the memory (the network has seen them)",
      At(result, "out_of_memory/test"));
  add("on half of the test images, judged on the other half", At(result, "half_of_test/test"));
  page->Add(table);
}

void AddDiagnosis(Page* page) {
  if (!page->Begin("What the gain depends on", "diagnosis")) return;
  const Json& result = page->result("diagnosis");
  page->Paragraph("Network `" + TextAt(result, "run") +
                  "`: " + ShareText(NumberAt(result, "train_accuracy/value")) +
                  " on its training images, " + ShareText(NumberAt(result, "test_accuracy/value")) +
                  " on the test images. A memory can only give back what the base got wrong on "
                  "the rows it holds:");
  Table residuals = Table::OfNumbers({"T", "mean residual, half the L1 norm"});
  for (const Json& line : At(result, "residuals")) {
    residuals.AddRow({ShortNumber(NumberAt(line, "temperature")),
                      NumberText(NumberAt(line, "mean_residual_mass"), 3)});
  }
  page->Add(residuals);
  page->Paragraph(
      "The best gain of all values tried, **chosen on the test images themselves**: an upper bound "
      "for what tuning could reach, not a result.");
  Table hindsight = Table::OfNumbers({"keys", "values tried", "best in hindsight", "gain"});
  Figure figure{"The best gain for each T, in hindsight",
                "",
                {"T", false, false},
                {"gain, share of the test images", false, true},
                {}};
  for (const auto& [name, best] : At(result, "hindsight").items()) {
    hindsight.AddRow({name, Count(CountAt(best, "points")), ParametersText(At(best, "parameters")),
                      PointsWithInterval(At(best, "gain"))});
    Curve curve{name, false, {}};
    for (const Json& point : At(best, "by_temperature")) {
      curve.points.push_back(
          {NumberAt(point, "parameters/temperature"), NumberAt(point, "gain"), {}});
    }
    figure.curves.push_back(std::move(curve));
  }
  page->Add(hindsight);
  page->AddFigure("diagnosis_temperature", figure);
  const Json& memories = At(result, "memories");
  if (memories.is_null()) {
    page->Paragraph(
        "A memory of images that the base has not seen: needs step "
        "`size-resnet8-40`.");
    return;
  }
  page->Paragraph("The same base (`" + TextAt(memories, "run") + "`) with two memories of " +
                  Count(CountAt(memories, "rows")) +
                  " images each: those that it has learned from, and images that it has never "
                  "seen, whose residuals it had no chance to shrink (what cross-fitting would "
                  "give). k, σ and T were chosen on held-out images for each.");
  Table table =
      Table::OfNumbers({"memory of", "values", "mean residual", "base", "ResMem", "gain"});
  for (const char* name : {"seen", "unseen"}) {
    const Json& judged = At(memories, name);
    table.AddRow({std::string(name) + " images", ParametersText(At(judged, "parameters")),
                  NumberText(NumberAt(judged, "mean_residual_mass"), 3),
                  ShareText(NumberAt(judged, "base/value")),
                  ShareText(NumberAt(judged, "resmem/value")),
                  PointsWithInterval(At(judged, "gain"))});
  }
  page->Add(table);
}

}  // namespace resmem::cli::reproduce::cifar100
