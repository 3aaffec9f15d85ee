#include "resmem/shard/shard_steps.h"

#include <numeric>
#include <utility>
#include <vector>

#include "format/checksum.h"
#include "resmem/lm/document_intervals.h"
#include "resmem/lm/token_memory.h"
#include "resmem_program/joined_memory.h"
#include "resmem_program/merge_neighbors.h"
#include "shard/answer_file.h"
#include "shard/inputs.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr char kShardNote[] = "shard";

Status CheckNumber(const ShardFolder& folder, int64_t shard) {
  if (shard >= 1 && shard <= folder.shards()) return {};
  return {ErrorCode::kInvalidArgument,
          Text("shard ", shard, ", but ", folder.path(), " has the shards 1 to ", folder.shards())};
}

const ShardRange& RangeOf(const ShardFolder& folder, int64_t shard) {
  return folder.plan().shards[static_cast<size_t>(shard - 1)];
}

// What a shard's memory says of itself.
std::string NoteOf(const ShardFolder& folder, int64_t shard) {
  return Text(shard, " of ", folder.shards(), " by plan ", folder.digest());
}

Status CheckMemory(const ShardFolder& folder, int64_t shard, const ResidualMemory& memory) {
  const auto& notes = memory.description().notes;
  const auto note = notes.find(kShardNote);
  if (note != notes.end() && note->second == NoteOf(folder, shard) &&
      memory.rows() == RangeOf(folder, shard).rows() && memory.capacity() == memory.rows()) {
    return {};
  }
  return {ErrorCode::kMismatch,
          Text(folder.memory_path(shard), ": is not what the plan makes of shard ", shard,
               "; remove it, and memorize the shard again")};
}

Result<ResidualMemory> OpenShard(const ShardFolder& folder, int64_t shard) {
  const std::string path = folder.memory_path(shard);
  auto memory = ResidualMemory::Open(path, {.verify_blocks = false});
  if (memory.status().code() == ErrorCode::kNotFound) {
    return Status(ErrorCode::kNotFound,
                  Text(path, ": is not there yet; make it with: resmem shard memorize ",
                       folder.path(), " ", shard, "/", folder.shards()));
  }
  if (!memory.ok()) return memory.status();
  RESMEM_RETURN_IF_ERROR(CheckMemory(folder, shard, *memory));
  return memory;
}

const ShardFile* QueriesOf(const ShardFolder& folder, Status* status) {
  if (folder.plan().queries) return &*folder.plan().queries;
  *status = {ErrorCode::kInvalidArgument,
             Text(folder.path(), ": its plan names no queries; plan with --queries FILE")};
  return nullptr;
}

Status Advance(Progress* progress, const char* stage, int64_t done, int64_t total) {
  if (progress == nullptr) return {};
  progress->Report(stage, done, total);
  if (!progress->Cancelled()) return {};
  return {ErrorCode::kCancelled, Text("stopped while ", stage, "; run the same command again")};
}

Result<ShardDone> MemorizeArrays(const ShardFolder& folder, int64_t shard, const ShardRun& run) {
  const std::string path = folder.memory_path(shard);
  const ShardRange& range = RangeOf(folder, shard);
  const auto present = ResidualMemory::Open(path, {.verify_blocks = false});
  if (present.ok()) {
    RESMEM_RETURN_IF_ERROR(CheckMemory(folder, shard, *present));
    return ShardDone{range.rows(), true};
  }
  if (present.status().code() != ErrorCode::kNotFound) return present.status();
  RESMEM_ASSIGN_OR_RETURN(const ShardRows rows,
                          OpenRows(folder.plan(), folder.plan().rows, range, run.runtime));
  MemoryDescription description = DescribeArrayMemory(folder.plan(), *rows.dataset);
  description.notes[kShardNote] = NoteOf(folder, shard);
  MemoryWriter::Options writing;
  writing.change = {run.wait_seconds, run.progress};
  auto created = MemoryWriter::Create(path, description, rows.rows(), writing);
  if (created.status().code() == ErrorCode::kInvalidArgument && run.wait_seconds > 0) {
    // Made by the process that we have waited for.
    const auto made = ResidualMemory::Open(path, {.verify_blocks = false});
    if (made.ok() && CheckMemory(folder, shard, *made).ok()) return ShardDone{range.rows(), true};
  }
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, std::move(created));
  const Status read = rows.Source().Read([&](int64_t begin, const Rows& block) -> Status {
    RESMEM_RETURN_IF_ERROR(Advance(run.progress, "memorizing", begin, rows.rows()));
    return writer.Add(block);
  });
  RESMEM_RETURN_IF_ERROR(read);
  RESMEM_RETURN_IF_ERROR(writer.Finish(run.progress));
  return ShardDone{range.rows(), false};
}

Result<ShardDone> MemorizeTokenShard(const ShardFolder& folder, int64_t shard,
                                     const ShardRun& run) {
  const ShardPlan& plan = folder.plan();
  RESMEM_ASSIGN_OR_RETURN(const ShardRows rows,
                          OpenRows(plan, plan.rows, RangeOf(folder, shard), run.runtime));
  TokenMemoryOptions options;
  options.key_type = plan.key_type;
  options.top = plan.top;
  options.parameters = plan.parameters;
  options.segment_rows = plan.segment_rows;
  options.notes[kShardNote] = NoteOf(folder, shard);
  options.progress = run.progress;
  options.wait_seconds = run.wait_seconds;
  RESMEM_ASSIGN_OR_RETURN(const MemorizedTokens done,
                          MemorizeTokens(*rows.tokens, folder.memory_path(shard), options));
  return ShardDone{done.rows, done.found == done.rows};
}

// The file where it is what `header` says; none where it has to be made, also where it is broken.
Result<std::optional<AnswerFile>> FindAnswers(const std::string& path, const AnswerHeader& header) {
  auto file = AnswerFile::Open(path);
  const ErrorCode code = file.status().code();
  if (!file.ok() && code != ErrorCode::kNotFound && code != ErrorCode::kCorrupt) {
    return file.status();
  }
  if (!file.ok() || file->header() != header) return std::optional<AnswerFile>();
  return std::optional<AnswerFile>(std::move(*file));
}

// Of every shard, in their order; kNotFound where one was not searched.
Result<std::vector<AnswerFile>> OpenAnswers(const ShardFolder& folder) {
  std::vector<AnswerFile> answers;
  for (int64_t shard = 1; shard <= folder.shards(); ++shard) {
    const std::string path = folder.answers_path(shard);
    auto file = AnswerFile::Open(path);
    if (file.status().code() == ErrorCode::kNotFound) {
      return Status(ErrorCode::kNotFound,
                    Text(path, ": is not there yet; make it with: resmem shard search ",
                         folder.path(), " ", shard, "/", folder.shards()));
    }
    if (!file.ok()) return file.status();
    const AnswerHeader& header = file->header();
    if (header.plan != folder.digest() || header.shard != shard ||
        header.rows != RangeOf(folder, shard).rows() || header.k != folder.plan().neighbors() ||
        (!answers.empty() && header.queries != answers.front().header().queries)) {
      return Status(ErrorCode::kMismatch,
                    Text(path, ": are not the answers of shard ", shard,
                         " by this plan; remove the file, and search the shard again"));
    }
    answers.push_back(std::move(*file));
  }
  return answers;
}

std::string DigestOf(const std::vector<std::string>& contents) {
  std::string all;
  for (const std::string& content : contents) all += content + "\n";
  return Digest(std::as_bytes(std::span(all)));
}

AnswerHeader MergedHeader(const ShardFolder& folder, const std::vector<AnswerFile>& answers) {
  std::vector<std::string> contents;
  for (const AnswerFile& file : answers) contents.push_back(file.header().content);
  return {folder.digest(),           0,
          DigestOf(contents),        folder.plan().total_rows(),
          folder.plan().neighbors(), answers.front().header().queries};
}

Status WriteMerged(const ShardFolder& folder, const std::vector<AnswerFile>& answers,
                   const AnswerHeader& header, Progress* progress) {
  constexpr int64_t kMostCells = int64_t{1} << 22;  // held at once, of all shards
  const int64_t step =
      std::clamp<int64_t>(kMostCells / header.k / folder.shards(), 1, int64_t{1} << 16);
  RESMEM_ASSIGN_OR_RETURN(AnswerWriter writer, AnswerWriter::Create(folder.merged_path(), header));
  std::vector<Neighbors> found(answers.size());
  Neighbors merged;
  for (int64_t begin = 0; begin < header.queries; begin += step) {
    RESMEM_RETURN_IF_ERROR(Advance(progress, "merging", begin, header.queries));
    std::vector<ShardNeighbors> shards;
    for (size_t i = 0; i < answers.size(); ++i) {
      RESMEM_RETURN_IF_ERROR(
          answers[i].Read(begin, std::min(step, header.queries - begin), header.k, &found[i]));
      shards.push_back({&found[i], folder.plan().shards[i].begin});
    }
    RESMEM_RETURN_IF_ERROR(MergeNeighbors(shards, header.k, &merged));
    RESMEM_RETURN_IF_ERROR(writer.Add(merged));
  }
  return writer.Finish();
}

}  // namespace

Result<ShardDone> MemorizeShard(const ShardFolder& folder, int64_t shard, const ShardRun& run) try {
  RESMEM_RETURN_IF_ERROR(CheckNumber(folder, shard));
  return folder.plan().tokens ? MemorizeTokenShard(folder, shard, run)
                              : MemorizeArrays(folder, shard, run);
} catch (...) {
  return CaughtException("memorize the shard");
}

Result<ShardDone> IndexShard(const ShardFolder& folder, int64_t shard, const ShardRun& run) try {
  RESMEM_RETURN_IF_ERROR(CheckNumber(folder, shard));
  const ShardPlan& plan = folder.plan();
  const ShardRange& range = RangeOf(folder, shard);
  {
    // Closed before it is indexed.
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, OpenShard(folder, shard));
    const std::optional<IndexInfo> info = memory.index_info();
    if (!plan.recall || (info && info->recall == *plan.recall && info->unindexed_rows == 0 &&
                         (info->given_queries > 0) == plan.held_out.has_value())) {
      return ShardDone{range.rows(), true};
    }
  }
  IndexOptions options;
  options.recall = *plan.recall;
  options.seed = plan.seed;
  options.threads = run.runtime.threads;
  options.progress = run.progress;
  std::vector<float> keys;
  if (plan.held_out) {
    RESMEM_ASSIGN_OR_RETURN(const ShardRows rows,
                            OpenRows(plan, *plan.held_out, std::nullopt, run.runtime));
    RESMEM_ASSIGN_OR_RETURN(
        keys, rows.tokens
                  ? SampleKeys(*rows.tokens, IndexOptions::kMostQueries, plan.seed, run.progress)
                  : SampleKeys(rows.Source(), IndexOptions::kMostQueries, plan.seed));
    const int64_t dim = rows.tokens ? rows.tokens->model().manifest().dim : rows.dataset->dim();
    options.queries = MatrixView(keys.data(), static_cast<int64_t>(keys.size()) / dim, dim);
  }
  RESMEM_RETURN_IF_ERROR(IndexMemory(folder.memory_path(shard), options));
  return ShardDone{range.rows(), false};
} catch (...) {
  return CaughtException("index the shard");
}

Result<ShardDone> SearchShard(const ShardFolder& folder, int64_t shard, const ShardRun& run) try {
  RESMEM_RETURN_IF_ERROR(CheckNumber(folder, shard));
  Status status;
  const ShardFile* queries = QueriesOf(folder, &status);
  if (queries == nullptr) return status;
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, OpenShard(folder, shard));
  const std::string path = folder.answers_path(shard);
  const ShardPlan& plan = folder.plan();
  RESMEM_ASSIGN_OR_RETURN(const ShardRows rows,
                          OpenRows(plan, *queries, std::nullopt, run.runtime));
  const AnswerHeader header{folder.digest(),  shard,      ContentHash(memory), memory.rows(),
                            plan.neighbors(), rows.rows()};
  RESMEM_ASSIGN_OR_RETURN(const std::optional<AnswerFile> present, FindAnswers(path, header));
  if (present) return ShardDone{rows.rows(), true};
  RESMEM_ASSIGN_OR_RETURN(AnswerWriter writer, AnswerWriter::Create(path, header));
  SearchOptions search;
  search.k = header.k;
  search.squared = true;
  search.threads = run.runtime.threads;
  Neighbors found;
  const Status read = rows.Source().Read([&](int64_t begin, const Rows& block) -> Status {
    RESMEM_RETURN_IF_ERROR(Advance(run.progress, "searching", begin, rows.rows()));
    RESMEM_RETURN_IF_ERROR(memory.index().Search(block.keys, search, &found));
    return writer.Add(found);
  });
  RESMEM_RETURN_IF_ERROR(read);
  RESMEM_RETURN_IF_ERROR(memory.damage());
  RESMEM_RETURN_IF_ERROR(writer.Finish());
  return ShardDone{rows.rows(), false};
} catch (...) {
  return CaughtException("search the shard");
}

Result<ShardDone> MergeShards(const ShardFolder& folder, const ShardRun& run) try {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<AnswerFile> answers, OpenAnswers(folder));
  const AnswerHeader header = MergedHeader(folder, answers);
  RESMEM_ASSIGN_OR_RETURN(const std::optional<AnswerFile> present,
                          FindAnswers(folder.merged_path(), header));
  if (!present) RESMEM_RETURN_IF_ERROR(WriteMerged(folder, answers, header, run.progress));
  return ShardDone{header.queries, present.has_value()};
} catch (...) {
  return CaughtException("merge the answers");
}

struct MergedNeighbors::State {
  AnswerFile file;
};

MergedNeighbors::MergedNeighbors(std::unique_ptr<const State> state) : state_(std::move(state)) {}
MergedNeighbors::MergedNeighbors(MergedNeighbors&&) noexcept = default;
MergedNeighbors::~MergedNeighbors() = default;

Result<MergedNeighbors> MergedNeighbors::Open(const ShardFolder& folder) try {
  const std::string path = folder.merged_path();
  auto file = AnswerFile::Open(path);
  if (file.status().code() == ErrorCode::kNotFound) {
    return Status(
        ErrorCode::kNotFound,
        Text(path, ": is not there yet; make it with: resmem shard merge ", folder.path()));
  }
  if (!file.ok()) return file.status();
  const AnswerHeader& header = file->header();
  if (header.plan != folder.digest() || header.shard != 0 ||
      header.rows != folder.plan().total_rows() || header.k != folder.plan().neighbors()) {
    return Status(ErrorCode::kMismatch,
                  Text(path, ": was not merged by this plan; remove it, and merge again"));
  }
  std::vector<std::string> contents;
  for (int64_t shard = 1; shard <= folder.shards(); ++shard) {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, OpenShard(folder, shard));
    contents.push_back(ContentHash(memory));
  }
  if (DigestOf(contents) != header.content) {
    return Status(ErrorCode::kMismatch,
                  Text(path,
                       ": a shard was made again since it was searched; search the shards "
                       "and merge again"));
  }
  return MergedNeighbors(std::make_unique<const State>(State{std::move(*file)}));
} catch (...) {
  return CaughtException("read the merged neighbors");
}

int64_t MergedNeighbors::queries() const {
  return state_->file.header().queries;
}

Status MergedNeighbors::Read(int64_t begin, int64_t count, int64_t k, Neighbors* out) const try {
  return state_->file.Read(begin, count, k, out);
} catch (...) {
  return CaughtException("read the merged neighbors");
}

Result<std::vector<uint64_t>> ShardQueryIds(const ShardFolder& folder) try {
  Status status;
  const ShardFile* queries = QueriesOf(folder, &status);
  if (queries == nullptr) return status;
  std::vector<uint64_t> ids;
  if (folder.plan().tokens) {
    RESMEM_RETURN_IF_ERROR(CheckInput(*queries));
    RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(queries->path));
    ids.resize(static_cast<size_t>(set.size() - set.documents()));
    std::iota(ids.begin(), ids.end(), uint64_t{0});
    return ids;
  }
  RESMEM_ASSIGN_OR_RETURN(const ShardRows rows,
                          OpenRows(folder.plan(), *queries, std::nullopt, {}));
  if (!rows.dataset->has_ids()) return ids;
  const Status read = rows.Source().Read([&](int64_t, const Rows& block) -> Status {
    ids.insert(ids.end(), block.ids.begin(), block.ids.end());
    return {};
  });
  RESMEM_RETURN_IF_ERROR(read);
  return ids;
} catch (...) {
  return CaughtException("read the queries");
}

Result<ResidualMemory> OpenShards(const ShardFolder& folder, const OpenOptions& options) try {
  std::vector<std::string> paths;
  for (int64_t shard = 1; shard <= folder.shards(); ++shard) {
    RESMEM_RETURN_IF_ERROR(OpenShard(folder, shard).status());
    paths.push_back(folder.memory_path(shard));
  }
  return OpenJoined(paths, options);
} catch (...) {
  return CaughtException("open the shards");
}

Result<Evaluation> EvaluateShards(const ShardFolder& folder, const ResidualMemory& memory,
                                  const MergedNeighbors& merged, EvaluationOptions options,
                                  const ShardRun& run) try {
  Status status;
  const ShardFile* queries = QueriesOf(folder, &status);
  if (queries == nullptr) return status;
  const ShardPlan& plan = folder.plan();
  RESMEM_ASSIGN_OR_RETURN(const ShardRows rows,
                          OpenRows(plan, *queries, std::nullopt, run.runtime));
  options.method.reset();
  options.parameters.reset();
  options.threads = run.runtime.threads;
  options.progress = run.progress;
  options.neighbors = [&](int64_t begin, int64_t count, int64_t k, Neighbors* out) {
    return merged.Read(begin, count, std::min(k, plan.neighbors()), out);
  };
  RESMEM_ASSIGN_OR_RETURN(Evaluation evaluation,
                          Evaluate(Predictor(memory), rows.Source(), options));
  if (plan.tokens) UseDocumentIntervals(&evaluation);
  return evaluation;
} catch (...) {
  return CaughtException("evaluate the shards");
}

}  // namespace resmem
