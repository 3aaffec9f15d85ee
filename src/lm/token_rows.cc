#include "resmem/lm/token_rows.h"

#include <algorithm>
#include <numeric>

#include "support/guard.h"

namespace resmem {
namespace {

std::string SliceName(int64_t document) {
  constexpr size_t kDigits = 6;
  const std::string number = std::to_string(document);
  return std::string(kDigits - std::min(kDigits, number.size()), '0') + number;
}

}  // namespace

TokenRows::TokenRows(const TokenModel& model, const TokenSet& set, TokenWindows windows,
                     int64_t first_document, int64_t documents)
    : model_(&model),
      set_(&set),
      windows_(std::move(windows)),
      first_document_(first_document),
      documents_(documents) {}

Result<TokenRows> TokenRows::Make(const TokenModel& model, const TokenSet& set,
                                  const TokenRowsOptions& options) {
  const ModelManifest& manifest = model.manifest();
  if (!manifest.takes_tokens()) {
    return Status(ErrorCode::kInvalidArgument,
                  "the model does not take tokens; prepare a language model with: resmem model "
                  "prepare, or train "
                  "one with: resmem lm train");
  }
  if (options.shape.length > manifest.context) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("windows of ", options.shape.length, " tokens, but the model reads at most ",
                       manifest.context, "; give shorter ones"));
  }
  const TokenSetDescription& description = set.description();
  if (!manifest.tokenizer.empty() && !description.tokenizer.empty() &&
      manifest.tokenizer != description.tokenizer) {
    return Status(ErrorCode::kMismatch,
                  Text(set.path(), ": was encoded by the tokenizer ", description.tokenizer,
                       ", but the model learned with ", manifest.tokenizer,
                       "; encode the text with that one"));
  }
  if (description.vocabulary_size > manifest.classes) {
    return Status(ErrorCode::kMismatch,
                  Text(set.path(), ": has a vocabulary of ", description.vocabulary_size,
                       " tokens, but the model knows ", manifest.classes));
  }
  if (options.documents < 0 || options.documents > set.documents()) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("the first ", options.documents, " documents, but ", set.path(), " holds ",
                       set.documents()));
  }
  const int64_t end = options.documents == 0 ? set.documents() : options.documents;
  if (options.first_document < 0 || options.first_document >= end) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("documents from number ", options.first_document, " on, but the last is ",
                       end - 1, "; documents are counted from 0"));
  }
  RESMEM_ASSIGN_OR_RETURN(TokenWindows windows, TokenWindows::Make(set, options.shape));
  return TokenRows(model, set, std::move(windows), options.first_document, end);
}

int64_t TokenRows::first_row() const {
  return set_->document(first_document_).begin - first_document_;
}

int64_t TokenRows::rows() const {
  return set_->document(documents_ - 1).end - documents_ - first_row();
}

int64_t TokenRows::window_count() const {
  return windows_.WindowOfRow(first_row() + rows() - 1) + 1 - first_window();
}

Status TokenRows::Read(int64_t begin, int64_t end, Block* block) const {
  std::vector<int64_t> chosen(static_cast<size_t>(end - begin));
  std::iota(chosen.begin(), chosen.end(), begin);
  return Read(chosen, block);
}

Status TokenRows::Read(std::span<const int64_t> chosen, Block* block) const try {
  const auto dim = static_cast<size_t>(model_->manifest().dim);
  const auto classes = static_cast<size_t>(model_->manifest().classes);
  const size_t windows = chosen.size();
  const auto window_of = [&](size_t w) { return windows_.window(first_window() + chosen[w]); };
  std::vector<std::vector<int32_t>> ids(windows);
  std::vector<TokenInput> inputs(windows);
  std::vector<size_t> first_row(windows + 1);  // of each window in the block
  for (size_t w = 0; w < windows; ++w) {
    const TokenWindow window = window_of(w);
    ids[w].resize(static_cast<size_t>(window.end - window.begin));
    set_->Read(window.begin, ids[w]);
    inputs[w] = {ids[w], window.end - window.kept};
    first_row[w + 1] = first_row[w] + static_cast<size_t>(window.end - window.kept);
  }
  const size_t rows = first_row[windows];
  block->keys.resize(rows * dim);
  block->logits.resize(rows * classes);
  block->labels.resize(rows);
  block->ids.resize(rows);
  block->slices.resize(rows);
  RESMEM_RETURN_IF_ERROR(model_->Run(inputs, block->keys, block->logits));
  for (size_t w = 0; w < windows; ++w) {
    const TokenWindow window = window_of(w);
    set_->Read(window.kept + 1,
               std::span(block->labels).subspan(first_row[w], first_row[w + 1] - first_row[w]));
    for (size_t i = first_row[w]; i < first_row[w + 1]; ++i) {
      block->ids[i] = static_cast<uint64_t>(window.first_row) + (i - first_row[w]);
      block->slices[i] = SliceName(window.document);
    }
  }
  const auto count = static_cast<int64_t>(rows);
  block->view = Rows();
  block->view.keys = MatrixView(block->keys.data(), count, static_cast<int64_t>(dim));
  block->view.logits = MatrixView(block->logits.data(), count, static_cast<int64_t>(classes));
  block->view.labels = block->labels;
  block->view.ids = block->ids;
  block->view.slices = block->slices;
  return {};
} catch (...) {
  return CaughtException("run the language model");
}

RowSource TokenRows::Source() const {
  return {
      rows(), [this](const RowSource::Use& use) -> Status {
        Block block;
        int64_t first = 0;
        const int64_t windows = window_count();
        for (int64_t begin = 0; begin < windows; begin += kWindowsAtOnce) {
          RESMEM_RETURN_IF_ERROR(Read(begin, std::min(begin + kWindowsAtOnce, windows), &block));
          RESMEM_RETURN_IF_ERROR(use(first, block.view));
          first += block.view.count();
        }
        return {};
      }};
}

}  // namespace resmem
