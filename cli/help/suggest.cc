#include "help/suggest.h"

#include <algorithm>

namespace resmem::cli {
namespace {

size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string NearestWord(std::string_view word, const std::vector<std::string>& words) {
  constexpr size_t kLongestWord = 64;  // beyond it nobody mistyped one of ours
  if (word.size() > kLongestWord) return "";
  std::string best;
  size_t best_edits = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    // A beginning of the word counts as one edit: --temp for --temperature.
    const bool beginning = word.size() >= 3 && candidate.starts_with(word);
    const size_t edits = beginning ? 1 : Edits(word, candidate);
    if (edits < best_edits) best = candidate, best_edits = edits;
  }
  return best;
}

}  // namespace resmem::cli
