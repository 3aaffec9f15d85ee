#include "memory/rows/stored_rows.h"

#include <algorithm>
#include <optional>

#include "memory/keys/transform_file.h"
#include "memory/rows/deletions.h"
#include "support/check.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

// Tells the progress of one segment as part of all.
class PartOfProgress final : public Progress {
 public:
  PartOfProgress(Progress* whole, int64_t before, int64_t total)
      : whole_(whole), before_(before), total_(total) {}
  void Report(std::string_view stage, int64_t done, int64_t /*total*/) override {
    if (whole_ != nullptr) whole_->Report(stage, before_ + done, total_);
  }
  bool Cancelled() const override { return whole_ != nullptr && whole_->Cancelled(); }

 private:
  Progress* whole_;
  int64_t before_, total_;
};

}  // namespace

Result<StoredRows> StoredRows::Load(FileSystem& files, const std::string& folder) {
  RESMEM_ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(files, folder));
  while (true) {
    const int64_t generation = manifest.generation;
    auto rows = Load(files, folder, std::move(manifest));
    if (rows.ok() || rows.status().code() != ErrorCode::kNotFound) return rows;
    // A named file is gone: another process has replaced the manifest since, or it is lost.
    RESMEM_ASSIGN_OR_RETURN(manifest, ReadManifest(files, folder));
    if (manifest.generation == generation) {
      return Status(ErrorCode::kCorrupt,
                    Text(rows.status().message(),
                         ", but the manifest names it; restore the memory from a copy"));
    }
  }
}

Result<StoredRows> StoredRows::Load(FileSystem& files, const std::string& folder,
                                    Manifest manifest) {
  StoredRows rows;
  rows.manifest_ = std::move(manifest);
  RESMEM_ASSIGN_OR_RETURN(rows.transformer_, LoadTransformer(files, folder, rows.manifest_));
  std::vector<int64_t> starts = {0};
  for (const FileRecord& record : rows.manifest_.segments) {
    RESMEM_ASSIGN_OR_RETURN(Segment segment,
                            Segment::Open(files, folder, rows.manifest_.description, record));
    starts.push_back(starts.back() + segment.rows());
    rows.segments_.push_back(std::move(segment));
  }
  rows.parts_ = PartFinder(std::move(starts));
  if (rows.manifest_.deletions) {
    RESMEM_ASSIGN_OR_RETURN(
        rows.deleted_, ReadDeletions(files, folder, *rows.manifest_.deletions, rows.capacity()));
  }
  return rows;
}

bool StoredRows::deleted(int64_t row) const {
  return std::binary_search(deleted_.begin(), deleted_.end(), row);
}

std::pair<const Segment*, int64_t> StoredRows::Find(int64_t row) const {
  RESMEM_DCHECK(row >= 0 && row < capacity());
  const size_t segment = parts_.PartOf(row);
  return {&segments_[segment], row - parts_.start(segment)};
}

uint64_t StoredRows::id(int64_t row) const {
  const auto [segment, local] = Find(row);
  return segment->id(local);
}

std::span<const float> StoredRows::target(int64_t row) const {
  RESMEM_DCHECK(manifest_.description.task == Task::kRegression);
  const auto [segment, local] = Find(row);
  return {segment->target(local), static_cast<size_t>(manifest_.description.outputs)};
}

std::span<const float> StoredRows::logits(int64_t row) const {
  RESMEM_DCHECK(manifest_.description.form == ResidualForm::kLogits);
  const auto [segment, local] = Find(row);
  return {segment->logits(local), static_cast<size_t>(manifest_.description.outputs)};
}

void StoredRows::DecodeKey(int64_t row, std::span<float> key) const {
  RESMEM_DCHECK(static_cast<int64_t>(key.size()) == manifest_.description.dim);
  const auto [segment, local] = Find(row);
  segment->DecodeKey(local, key.data());
}

void StoredRows::GivenKey(int64_t row, std::span<float> key) const {
  DecodeKey(row, key);
  const auto [segment, local] = Find(row);
  transformer_.Undo(key.data(), segment->key_norm(local), key.data());
}

void StoredRows::GivenKeys(std::span<const int64_t> rows, int threads,
                           std::span<float> keys) const {
  const auto dim = static_cast<size_t>(manifest_.description.dim);
  ParallelFor(ResolveThreads(threads), std::ssize(rows), 16, [&](int64_t begin, int64_t end, int) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      GivenKey(rows[i], keys.subspan(i * dim, dim));
    }
  });
}

void StoredRows::Residual(int64_t row, float temperature, std::span<float> out) const {
  RESMEM_DCHECK(static_cast<int64_t>(out.size()) == manifest_.description.outputs);
  const auto [segment, local] = Find(row);
  segment->Residual(local, temperature, out.data());
}

void StoredRows::AddResidual(int64_t row, float temperature, float weight, std::span<float> scratch,
                             std::span<float> accumulator) const {
  RESMEM_DCHECK(static_cast<int64_t>(scratch.size()) >= manifest_.description.outputs);
  RESMEM_DCHECK(static_cast<int64_t>(accumulator.size()) == manifest_.description.outputs);
  const auto [segment, local] = Find(row);
  segment->AddResidual(local, temperature, weight, scratch.data(), accumulator.data());
}

Status StoredRows::VerifyNarrow() const {
  for (const Segment& segment : segments_) RESMEM_RETURN_IF_ERROR(segment.VerifyNarrow());
  return {};
}

Status StoredRows::VerifyIds() const {
  for (const Segment& segment : segments_) {
    RESMEM_RETURN_IF_ERROR(segment.file().VerifySection(segment.layout().ids));
  }
  return {};
}

Status StoredRows::Verify(Progress* progress) const {
  int64_t total = 0, done = 0;
  for (const Segment& segment : segments_) total += segment.file().blocks();
  for (const Segment& segment : segments_) {
    PartOfProgress part(progress, done, total);
    RESMEM_RETURN_IF_ERROR(segment.file().VerifyBlocks(&part));
    RESMEM_RETURN_IF_ERROR(segment.VerifyValues(manifest_.next_id));
    done += segment.file().blocks();
  }
  return {};
}

}  // namespace resmem
