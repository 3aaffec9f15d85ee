// Which tokens a language model reads together, and which of its answers count.
//
// A row is a token that has a next one in its document: the model reads up to it and predicts that
// next one, the row's label.  A document of n tokens has n - 1 rows; contexts never cross
// documents.  Windows of `length` tokens begin every `stride` tokens of a document; each keeps the
// rows that no earlier one has kept.  So every row is kept exactly once and, but for those near the
// front of its document, sees at least length - stride tokens before it.
//
//   length 256, stride 192:   |------ 256 kept ------|
//                                          |- 64 -|---- 192 kept ----|
#ifndef RESMEM_LM_TOKEN_WINDOWS_H_
#define RESMEM_LM_TOKEN_WINDOWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/lm/token_set.h"
#include "resmem/status.h"

namespace resmem {

struct WindowShape {
  int64_t length = 256;
  int64_t stride = 192;
};

// "256 every 192", as a memory's notes keep it; nothing where the text is not that.
std::string WindowsText(const WindowShape& shape);
std::optional<WindowShape> ParseWindows(std::string_view text);

// Positions are those of tokens in the set.
struct TokenWindow {
  int64_t document = 0;
  int64_t begin = 0, end = 0;  // read
  int64_t kept = 0;            // rows [kept, end) count; the label of row p is token p + 1
  int64_t first_row = 0;       // number of the row `kept` among all rows
};

// Refers to the set, which must outlive it.  Immutable: any number of threads may call.
class TokenWindows {
 public:
  // kInvalidArgument unless 1 <= stride <= length.
  static Result<TokenWindows> Make(const TokenSet& set, const WindowShape& shape = {});

  const WindowShape& shape() const { return shape_; }
  int64_t size() const { return first_window_.back(); }
  int64_t rows() const;
  // In the order of the tokens.
  TokenWindow window(int64_t index) const;

  // Rows are numbered in the order of the tokens: the position of a row's token.
  int64_t PositionOfRow(int64_t row) const;
  int64_t DocumentOfRow(int64_t row) const;
  // The window that keeps it.
  int64_t WindowOfRow(int64_t row) const;

 private:
  TokenWindows(const TokenSet& set, const WindowShape& shape);

  const TokenSet* set_;
  WindowShape shape_;
  std::vector<int64_t> first_window_;  // of each document, and the number of all windows
};

}  // namespace resmem

#endif  // RESMEM_LM_TOKEN_WINDOWS_H_
