#include "resmem/lm/text_source.h"

#include <filesystem>
#include <optional>

#include "support/file_system.h"
#include "support/guard.h"
#include "text/source/clean_text.h"
#include "text/source/document_reader.h"

namespace resmem {
namespace {

// Deeper than any real folder, less than a loop of links.
constexpr int kMaxDepth = 32;

Status AddFiles(FileSystem& files, const std::string& path, int depth,
                std::vector<std::string>* found) {
  if (!files.Exists(path)) {
    return {ErrorCode::kNotFound, Text(path, ": there is no such file or folder")};
  }
  if (!files.IsDirectory(path)) {
    found->push_back(path);
    return {};
  }
  if (depth == kMaxDepth) {
    return {ErrorCode::kInvalidArgument,
            Text(path, ": lies ", kMaxDepth, " folders deep; name the files")};
  }
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(path));
  for (const std::string& name : names) {
    if (name.starts_with('.')) continue;
    RESMEM_RETURN_IF_ERROR(
        AddFiles(files, path + (path.ends_with('/') ? "" : "/") + name, depth + 1, found));
  }
  return {};
}

}  // namespace

struct TextSource::State {
  TextSourceOptions options;
  std::vector<std::string> files;
  std::vector<int64_t> sizes;
  size_t next_file = 0;
  int64_t stored_bytes = 0, stored_before = 0;  // of all files; of those that are done
  TextCounts counts;
  std::string first_broken_record;
  int64_t bytes_before = 0;  // unpacked, of the files that are done
  std::unique_ptr<DocumentInput> input;
  std::unique_ptr<DocumentReader> reader;

  Status OpenNextFile() {
    const std::string& path = files[next_file];
    RESMEM_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream,
                            OpenByteStream(FileSystem::Posix(), path));
    input = std::make_unique<DocumentInput>(DocumentInput{
        path.substr(path.rfind('/') + 1), LineReader(std::move(stream)),
        static_cast<size_t>(options.max_document_bytes), &counts, &first_broken_record});
    RESMEM_ASSIGN_OR_RETURN(reader, MakeDocumentReader(options.form, input.get()));
    ++counts.files;
    return {};
  }
  void CloseFile() {
    stored_before += sizes[next_file];
    bytes_before += input->lines.bytes();
    counts.bytes = bytes_before;
    reader.reset();
    input.reset();
    ++next_file;
  }
};

TextSource::TextSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextSource::TextSource(TextSource&&) noexcept = default;
TextSource& TextSource::operator=(TextSource&&) noexcept = default;
TextSource::~TextSource() = default;

Result<TextSource> TextSource::Open(const std::vector<std::string>& paths,
                                    const TextSourceOptions& options) try {
  if (options.max_document_bytes < 1) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("documents of at most ", options.max_document_bytes,
                       " bytes; allowed are 1 and more"));
  }
  auto state = std::make_unique<State>();
  state->options = options;
  for (const std::string& path : paths) {
    RESMEM_RETURN_IF_ERROR(AddFiles(FileSystem::Posix(), path, 0, &state->files));
  }
  if (state->files.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(paths.empty() ? "no text was named" : paths.front() + ": holds no files",
                       "; name a file or a folder of files"));
  }
  for (const std::string& file : state->files) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(file, error);
    state->sizes.push_back(error ? 0 : static_cast<int64_t>(size));
    state->stored_bytes += state->sizes.back();
  }
  return TextSource(std::move(state));
} catch (...) {
  return CaughtException("open the text");
}

Result<bool> TextSource::Next(TextDocument* document) try {
  State& state = *state_;
  while (state.next_file < state.files.size()) {
    if (state.reader == nullptr) RESMEM_RETURN_IF_ERROR(state.OpenNextFile());
    RESMEM_ASSIGN_OR_RETURN(const bool more, state.reader->Next(document));
    if (!more) {
      state.CloseFile();
      continue;
    }
    state.counts.bytes = state.bytes_before + state.input->lines.bytes();
    document->title = CleanText(std::move(document->title), &state.counts);
    document->text = CleanText(std::move(document->text), &state.counts);
    if (IsBlank(document->text)) {
      ++state.counts.empty_documents;
      continue;
    }
    ++state.counts.documents;
    return true;
  }
  return false;
} catch (...) {
  return CaughtException("read the text");
}

const TextCounts& TextSource::counts() const {
  return state_->counts;
}

const std::string& TextSource::first_broken_record() const {
  return state_->first_broken_record;
}

const std::vector<std::string>& TextSource::files() const {
  return state_->files;
}

int64_t TextSource::stored_bytes_read() const {
  return state_->stored_before +
         (state_->input == nullptr ? 0 : state_->input->lines.stored_bytes_read());
}

int64_t TextSource::stored_bytes() const {
  return state_->stored_bytes;
}

}  // namespace resmem
