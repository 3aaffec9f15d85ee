#include "outputs/token_text.h"

#include <algorithm>
#include <numeric>

#include "console/format.h"
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

Result<std::string> TokenExplanation(const Explanation& explanation, const Tokenizer& tokenizer,
                                     const MemorizedText& text, int64_t neighbors) {
  const std::vector<float> base(explanation.base.begin(), explanation.base.end());
  Table facts = Table::Facts();
  facts.AddRow({"base", BestTokens(tokenizer, base, kShown)});
  facts.AddRow({"ResMem", BestTokens(tokenizer, explanation.score, kShown)});
  using Align = Table::Align;
  Table table({{"distance"},
               {"weight"},
               {"adds to " + PieceText(tokenizer, explanation.prediction)},
               {"next", Align::kLeft},
               {"context", Align::kLeft},
               {"in", Align::kLeft}});
  const size_t count = std::min(explanation.lines.size(), static_cast<size_t>(neighbors));
  for (size_t i = 0; i < count; ++i) {
    const Explanation::Line& line = explanation.lines[i];
    RESMEM_ASSIGN_OR_RETURN(const MemorizedText::Place place,
                            text.Find(tokenizer, line.id, line.label, kContextTokens));
    table.AddRow({Fixed(line.distance, 3), Fixed(line.weight, 3),
                  Fixed(line.contribution[static_cast<size_t>(explanation.prediction)], 4),
                  PieceText(tokenizer, line.label), "... " + Printable(place.context),
                  Printable(place.title)});
  }
  return facts.Text() + table.Text();
}

}  // namespace resmem::cli
