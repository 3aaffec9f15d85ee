#include "memory/index/memory_index.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "format/checksum.h"
#include "memory/index/far_keys.h"
#include "memory/index/index_advice.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/recorded_file.h"
#include "search/approximate/choose_effort.h"
#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/lists/inverted_file_writer.h"
#include "search/approximate/lists/k_means.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// Rows after the last part are searched exactly until there are this many.
constexpr int64_t kMostUnindexedRows = 1 << 14;
// A new part takes in those before it that are not much larger, up to this many rows: so parts
// stay few, and a row is moved a few times only.
constexpr int64_t kMostMergedRows = 1 << 20;

constexpr char kExactAnswers[] = "; --exact answers without it";

// The keys of some segments in order, their rows numbered from 0.
struct KeysOfSegments {
  std::vector<KeyBlock> blocks;
  std::vector<const KeyCheck*> checks;
  std::vector<int64_t> hidden;
  int64_t rows = 0;

  // From `begin`, the first row of segment `first`.
  KeysOfSegments(const StoredRows& stored, size_t first, size_t end, int64_t begin) {
    for (size_t segment = first; segment < end; ++segment) {
      blocks.push_back(stored.segments()[segment].keys());
      checks.push_back(&stored.segments()[segment]);
      rows += blocks.back().rows;
    }
    const std::vector<int64_t>& deleted = stored.deleted();
    auto row = std::lower_bound(deleted.begin(), deleted.end(), begin);
    for (; row != deleted.end() && *row < begin + rows; ++row) hidden.push_back(*row - begin);
  }

  Result<KeyStore> Store(int64_t dim) const { return KeyStore::Make(dim, blocks, hidden, checks); }
  Result<std::unique_ptr<KnnIndex>> Exact(int64_t dim) const {
    RESMEM_ASSIGN_OR_RETURN(KeyStore keys, Store(dim));
    return MakeExactIndex(std::move(keys));
  }
};

// The segments of the next `rows` rows, from `first` on.
size_t EndOfPart(const StoredRows& stored, size_t first, int64_t rows) {
  for (; rows > 0; ++first) rows -= stored.segments()[first].rows();
  return first;
}

Result<InvertedFile> OpenPart(FileSystem& files, const std::string& folder, int64_t dim,
                              const FileRecord& record, const InvertedFile* former = nullptr) {
  if (former != nullptr) return *former;
  RESMEM_ASSIGN_OR_RETURN(ContainerReader file,
                          OpenRecordedFile(files, folder, record, FileKind::kIndex));
  return InvertedFile::Open(std::move(file), dim, record.rows);
}

// Of a file that cannot be used as it is: what to do, and what works meanwhile.
Status Advised(const Status& status, const std::string& advice, const char* meanwhile) {
  const ErrorCode code = status.code();
  const bool broken = code == ErrorCode::kCorrupt || code == ErrorCode::kNotFound ||
                      code == ErrorCode::kTooNew || code == ErrorCode::kUnsupported;
  return broken ? Status(code, Text(status.message(), "; ", advice, meanwhile)) : status;
}

// Where most rows of the lists were deleted, a query goes on to all of them, and scanning the keys
// is quicker.
std::vector<MeasuredEffort> EffortsNow(const IndexPart& part, const InvertedFile& file,
                                       const KeyStore& keys) {
  std::vector<MeasuredEffort> efforts = part.efforts;
  int64_t listed = 0;
  for (int64_t list = 0; list < file.lists(); ++list) listed += file.list_rows(list);
  if (2 * keys.visible_rows() < listed) {
    for (MeasuredEffort& measured : efforts) measured.exact = true;
  }
  return efforts;
}

double RecallAt(int64_t k, const std::vector<MeasuredEffort>& efforts) {
  for (const MeasuredEffort& measured : efforts) {
    if (measured.effort.k >= k) return measured.exact ? 1 : measured.recall;
  }
  return 1;  // searched exactly
}

}  // namespace

Result<MemoryIndex> MemoryIndex::Open(FileSystem& files, const std::string& folder,
                                      const StoredRows& rows, const KnnIndex& exact,
                                      const MemoryIndex* former) {
  const auto find = [&](const FileRecord& wanted) -> const InvertedFile* {
    for (size_t i = 0; former != nullptr && i < former->records_.size(); ++i) {
      if (former->records_[i].SameBytes(wanted)) return former->files_[i];
    }
    return nullptr;
  };
  const Manifest& manifest = rows.manifest();
  const int64_t dim = manifest.description.dim;
  MemoryIndex opened;
  opened.info_.recall = manifest.index->recall;
  opened.info_.measured_recall = 1;
  opened.advice_ = RepairAdvice(folder, *manifest.index);
  if (const std::optional<FileRecord>& record = manifest.index->queries) {
    auto queries = QueryFile::Open(files, folder, dim, *record);
    opened.queries_status_ = queries.status();
    if (queries.ok()) opened.queries_ = std::move(*queries);
    opened.info_.given_queries = record->rows;
  }
  std::vector<IndexedPart> parts;
  size_t first = 0;
  for (const IndexPart& record : manifest.index->parts) {
    auto part = OpenPart(files, folder, dim, record.file, find(record.file));
    if (!part.ok()) return Advised(part.status(), opened.advice_, kExactAnswers);
    InvertedFile& file = *part;
    const size_t end = EndOfPart(rows, first, record.file.rows);
    const KeysOfSegments keys(rows, first, end, opened.info_.rows);
    RESMEM_ASSIGN_OR_RETURN(KeyStore store, keys.Store(dim));
    opened.info_.rows += keys.rows;
    opened.info_.lists += file.lists();
    if (parts.empty()) opened.info_.code_bits = file.code_bits();
    opened.info_.bytes += file.file().file_bytes();
    std::vector<MeasuredEffort> efforts = EffortsNow(record, file, store);
    opened.info_.measured_recall = std::min(opened.info_.measured_recall,
                                            RecallAt(manifest.description.parameters.k, efforts));
    parts.push_back({std::make_unique<ListSearch>(std::move(file), std::move(store), keys.hidden),
                     std::move(efforts)});
    opened.files_.push_back(&parts.back().search->file());
    opened.records_.push_back(record.file);
    first = end;
  }
  opened.info_.files = static_cast<int64_t>(parts.size());
  opened.info_.unindexed_rows = rows.capacity() - opened.info_.rows;
  std::optional<UnindexedRows> rest;
  if (opened.info_.unindexed_rows > 0) {
    const KeysOfSegments keys(rows, first, rows.segments().size(), opened.info_.rows);
    RESMEM_ASSIGN_OR_RETURN(KeyStore store, keys.Store(dim));
    RESMEM_ASSIGN_OR_RETURN(std::unique_ptr<KnnIndex> index, keys.Exact(dim));
    rest.emplace(UnindexedRows{std::move(store), std::move(index)});
  }
  opened.index_ = MakeIvfIndex(std::move(parts), std::move(rest), exact);
  return opened;
}

Status MemoryIndex::Verify(Progress* progress) const {
  for (const InvertedFile* file : files_) {
    const Status status = file->Verify(progress);
    if (!status.ok()) return Advised(status, advice_, kExactAnswers);
  }
  return {};
}

Status MemoryIndex::VerifyQueries() const {
  const Status status = queries_ ? queries_->Verify() : queries_status_;
  return Advised(status.code() == ErrorCode::kNotFound
                     ? Status(ErrorCode::kCorrupt, status.message())
                     : status,
                 advice_, "; searches do not read it");
}

namespace {

// Of rows from `first_row` of the memory on, which an inverted file does not take.
IndexObstacle ObstacleOfKeys(const KeyStore& keys, const StoredRows& rows, int64_t first_row) {
  constexpr size_t kMostIds = 8;
  const FarKeys far = FindFarKeys(keys, kLargestListedDistance);
  IndexObstacle obstacle;
  const bool one = far.rows.size() == 1, many = far.rows.size() > kMostIds;
  std::string whose = many ? Text(far.rows.size(), " rows") : one ? "id" : "ids";
  for (size_t i = 0; i < far.rows.size() && !many; ++i) {
    obstacle.ids.push_back(rows.id(first_row + far.rows[i]));
    whose += Text(i == 0 ? " " : ", ", obstacle.ids.back());
  }
  obstacle.why = Text(one ? "the key of " : "the keys of ", whose, one ? " lies " : " lie up to ",
                      far.farthest, " from the others, an index takes up to ",
                      kLargestListedDistance, many ? "; scale the embedding down" : "");
  return obstacle;
}

// Segments [first_segment, end) of `rows` into a new part of the index in `manifest`, whose parts
// end there; nothing where all these rows are deleted, or cannot be in an index: then it says why.
// At most one part a change.
Result<std::optional<IndexObstacle>> AddIndexPart(FolderChange* change, const StoredRows& rows,
                                                  size_t first_segment, int threads,
                                                  Progress* progress, Manifest* manifest) {
  IndexRecord& index = *manifest->index;
  const int64_t dim = manifest->description.dim, first_row = index.rows();
  const KeysOfSegments keys(rows, first_segment, rows.segments().size(), first_row);
  RESMEM_ASSIGN_OR_RETURN(const KeyStore store, keys.Store(dim));
  if (store.visible_rows() == 0) return std::optional<IndexObstacle>();
  const auto obstructed = [&](IndexObstacle obstacle) {
    obstacle.rows = keys.rows;
    return std::optional(std::move(obstacle));
  };
  EffortGoal goal{index.recall, manifest->description.parameters.k, index.seed};
  std::optional<QueryFile> queries;
  std::vector<float> transformed_queries;
  if (index.queries) {
    auto opened = QueryFile::Open(change->files(), change->folder(), dim, *index.queries);
    if (!opened.ok() || !opened->Verify().ok()) {
      return obstructed({.why = Text("the file of its queries, ", index.queries->file,
                                     ", is missing or broken")});
    }
    queries = std::move(*opened);
    goal.queries = rows.transformer().Applied(queries->queries(), threads, &transformed_queries);
  }
  IndexPart part;
  part.file.file = change->NewName(kIndexPrefix);
  part.file.rows = keys.rows;
  const InvertedFileOptions options{
      .seed = index.seed, .code_bits = index.code_bits, .threads = threads, .progress = progress};
  const auto finished =
      WriteInvertedFile(change->files(), change->PathOf(part.file.file), store, options);
  if (finished.status().code() == ErrorCode::kUnsupported) {
    const bool too_large = dim > kMostCodes || keys.rows > kMostListedRows;
    return obstructed(too_large ? IndexObstacle{.why = finished.status().message()}
                                : ObstacleOfKeys(store, rows, first_row));
  }
  if (!finished.ok()) return finished.status();
  part.file.bytes = finished->file_bytes;
  part.file.header_hash = finished->header_hash;
  RESMEM_ASSIGN_OR_RETURN(InvertedFile file,
                          OpenPart(change->files(), change->folder(), dim, part.file));
  const ListSearch search(std::move(file), store, keys.hidden);
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<KnnIndex> exact, keys.Exact(dim));
  RESMEM_ASSIGN_OR_RETURN(part.efforts, ChooseEffort(search, *exact, goal, threads, progress));
  index.parts.push_back(std::move(part));
  return std::optional<IndexObstacle>();
}

}  // namespace

Status RemakeIndex(FolderChange* change, const StoredRows& rows, Progress* progress,
                   Manifest* manifest) {
  manifest->index->parts.clear();
  RESMEM_ASSIGN_OR_RETURN(manifest->index->obstacle,
                          AddIndexPart(change, rows, 0, /*threads=*/0, progress, manifest));
  return {};
}

Status ExtendIndex(FolderChange* change, Progress* progress, Manifest* manifest) {
  if (!manifest->index) return {};
  IndexRecord& index = *manifest->index;
  int64_t rows = manifest->stored_rows() - index.rows();
  if (rows < kMostUnindexedRows) return {};
  // Tried in vain before: again when there are twice as many, so that appends stay cheap.
  if (index.obstacle && rows / 2 < index.obstacle->rows) return {};
  const std::vector<IndexPart> before = index.parts;
  while (!index.parts.empty() && index.parts.back().file.rows <= 2 * rows &&
         index.parts.back().file.rows + rows <= kMostMergedRows) {
    rows += index.parts.back().file.rows;
    index.parts.pop_back();
  }
  RESMEM_ASSIGN_OR_RETURN(const StoredRows stored,
                          StoredRows::Load(change->files(), change->folder(), *manifest));
  const size_t first = EndOfPart(stored, 0, index.rows());
  RESMEM_ASSIGN_OR_RETURN(index.obstacle,
                          AddIndexPart(change, stored, first, /*threads=*/0, progress, manifest));
  if (index.obstacle) {
    index.parts = before;
    index.obstacle->rows = manifest->stored_rows() - index.rows();
  }
  return {};
}

Status MakeIndex(FolderChange* change, const StoredRows& rows, const IndexOptions& options,
                 bool is_new, Progress* progress, Manifest* manifest) {
  const std::string& path = change->folder();
  if (rows.living() == 0) {
    return {ErrorCode::kInvalidArgument, Text(path, ": holds no rows; there is nothing to index")};
  }
  const int64_t dim = manifest->description.dim;
  const bool given = options.queries.columns > 0;
  if (given) RESMEM_RETURN_IF_ERROR(CheckQueries(options.queries, path, dim));
  manifest->index.emplace();
  manifest->index->recall = options.recall;
  manifest->index->seed = options.seed;
  manifest->index->code_bits = options.code_bits.value_or(SuitableCodeBits(rows.living(), dim));
  if (given) {
    RESMEM_ASSIGN_OR_RETURN(manifest->index->queries,
                            WriteQueries(change->files(), path, change->NewName(kQueriesPrefix),
                                         options.queries, options.seed));
  }
  RESMEM_ASSIGN_OR_RETURN(const std::optional<IndexObstacle> obstacle,
                          AddIndexPart(change, rows, 0, options.threads, progress, manifest));
  if (!obstacle) return {};
  return {ErrorCode::kUnsupported, RefusalText(path, *obstacle, is_new)};
}

Status CheckIndexOptions(const IndexOptions& options, const std::string& memory) {
  const double recall = options.recall;
  if (!(recall > 0 && recall < 1)) {
    const std::string exact =
        memory.empty() ? "leave --recall out" : "resmem index " + memory + " --remove";
    return {ErrorCode::kInvalidArgument,
            Text("--recall ", recall, ": give a share of the true neighbors, above 0 and below 1; ",
                 recall >= 10 && recall < 100
                     ? Text("did you mean ", recall / 100, "?")
                     : Text("exact search finds all of them, without an index: ", exact))};
  }
  const int bits = options.code_bits.value_or(8);
  if (bits == 2 || bits == 4 || bits == 8) return {};
  return {ErrorCode::kInvalidArgument,
          Text("--codes ", bits, ": there are codes of 8, 4 and 2 bits")};
}

namespace {

Status IndexMemory(FileSystem& files, const std::string& path, const IndexOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckIndexOptions(options, path));
  const ChangeOptions change_options{options.wait_seconds, options.progress};
  return ChangeMemory(files, path, change_options, [&](FolderChange* change) -> Status {
    RESMEM_ASSIGN_OR_RETURN(const StoredRows rows, StoredRows::Load(files, change->folder()));
    // Codes of broken keys would get sound checksums.
    RESMEM_RETURN_IF_ERROR(rows.Verify(options.progress));
    Manifest manifest = change->current();
    RESMEM_RETURN_IF_ERROR(
        MakeIndex(change, rows, options, /*is_new=*/false, options.progress, &manifest));
    return change->Publish(std::move(manifest));
  });
}

Status RemoveIndex(FileSystem& files, const std::string& path, const ChangeOptions& options) {
  return ChangeMemory(files, path, options, [](FolderChange* change) -> Status {
    Manifest manifest = change->current();
    if (!manifest.index) return {};
    manifest.ForgetIndex();
    return change->Publish(std::move(manifest));
  });
}

}  // namespace

Status IndexMemory(const std::string& path, const IndexOptions& options) try {
  return IndexMemory(FileSystem::Of(path), path, options);
} catch (...) {
  return CaughtException("index the memory");
}

Status RemoveIndex(const std::string& path, const ChangeOptions& options) try {
  return RemoveIndex(FileSystem::Of(path), path, options);
} catch (...) {
  return CaughtException("remove the index");
}

}  // namespace resmem
