#include "outputs/tokens/token_text.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "console/format.h"
#include "inputs/answer_options.h"
#include "outputs/explanation_text.h"
#include "outputs/model_text.h"

namespace resmem::cli {
namespace {

constexpr int kShown = 5;
constexpr int64_t kContextTokens = 12;

}  // namespace

std::string PieceText(const Tokenizer& tokenizer, int64_t id) {
  if (id < 0 || id >= tokenizer.size()) return "#" + std::to_string(id);
  const std::string piece = Printable(tokenizer.piece(static_cast<int32_t>(id)));
  constexpr std::string_view kBlank = "\xE2\x96\x81";  // how pieces show one
  return piece == kBlank ? piece + " (a blank)" : piece;
}

std::string BestTokens(const Tokenizer& tokenizer, std::span<const float> scores, int count) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto middle = order.begin() + std::min<int64_t>(count, std::ssize(order));
  std::partial_sort(order.begin(), middle, order.end(), [&](int64_t a, int64_t b) {
    const float left = scores[static_cast<size_t>(a)], right = scores[static_cast<size_t>(b)];
    return left > right || (left == right && a < b);
  });
  std::string text;
  for (auto id = order.begin(); id != middle; ++id) {
    text += (text.empty() ? "" : ", ") + PieceText(tokenizer, *id) + " " +
            Percent(static_cast<double>(scores[static_cast<size_t>(*id)]));
  }
  return text;
}

Result<std::vector<TokenNeighbor>> NearestRows(const Explanation& explanation,
                                               const Tokenizer& tokenizer,
                                               const MemorizedText& text, int64_t count,
                                               int64_t tokens) {
  std::vector<TokenNeighbor> rows;
  const size_t shown = std::min(explanation.lines.size(), static_cast<size_t>(count));
  for (const Explanation::Line& line : std::span(explanation.lines).first(shown)) {
    RESMEM_ASSIGN_OR_RETURN(MemorizedText::Place place,
                            text.Find(tokenizer, line.id, line.label, tokens));
    rows.push_back(
        {line.distance, line.weight, line.contribution[static_cast<size_t>(explanation.prediction)],
         std::move(place.context), PieceText(tokenizer, line.label), std::move(place.title)});
  }
  return rows;
}

Result<std::string> TokenExplanation(const Explanation& explanation, const Tokenizer& tokenizer,
                                     const MemorizedText& text, int64_t neighbors) {
  Table facts = Table::Facts();
  facts.AddRow({"base", BestTokens(tokenizer, explanation.base_probability, kShown)});
  facts.AddRow(
      {AnswerName(explanation.method), BestTokens(tokenizer, explanation.probability, kShown)});
  if (explanation.distance) facts.AddRow({"distance", DistanceText(explanation)});
  using Align = Table::Align;
  Table table({{"distance"},
               {"weight"},
               {"adds to " + PieceText(tokenizer, explanation.prediction)},
               {"next", Align::kLeft},
               {"context", Align::kLeft},
               {"in", Align::kLeft}});
  RESMEM_ASSIGN_OR_RETURN(const std::vector<TokenNeighbor> rows,
                          NearestRows(explanation, tokenizer, text, neighbors, kContextTokens));
  for (const TokenNeighbor& row : rows) {
    table.AddRow({Fixed(row.distance, 3), Fixed(row.weight, 3), Fixed(row.contribution, 4),
                  row.next, "... " + Printable(row.context), Printable(row.title)});
  }
  return facts.Text() + table.Text();
}

}  // namespace resmem::cli
