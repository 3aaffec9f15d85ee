#include "resmem/lm/token_memory.h"

#include <algorithm>
#include <optional>

#include "memory/manifest/file_names.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/output_lock.h"

namespace resmem {
namespace {

class TokenMemoryWriter {
 public:
  TokenMemoryWriter(const TokenRows& rows, const std::string& path,
                    const TokenMemoryOptions& options)
      : rows_(rows),
        path_(path),
        partial_(path + ".partial"),
        options_(options),
        description_(DescribeTokenMemory(rows, options)) {}

  Result<MemorizedTokens> Write() {
    FileSystem& files = FileSystem::Posix();
    // Until all is done: between two segments the memory itself is not locked.
    RESMEM_ASSIGN_OR_RETURN(
        const std::unique_ptr<FileLock> lock,
        LockOutput(files, path_, "memorizing into it", {options_.wait_seconds, options_.progress}));
    if (files.Exists(path_)) return Finished();
    RESMEM_ASSIGN_OR_RETURN(int64_t done, RowsDone(files));
    MemorizedTokens result{rows_.rows(), done};
    while (done < rows_.rows()) {
      RESMEM_ASSIGN_OR_RETURN(const int64_t added, WriteSegment(done));
      done += added;
    }
    RESMEM_RETURN_IF_ERROR(files.Rename(partial_, path_));
    RESMEM_RETURN_IF_ERROR(files.SyncDirectory(ParentDirectory(path_)));
    return result;
  }

 private:
  bool WouldMake(const ResidualMemory& memory) const {
    const MemoryDescription& theirs = memory.description();
    const Parameters& a = theirs.parameters;
    const Parameters& b = description_.parameters;
    return theirs.fingerprint == description_.fingerprint && theirs.notes == description_.notes &&
           theirs.top == description_.top && theirs.key_type == description_.key_type &&
           a.k == b.k && a.sigma == b.sigma && a.temperature == b.temperature;
  }

  // Where the memory is there: all work was done before, but a kill may have kept it from being
  // told.
  Result<MemorizedTokens> Finished() const {
    const auto memory = ResidualMemory::Open(path_, {.verify_blocks = false, .exact = true});
    if (memory.ok() && WouldMake(*memory) && memory->rows() == rows_.rows()) {
      return MemorizedTokens{rows_.rows(), rows_.rows()};
    }
    return Status(ErrorCode::kInvalidArgument,
                  Text(path_,
                       ": is there already, and is not what this command would make; name "
                       "another place, or remove it"));
  }

  // So that the first segment gets the first name, as in a run that was not interrupted.
  Result<int64_t> RemoveBeginnings(FileSystem& files) const {
    RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(partial_));
    for (const std::string& name : names) {
      if (IsOurName(name)) RESMEM_RETURN_IF_ERROR(files.Remove(Text(partial_, "/", name)));
    }
    return int64_t{0};
  }

  // Of earlier work on the same.
  Result<int64_t> RowsDone(FileSystem& files) const {
    if (!files.Exists(partial_)) return int64_t{0};
    const auto memory = ResidualMemory::Open(partial_, {.verify_blocks = false});
    if (!memory.ok()) {
      // Killed before the manifest of its first segment: nothing of it counts.
      if (memory.status().code() == ErrorCode::kNotFound) return RemoveBeginnings(files);
      return Status(memory.status().code(),
                    Text(memory.status().message(), "; or remove ", partial_, " and begin again"));
    }
    if (!WouldMake(*memory) || memory->rows() > rows_.rows() ||
        (memory->rows() < rows_.rows() &&
         RowOfWindow(WindowOfRow(memory->rows())) != memory->rows())) {
      return Status(ErrorCode::kInvalidArgument,
                    Text(partial_, ": was begun with another model, text or options; remove it"));
    }
    return memory->rows();
  }

  // Windows and rows counted from the first ones of rows_.
  int64_t WindowOfRow(int64_t row) const {
    return rows_.windows().WindowOfRow(rows_.first_row() + row) - rows_.first_window();
  }
  int64_t RowOfWindow(int64_t window) const {
    return rows_.windows().window(rows_.first_window() + window).first_row - rows_.first_row();
  }

  // From row `begin`, which a window begins with, to the first window that begins beyond the next
  // multiple of segment_rows.
  Result<int64_t> WriteSegment(int64_t begin) {
    const int64_t first = WindowOfRow(begin);
    const int64_t target = (begin / options_.segment_rows + 1) * options_.segment_rows;
    int64_t last = rows_.window_count();
    if (target < rows_.rows()) {
      const int64_t at_target = WindowOfRow(target);
      last = std::min(last, RowOfWindow(at_target) == target ? at_target : at_target + 1);
    }
    const int64_t end = last == rows_.window_count() ? rows_.rows() : RowOfWindow(last);
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                            begin == 0
                                ? MemoryWriter::Create(partial_, description_, end - begin, {})
                                : MemoryWriter::Append(partial_, end - begin));
    int64_t done = begin;
    for (int64_t w = first; w < last; w += kWindowsAtOnce) {
      if (options_.progress != nullptr) {
        options_.progress->Report("memorizing", done, rows_.rows());
        if (options_.progress->Cancelled()) {
          return Status(ErrorCode::kCancelled, Text("stopped after ", begin, " of ", rows_.rows(),
                                                    " rows; the same command goes on from there"));
        }
      }
      RESMEM_RETURN_IF_ERROR(rows_.Read(w, std::min(w + kWindowsAtOnce, last), &block_));
      Rows rows = block_.view;
      rows.slices = {};
      RESMEM_RETURN_IF_ERROR(writer.Add(rows));
      done += rows.count();
    }
    RESMEM_RETURN_IF_ERROR(writer.Finish());
    return end - begin;
  }

  const TokenRows& rows_;
  const std::string path_, partial_;
  const TokenMemoryOptions& options_;
  MemoryDescription description_;
  TokenRows::Block block_;
};

}  // namespace

MemoryDescription DescribeTokenMemory(const TokenRows& rows, const TokenMemoryOptions& options) {
  MemoryDescription description;
  const ModelManifest& manifest = rows.model().manifest();
  const WindowShape& shape = rows.windows().shape();
  description.dim = manifest.dim;
  description.outputs = manifest.classes;
  description.key_type = options.key_type;
  description.form = ResidualForm::kSparse;
  description.top = std::min(options.top, manifest.classes);
  description.half_residuals = true;
  description.parameters = options.parameters;
  description.fingerprint = rows.model().fingerprint();
  description.notes = {{"tokens", rows.set().path()},
                       {kTokensNote, rows.set().fingerprint()},
                       {"tokenizer", rows.set().description().tokenizer},
                       {kWindowsNote, WindowsText(shape)},
                       {"documents", Text(rows.documents())},
                       {kEngineNote, TokenEngineName(rows.model().engine())}};
  if (rows.first_document() > 0) {
    description.notes["first_document"] = Text(rows.first_document());
  }
  description.notes.insert(options.notes.begin(), options.notes.end());
  return description;
}

Result<MemorizedTokens> MemorizeTokens(const TokenRows& rows, const std::string& path,
                                       const TokenMemoryOptions& options) try {
  RESMEM_RETURN_IF_ERROR(CheckParameters(options.parameters));
  if (options.top < 1 || options.segment_rows < 1) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("the ", options.top, " largest residuals of each row, ",
                       options.segment_rows, " rows a segment; both must be 1 or more"));
  }
  return TokenMemoryWriter(rows, path, options).Write();
} catch (...) {
  return CaughtException("memorize the tokens");
}

}  // namespace resmem
