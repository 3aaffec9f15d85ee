#include "train/run_folder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "recipe/json_log.h"
#include "resmem/data/array.h"
#include "support/file_system.h"
#include "support/text.h"
#include "train/epoch_json.h"

namespace resmem::train {
namespace {

constexpr char kCheckpointPrefix[] = "checkpoint-";
constexpr char kLog[] = "log.jsonl";
constexpr size_t kKeptCheckpoints = 2;

}  // namespace

std::string RunFolder::EpochName(const char* kind, int64_t epoch) {
  std::string number = std::to_string(epoch);
  if (number.size() < 4) number.insert(0, 4 - number.size(), '0');
  return Text(kind, number);
}

Result<std::vector<int64_t>> RunFolder::Checkpoints() const {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, FileSystem::Posix().List(path_));
  std::vector<int64_t> epochs;
  for (const std::string& name : names) {
    if (!name.starts_with(kCheckpointPrefix)) continue;
    const char* begin = name.data() + sizeof(kCheckpointPrefix) - 1;
    int64_t epoch = 0;
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), epoch);
    if (error == std::errc() && end == name.data() + name.size()) epochs.push_back(epoch);
  }
  std::sort(epochs.begin(), epochs.end());
  return epochs;
}

Status RunFolder::WriteSplit(const TrainSplit& split, int64_t rows) const {
  constexpr int32_t kLearned = 0, kHeldOut = 1, kLeftOut = 2;  // as in docs/arrays.md
  std::vector<int32_t> roles(static_cast<size_t>(rows), kLeftOut);
  for (const int64_t row : split.train) roles[static_cast<size_t>(row)] = kLearned;
  for (const int64_t row : split.validation) roles[static_cast<size_t>(row)] = kHeldOut;
  return WriteNpy(File("split.npy"), std::span<const int32_t>(roles));
}

Status RunFolder::Save(const Progressed& progressed, const NamedTensors& state) const {
  RESMEM_RETURN_IF_ERROR(
      SaveCheckpoint(File(EpochName(kCheckpointPrefix, progressed.epochs)), progressed, state));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> epochs, Checkpoints());
  for (size_t i = 0; i + kKeptCheckpoints < epochs.size(); ++i) {
    RESMEM_RETURN_IF_ERROR(
        FileSystem::Posix().Remove(File(EpochName(kCheckpointPrefix, epochs[i]))));
  }
  return {};
}

Result<Progressed> RunFolder::Restore(const NamedTensors& state,
                                      const std::function<void(const std::string&)>& note) const {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> epochs, Checkpoints());
  for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch) {
    auto loaded = LoadCheckpoint(File(EpochName(kCheckpointPrefix, *epoch)), state);
    if (loaded.ok() || loaded.status().code() == ErrorCode::kMismatch) return loaded;
    note(Text("passed over: ", loaded.status().message()));
  }
  return Progressed{};
}

Status RunFolder::CutLog(int64_t epochs) const {
  return CutJsonLog(File(kLog), "epoch", epochs);
}

Status RunFolder::Log(const EpochReport& report) const {
  return AppendToJsonLog(File(kLog), EpochJson(report));
}

}  // namespace resmem::train
