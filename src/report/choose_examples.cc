#include <algorithm>

#include "eval/answers/row_block.h"
#include "resmem/report/report.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

// A case that may be shown: what Explain() needs, and its place in the rule's order.
struct Candidate {
  double rank = 0;  // larger is shown earlier
  int64_t row = 0, exclude = -1;
  int32_t truth = -1;
  double change = 0;
  std::vector<float> key, logits;
};

bool ShownEarlier(const Candidate& a, const Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.row < b.row;
}

// The first `count` of all candidates offered, in order.
class Shortlist {
 public:
  explicit Shortlist(int64_t count) : count_(static_cast<size_t>(count)) {}

  bool Wants(double rank, int64_t row) const {
    if (count_ == 0) return false;
    if (candidates_.size() < count_) return true;
    Candidate probe;
    probe.rank = rank;
    probe.row = row;
    return ShownEarlier(probe, candidates_.back());
  }
  void Add(Candidate candidate) {
    const auto place =
        std::upper_bound(candidates_.begin(), candidates_.end(), candidate,
                         [](const Candidate& a, const Candidate& b) { return ShownEarlier(a, b); });
    candidates_.insert(place, std::move(candidate));
    if (candidates_.size() > count_) candidates_.pop_back();
  }
  const std::vector<Candidate>& candidates() const { return candidates_; }

 private:
  size_t count_;
  std::vector<Candidate> candidates_;
};

PredictOptions ShownAnswer(const Predictor& predictor, const ExampleOptions& options) {
  const Method own = predictor.memory().description().answer;
  const bool by_own = !options.parameters && own != Method::kBase;
  PredictOptions predict =
      predictor.OptionsOf(options.method.value_or(by_own ? own : Method::kResMem));
  if (options.parameters) predict.parameters = *options.parameters;
  predict.threads = options.threads;
  return predict;
}

class Chooser {
 public:
  Chooser(const Predictor& predictor, const ExampleOptions& options)
      : predictor_(predictor), options_(options), fixed_(options.count), harmed_(options.count) {}

  Status Add(int64_t begin, const Rows& rows) {
    RESMEM_RETURN_IF_ERROR(
        block_.Load(predictor_.memory(), begin, rows, options_.only, options_.leave_one_out));
    constexpr int64_t kPiece = 1024;
    for (int64_t first = 0; first < block_.rows().count(); first += kPiece) {
      RESMEM_RETURN_IF_ERROR(AddPiece(first, std::min(kPiece, block_.rows().count() - first)));
    }
    return {};
  }

  Result<std::vector<Example>> Finish() const {
    std::vector<Example> examples;
    for (const Shortlist* list : {&fixed_, &harmed_}) {
      for (const Candidate& candidate : list->candidates()) {
        RESMEM_ASSIGN_OR_RETURN(Explanation explanation,
                                Explain(predictor_, candidate.key, candidate.logits,
                                        ShownAnswer(predictor_, options_), candidate.exclude));
        Example example;
        example.row = candidate.row;
        example.truth = candidate.truth;
        example.change = candidate.change;
        example.explanation = std::move(explanation);
        examples.push_back(std::move(example));
      }
    }
    return examples;
  }

 private:
  // The base as the answer takes it up.
  PredictOptions PredictBase() const {
    PredictOptions predict = ShownAnswer(predictor_, options_);
    if (NeedsBlend(predict.method)) predict.parameters.temperature = 1;
    predict.method = Method::kBase;
    return predict;
  }

  Status AddPiece(int64_t first, int64_t count) {
    const Rows rows = block_.rows().Slice(first, count);
    const auto exclude =
        block_.exclude().empty()
            ? std::span<const int64_t>()
            : block_.exclude().subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    const PredictOptions shown = ShownAnswer(predictor_, options_);
    RESMEM_RETURN_IF_ERROR(predictor_.FindNeighbors(
        rows.keys, shown.parameters.k, exclude, options_.threads, options_.progress, &neighbors_));
    const auto classes = static_cast<size_t>(predictor_.memory().description().outputs);
    base_.resize(static_cast<size_t>(count) * classes);
    scores_.resize(base_.size());
    RESMEM_RETURN_IF_ERROR(
        predictor_.Score(rows.keys, rows.logits, neighbors_, PredictBase(), base_));
    RESMEM_RETURN_IF_ERROR(predictor_.Score(rows.keys, rows.logits, neighbors_, shown, scores_));
    for (int64_t i = 0; i < count; ++i) {
      const size_t at = static_cast<size_t>(i) * classes;
      const int64_t exclude_row = exclude.empty() ? -1 : exclude[static_cast<size_t>(i)];
      Offer(rows, i, block_.number(first + i), exclude_row,
            std::span<const float>(base_).subspan(at, classes),
            std::span<const float>(scores_).subspan(at, classes));
    }
    return {};
  }

  void Offer(const Rows& rows, int64_t i, int64_t number, int64_t exclude,
             std::span<const float> base, std::span<const float> scores) {
    const int32_t truth = rows.labels[static_cast<size_t>(i)];
    const bool base_right = ArgMax(base) == truth, resmem_right = ArgMax(scores) == truth;
    if (base_right == resmem_right) return;
    const auto label = static_cast<size_t>(truth);
    const double change = static_cast<double>(scores[label]) - static_cast<double>(base[label]);
    double rank = resmem_right ? change : -change;
    if (options_.rule == ExampleRule::kRandom) {
      rank = Random(options_.seed, static_cast<uint64_t>(number)).Uniform();
    }
    Shortlist& list = resmem_right ? fixed_ : harmed_;
    if (!list.Wants(rank, number)) return;
    const std::span<const float> key = rows.keys.row_span(i), logits = rows.logits.row_span(i);
    list.Add({rank,
              number,
              exclude,
              truth,
              change,
              {key.begin(), key.end()},
              {logits.begin(), logits.end()}});
  }

  const Predictor& predictor_;
  const ExampleOptions& options_;
  Shortlist fixed_, harmed_;
  RowBlock block_;
  Neighbors neighbors_;
  std::vector<float> base_, scores_;
};

}  // namespace

std::string DescribeRule(const ExampleOptions& options) {
  const std::string each =
      Text("of the fixed and of the harmed answers ", options.count, " each, ");
  if (options.rule == ExampleRule::kRandom) {
    return Text(each, "drawn evenly with seed ", options.seed, ".");
  }
  return each +
         "those whose true class's score changed most: the striking cases, not typical ones.";
}

Result<std::vector<Example>> ChooseExamples(const Predictor& predictor, const RowSource& rows,
                                            const ExampleOptions& options) {
  const MemoryDescription& description = predictor.memory().description();
  if (description.task != Task::kClassification) {
    return Status(ErrorCode::kUnsupported,
                  "examples are answers that became right or wrong, which only classification "
                  "has; use resmem explain for single rows of a regression");
  }
  constexpr int64_t kMost = 1000;
  if (options.count < 0 || options.count > kMost) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(options.count, " examples of each kind were asked for; 0 to ", kMost,
                       " are possible"));
  }
  const Parameters parameters = ShownAnswer(predictor, options).parameters;
  if (parameters.k == 0 || predictor.memory().rows() == 0) return std::vector<Example>();
  RESMEM_RETURN_IF_ERROR(CheckParameters(parameters));
  Chooser chooser(predictor, options);
  RESMEM_RETURN_IF_ERROR(
      rows.Read([&](int64_t begin, const Rows& block) { return chooser.Add(begin, block); }));
  return chooser.Finish();
}

Status AddImages(const ImageOf& of_queries, const ImageOf& of_memory,
                 std::vector<Example>* examples) {
  constexpr size_t kNeighborImages = 8;
  for (Example& example : *examples) {
    RESMEM_ASSIGN_OR_RETURN(example.image, of_queries(example.row));
    example.neighbor_images.clear();
    if (!of_memory) continue;
    const std::vector<Explanation::Line>& lines = example.explanation.lines;
    for (size_t i = 0; i < std::min(lines.size(), kNeighborImages); ++i) {
      RESMEM_ASSIGN_OR_RETURN(Thumbnail image, of_memory(lines[i].row));
      example.neighbor_images.push_back(std::move(image));
    }
  }
  return {};
}

}  // namespace resmem
