#include "memories/preview.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "resmem/ram_memory.h"

namespace resmem::serve {
namespace {

Result<std::set<int64_t>> RowsOfIds(const MemoryState& state, std::span<const uint64_t> ids) {
  std::set<int64_t> rows;
  for (const uint64_t id : ids) {
    const std::optional<int64_t> row = state.memory.FindId(id);
    if (!row) return Status(ErrorCode::kNotFound, "no row has the id " + std::to_string(id));
    rows.insert(*row);
  }
  return rows;
}

// A memory of these rows alone, measured as in `state`.
Result<ResidualMemory> MakeOf(const MemoryState& state, const RowSet& rows,
                              const RamFolder& folder) {
  MemoryDescription description = state.description();
  description.has_sources = false;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(folder.path(), description, rows.rows, {}));
  Rows view = rows.View();
  view.sources = {};
  if (rows.rows > 0) RESMEM_RETURN_IF_ERROR(writer.Add(view));
  RESMEM_RETURN_IF_ERROR(writer.Finish());
  return ResidualMemory::Open(folder.path(), {.verify_blocks = false});
}

// How far the nearest of the rows to learn is from each query.
Result<std::vector<float>> NearestLesson(const MemoryState& state, MatrixView keys,
                                         const RowSet& learn) {
  if (learn.rows == 0) {
    return std::vector<float>(static_cast<size_t>(keys.rows),
                              std::numeric_limits<float>::infinity());
  }
  RowSet lessons = learn;
  lessons.ids.clear();
  for (int64_t i = 0; i < lessons.rows; ++i) lessons.ids.push_back(static_cast<uint64_t>(i));
  const RamFolder folder;
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, MakeOf(state, lessons, folder));
  SearchOptions one;
  one.threads = 1;
  Neighbors nearest;
  RESMEM_RETURN_IF_ERROR(memory.index().Search(keys, one, &nearest));
  return nearest.distances;
}

// The queries that have a row to forget among their k nearest, or a row to learn as near as the
// last of them: answers are made of these alone.
Result<std::vector<int64_t>> Touched(const MemoryState& state, MatrixView keys, int64_t k,
                                     const RowSet& learn, const std::set<int64_t>& gone) {
  Neighbors neighbors;
  RESMEM_RETURN_IF_ERROR(state.predictor.FindNeighbors(keys, k, {}, 1, nullptr, &neighbors));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<float> lessons, NearestLesson(state, keys, learn));
  std::vector<int64_t> touched;
  for (int64_t q = 0; q < keys.rows; ++q) {
    const std::span<const int64_t> rows = neighbors.rows_of(q);
    const bool full = neighbors.k == k && rows.back() >= 0;
    const bool learns =
        full ? lessons[static_cast<size_t>(q)] <= neighbors.distances_of(q).back() : learn.rows > 0;
    if (learns ||
        std::any_of(rows.begin(), rows.end(), [&](int64_t row) { return gone.contains(row); })) {
      touched.push_back(q);
    }
  }
  return touched;
}

// The rows that may be neighbors of a query once those are gone, in the memory's own order, so
// that equal distances are ordered as there.
Result<std::vector<uint64_t>> Candidates(const MemoryState& state, MatrixView keys, int64_t k,
                                         const std::set<int64_t>& gone) {
  Neighbors neighbors;
  RESMEM_RETURN_IF_ERROR(state.predictor.FindNeighbors(keys, k + static_cast<int64_t>(gone.size()),
                                                       {}, 1, nullptr, &neighbors));
  std::set<int64_t> rows;
  for (const int64_t row : neighbors.rows) {
    if (row >= 0 && !gone.contains(row)) rows.insert(row);
  }
  std::vector<uint64_t> ids;
  for (const int64_t row : rows) ids.push_back(state.memory.id(row));
  return ids;
}

// With the same answers for the queries as the changed memory would have.
Result<ResidualMemory> MakeSmall(const MemoryState& state, MatrixView keys, int64_t k,
                                 const RowSet& learn, const std::set<int64_t>& gone,
                                 const RamFolder& folder) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<uint64_t> ids, Candidates(state, keys, k, gone));
  RESMEM_ASSIGN_OR_RETURN(RowSet rows, CopyRows(state, ids));
  if (learn.rows > 0) {  // with ids that no row has
    RowSet added = learn;
    added.ids.clear();
    uint64_t next = ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end()) + 1;
    for (int64_t i = 0; i < added.rows; ++i) added.ids.push_back(next++);
    rows.Append(added);
  }
  return MakeOf(state, rows, folder);
}

Result<ResidualMemory> MakeCopy(const MemoryState& state, const std::string& path,
                                const RowSet& learn, std::span<const uint64_t> forget,
                                const RamFolder& folder) {
  if (state.memory.bytes_on_disk() > kMostCopiedBytes) {
    return Status(ErrorCode::kUnsupported,
                  "a preview would copy this memory, which is frozen or has whitened keys, and it "
                  "is larger than 1 GiB; make the edit and undo it instead");
  }
  RESMEM_RETURN_IF_ERROR(CopyMemory(path, folder.path()));
  if (!forget.empty()) RESMEM_RETURN_IF_ERROR(DeleteRows(folder.path(), forget));
  if (learn.rows > 0) {
    RowSet added = learn;
    added.ids.clear();  // numbered by the memory
    added.sources.assign(state.description().has_sources ? static_cast<size_t>(added.rows) : 0,
                         "preview");
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, MemoryWriter::Append(folder.path(), added.rows));
    RESMEM_RETURN_IF_ERROR(writer.Add(added.View()));
    RESMEM_RETURN_IF_ERROR(writer.Finish());
  }
  return ResidualMemory::Open(folder.path(), {.verify_blocks = false});
}

// These lines of a matrix.
std::vector<float> Gather(MatrixView from, std::span<const int64_t> rows) {
  std::vector<float> gathered;
  for (const int64_t row : rows) {
    const std::span<const float> line = from.row_span(row);
    gathered.insert(gathered.end(), line.begin(), line.end());
  }
  return gathered;
}

// Whether rows alone make no memory that answers as this one.
bool NeedsWholeMemory(const MemoryState& state) {
  const MemoryDescription& description = state.description();
  return description.key_transform == KeyTransform::kWhiten ||
         (state.classifies() && description.form != ResidualForm::kLogits);
}

std::optional<ChangedAnswer> Compare(const Answers& before, const Answers& after, size_t q) {
  ChangedAnswer change;
  const size_t outputs = before.scores.size() / static_cast<size_t>(before.rows);
  for (size_t c = q * outputs; c < (q + 1) * outputs; ++c) {
    change.most = std::max(change.most, std::fabs(after.scores[c] - before.scores[c]));
  }
  if (before.prediction.empty()) return change.most > 0 ? std::optional(change) : std::nullopt;
  change.before = before.prediction[q];
  change.after = after.prediction[q];
  return change.before != change.after ? std::optional(change) : std::nullopt;
}

}  // namespace

Result<Preview> PreviewEdit(const MemoryState& state, const std::string& path, MatrixView keys,
                            MatrixView logits, const RowSet& learn,
                            std::span<const uint64_t> forget) {
  Preview preview;
  RESMEM_ASSIGN_OR_RETURN(const std::set<int64_t> gone, RowsOfIds(state, forget));
  PredictOptions options = state.predictor.DefaultOptions();
  options.threads = 1;
  const int64_t k = options.parameters.k;
  if (keys.rows == 0 || k == 0) return preview;
  const bool whole = NeedsWholeMemory(state);
  std::vector<int64_t> touched(static_cast<size_t>(keys.rows));
  std::iota(touched.begin(), touched.end(), 0);
  if (!whole) {
    RESMEM_ASSIGN_OR_RETURN(touched, Touched(state, keys, k, learn, gone));
    if (touched.empty()) return preview;
  }
  const std::vector<float> some_keys = Gather(keys, touched), some_logits = Gather(logits, touched);
  const auto count = static_cast<int64_t>(touched.size());
  const MatrixView key_view(some_keys.data(), count, keys.columns);
  const MatrixView logit_view(some_logits.data(), count, logits.columns);
  RESMEM_ASSIGN_OR_RETURN(const Answers before, Answer(state, key_view, logit_view, options));
  const RamFolder folder;
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory made,
                          whole ? MakeCopy(state, path, learn, forget, folder)
                                : MakeSmall(state, key_view, k, learn, gone, folder));
  const MemoryState changed(std::move(made), {}, 0);
  RESMEM_ASSIGN_OR_RETURN(const Answers after, Answer(changed, key_view, logit_view, options));
  for (size_t i = 0; i < touched.size(); ++i) {
    std::optional<ChangedAnswer> change = Compare(before, after, i);
    if (!change) continue;
    change->query = static_cast<size_t>(touched[i]);
    preview.push_back(*change);
  }
  return preview;
}

}  // namespace resmem::serve
