// How many planted label errors `resmem audit` finds, beside a ranking by the base's confidence
// alone.  Prints a page of Markdown.
//
//   audit_study [folder of the data [machine and date]] > docs/results/audit.md
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>

#include "base_model/base_model.h"
#include "fashion_data.h"
#include "resmem/audit.h"
#include "resmem/evaluation.h"
#include "resmem/tuner.h"
#include "resmem/version.h"

namespace resmem::examples {
namespace {

constexpr int64_t kLabels = 10, kNoiseFolds = 5;
constexpr size_t kPlanted = 2500;  // of 50,000: 5 %

struct NoisyBase {
  const char* name;
  int64_t hidden, epochs;
  float learning_rate, weight_decay;
};
constexpr NoisyBase kBases[] = {
    {"linear", 0, 15, 4, 1e-4f},
    {"128 hidden", 128, 15, 4, 1e-4f},
    {"128 hidden, over-trained", 128, 60, 8, 0},
};

// One split through one model.
struct Outputs {
  std::vector<float> keys, logits;
  int64_t dim = 0;

  Rows rows(std::span<const int32_t> labels) const {
    Rows view;
    view.keys = MatrixView(keys.data(), static_cast<int64_t>(labels.size()), dim);
    view.logits = MatrixView(logits.data(), static_cast<int64_t>(labels.size()), kLabels);
    view.labels = labels;
    return view;
  }
};

Result<Outputs> RunBase(const BaseModel& model, const Images& images) {
  Outputs outputs;
  outputs.dim = model.dim();
  outputs.keys.resize(static_cast<size_t>(images.rows() * model.dim()));
  outputs.logits.resize(static_cast<size_t>(images.rows() * kLabels));
  RESMEM_RETURN_IF_ERROR(model.Run(images.view(), 0, outputs.keys, outputs.logits));
  return outputs;
}

// The rows whose label is now another one, drawn evenly.
std::vector<bool> Plant(std::vector<int32_t>* labels) {
  std::mt19937_64 random(20261118);
  std::vector<size_t> rows(labels->size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  for (size_t i = 0; i < kPlanted; ++i) {  // the standard's shuffle differs between libraries
    std::swap(rows[i], rows[i + random() % (rows.size() - i)]);
  }
  std::vector<bool> planted(labels->size(), false);
  for (size_t i = 0; i < kPlanted; ++i) {
    int32_t& label = (*labels)[rows[i]];
    label = static_cast<int32_t>((label + 1 + static_cast<int64_t>(random() % (kLabels - 1))) %
                                 kLabels);
    planted[rows[i]] = true;
  }
  return planted;
}

// How well a list of rows, the most suspicious first, holds the planted ones.
struct Found {
  double at_planted = 0;  // share of planted among as many rows as were planted: precision = recall
  double precision = 0, recall = 0;  // of the whole list
  double average = 0;                // average precision
};

Found Measure(const std::vector<int64_t>& ranking, const std::vector<bool>& planted) {
  Found found;
  int64_t hits = 0;
  for (size_t i = 0; i < ranking.size(); ++i) {
    const bool hit = planted[static_cast<size_t>(ranking[i])];
    hits += hit;
    if (hit) found.average += static_cast<double>(hits) / static_cast<double>(i + 1);
    if (i + 1 == kPlanted) found.at_planted = static_cast<double>(hits) / kPlanted;
  }
  if (ranking.size() < kPlanted) found.at_planted = static_cast<double>(hits) / kPlanted;
  found.average /= kPlanted;
  found.precision = static_cast<double>(hits) / static_cast<double>(ranking.size());
  found.recall = static_cast<double>(hits) / kPlanted;
  return found;
}

// Every row, the label with the smallest probability first.
std::vector<int64_t> ByConfidence(const Rows& rows) {
  std::vector<double> loss;
  for (int64_t row = 0; row < rows.count(); ++row) {
    const std::span<const float> logits = rows.logits.row_span(row);
    const auto top = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
    const auto own =
        static_cast<double>(logits[static_cast<size_t>(rows.labels[static_cast<size_t>(row)])]);
    loss.push_back(std::log(sum) - (own - top));
  }
  std::vector<int64_t> order(loss.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return loss[static_cast<size_t>(a)] > loss[static_cast<size_t>(b)];
  });
  return order;
}

std::string Line(const NoisyBase& base, const char* logits, const char* ranking, const Found& found,
                 bool whole) {
  char text[300];
  std::snprintf(text, sizeof text, "| %s | %s | %s | %.1f | %.3f | ", base.name, logits, ranking,
                100 * found.at_planted, found.average);
  std::string line = text;
  if (whole) {
    std::snprintf(text, sizeof text, "%.1f | %.1f |\n", 100 * found.precision, 100 * found.recall);
  }
  return line + (whole ? text : "| |\n");
}

double TestAccuracy(const Predictor& predictor, const Rows& test) {
  std::vector<float> scores(static_cast<size_t>(test.count() * kLabels));
  const Status status =
      predictor.Predict(test.keys, test.logits, predictor.DefaultOptions(), scores);
  int64_t correct = 0;
  for (int64_t row = 0; status.ok() && row < test.count(); ++row) {
    const auto score = std::span(scores).subspan(static_cast<size_t>(row * kLabels), kLabels);
    correct += ArgMax(score) == test.labels[static_cast<size_t>(row)];
  }
  return static_cast<double>(correct) / static_cast<double>(test.count());
}

// The least and the most of a figure.
struct Span {
  double least = 1e9, most = -1e9;

  void Add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// What the page says first.
struct Answer {
  int cases = 0, better_than_confidence = 0, worse_without = 0;
  Span first, all, change;  // planted among the first and all suspects, in %; in points

  std::string Line() const {
    char text[500];
    std::snprintf(text, sizeof text,
                  "**Take the first suspects, not all. Of the first 2,500 suspects %.1f to %.1f %% "
                  "are planted errors (in %d of %d\ncases more than by the base's confidence), of "
                  "all suspects %.1f to %.1f %%. A memory without all of them is less accurate in "
                  "%d of %d\ncases: it changes by %+.2f to %+.2f points.**\n",
                  first.least, first.most, better_than_confidence, cases, all.least, all.most,
                  worse_without, cases, change.least, change.most);
    return text;
  }
};

// The page, as it grows.
struct Page {
  Answer answer;
  std::string rankings, cleaned;
};

// A memory of `train`, tuned and audited; the suspects are then deleted and the rest tuned again.
Status AuditOne(const NoisyBase& base, const char* logits, bool cross_fitted, const Rows& train,
                const Rows& validation, const Rows& test, const std::vector<bool>& planted,
                Page* page) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "resmem_audit_study.resmem").string();
  MemoryDescription description;
  description.dim = train.keys.columns;
  description.outputs = kLabels;
  description.cross_fitted = cross_fitted;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(path, description, train.count(), {true}));
  RESMEM_RETURN_IF_ERROR(writer.Add(train));
  RESMEM_RETURN_IF_ERROR(writer.Finish());
  std::vector<uint64_t> suspects;
  double before = 0;
  const auto tune = [&]() -> Status {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
    RESMEM_ASSIGN_OR_RETURN(const Tuning tuning,
                            Tune(Predictor(memory), ReadRows(validation), TuneOptions()));
    return UpdateDescription(path, ApplyTuning(memory.description(), tuning));
  };
  RESMEM_RETURN_IF_ERROR(tune());
  {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
    const Predictor predictor(memory);
    RESMEM_ASSIGN_OR_RETURN(const Audit audit, AuditMemory(predictor));
    std::vector<int64_t> ranking;
    for (const SuspectRow& suspect : audit.suspects) {
      ranking.push_back(suspect.row);
      suspects.push_back(memory.id(suspect.row));
    }
    const Found confidence = Measure(ByConfidence(train), planted);
    const Found found = Measure(ranking, planted);
    page->rankings += Line(base, logits, "confidence", confidence, false);
    page->rankings += Line(base, logits, "audit", found, true);
    ++page->answer.cases;
    page->answer.better_than_confidence += found.at_planted > confidence.at_planted;
    page->answer.first.Add(100 * found.at_planted);
    page->answer.all.Add(100 * found.precision);
    before = TestAccuracy(predictor, test);
  }
  RESMEM_RETURN_IF_ERROR(DeleteRows(path, suspects));
  RESMEM_RETURN_IF_ERROR(tune());
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
  int64_t base_correct = 0;
  for (int64_t row = 0; row < test.count(); ++row) {
    base_correct += ArgMax(test.logits.row_span(row)) == test.labels[static_cast<size_t>(row)];
  }
  const double after = TestAccuracy(Predictor(memory), test);
  page->answer.worse_without += after < before;
  page->answer.change.Add(100 * (after - before));
  char text[200];
  std::snprintf(text, sizeof text, "| %s | %s | %.2f | %.2f | %.2f |\n", base.name, logits,
                100.0 * static_cast<double>(base_correct) / static_cast<double>(test.count()),
                100 * before, 100 * after);
  page->cleaned += text;
  std::filesystem::remove_all(path);
  return Status();
}

constexpr char kHead[] = R"(# Planted label errors: what the audit finds

%s
Made by `audit_study` (lab/fashion_mnist/audit_study.cc), resmem %s, one seed, on %s.
Of the first 50,000 training images of Fashion-MNIST, 2,500 (5 %%) got another label, drawn evenly from the nine others. The
base was trained on these labels, and the memory holds them. Validation labels (10,000, for tuning) are clean. Fashion-MNIST has
label errors of its own, which count here as false alarms. Nothing was measured on a memory without the first suspects only.

- *confidence*: all rows by the base's probability of their label, the smallest first.
- *audit*: the suspects of `resmem audit`, in its order.
- *training logits*: of the base on rows that it was trained on. *Out of fold*: from %d bases, each
  trained without the rows it judges (`memorize --out-of-fold-logits`).

| base | logits | ranking | planted among the first 2,500, %% | average precision | precision of all suspects, %% | recall of all suspects, %% |
|---|---|---|---|---|---|---|
)";
constexpr char kTail[] = R"(
Accuracy on the 10,000 test images, in %, of the base, of the tuned memory with the errors in it, and of the memory
after all suspects were deleted and it was tuned again. The base itself was not trained again.

| base | logits | base | memory | without suspects |
|---|---|---|---|---|
)";

Status StudyAudit(const std::string& folder, const char* machine) {
  RESMEM_ASSIGN_OR_RETURN(FashionMnist data, LoadFashionMnist(folder));
  const std::vector<bool> planted = Plant(&data.train.labels);
  Page page;
  for (const NoisyBase& base : kBases) {
    std::fprintf(stderr, "%s\n", base.name);
    BaseModelOptions options;
    options.hidden = base.hidden;
    options.epochs = base.epochs;
    options.learning_rate = base.learning_rate;
    options.weight_decay = base.weight_decay;
    RESMEM_ASSIGN_OR_RETURN(
        const BaseModel model,
        BaseModel::Train(data.train.view(), data.train.labels, kLabels, options));
    RESMEM_ASSIGN_OR_RETURN(Outputs train, RunBase(model, data.train));
    RESMEM_ASSIGN_OR_RETURN(const Outputs validation, RunBase(model, data.validation));
    RESMEM_ASSIGN_OR_RETURN(const Outputs test, RunBase(model, data.test));
    const auto audit = [&](const char* logits, bool cross_fitted) {
      return AuditOne(base, logits, cross_fitted, train.rows(data.train.labels),
                      validation.rows(data.validation.labels), test.rows(data.test.labels), planted,
                      &page);
    };
    RESMEM_RETURN_IF_ERROR(audit("training", false));
    if (base.epochs > 15) continue;  // five more long trainings would say the same
    RESMEM_RETURN_IF_ERROR(OutOfFoldLogits(data.train.view(), data.train.labels, kLabels, options,
                                           kNoiseFolds, train.logits));
    RESMEM_RETURN_IF_ERROR(audit("out of fold", true));
  }
  std::printf(kHead, page.answer.Line().c_str(), Version().c_str(), machine,
              static_cast<int>(kNoiseFolds));
  std::printf("%s", page.rankings.c_str());
  std::printf("%s", kTail);
  std::printf("%s", page.cleaned.c_str());
  return Status();
}

}  // namespace
}  // namespace resmem::examples

int main(int argc, char** argv) {
  const char* const folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
  const resmem::Status status =
      resmem::examples::StudyAudit(folder, argc > 2 ? argv[2] : "an unnamed machine");
  if (status.ok()) return 0;
  std::fprintf(stderr, "audit_study: %s\n", status.message().c_str());
  return 1;
}
