#include "onnx/embedding/embedding_writer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "data/formats/numpy/npy.h"
#include "format/checksum.h"
#include "support/checked_math.h"
#include "support/files/modes.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// The journal first: it must never speak of rows that are gone.
constexpr std::array kNames = {kJournalName, "keys.npy",    "logits.npy",
                               "labels.npy", "sources.npy", "split.npy"};
constexpr std::chrono::seconds kBetweenSaves(2);

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string MatrixHeader(int64_t rows, int64_t columns) {
  const std::array<int64_t, 2> shape = {rows, columns};
  return NpyHeader("<f4", shape);
}

// Labels and names of all rows, so that work does not go on with others.
std::string DigestOfRows(const RowsToEmbed& rows) {
  std::string text;
  if (rows.source) {
    for (int64_t row = 0; row < rows.rows; ++row) text += rows.source(row) + '\n';
  }
  const std::span<const std::byte> labels = std::as_bytes(rows.labels);
  std::string digests =
      Text("sources ", Digest(std::as_bytes(std::span(text))), ", labels ", Digest(labels));
  if (!rows.roles.empty()) digests += ", split " + Digest(std::as_bytes(rows.roles));
  return digests;
}

// As Dataset reads a split.
int32_t NumberOf(Role role) {
  return role == Role::kTrain ? 0 : role == Role::kValidation ? 1 : 2;
}

}  // namespace

// A vector of items of equal size.
Status EmbeddingWriter::WriteItems(const char* name, const std::string& descriptor,
                                   std::span<const std::byte> items) const {
  const std::array<int64_t, 1> shape = {rows_.rows};
  const std::string header = NpyHeader(descriptor, shape);
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, CreatePartial(name));
  RESMEM_RETURN_IF_ERROR(file->Write(0, std::as_bytes(std::span(header))));
  RESMEM_RETURN_IF_ERROR(file->Write(static_cast<int64_t>(header.size()), items));
  RESMEM_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

Result<std::unique_ptr<WritableFile>> EmbeddingWriter::CreatePartial(const char* name) const {
  const std::string path = Partial(name);
  if (files_.Exists(path)) RESMEM_RETURN_IF_ERROR(files_.Remove(path));
  return files_.Create(path, Text(folder_, "/", name));
}

EmbeddingWriter::EmbeddingWriter(FileSystem& files, const RowsToEmbed& rows, std::string folder,
                                 const EmbeddingFolderOptions& options)
    : files_(files),
      rows_(rows),
      folder_(WithoutSlash(std::move(folder))),
      partial_(folder_ + ".partial"),
      options_(options),
      journal_{rows.rows, rows.dim, rows.outputs, rows.block, rows.made_from, 0},
      keys_header_(MatrixHeader(rows.rows, rows.dim)),
      logits_header_(MatrixHeader(rows.rows, rows.outputs)) {
  journal_.made_from.push_back(DigestOfRows(rows));
}

Status EmbeddingWriter::CheckTarget() const {
  if (!files_.Exists(folder_)) return {};
  if (!files_.IsDirectory(folder_)) {
    return {ErrorCode::kInvalidArgument, Text(folder_, ": is a file; name a folder")};
  }
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(folder_));
  for (const std::string& name : names) {
    if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) continue;
    return {ErrorCode::kInvalidArgument,
            Text(folder_, ": holds ", name, ", which this did not write; name a new folder")};
  }
  if (names.empty() || options_.overwrite) return {};
  return {ErrorCode::kInvalidArgument,
          Text(folder_, ": holds arrays made from something else; name a new folder, or replace ",
               "them with --overwrite")};
}

Status EmbeddingWriter::RemoveArrays(const std::string& folder) const {
  for (const char* name : kNames) {
    const std::string path = Text(folder, "/", name);
    if (files_.Exists(path)) RESMEM_RETURN_IF_ERROR(files_.Remove(path));
  }
  return {};
}

Status EmbeddingWriter::OpenMatrices() {
  RESMEM_RETURN_IF_ERROR(files_.MakeDirectory(partial_));
  TakeModeOf(folder_, partial_);
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> left, files_.List(partial_));
  for (const std::string& name : left) {  // of a file that was being replaced when a kill came
    if (name.find(".tmp-") != std::string::npos || name.ends_with(TemporaryName(""))) {
      RESMEM_RETURN_IF_ERROR(files_.Remove(Text(partial_, "/", name)));
    }
  }
  const auto found = ReadJournal(files_, partial_);
  if (found && found->SameWork(journal_) && found->done > 0) {
    auto keys = files_.Reopen(Partial("keys.npy"));
    auto logits = files_.Reopen(Partial("logits.npy"));
    if (keys.ok() && logits.ok()) {
      journal_.done = result_.found = found->done;
      keys_ = std::move(*keys);
      logits_ = std::move(*logits);
      return CountFound();
    }
  }
  RESMEM_RETURN_IF_ERROR(RemoveArrays(partial_));
  RESMEM_ASSIGN_OR_RETURN(keys_, CreatePartial("keys.npy"));
  RESMEM_ASSIGN_OR_RETURN(logits_, CreatePartial("logits.npy"));
  RESMEM_RETURN_IF_ERROR(keys_->Write(0, std::as_bytes(std::span(keys_header_))));
  return logits_->Write(0, std::as_bytes(std::span(logits_header_)));
}

int64_t EmbeddingWriter::CountCorrect(const float* values, int64_t begin, int64_t count) const {
  if (rows_.labels.empty()) return 0;
  int64_t correct = 0;
  for (int64_t row = begin; row < begin + count; ++row, values += rows_.outputs) {
    const int64_t answer = std::max_element(values, values + rows_.outputs) - values;
    correct += answer == rows_.labels[static_cast<size_t>(row)] ? 1 : 0;
  }
  return correct;
}

size_t EmbeddingWriter::KeysBytes(int64_t rows) const {
  return keys_header_.size() + static_cast<size_t>(rows * rows_.dim) * sizeof(float);
}

size_t EmbeddingWriter::LogitsBytes(int64_t rows) const {
  return logits_header_.size() + static_cast<size_t>(rows * rows_.outputs) * sizeof(float);
}

Status EmbeddingWriter::CountFound() {
  RESMEM_ASSIGN_OR_RETURN(const MappedFile keys, files_.Map(Partial("keys.npy")));
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, files_.Map(Partial("logits.npy")));
  if (keys.bytes().size() < KeysBytes(journal_.done) ||
      file.bytes().size() < LogitsBytes(journal_.done)) {
    return {ErrorCode::kCorrupt, Text(partial_, ": has fewer rows than its ", kJournalName,
                                      " says; remove the folder and start again")};
  }
  // The header's length is a multiple of 64.
  const auto* values = reinterpret_cast<const float*>(file.bytes().data() + logits_header_.size());
  result_.correct = CountCorrect(values, 0, journal_.done);
  return {};
}

Status EmbeddingWriter::Save() {
  RESMEM_RETURN_IF_ERROR(keys_->Sync());
  RESMEM_RETURN_IF_ERROR(logits_->Sync());
  return WriteJournal(files_, partial_, journal_);
}

Status EmbeddingWriter::RunBlocks() {
  std::vector<float> keys, logits;
  auto saved = std::chrono::steady_clock::now();
  Progress* progress = options_.progress;
  for (int64_t begin = journal_.done; begin < rows_.rows;) {
    if (progress != nullptr) progress->Report("embedding", begin, rows_.rows);
    if (progress != nullptr && progress->Cancelled()) {
      RESMEM_RETURN_IF_ERROR(Save());
      return {ErrorCode::kCancelled, Text("stopped after ", begin, " of ", rows_.rows,
                                          " rows; the same command goes on from there")};
    }
    const int64_t count = std::min(rows_.block, rows_.rows - begin);
    keys.resize(static_cast<size_t>(count * rows_.dim));
    logits.resize(static_cast<size_t>(count * rows_.outputs));
    RESMEM_RETURN_IF_ERROR(rows_.run(begin, count, keys, logits));
    constexpr int64_t kBytes = sizeof(float);
    const auto offset = [&](const std::string& header, int64_t columns) {
      return static_cast<int64_t>(header.size()) + begin * columns * kBytes;
    };
    RESMEM_RETURN_IF_ERROR(
        keys_->Write(offset(keys_header_, rows_.dim), std::as_bytes(std::span(keys))));
    RESMEM_RETURN_IF_ERROR(
        logits_->Write(offset(logits_header_, rows_.outputs), std::as_bytes(std::span(logits))));
    result_.correct += CountCorrect(logits.data(), begin, count);
    begin += count;
    journal_.done = begin;
    const auto now = std::chrono::steady_clock::now();
    if (now - saved < kBetweenSaves && begin < rows_.rows) continue;
    RESMEM_RETURN_IF_ERROR(Save());
    saved = now;
  }
  if (progress != nullptr) progress->Report("embedding", rows_.rows, rows_.rows);
  return {};
}

Status EmbeddingWriter::WriteColumns() const {
  if (!rows_.labels.empty()) {
    RESMEM_RETURN_IF_ERROR(WriteItems("labels.npy", "<i4", std::as_bytes(rows_.labels)));
  }
  if (rows_.role || !rows_.roles.empty()) {
    std::vector<int32_t> split;
    for (const Role role : rows_.roles) split.push_back(NumberOf(role));
    if (rows_.roles.empty()) split.assign(static_cast<size_t>(rows_.rows), NumberOf(*rows_.role));
    RESMEM_RETURN_IF_ERROR(WriteItems("split.npy", "<i4", std::as_bytes(std::span(split))));
  }
  if (!rows_.source) return {};
  size_t longest = 1;
  for (int64_t row = 0; row < rows_.rows; ++row) {
    longest = std::max(longest, rows_.source(row).size());
  }
  std::string items;
  items.reserve(longest * static_cast<size_t>(rows_.rows));
  for (int64_t row = 0; row < rows_.rows; ++row) {
    items += rows_.source(row);
    items.resize(longest * static_cast<size_t>(row + 1), '\0');
  }
  return WriteItems("sources.npy", Text("|S", longest), std::as_bytes(std::span(items)));
}

Status EmbeddingWriter::Publish() {
  RESMEM_RETURN_IF_ERROR(keys_->Close());
  RESMEM_RETURN_IF_ERROR(logits_->Close());
  RESMEM_RETURN_IF_ERROR(files_.SyncDirectory(partial_));
  if (files_.Exists(folder_)) {  // CheckTarget() allowed it
    TakeModeOf(Text(folder_, "/", kJournalName), Partial(kJournalName));
    RESMEM_RETURN_IF_ERROR(RemoveArrays(folder_));
    RESMEM_RETURN_IF_ERROR(files_.Remove(folder_));
  }
  RESMEM_RETURN_IF_ERROR(files_.Rename(partial_, folder_));
  return files_.SyncDirectory(ParentDirectory(folder_));
}

Result<EmbeddedRows> EmbeddingWriter::Write() {
  auto lock = files_.Lock(folder_ + ".lock");
  if (!lock.ok()) {
    const ErrorCode code = lock.status().code();
    if (code != ErrorCode::kResourceExhausted) return lock.status();
    return Status(code, Text(folder_, ": another process is writing it; wait until it has ended"));
  }
  const auto there = ReadJournal(files_, folder_);
  if (there && there->SameWork(journal_) && there->done == rows_.rows) {
    const auto keys = files_.Map(folder_ + "/keys.npy"), file = files_.Map(folder_ + "/logits.npy");
    if (keys.ok() && keys->bytes().size() == KeysBytes(rows_.rows) && file.ok() &&
        file->bytes().size() == LogitsBytes(rows_.rows)) {
      result_.found = rows_.rows;
      const std::byte* values = file->bytes().data() + logits_header_.size();
      result_.correct = CountCorrect(reinterpret_cast<const float*>(values), 0, rows_.rows);
      return result_;
    }
  }
  RESMEM_RETURN_IF_ERROR(CheckTarget());
  RESMEM_RETURN_IF_ERROR(OpenMatrices());
  RESMEM_RETURN_IF_ERROR(RunBlocks());
  RESMEM_RETURN_IF_ERROR(WriteColumns());
  RESMEM_RETURN_IF_ERROR(Publish());
  return result_;
}

Result<EmbeddedRows> WriteEmbeddingFolder(const RowsToEmbed& rows, const std::string& folder,
                                          const EmbeddingFolderOptions& options) try {
  const auto keys = CheckedMultiply(rows.rows, rows.dim);
  const auto logits = CheckedMultiply(rows.rows, rows.outputs);
  const auto wide = CheckedAdd(keys.value_or(-1), logits.value_or(-1));
  if (!wide || !CheckedMultiply(*wide, sizeof(float)) || rows.rows < 1 || rows.dim < 1 ||
      rows.outputs < 1 || rows.block < 1 ||
      (!rows.labels.empty() && static_cast<int64_t>(rows.labels.size()) != rows.rows)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("cannot embed ", rows.rows, " rows of ", rows.dim, " + ", rows.outputs,
                       " values with ", rows.labels.size(), " labels"));
  }
  return EmbeddingWriter(FileSystem::Posix(), rows, folder, options).Write();
} catch (...) {
  return CaughtException("embed the rows");
}

}  // namespace resmem
