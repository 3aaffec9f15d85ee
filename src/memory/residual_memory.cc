#include "resmem/residual_memory.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "memory/index/index_advice.h"
#include "memory/index/memory_index.h"
#include "memory/memory_parts.h"
#include "memory/rows/id_index.h"
#include "resmem_program/reopen_memory.h"
#include "search/key_store.h"
#include "support/check.h"
#include "support/files/mapped_regions.h"
#include "support/guard.h"
#include "support/once.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

// What a value is that lies in a broken block.
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

// The segment that holds these bytes.
std::optional<size_t> FindRecord(const StoredRows& rows, const FileRecord& record) {
  const std::vector<FileRecord>& records = rows.manifest().segments;
  const auto at = std::find_if(records.begin(), records.end(),
                               [&](const FileRecord& each) { return each.SameBytes(record); });
  if (at == records.end()) return std::nullopt;
  return static_cast<size_t>(at - records.begin());
}

}  // namespace

struct ResidualMemory::Impl {
  explicit Impl(StoredRows rows_in, std::string path_in)
      : path(std::move(path_in)), rows(std::move(rows_in)) {}

  // Built at the first question for an id, or by verification.
  const IdIndex& ids() const {
    ids_once.Run([this] { id_index.emplace(rows); });
    return *id_index;
  }
  Status Load(const OpenOptions& options, const Impl* former);
  void MakeCache(const Impl* former);
  Status Verify(Progress* progress) const;

  void Damaged(const Status& status) const {
    const std::lock_guard<std::mutex> lock(damage_mutex);
    if (damage.ok()) damage = status;
  }
  std::span<const float> NoNumbers(const Status& status) const {
    Damaged(status);
    no_numbers_once.Run([this] {
      no_numbers.assign(static_cast<size_t>(rows.manifest().description.outputs), kNoNumber);
    });
    return no_numbers;
  }

  std::string path;
  StoredRows rows;
  int64_t bytes_on_disk = 0;
  std::string index_obstacle;
  std::unique_ptr<KnnIndex> exact;  // of keys as they are stored, and so is `approximate`
  std::optional<MemoryIndex> approximate;
  std::optional<TransformedIndex> given_exact, given_approximate;
  // Where residuals are computed and all of them have room.
  mutable std::optional<ResidualCache> cache;
  mutable Once ids_once;
  mutable std::optional<IdIndex> id_index;
  mutable std::mutex damage_mutex;
  mutable Status damage;  // the first that a method without a Status met
  mutable Once no_numbers_once;
  mutable std::vector<float> no_numbers;
};

Status ResidualMemory::Impl::Verify(Progress* progress) const {
  RESMEM_RETURN_IF_ERROR(rows.Verify(progress));
  if (approximate) RESMEM_RETURN_IF_ERROR(approximate->Verify(progress));
  const std::optional<uint64_t> repeated = ids().repeated();
  if (!repeated) return {};
  return {ErrorCode::kCorrupt,
          Text(path, ": two living rows have the id ", *repeated,
               "; restore the memory from a copy, or make it again from its data")};
}

ResidualMemory::ResidualMemory(std::shared_ptr<const Impl> impl, bool exact)
    : impl_(std::move(impl)), exact_(exact) {}
ResidualMemory::ResidualMemory(ResidualMemory&&) noexcept = default;
ResidualMemory& ResidualMemory::operator=(ResidualMemory&&) noexcept = default;
ResidualMemory::~ResidualMemory() = default;

void ResidualMemory::Impl::MakeCache(const Impl* former) {
  const MemoryDescription& description = rows.manifest().description;
  if (description.form != ResidualForm::kLogits ||
      !ResidualCache::Fits(rows.capacity(), description.outputs)) {
    return;
  }
  const float temperature = description.parameters.temperature;
  const bool shares = former != nullptr && former->cache &&
                      former->cache->temperature() == temperature &&
                      former->rows.manifest().description.outputs == description.outputs;
  const std::vector<FileRecord>& records = rows.manifest().segments;
  std::vector<std::shared_ptr<ResidualCache::Segment>> segments;
  for (size_t i = 0; i < records.size(); ++i) {
    const std::optional<size_t> same = shares ? FindRecord(former->rows, records[i]) : std::nullopt;
    segments.push_back(
        same ? former->cache->segments()[*same]
             : ResidualCache::MakeSegment(rows.segments()[i].rows(), description.outputs));
  }
  cache.emplace(std::move(segments), description.outputs, temperature);
}

Status ResidualMemory::Impl::Load(const OpenOptions& options, const Impl* former) {
  const Manifest& manifest = rows.manifest();
  bytes_on_disk = manifest.bytes + manifest.former_bytes();
  for (const FileRecord* record : manifest.records()) bytes_on_disk += record->bytes;
  MakeCache(former);
  std::vector<KeyBlock> blocks;
  std::vector<const KeyCheck*> checks;
  for (const Segment& segment : rows.segments()) {
    blocks.push_back(segment.keys());
    checks.push_back(&segment);
  }
  RESMEM_ASSIGN_OR_RETURN(KeyStore keys, KeyStore::Make(manifest.description.dim, std::move(blocks),
                                                        rows.deleted(), std::move(checks)));
  RESMEM_ASSIGN_OR_RETURN(exact, MakeExactIndex(std::move(keys)));
  given_exact.emplace(*exact, rows.transformer());
  if (!manifest.index) return {};
  if (manifest.index->obstacle) index_obstacle = ObstacleText(path, *manifest.index);
  if (manifest.index->parts.empty()) return {};
  if (options.exact) return {};
  const MemoryIndex* shared =
      former != nullptr && former->approximate ? &*former->approximate : nullptr;
  RESMEM_ASSIGN_OR_RETURN(approximate,
                          MemoryIndex::Open(FileSystem::Of(path), path, rows, *exact, shared));
  given_approximate.emplace(approximate->index(), rows.transformer());
  return {};
}

Result<ResidualMemory> ResidualMemory::Open(const std::string& path,
                                            const OpenOptions& options) try {
  return MemoryParts::Open(path, options, /*former=*/nullptr);
} catch (...) {
  return CaughtException("open the memory");
}

Result<ResidualMemory> ReopenMemory(const std::string& path, const OpenOptions& options,
                                    const ResidualMemory& former) try {
  return MemoryParts::Open(path, options, &former);
} catch (...) {
  return CaughtException("open the memory");
}

Result<ResidualMemory> MemoryParts::Open(const std::string& path, const OpenOptions& options,
                                         const ResidualMemory* former) {
  FileSystem& files = FileSystem::Of(path);
  const auto* open = former == nullptr ? nullptr : former->impl_.get();
  while (true) {
    RESMEM_ASSIGN_OR_RETURN(StoredRows rows,
                            StoredRows::Load(files, path, open == nullptr ? nullptr : &open->rows));
    auto impl = std::make_unique<ResidualMemory::Impl>(std::move(rows), path);
    const Status loaded = impl->Load(options, open);
    if (loaded.ok()) {
      RESMEM_RETURN_IF_ERROR(options.verify_blocks ? impl->Verify(nullptr)
                                                   : impl->rows.VerifyNarrow());
      return ResidualMemory(std::move(impl), options.exact);
    }
    if (loaded.code() != ErrorCode::kNotFound) return loaded;
    // A file of the index is gone: another process has replaced the manifest since, or it is lost.
    RESMEM_ASSIGN_OR_RETURN(const Manifest now, ReadManifest(files, path));
    if (now.generation == impl->rows.manifest().generation) {
      return Status(ErrorCode::kCorrupt, loaded.message());
    }
  }
}

Result<ResidualMemory> MemoryParts::OpenJoined(std::span<const std::string> paths,
                                               const OpenOptions& options) {
  RESMEM_ASSIGN_OR_RETURN(StoredRows rows, StoredRows::LoadJoined(paths));
  auto impl =
      std::make_unique<ResidualMemory::Impl>(std::move(rows), ParentDirectory(paths.front()));
  RESMEM_RETURN_IF_ERROR(impl->Load({.exact = true}, /*former=*/nullptr));
  RESMEM_RETURN_IF_ERROR(options.verify_blocks ? impl->Verify(nullptr) : impl->rows.VerifyNarrow());
  return ResidualMemory(std::move(impl), /*exact=*/true);
}

Result<ResidualMemory> MemoryParts::OfRows(StoredRows rows, const std::string& path) {
  auto impl = std::make_unique<ResidualMemory::Impl>(std::move(rows), path);
  RESMEM_RETURN_IF_ERROR(impl->Load({.exact = true}, /*former=*/nullptr));
  return ResidualMemory(std::move(impl), /*exact=*/true);
}

Result<ResidualMemory> MemoryParts::Keep(const ResidualMemory& memory,
                                         const std::function<bool(int64_t row)>& keeps) {
  auto impl =
      std::make_unique<ResidualMemory::Impl>(memory.impl_->rows.Keep(keeps), memory.impl_->path);
  RESMEM_RETURN_IF_ERROR(impl->Load({.exact = true}, memory.impl_.get()));
  return ResidualMemory(std::move(impl), /*exact=*/true);
}

const MemoryDescription& ResidualMemory::description() const {
  return impl_->rows.manifest().description;
}
int64_t ResidualMemory::rows() const {
  return impl_->rows.living();
}
int64_t ResidualMemory::capacity() const {
  return impl_->rows.capacity();
}
int64_t ResidualMemory::segments() const {
  return static_cast<int64_t>(impl_->rows.segments().size());
}
int64_t ResidualMemory::bytes_on_disk() const {
  return impl_->bytes_on_disk;
}
int64_t ResidualMemory::former_bytes() const {
  return impl_->rows.manifest().former_bytes();
}
bool ResidualMemory::deleted(int64_t row) const {
  return impl_->rows.deleted(row);
}
const KnnIndex& ResidualMemory::index() const {
  if (!impl_->approximate || exact_) return exact_index();
  if (description().key_transform == KeyTransform::kNone) return impl_->approximate->index();
  return *impl_->given_approximate;
}
ResidualMemory ResidualMemory::Exact() const {
  return ResidualMemory(impl_, true);
}
const std::string& ResidualMemory::index_obstacle() const {
  return impl_->index_obstacle;
}
const KnnIndex& ResidualMemory::exact_index() const {
  if (description().key_transform == KeyTransform::kNone) return *impl_->exact;
  return *impl_->given_exact;
}
std::optional<IndexInfo> ResidualMemory::index_info() const {
  if (!impl_->approximate || exact_) return std::nullopt;
  return impl_->approximate->info();
}

uint64_t ResidualMemory::id(int64_t row) const {
  return impl_->rows.id(row);
}

std::string_view ResidualMemory::source(int64_t row) const {
  const auto [segment, local] = impl_->rows.Find(row);
  return segment->source(local);
}

std::string_view ResidualMemory::tags(int64_t row) const {
  const auto [segment, local] = impl_->rows.Find(row);
  return segment->tags(local);
}

bool ResidualMemory::has_tags() const {
  return impl_->rows.has_tags();
}

int32_t ResidualMemory::label(int64_t row) const {
  RESMEM_DCHECK(description().task == Task::kClassification);
  const auto [segment, local] = impl_->rows.Find(row);
  return segment->label(local);
}

std::span<const float> ResidualMemory::target(int64_t row) const try {
  return impl_->rows.target(row);
} catch (const StatusError& error) {
  return impl_->NoNumbers(error.status());
}

std::span<const float> ResidualMemory::logits(int64_t row) const try {
  return impl_->rows.logits(row);
} catch (const StatusError& error) {
  return impl_->NoNumbers(error.status());
}

void ResidualMemory::DecodeKey(int64_t row, std::span<float> key) const try {
  impl_->rows.GivenKey(row, key);
} catch (const StatusError& error) {
  impl_->Damaged(error.status());
  std::fill(key.begin(), key.end(), kNoNumber);
}

std::optional<int64_t> ResidualMemory::FindId(uint64_t id) const {
  return impl_->ids().Find(id);
}

void ResidualMemory::Residual(int64_t row, float temperature, std::span<float> out) const try {
  impl_->rows.Residual(row, temperature, out);
} catch (const StatusError& error) {
  impl_->Damaged(error.status());
  std::fill(out.begin(), out.end(), kNoNumber);
}

void ResidualMemory::AddResidual(int64_t row, float temperature, float weight,
                                 std::span<float> scratch, std::span<float> accumulator) const try {
  impl_->rows.AddResidual(row, temperature, weight, scratch, accumulator);
} catch (const StatusError& error) {
  impl_->Damaged(error.status());
  std::fill(accumulator.begin(), accumulator.end(), kNoNumber);
}

Status ResidualMemory::damage() const {
  const Status lost = CheckNoPageLost(impl_->path);
  if (!lost.ok()) impl_->Damaged(lost);
  const std::lock_guard<std::mutex> lock(impl_->damage_mutex);
  return impl_->damage;
}

ResidualCache* MemoryParts::Cache(const ResidualMemory& memory) {
  return memory.impl_->cache ? &*memory.impl_->cache : nullptr;
}

Status MemoryParts::CheckFiles(const ResidualMemory& memory) {
  return CheckNoPageLost(memory.impl_->path);
}

const StoredRows& MemoryParts::Rows(const ResidualMemory& memory) {
  return memory.impl_->rows;
}

namespace {

// Summed over living rows in one order, whatever the number of threads.
Segment::Mass TotalMass(const StoredRows& rows, float temperature) {
  constexpr int64_t kPiece = 1024;
  const int64_t capacity = rows.capacity();
  std::vector<Segment::Mass> pieces(static_cast<size_t>((capacity + kPiece - 1) / kPiece));
  const auto outputs = static_cast<size_t>(rows.manifest().description.outputs);
  ParallelFor(0, capacity, kPiece, [&](int64_t begin, int64_t end, int) {
    std::vector<float> scratch(outputs);
    Segment::Mass& piece = pieces[static_cast<size_t>(begin / kPiece)];
    for (int64_t row = begin; row < end; ++row) {
      if (rows.deleted(row)) continue;
      const auto [segment, local] = rows.Find(row);
      const Segment::Mass mass = segment->ResidualMass(local, temperature, scratch.data());
      piece.kept += mass.kept;
      piece.dropped += mass.dropped;
    }
  });
  Segment::Mass total;
  for (const Segment::Mass& piece : pieces) {
    total.kept += piece.kept;
    total.dropped += piece.dropped;
  }
  return total;
}

}  // namespace

double ResidualMemory::dropped_mass() const try {
  if (description().form != ResidualForm::kSparse && description().form != ResidualForm::kPacked) {
    return 0;
  }
  return TotalMass(impl_->rows, description().parameters.temperature).dropped_share();
} catch (const StatusError& error) {
  impl_->Damaged(error.status());
  return kNoNumber;
}

double ResidualMemory::MeanResidualMass(float temperature) const try {
  if (rows() == 0) return 0;
  const Segment::Mass mass = TotalMass(impl_->rows, temperature);
  return (mass.kept + mass.dropped) / 2 / static_cast<double>(rows());
} catch (const StatusError& error) {
  impl_->Damaged(error.status());
  return kNoNumber;
}

Status ResidualMemory::Verify(Progress* progress) const try {
  RESMEM_RETURN_IF_ERROR(impl_->Verify(progress));
  return impl_->approximate ? impl_->approximate->VerifyQueries() : Status();
} catch (...) {
  return CaughtException("verify the memory");
}

}  // namespace resmem
