#include "memory/memory_index.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "format/checksum.h"
#include "ivf/choose_effort.h"
#include "ivf/inverted_file_writer.h"
#include "memory/file_names.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// Rows after the last part are searched exactly until there are this many.
constexpr int64_t kMostUnindexedRows = 1 << 14;
// A new part takes in those before it that are not much larger, up to this many rows: so parts
// stay few, and a row is moved a few times only.
constexpr int64_t kMostMergedRows = 1 << 20;

// The keys of some segments in order, their rows numbered from 0.
struct KeysOfSegments {
  std::vector<KeyBlock> blocks;
  std::vector<int64_t> hidden;
  int64_t rows = 0;

  // From `begin`, the first row of segment `first`.
  KeysOfSegments(const StoredRows& stored, size_t first, size_t end, int64_t begin) {
    for (size_t segment = first; segment < end; ++segment) {
      blocks.push_back(stored.segments()[segment].keys());
      rows += blocks.back().rows;
    }
    const std::vector<int64_t>& deleted = stored.deleted();
    auto row = std::lower_bound(deleted.begin(), deleted.end(), begin);
    for (; row != deleted.end() && *row < begin + rows; ++row) hidden.push_back(*row - begin);
  }

  Result<KeyStore> Store(int64_t dim) const { return KeyStore::Make(dim, blocks, hidden); }
  Result<std::unique_ptr<KnnIndex>> Exact(int64_t dim) const {
    return MakeExactIndex(dim, blocks, hidden);
  }
};

// The segments of the next `rows` rows, from `first` on.
size_t EndOfPart(const StoredRows& stored, size_t first, int64_t rows) {
  for (; rows > 0; ++first) rows -= stored.segments()[first].rows();
  return first;
}

Result<InvertedFile> OpenPart(FileSystem& files, const std::string& folder, int64_t dim,
                              const FileRecord& record) {
  RESMEM_ASSIGN_OR_RETURN(
      ContainerReader file,
      ContainerReader::Open(files, folder + "/" + record.file, FileKind::kIndex));
  if (file.header_hash() != record.header_hash || file.file_bytes() != record.bytes) {
    return file.Corrupt(Text("has ", file.file_bytes(), " bytes and header hash ",
                             HexOfHash(file.header_hash()), " where the manifest says ",
                             record.bytes, " and ", HexOfHash(record.header_hash)));
  }
  return InvertedFile::Open(std::move(file), dim, record.rows);
}

double RecallAt(int64_t k, const std::vector<MeasuredEffort>& efforts) {
  for (const MeasuredEffort& measured : efforts) {
    if (measured.effort.k >= k) return measured.exact ? 1 : measured.recall;
  }
  return 1;  // searched exactly
}

}  // namespace

Result<MemoryIndex> MemoryIndex::Open(FileSystem& files, const std::string& folder,
                                      const StoredRows& rows, const KnnIndex& exact) {
  const Manifest& manifest = rows.manifest();
  const int64_t dim = manifest.description.dim;
  MemoryIndex opened;
  opened.info_.recall = manifest.index->recall;
  opened.info_.measured_recall = 1;
  if (const std::optional<FileRecord>& queries = manifest.index->queries) {
    RESMEM_ASSIGN_OR_RETURN(opened.queries_, QueryFile::Open(files, folder, dim, *queries));
    opened.info_.given_queries = queries->rows;
  }
  std::vector<IndexedPart> parts;
  size_t first = 0;
  for (const IndexPart& record : manifest.index->parts) {
    RESMEM_ASSIGN_OR_RETURN(InvertedFile file, OpenPart(files, folder, dim, record.file));
    const size_t end = EndOfPart(rows, first, record.file.rows);
    const KeysOfSegments keys(rows, first, end, opened.info_.rows);
    RESMEM_ASSIGN_OR_RETURN(KeyStore store, keys.Store(dim));
    opened.info_.rows += keys.rows;
    opened.info_.lists += file.lists();
    if (parts.empty()) opened.info_.code_bits = file.code_bits();
    opened.info_.bytes += file.file().file_bytes();
    opened.info_.measured_recall = std::min(
        opened.info_.measured_recall, RecallAt(manifest.description.parameters.k, record.efforts));
    parts.push_back({std::make_unique<ListSearch>(std::move(file), std::move(store), keys.hidden),
                     record.efforts});
    opened.files_.push_back(&parts.back().search->file());
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
  for (const InvertedFile* file : files_) RESMEM_RETURN_IF_ERROR(file->Verify(progress));
  return queries_ ? queries_->Verify() : Status();
}

Status AddIndexPart(FolderChange* change, const StoredRows& rows, size_t first_segment, int threads,
                    Progress* progress, Manifest* manifest) {
  IndexRecord& index = *manifest->index;
  const int64_t dim = manifest->description.dim;
  const KeysOfSegments keys(rows, first_segment, rows.segments().size(), index.rows());
  RESMEM_ASSIGN_OR_RETURN(const KeyStore store, keys.Store(dim));
  if (store.visible_rows() == 0) return {};
  IndexPart part;
  part.file.file = change->NewName(kIndexPrefix);
  part.file.rows = keys.rows;
  const InvertedFileOptions options{
      .seed = index.seed, .code_bits = index.code_bits, .threads = threads, .progress = progress};
  RESMEM_ASSIGN_OR_RETURN(
      const ContainerWriter::Finished finished,
      WriteInvertedFile(change->files(), change->PathOf(part.file.file), store, options));
  part.file.bytes = finished.file_bytes;
  part.file.header_hash = finished.header_hash;
  RESMEM_ASSIGN_OR_RETURN(InvertedFile file,
                          OpenPart(change->files(), change->folder(), dim, part.file));
  const ListSearch search(std::move(file), store, keys.hidden);
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<KnnIndex> exact, keys.Exact(dim));
  EffortGoal goal{index.recall, manifest->description.parameters.k, index.seed};
  std::optional<QueryFile> queries;
  if (index.queries) {
    RESMEM_ASSIGN_OR_RETURN(
        queries, QueryFile::Open(change->files(), change->folder(), dim, *index.queries));
    RESMEM_RETURN_IF_ERROR(queries->Verify());
    goal.queries = queries->queries();
  }
  RESMEM_ASSIGN_OR_RETURN(part.efforts, ChooseEffort(search, *exact, goal, threads, progress));
  index.parts.push_back(std::move(part));
  return {};
}

Status ExtendIndex(FolderChange* change, Manifest* manifest) {
  if (!manifest->index) return {};
  std::vector<IndexPart>& parts = manifest->index->parts;
  int64_t rows = manifest->stored_rows() - manifest->index->rows();
  if (rows < kMostUnindexedRows) return {};
  while (!parts.empty() && parts.back().file.rows <= 2 * rows &&
         parts.back().file.rows + rows <= kMostMergedRows) {
    rows += parts.back().file.rows;
    parts.pop_back();
  }
  RESMEM_ASSIGN_OR_RETURN(const StoredRows stored,
                          StoredRows::Load(change->files(), change->folder(), *manifest));
  const size_t first = EndOfPart(stored, 0, manifest->index->rows());
  return AddIndexPart(change, stored, first, /*threads=*/0, /*progress=*/nullptr, manifest);
}

namespace {

Status IndexMemory(FileSystem& files, const std::string& path, const IndexOptions& options) {
  if (!(options.recall > 0 && options.recall < 1)) {
    return {ErrorCode::kInvalidArgument,
            Text("recall is ", options.recall,
                 "; give a share above 0 and below 1, or search exactly, without an index")};
  }
  const int bits = options.code_bits.value_or(8);
  if (bits != 2 && bits != 4 && bits != 8) {
    return {ErrorCode::kInvalidArgument,
            Text("codes of ", bits, " bits; there are codes of 8, 4 and 2")};
  }
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<FolderChange> change,
                          FolderChange::Begin(files, path, FolderChange::Start::kExisting));
  RESMEM_ASSIGN_OR_RETURN(const StoredRows rows, StoredRows::Load(files, change->folder()));
  if (rows.living() == 0) {
    return {ErrorCode::kInvalidArgument, Text(path, ": holds no rows; there is nothing to index")};
  }
  const int64_t dim = rows.manifest().description.dim;
  const bool given = options.queries.columns > 0;
  if (given) RESMEM_RETURN_IF_ERROR(CheckQueries(options.queries, path, dim));
  // Codes of broken keys would get sound checksums.
  RESMEM_RETURN_IF_ERROR(rows.Verify(options.progress));
  Manifest manifest = change->current();
  manifest.index = IndexRecord{options.recall,
                               options.seed,
                               options.code_bits.value_or(SuitableCodeBits(rows.living(), dim)),
                               std::nullopt,
                               {}};
  if (given) {
    RESMEM_ASSIGN_OR_RETURN(manifest.index->queries,
                            WriteQueries(files, change->folder(), change->NewName(kQueriesPrefix),
                                         options.queries, options.seed));
  }
  RESMEM_RETURN_IF_ERROR(
      AddIndexPart(change.get(), rows, 0, options.threads, options.progress, &manifest));
  return change->Publish(std::move(manifest));
}

Status RemoveIndex(FileSystem& files, const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<FolderChange> change,
                          FolderChange::Begin(files, path, FolderChange::Start::kExisting));
  Manifest manifest = change->current();
  if (!manifest.index) return {};
  manifest.ForgetIndex();
  return change->Publish(std::move(manifest));
}

}  // namespace

Status IndexMemory(const std::string& path, const IndexOptions& options) try {
  return IndexMemory(FileSystem::Posix(), path, options);
} catch (...) {
  return CaughtException("index the memory");
}

Status RemoveIndex(const std::string& path) try {
  return RemoveIndex(FileSystem::Posix(), path);
} catch (...) {
  return CaughtException("remove the index");
}

}  // namespace resmem
