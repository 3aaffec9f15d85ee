#include "memories/preview.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "resmem/ram_memory.h"

namespace resmem::serve {
namespace {

// The rows that may be neighbors of a query once `forget` are gone, in the memory's own order, so
// that equal distances are ordered as there.
Result<std::vector<uint64_t>> Candidates(const MemoryState& state, MatrixView keys, int64_t k,
                                         std::span<const uint64_t> forget) {
  std::set<int64_t> gone, rows;
  for (const uint64_t id : forget) {
    const std::optional<int64_t> row = state.memory.FindId(id);
    if (!row) return Status(ErrorCode::kNotFound, "no row has the id " + std::to_string(id));
    gone.insert(*row);
  }
  Neighbors neighbors;
  RESMEM_RETURN_IF_ERROR(state.predictor.FindNeighbors(keys, k + static_cast<int64_t>(gone.size()),
                                                       {}, 1, nullptr, &neighbors));
  for (const int64_t row : neighbors.rows) {
    if (row >= 0 && !gone.contains(row)) rows.insert(row);
  }
  std::vector<uint64_t> ids;
  for (const int64_t row : rows) ids.push_back(state.memory.id(row));
  return ids;
}

// With the same answers for the queries as the changed memory would have.
Result<ResidualMemory> MakeSmall(const MemoryState& state, MatrixView keys, int64_t k,
                                 const RowSet& learn, std::span<const uint64_t> forget,
                                 const RamFolder& folder) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<uint64_t> ids, Candidates(state, keys, k, forget));
  RESMEM_ASSIGN_OR_RETURN(RowSet rows, CopyRows(state, ids));
  if (learn.rows > 0) {  // with ids that no row has
    RowSet added = learn;
    added.ids.clear();
    uint64_t next = ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end()) + 1;
    for (int64_t i = 0; i < added.rows; ++i) added.ids.push_back(next++);
    rows.Append(added);
  }
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

}  // namespace

Result<Preview> PreviewEdit(const MemoryState& state, const std::string& path,
                            std::span<const RecentQuery> queries, const RowSet& learn,
                            std::span<const uint64_t> forget) {
  Preview preview;
  preview.queries = static_cast<int64_t>(queries.size());
  const MemoryDescription& description = state.description();
  for (const uint64_t id : forget) {
    if (!state.memory.FindId(id)) {
      return Status(ErrorCode::kNotFound, "no row has the id " + std::to_string(id));
    }
  }
  if (queries.empty()) return preview;
  std::vector<float> keys, logits;
  for (const RecentQuery& query : queries) {
    keys.insert(keys.end(), query.key.begin(), query.key.end());
    logits.insert(logits.end(), query.logits.begin(), query.logits.end());
  }
  const MatrixView key_view(keys.data(), preview.queries, description.dim);
  const MatrixView logit_view(logits.data(), preview.queries, description.outputs);
  PredictOptions options = state.predictor.DefaultOptions();
  options.threads = 1;
  RESMEM_ASSIGN_OR_RETURN(const Answers before, Answer(state, key_view, logit_view, options));
  const bool whole = description.key_transform == KeyTransform::kWhiten ||
                     (state.classifies() && description.form != ResidualForm::kLogits);
  const RamFolder folder;
  RESMEM_ASSIGN_OR_RETURN(
      ResidualMemory made,
      whole ? MakeCopy(state, path, learn, forget, folder)
            : MakeSmall(state, key_view, options.parameters.k, learn, forget, folder));
  const MemoryState changed(std::move(made), 0);
  RESMEM_ASSIGN_OR_RETURN(const Answers after, Answer(changed, key_view, logit_view, options));
  const auto outputs = static_cast<size_t>(description.outputs);
  for (size_t q = 0; q < queries.size(); ++q) {
    ChangedAnswer change;
    change.query = q;
    for (size_t c = q * outputs; c < (q + 1) * outputs; ++c) {
      change.most = std::max(change.most, std::fabs(after.scores[c] - before.scores[c]));
    }
    if (state.classifies()) {
      change.before = before.prediction[q];
      change.after = after.prediction[q];
      if (change.before != change.after) preview.changed.push_back(change);
    } else if (change.most > 0) {
      preview.changed.push_back(change);
    }
  }
  return preview;
}

}  // namespace resmem::serve
