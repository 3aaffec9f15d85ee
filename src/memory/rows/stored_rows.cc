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

// Whether a segment's bytes mean the same in both.
bool SameLayout(const MemoryDescription& a, const MemoryDescription& b) {
  return a.task == b.task && a.dim == b.dim && a.outputs == b.outputs && a.key_type == b.key_type &&
         a.key_transform == b.key_transform && a.form == b.form && a.top == b.top &&
         a.half_residuals == b.half_residuals && a.has_sources == b.has_sources;
}

// Whether both answer in the same way, given the same neighbors.
bool SameAnswers(const MemoryDescription& a, const MemoryDescription& b) {
  return a.parameters == b.parameters && a.calibrator == b.calibrator &&
         a.calibrator_temperature == b.calibrator_temperature && a.answer == b.answer &&
         a.blend == b.blend && a.fingerprint == b.fingerprint && a.class_names == b.class_names;
}

// The segment of `former` that holds these bytes; null where there is none.
const Segment* FindSegment(const StoredRows* former, const MemoryDescription& description,
                           const FileRecord& record) {
  if (former == nullptr || !SameLayout(former->manifest().description, description)) return nullptr;
  const std::vector<FileRecord>& records = former->manifest().segments;
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].SameBytes(record)) return &former->segments()[i];
  }
  return nullptr;
}

}  // namespace

Result<StoredRows> StoredRows::Load(FileSystem& files, const std::string& folder,
                                    const StoredRows* former) {
  RESMEM_ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(files, folder));
  while (true) {
    const int64_t generation = manifest.generation;
    auto rows = Load(files, folder, std::move(manifest), former);
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

Result<StoredRows> StoredRows::Load(FileSystem& files, const std::string& folder, Manifest manifest,
                                    const StoredRows* former) {
  StoredRows rows;
  rows.manifest_ = std::move(manifest);
  RESMEM_ASSIGN_OR_RETURN(rows.transformer_, LoadTransformer(files, folder, rows.manifest_));
  std::vector<int64_t> starts = {0};
  for (const FileRecord& record : rows.manifest_.segments) {
    const MemoryDescription& description = rows.manifest_.description;
    if (const Segment* shared = FindSegment(former, description, record)) {
      rows.segments_.push_back(*shared);
    } else {
      RESMEM_ASSIGN_OR_RETURN(Segment segment, Segment::Open(files, folder, description, record));
      rows.segments_.push_back(std::move(segment));
    }
    if (description.key_type == KeyType::kInt4 &&
        !std::ranges::equal(rows.segments_.front().key_center(),
                            rows.segments_.back().key_center())) {
      return rows.segments_.back().file().Corrupt(Text(
          "its keys have another center than those of ", rows.segments_.front().file().path()));
    }
    starts.push_back(starts.back() + rows.segments_.back().rows());
  }
  rows.parts_ = PartFinder(std::move(starts));
  if (rows.manifest_.deletions) {
    RESMEM_ASSIGN_OR_RETURN(
        rows.deleted_, ReadDeletions(files, folder, *rows.manifest_.deletions, rows.capacity()));
  }
  return rows;
}

Result<StoredRows> StoredRows::LoadJoined(std::span<const std::string> folders) {
  std::optional<StoredRows> joined;
  for (const std::string& folder : folders) {
    RESMEM_ASSIGN_OR_RETURN(StoredRows rows, Load(FileSystem::Of(folder), folder));
    rows.manifest_.former.reset();
    rows.manifest_.ForgetIndex();
    if (rows.manifest_.description.key_transform == KeyTransform::kWhiten) {
      return Status(ErrorCode::kUnsupported,
                    Text(folder,
                         ": its keys are whitened, each memory's in its own way; join "
                         "memories with --key-transform none or unit"));
    }
    if (!joined) {
      joined.emplace(std::move(rows));
      continue;
    }
    if (!SameLayout(joined->manifest_.description, rows.manifest_.description) ||
        !SameAnswers(joined->manifest_.description, rows.manifest_.description)) {
      return Status(ErrorCode::kMismatch,
                    Text(folder, ": does not fit ", folders.front(),
                         ": other rows, parameters, classes or another model; join memories "
                         "that were made in the same way"));
    }
    joined->Append(std::move(rows));
  }
  return std::move(*joined);
}

StoredRows StoredRows::Keep(const std::function<bool(int64_t row)>& keeps) const {
  StoredRows kept = *this;
  kept.manifest_.former.reset();
  kept.manifest_.ForgetIndex();
  kept.deleted_.clear();
  auto deleted = deleted_.begin();
  for (int64_t row = 0; row < capacity(); ++row) {
    const bool lives = deleted == deleted_.end() || *deleted != row;
    if (!lives) ++deleted;
    if (!lives || !keeps(row)) kept.deleted_.push_back(row);
  }
  return kept;
}

bool StoredRows::has_tags() const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [](const Segment& segment) { return segment.has_tags(); });
}

void StoredRows::Append(StoredRows&& other) {
  const int64_t before = capacity();
  for (const int64_t row : other.deleted_) deleted_.push_back(before + row);
  std::vector<int64_t> starts = {0};
  for (Segment& segment : other.segments_) segments_.push_back(std::move(segment));
  for (const Segment& segment : segments_) starts.push_back(starts.back() + segment.rows());
  parts_ = PartFinder(std::move(starts));
  for (FileRecord& record : other.manifest_.segments) {
    manifest_.segments.push_back(std::move(record));
  }
  manifest_.next_id = std::max(manifest_.next_id, other.manifest_.next_id);
  // Of which only the size is asked for.
  if (other.manifest_.deletions) manifest_.bytes += other.manifest_.deletions->bytes;
  manifest_.bytes += other.manifest_.bytes;
}

bool StoredRows::deleted(int64_t row) const {
  return std::binary_search(deleted_.begin(), deleted_.end(), row);
}

std::pair<const Segment*, int64_t> StoredRows::Find(int64_t row) const {
  RESMEM_DCHECK(row >= 0 && row < capacity());
  const size_t segment = parts_.PartOf(row);
  return {&segments_[segment], row - parts_.start(segment)};
}

bool StoredRows::checked() const {
  return std::all_of(segments_.begin(), segments_.end(),
                     [](const Segment& segment) { return segment.checked(); });
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
    RESMEM_RETURN_IF_ERROR(segment.VerifyIds());
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
