#include "outputs/tokens/token_examples.h"

#include <algorithm>

#include "console/format.h"
#include "console/interrupt.h"
#include "inputs/answer_options.h"

namespace resmem::cli {
namespace {

constexpr int64_t kShownTokens = 24, kShownNeighborTokens = 12;

// The token of one kind in one document whose true next token's score changed most.
struct Candidate {
  double change = -1;  // in the right direction for the kind
  int64_t row = 0;
  int32_t label = -1;
  std::vector<float> key, logits;
};

class Chooser {
 public:
  Chooser(const Predictor& predictor, const TokenExampleOptions& options)
      : predictor_(predictor), options_(options) {}

  Status Add(int64_t first, const Rows& rows) {
    RESMEM_RETURN_IF_ERROR(predictor_.FindNeighbors(rows.keys, options_.answer.parameters.k, {},
                                                    options_.answer.threads, nullptr, &neighbors_));
    const auto classes = static_cast<size_t>(rows.logits.columns);
    base_.resize(static_cast<size_t>(rows.count()) * classes);
    scores_.resize(base_.size());
    RESMEM_RETURN_IF_ERROR(
        predictor_.Score(rows.keys, rows.logits, neighbors_, options_.answer, scores_));
    PredictOptions base = options_.answer;
    base.method = Method::kBase;
    base.parameters.temperature = 1;
    RESMEM_RETURN_IF_ERROR(predictor_.Score(rows.keys, rows.logits, neighbors_, base, base_));
    for (int64_t row = 0; row < rows.count(); ++row) {
      const auto i = static_cast<size_t>(row);
      if (rows.slices[i] != document_) NextDocument(rows.slices[i]);
      Offer(rows, row, first + row, std::span<const float>(base_).subspan(i * classes, classes),
            std::span<const float>(scores_).subspan(i * classes, classes));
    }
    return {};
  }

  // Of the kind, in order.
  std::vector<Candidate> Finish(bool fixed) {
    NextDocument("");
    std::vector<Candidate>& all = chosen_[fixed ? 1 : 0];
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.change != b.change ? a.change > b.change : a.row < b.row;
    });
    all.resize(std::min(all.size(), static_cast<size_t>(options_.count)));
    return std::move(all);
  }

 private:
  void NextDocument(const std::string& document) {
    document_ = document;
    for (const size_t kind : {0, 1}) {
      if (best_[kind].label >= 0) chosen_[kind].push_back(std::move(best_[kind]));
      best_[kind] = Candidate();
    }
  }

  void Offer(const Rows& rows, int64_t row, int64_t number, std::span<const float> base,
             std::span<const float> scores) {
    const int32_t label = rows.labels[static_cast<size_t>(row)];
    const bool base_right = ArgMax(base) == label, right = ArgMax(scores) == label;
    if (base_right == right) return;
    const auto at = static_cast<size_t>(label);
    const double rise = double{scores[at]} - double{base[at]};
    Candidate& best = best_[right ? 1 : 0];
    const double change = right ? rise : -rise;
    if (best.label >= 0 && change <= best.change) return;
    const std::span<const float> key = rows.keys.row_span(row), logits = rows.logits.row_span(row);
    best = {change, number, label, {key.begin(), key.end()}, {logits.begin(), logits.end()}};
  }

  const Predictor& predictor_;
  const TokenExampleOptions& options_;
  std::string document_;
  Candidate best_[2];  // of this document: harmed, fixed
  std::vector<Candidate> chosen_[2];
  Neighbors neighbors_;
  std::vector<float> base_, scores_;
};

Result<std::string> TextBefore(const TokenRows& rows, int64_t row, const Tokenizer& tokenizer) {
  const int64_t position = rows.windows().PositionOfRow(row);
  const int64_t begin = std::max(rows.set().document(rows.windows().DocumentOfRow(row)).begin,
                                 position + 1 - kShownTokens);
  std::vector<int32_t> ids(static_cast<size_t>(position + 1 - begin));
  rows.set().Read(begin, ids);
  return tokenizer.Decode(ids);
}

}  // namespace

std::string TokenExampleRule(const TokenExampleOptions& options) {
  const std::string answer = AnswerName(options.answer.method);
  return "of the tokens that the base misses and " + answer + " predicts, the " +
         Count(options.count) +
         " whose true next token's score rose most; of those that the base predicts and " + answer +
         " misses, the " + Count(options.count) +
         " whose true next token's score fell most or rose least; at most one of a kind per "
         "document. These are striking cases, not typical ones";
}

Result<std::vector<TokenExample>> ChooseTokenExamples(
    const Predictor& predictor, const TokenRows& rows, const Tokenizer& tokenizer,
    const MemorizedText& memorized, const TokenExampleOptions& options, Console& console) {
  Chooser chooser(predictor, options);
  const Status read = rows.Source().Read([&](int64_t first, const Rows& block) -> Status {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    console.progress()->Report("choosing examples", first, rows.rows());
    return chooser.Add(first, block);
  });
  RESMEM_RETURN_IF_ERROR(read);
  std::vector<TokenExample> examples;
  for (const bool fixed : {true, false}) {
    for (const Candidate& candidate : chooser.Finish(fixed)) {
      RESMEM_ASSIGN_OR_RETURN(const Explanation explanation,
                              Explain(predictor, candidate.key, candidate.logits, options.answer));
      TokenExample example;
      example.fixed = fixed;
      example.title = rows.set().title(rows.windows().DocumentOfRow(candidate.row));
      RESMEM_ASSIGN_OR_RETURN(example.context, TextBefore(rows, candidate.row, tokenizer));
      example.truth = PieceText(tokenizer, candidate.label);
      example.base = PieceText(tokenizer, explanation.base_prediction);
      example.resmem = PieceText(tokenizer, explanation.prediction);
      const auto label = static_cast<size_t>(candidate.label);
      example.base_score = double{explanation.base_probability[label]};
      example.resmem_score = double{explanation.score[label]};
      RESMEM_ASSIGN_OR_RETURN(
          example.neighbors,
          NearestRows(explanation, tokenizer, memorized, options.neighbors, kShownNeighborTokens));
      examples.push_back(std::move(example));
    }
  }
  return examples;
}

}  // namespace resmem::cli
