#include "memories/served_memory.h"

#include <algorithm>
#include <filesystem>

#include "memories/row_images.h"
#include "memories/validation_rows.h"
#include "operation/log.h"
#include "resmem_program/edit_stream.h"
#include "resmem_program/joined_memory.h"
#include "resmem_program/reopen_memory.h"
#include "resmem_program/row_parts.h"
#include "shards/shard_set.h"

namespace resmem::serve {
namespace {

// What search derives from the keys is made once so many queries came: one by one, and in batches.
// The first readers of a state must not be those who wait for it.
constexpr int64_t kSingleQueries = 8, kBatchQueries = 128;

bool SoundName(const std::string& name) {
  const auto sound = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= 100 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), sound);
}

}  // namespace

Result<MemorySource> ParseMemorySource(const std::string& text) {
  MemorySource source;
  const size_t equals = text.find('=');
  if (equals != std::string::npos) {
    source.name = text.substr(0, equals);
    source.path = text.substr(equals + 1);
  } else {
    source.path = text;
    std::filesystem::path path(text);
    if (path.filename().empty()) path = path.parent_path();
    source.name = path.stem().string();
  }
  if (!SoundName(source.name) || source.path.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  "memory '" + text +
                      "': give NAME=PATH, the name of letters, digits, '-', '_' "
                      "and '.', at most 100");
  }
  return source;
}

std::shared_ptr<const MemoryState> ServedMemory::state() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

std::string ServedMemory::error() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

// A name that says what the memory holds is no other memory's.
Status ServedMemory::CheckContent(const ResidualMemory& memory) const {
  const std::string_view wanted = ContentOf(source_.name);
  std::string found = ContentHash(memory);
  const std::optional<StreamPosition> at = PositionOf(memory);
  if (!source_.edits.empty() && at) found = at->seed;
  if (wanted.empty() || wanted == found) return {};
  return {ErrorCode::kMismatch, source_.path + ": its content is " + found + ", not " +
                                    std::string(wanted) + " as its name '" + source_.name +
                                    "' says; copy the folder of that content here, or change the "
                                    "name"};
}

Result<ResidualMemory> ServedMemory::OpenRows(bool verify, const MemoryState* former,
                                              std::shared_ptr<const ShardSet>* shards) const {
  if (source_.shards) {
    constexpr std::chrono::seconds kPatience{5};
    RESMEM_ASSIGN_OR_RETURN(ShardFile file, ReadShardFile(source_.path));
    if (file.name != source_.name) {
      return Status(ErrorCode::kInvalidArgument, source_.path + ": names the memory '" + file.name +
                                                     "', formerly '" + source_.name +
                                                     "'; start the gateway again");
    }
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory like,
                            ResidualMemory::Open(file.answers, {.verify_blocks = false}));
    *shards =
        std::make_shared<const ShardSet>(std::move(file), most_bytes_, !source_.edits.empty());
    const std::string lacking = (*shards)->client().NotReady(kPatience);
    if (!lacking.empty() && former != nullptr) {
      return Status(ErrorCode::kResourceExhausted,
                    source_.path + ": the former shards stay in use: " + lacking);
    }
    if (!lacking.empty()) {
      LogWarning("shards_not_ready", JsonText().Add("memory", name()).Add("reason", lacking));
    }
    return OpenRowParts(like, {});
  }
  if (former != nullptr && !verify) {
    return ReopenMemory(source_.path, {.verify_blocks = false}, former->memory);
  }
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory memory,
                          ResidualMemory::Open(source_.path, {.verify_blocks = verify}));
  RESMEM_RETURN_IF_ERROR(CheckContent(memory));
  return memory;
}

Result<std::shared_ptr<const MemoryState>> ServedMemory::Open(bool verify) {
  const std::shared_ptr<const MemoryState> former = state();
  std::shared_ptr<const ShardSet> shards;
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory memory, OpenRows(verify, former.get(), &shards));
  RESMEM_ASSIGN_OR_RETURN(BesideMemory beside, BesideOf(memory, verify));
  beside.shards = std::move(shards);
  int64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = ++states_;
  }
  auto made = std::make_shared<const MemoryState>(std::move(memory), std::move(beside), number);
  // Files of the former state that stayed are shared, and what was found broken in them is.
  if (former != nullptr && !verify && !source_.shards) made->NoteDamage(former->damage());
  Warm(*made);
  return std::shared_ptr<const MemoryState>(std::move(made));
}

void ServedMemory::Publish(std::shared_ptr<const MemoryState> state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  state_.swap(state);  // the old one is freed by its last reader
  error_.clear();
}

void ServedMemory::Unload(std::string why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  state_.reset();
  error_ = std::move(why);
}

Result<std::shared_ptr<const MemoryModel>> ServedMemory::ModelOf(const ResidualMemory& memory,
                                                                 bool verify) const {
  const std::shared_ptr<const MemoryState> former = state();
  if (former != nullptr && former->model != nullptr && former->model->Made(memory)) {
    return former->model;
  }
  if (former != nullptr && !verify) return std::shared_ptr<const MemoryModel>();
  Result<std::shared_ptr<const MemoryModel>> opened = MemoryModel::Open(source_, memory);
  if (opened.ok() || !source_.model.empty()) return opened;
  // Nobody asked for it: the memory is served by its arrays.
  LogWarning("no_model", JsonText().Add("memory", name()).Add("reason", opened.status().message()));
  return std::shared_ptr<const MemoryModel>();
}

Result<BesideMemory> ServedMemory::BesideOf(const ResidualMemory& memory, bool verify) const {
  BesideMemory beside;
  RESMEM_ASSIGN_OR_RETURN(beside.model, ModelOf(memory, verify));
  const std::shared_ptr<const MemoryState> former = state();
  if (former != nullptr && !verify) {
    beside.validation = former->validation;
    beside.images = former->images;
    return beside;
  }
  if (!source_.validation.empty()) {
    RESMEM_ASSIGN_OR_RETURN(RowSet rows, ReadValidationRows(source_.validation, memory));
    beside.validation = std::make_shared<const RowSet>(std::move(rows));
  }
  if (!source_.images.empty()) {
    RESMEM_ASSIGN_OR_RETURN(beside.images, RowImages::Open(source_.images));
  }
  return beside;
}

void ServedMemory::Warm(const MemoryState& state) const {
  const MemoryDescription& description = state.description();
  if (state.memory.rows() == 0 || description.dim == 0) return;
  std::vector<float> keys(static_cast<size_t>(kBatchQueries * description.dim));
  int64_t found = 0;
  for (int64_t row = 0; row < state.memory.capacity() && found < kBatchQueries; ++row) {
    if (state.memory.deleted(row)) continue;
    state.memory.DecodeKey(
        row, std::span<float>(keys).subspan(static_cast<size_t>(found++ * description.dim),
                                            static_cast<size_t>(description.dim)));
  }
  for (int64_t i = found; i < kBatchQueries; ++i) {  // fewer rows than that: some twice
    std::copy_n(keys.begin() + (i % found) * description.dim, description.dim,
                keys.begin() + i * description.dim);
  }
  const MatrixView view(keys.data(), kBatchQueries, description.dim);
  const int64_t k = std::max<int64_t>(1, state.predictor.DefaultOptions().parameters.k);
  const bool indexed = state.memory.index().Approximate(k);  // its codes lie in its files
  Neighbors neighbors;
  for (int64_t i = 0; i < kSingleQueries; ++i) {
    if (!state.predictor.FindNeighbors(view.Slice(i, 1), k, {}, 1, nullptr, &neighbors).ok())
      return;
  }
  if (indexed) return;
  // What fails here fails for the first reader, who is told.
  [[maybe_unused]] const Status batch =
      state.predictor.FindNeighbors(view, k, {}, 1, nullptr, &neighbors);
}

}  // namespace resmem::serve
