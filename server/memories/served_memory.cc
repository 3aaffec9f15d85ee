#include "memories/served_memory.h"

#include <algorithm>
#include <filesystem>

#include "operation/log.h"

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

std::shared_ptr<const OnnxModel> ServedMemory::model() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return model_;
}

Result<std::shared_ptr<const MemoryState>> ServedMemory::Open(bool verify) {
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory memory,
                          ResidualMemory::Open(source_.path, {.verify_blocks = verify}));
  int64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = ++states_;
  }
  auto state = std::make_shared<const MemoryState>(std::move(memory), number);
  Warm(*state);
  return std::shared_ptr<const MemoryState>(std::move(state));
}

void ServedMemory::Publish(std::shared_ptr<const MemoryState> state) {
  OpenModel(state->description());
  const std::lock_guard<std::mutex> lock(mutex_);
  state_.swap(state);  // the old one is freed by its last reader
  error_.clear();
}

void ServedMemory::Unload(std::string why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  state_.reset();
  error_ = std::move(why);
}

void ServedMemory::OpenModel(const MemoryDescription& description) {
  if (model() != nullptr) return;
  std::string path = source_.model;
  if (path.empty()) {
    const auto note = description.notes.find("model");
    if (note == description.notes.end()) return;
    path = note->second;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return;
  }
  OnnxOptions options;
  options.threads = 1;  // several requests are answered at once
  Result<OnnxModel> opened = OnnxModel::Open(path, options);
  Status status = opened.ok() ? Status() : opened.status();
  if (opened.ok() && !description.fingerprint.digest.empty() &&
      opened->fingerprint().digest != description.fingerprint.digest) {
    status = {ErrorCode::kMismatch, path + " is not the model that made the memory's keys"};
  }
  if (!status.ok()) {
    LogWarning("no_model", JsonText().Add("memory", name()).Add("reason", status.message()));
    return;
  }
  auto shared = std::make_shared<const OnnxModel>(std::move(*opened));
  const std::lock_guard<std::mutex> lock(mutex_);
  model_ = std::move(shared);
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
  Neighbors neighbors;
  for (int64_t i = 0; i < kSingleQueries; ++i) {
    if (!state.predictor.FindNeighbors(view.Slice(i, 1), k, {}, 1, nullptr, &neighbors).ok())
      return;
  }
  // What fails here fails for the first reader, who is told.
  [[maybe_unused]] const Status batch =
      state.predictor.FindNeighbors(view, k, {}, 1, nullptr, &neighbors);
}

}  // namespace resmem::serve
