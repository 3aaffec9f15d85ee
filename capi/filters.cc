// Rows by their tags.
#include "capi/handle.h"
#include "resmem/row_filter.h"

using namespace resmem;        // NOLINT: this file is a border, with names of both sides
using namespace resmem::capi;  // NOLINT

namespace resmem::capi {
namespace {

// Asked for again and again, as for each of a few customers; each holds what searches prepare of
// the keys.
constexpr size_t kMostParts = 16;

Result<RowFilter> ReadFilter(const char* where) {
  if (where == nullptr) return Invalid("where is NULL");
  return RowFilter::Parse(where);
}

Result<std::shared_ptr<const State>> PartOf(const State& state, const char* where) {
  RESMEM_ASSIGN_OR_RETURN(const RowFilter filter, ReadFilter(where));
  const std::lock_guard<std::mutex> lock(state.parts_mutex);
  const auto known = state.parts.find(filter.text());
  if (known != state.parts.end()) return known->second;
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory some, RowsWhere(state.memory, filter));
  auto part = std::make_shared<const State>(std::move(some));
  if (state.parts.size() >= kMostParts) state.parts.clear();
  state.parts.emplace(filter.text(), part);
  return std::shared_ptr<const State>(std::move(part));
}

}  // namespace
}  // namespace resmem::capi

int resmem_where(resmem_memory* memory, const char* where, resmem_memory** part) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || part == nullptr) return Invalid("the memory or part is NULL");
    auto found = std::make_unique<resmem_memory>();
    RESMEM_ASSIGN_OR_RETURN(found->state, PartOf(*CurrentState(memory), where));
    found->path = memory->path;
    found->is_part = true;
    *part = found.release();
    return {};
  });
}

int resmem_delete_where(resmem_memory* memory, const char* where, int64_t* deleted) {
  return Guarded([&]() -> Status {
    if (memory == nullptr) return Invalid("the memory is NULL");
    RESMEM_ASSIGN_OR_RETURN(const RowFilter filter, ReadFilter(where));
    return Change(memory, [&]() -> Status {
      // What another process has appended counts, too.
      RESMEM_ASSIGN_OR_RETURN(
          const ResidualMemory now,
          ResidualMemory::Open(memory->path, {.verify_blocks = false, .exact = true}));
      const std::vector<uint64_t> ids = IdsWhere(now, filter);
      if (deleted != nullptr) *deleted = std::ssize(ids);
      return ids.empty() ? Status() : DeleteRows(memory->path, ids, Waiting(memory));
    });
  });
}

int resmem_read_tags(resmem_memory* memory, const int64_t* rows, int64_t count, char** lines) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || lines == nullptr) return Invalid("the memory or lines is NULL");
    if (count < 0 || (count > 0 && rows == nullptr)) return Invalid("rows is NULL or negative");
    const auto state = CurrentState(memory);
    std::string text;
    for (int64_t i = 0; i < count; ++i) {
      if (rows[i] < 0 || rows[i] >= state->memory.capacity()) {
        return Invalid("rows[" + std::to_string(i) + "] is " + std::to_string(rows[i]) +
                       "; the memory has rows 0 to " +
                       std::to_string(state->memory.capacity() - 1));
      }
      text += (i == 0 ? "" : "\n") + std::string(state->memory.tags(rows[i]));
    }
    return GiveText(text, lines);
  });
}
