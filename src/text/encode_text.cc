#include "resmem/lm/encode_text.h"

#include <algorithm>
#include <mutex>

#include "resmem/lm/token_set.h"
#include "support/guard.h"
#include "support/parallel.h"

namespace resmem {
namespace {

// Documents that are encoded together.
struct Batch {
  std::vector<TextDocument> documents;
  std::vector<std::vector<int32_t>> ids;

  // False where the source has no more.
  Result<bool> Read(TextSource* source) {
    constexpr size_t kBytes = size_t{4} << 20;
    documents.clear();
    for (size_t bytes = 0; bytes < kBytes;) {
      TextDocument document;
      RESMEM_ASSIGN_OR_RETURN(const bool more, source->Next(&document));
      if (!more) break;
      bytes += document.text.size() + document.title.size();
      documents.push_back(std::move(document));
    }
    return !documents.empty();
  }

  Status Encode(const Tokenizer& tokenizer, int threads) {
    ids.assign(documents.size(), {});
    std::mutex mutex;
    Status status;
    const auto count = static_cast<int64_t>(documents.size());
    ParallelFor(threads, count, 1, [&](int64_t begin, int64_t end, int) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        const Status encoded = tokenizer.EncodeFromBeginning(documents[i].text, &ids[i]);
        if (encoded.ok()) continue;
        const std::lock_guard lock(mutex);
        status = encoded;
      }
    });
    return status;
  }
};

}  // namespace

Result<EncodedText> EncodeText(TextSource* source, const Tokenizer& tokenizer,
                               const std::string& path, const EncodeOptions& options) try {
  const std::optional<int32_t> end_id = options.end_id ? options.end_id : tokenizer.end_id();
  if (!end_id) {
    return Status(ErrorCode::kUnsupported,
                  "the tokenizer has no piece that is known to end a document, such as </s>; name "
                  "one with --end");
  }
  const int threads = ResolveThreads(options.threads);
  RESMEM_ASSIGN_OR_RETURN(TokenSetWriter writer,
                          TokenSetWriter::Create(path, tokenizer.size(), *end_id));
  EncodedText result;
  int64_t without_tokens = 0;
  Batch batch;
  while (true) {
    if (options.progress != nullptr) {
      options.progress->Report("encoding", source->stored_bytes_read(), source->stored_bytes());
      if (options.progress->Cancelled()) {
        return Status(ErrorCode::kCancelled, Text(path, ": stopped; nothing was written"));
      }
    }
    RESMEM_ASSIGN_OR_RETURN(const bool more, batch.Read(source));
    if (!more) break;
    RESMEM_RETURN_IF_ERROR(batch.Encode(tokenizer, threads));
    for (size_t i = 0; i < batch.ids.size(); ++i) {
      const std::vector<int32_t>& ids = batch.ids[i];
      if (ids.empty()) {
        ++without_tokens;
        continue;
      }
      if (const auto unknown = tokenizer.unknown_id()) {
        result.unknown_tokens += std::count(ids.begin(), ids.end(), *unknown);
      }
      RESMEM_RETURN_IF_ERROR(writer.Add(ids, batch.documents[i].title));
    }
  }
  result.text = source->counts();
  result.text.documents -= without_tokens;
  result.text.empty_documents += without_tokens;
  result.documents = writer.documents();
  result.tokens = writer.tokens();
  if (result.documents == 0) {
    return Status(ErrorCode::kBadData,
                  Text(source->files().front(), ": holds no document with text",
                       result.text.broken_records > 0
                           ? Text(" (first problem: ", source->first_broken_record(), ")")
                           : std::string()));
  }
  RESMEM_RETURN_IF_ERROR(writer.Finish(tokenizer.fingerprint(), result.text));
  return result;
} catch (...) {
  return CaughtException("encode the text");
}

}  // namespace resmem
