#include "edits/follower.h"

#include <algorithm>

#include "memories/rest.h"
#include "operation/log.h"
#include "resmem_program/joined_memory.h"
#include "shards/shard_file.h"

namespace resmem::serve {
namespace {

using std::chrono::milliseconds;

constexpr double kLockSeconds = 10;  // another process may be changing the memory
constexpr milliseconds kLook{500};   // for news, where nobody tells of them
constexpr int64_t kMostEdits = 256;  // of a change
constexpr size_t kMostBytes = 8 << 20;

Status Lost(std::string words) {
  return {ErrorCode::kMismatch,
          std::move(words) +
              "; seed this replica again: stop it, put a copy of another replica's folder of this "
              "shard in the place of its own (cp -r, also while that one serves), and start it"};
}

// What the memory itself will never take, so that every replica refuses it alike.
bool IsRefusal(const Status& status) {
  return status.code() == ErrorCode::kBadData;
}

// Of an edit without a token nothing is known.
bool Knows(const StreamPosition& at, const std::string& token) {
  return std::any_of(at.named.begin(), at.named.end(),
                     [&](const NamedEdit& each) { return each.token == token; });
}

void Name(const std::string& token, int64_t sequence, StreamPosition* at) {
  if (at->named.size() >= StreamPosition::kMostNames) at->named.erase(at->named.begin());
  at->named.push_back({token, sequence});
}

}  // namespace

Result<std::unique_ptr<Follower>> Follower::Make(ServedMemory* memory, const EditorLimits& limits) {
  std::unique_ptr<Follower> follower(new Follower(memory, limits));
  const MemorySource& source = memory->source();
  RESMEM_ASSIGN_OR_RETURN(follower->log_,
                          EditLog::Open(source.edits, std::string(WithoutContent(source.name)),
                                        [wake = follower.get()] { wake->Wake(); }));
  return follower;
}

Follower::~Follower() {
  Stop();
}

Status Follower::Check() {
  const State state = memory_->state();
  if (state == nullptr) return {ErrorCode::kNotFound, "the memory is not loaded"};
  const MemorySource& source = memory_->source();
  const ResidualMemory& memory = state->memory;
  const std::optional<StreamPosition> at = PositionOf(memory);
  if (at && (at->stream != log_->stream() || at->shard != source.shard ||
             at->shards != source.shards_in_all)) {
    return {ErrorCode::kMismatch,
            source.path + ": follows the stream " + at->stream + " as shard " +
                std::to_string(at->shard) + "/" + std::to_string(at->shards) + ", not " +
                log_->stream() + " as " + std::to_string(source.shard) + "/" +
                std::to_string(source.shards_in_all) + "; give the --shard that it had"};
  }
  if (state->description().key_transform == KeyTransform::kWhiten) {
    return {ErrorCode::kUnsupported, source.path + ": whitened keys cannot be cut into shards"};
  }
  if (!at) {
    for (int64_t row = 0; row < memory.capacity(); ++row) {
      if (memory.id(row) < kFirstStreamedId) continue;
      return {ErrorCode::kUnsupported,
              source.path + ": has the id " + std::to_string(memory.id(row)) + "; ids from " +
                  std::to_string(kFirstStreamedId) +
                  " on are those that the stream gives. Make the memory with smaller ids"};
    }
    seed_ = ContentHash(memory);
  }
  counters_.sequence = PositionIn(*state).sequence;
  return {};
}

void Follower::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Follower::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Follower::Wake() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    news_ = true;
  }
  changed_.notify_all();
}

FollowerCounters Follower::counters() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  FollowerCounters now = counters_;
  now.connected = log_->connected();
  return now;
}

std::string Follower::stuck() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stuck_;
}

void Follower::Run() {
  Rest rest(limits_.longest_rest);
  while (true) {
    bool made = false;
    rest.WorkBegins();
    Status status;
    try {
      status = Step(&made);
      if (made) CompactIfWorth();
    } catch (const std::exception& error) {
      status = Status(ErrorCode::kResourceExhausted, error.what());
    }
    rest.WorkEnds();
    Tell(status);
    std::unique_lock<std::mutex> lock(mutex_);
    if (made) {
      changed_.wait_until(lock, rest.until(), [&] { return stopping_; });
    } else {
      changed_.wait_for(lock, kLook, [&] { return stopping_ || (news_ && status.ok()); });
    }
    if (stopping_) return;
  }
}

void Follower::Tell(const Status& status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stuck_ = status.code() == ErrorCode::kMismatch ? status.message() : "";
  }
  if (status.message() == told_.message()) return;
  told_ = status;
  JsonText details;
  details.Add("memory", memory_->name());
  status.ok() ? LogInfo("edits_followed", details)
              : LogWarning("edits_not_followed", details.Add("reason", status.message()));
}

StreamPosition Follower::PositionIn(const MemoryState& state) const {
  const std::optional<StreamPosition> at = PositionOf(state.memory);
  if (at) return *at;
  StreamPosition begin;
  begin.stream = log_->stream();
  begin.seed = seed_;
  begin.sequence = memory_->source().edits_after;
  begin.shard = memory_->source().shard;
  begin.shards = memory_->source().shards_in_all;
  return begin;
}

Status Follower::CheckStream(const StreamPosition& at, const EditLogState& log) const {
  if (at.created != 0 && at.created != log.created) {
    return Lost("the stream " + at.stream +
                " is another one than that which this memory has followed up to edit " +
                std::to_string(at.sequence) + ": it was deleted and made again");
  }
  if (log.last < at.sequence) {
    return Lost("the stream " + at.stream + " ends at edit " + std::to_string(log.last) +
                ", and this memory has " + std::to_string(at.sequence));
  }
  if (log.last > at.sequence && log.first > at.sequence + 1) {
    return Lost("the stream " + at.stream + " begins with edit " + std::to_string(log.first) +
                ", and this memory needs " + std::to_string(at.sequence + 1) + " next");
  }
  return {};
}

Result<Follower::Batch> Follower::ReadBatch(int64_t after, int64_t last) {
  Batch batch{after, {}};
  size_t bytes = 0;
  const int64_t end = std::min(last, after + kMostEdits);
  for (int64_t next = after + 1; next <= end && bytes < kMostBytes; ++next) {
    RESMEM_ASSIGN_OR_RETURN(std::optional<std::string> edit, log_->Read(next));
    if (!edit) {
      return Lost("the stream has lost edit " + std::to_string(next) + " of " +
                  std::to_string(last));
    }
    bytes += edit->size();
    batch.edits.push_back(std::move(*edit));
  }
  return batch;
}

Status Follower::Step(bool* made) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    news_ = false;
  }
  State state = memory_->state();
  if (state == nullptr) return {};
  StreamPosition at = PositionIn(*state);
  if (!log_->connected()) return {ErrorCode::kResourceExhausted, "no node can be reached"};
  Result<EditLogState> log = log_->State();
  if (!log.ok() && log.status().code() == ErrorCode::kNotFound && at.created == 0) {
    return {};  // nobody has edited yet
  }
  if (!log.ok()) return log.status();
  RESMEM_RETURN_IF_ERROR(CheckStream(at, *log));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    counters_.last = log->last;
    counters_.sequence = at.sequence;
  }
  if (log->last <= at.sequence) return {};
  at.created = log->created;
  RESMEM_ASSIGN_OR_RETURN(const Batch batch, ReadBatch(at.sequence, log->last));
  RESMEM_RETURN_IF_ERROR(Apply(state, at, batch));
  *made = true;
  return {};
}

Status Follower::Apply(const State& state, const StreamPosition& at, const Batch& batch) {
  const std::lock_guard<std::mutex> lock(memory_->changing());
  if (memory_->state() != state) return {};  // it was reloaded
  Status status = ApplyAs(state, at, batch, /*refuse=*/false);
  if (IsRefusal(status) && batch.edits.size() > 1) {  // one by one, to find which
    status = ApplyAs(state, at, {batch.from, {batch.edits[0]}}, /*refuse=*/false);
  }
  if (IsRefusal(status)) status = ApplyAs(state, at, batch, /*refuse=*/true);
  // The folder may be further than the state: a change of which only the end failed.
  const Status opened = OpenState();
  return status.ok() ? opened : status;
}

Status Follower::ApplyAs(const State& state, StreamPosition at, const Batch& batch, bool refuse) {
  EditFold fold(*state, at.shard, at.shards);
  at.sequence = refuse ? batch.from + 1 : batch.from;
  for (size_t i = 0; i < batch.edits.size() && !refuse; ++i) {
    const Result<EditMessage> edit = ReadEditMessage(batch.edits[i], *state);
    if (!edit.ok()) return edit.status();
    if (fold.MustWait(*edit)) break;
    ++at.sequence;
    if (Knows(at, edit->token)) continue;
    if (!edit->token.empty()) Name(edit->token, at.sequence, &at);
    const Status added = fold.Add(at.sequence, *edit);
    if (added.code() == ErrorCode::kUnsupported) return {ErrorCode::kBadData, added.message()};
    RESMEM_RETURN_IF_ERROR(added);
  }
  const RowSet learn = fold.learn();
  const std::vector<uint64_t> forget = fold.forget();
  RESMEM_RETURN_IF_ERROR(
      ApplyEdits(memory_->source().path, batch.from,
                 {.learn = learn.View(), .forget = forget, .position = std::move(at)},
                 {.wait_seconds = kLockSeconds}));
  MemoryMetrics& metrics = memory_->metrics();
  metrics.commits.fetch_add(1, std::memory_order_relaxed);
  metrics.learned.fetch_add(learn.rows, std::memory_order_relaxed);
  metrics.forgotten.fetch_add(std::ssize(forget), std::memory_order_relaxed);
  if (refuse) {
    LogWarning("edit_refused",
               JsonText().Add("memory", memory_->name()).Add("sequence", batch.from + 1));
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counters_.refused;
  }
  return {};
}

Status Follower::OpenState() {
  RESMEM_ASSIGN_OR_RETURN(State now, memory_->Open(/*verify=*/false));
  const int64_t sequence = PositionIn(*now).sequence;
  memory_->Publish(std::move(now));
  const std::lock_guard<std::mutex> lock(mutex_);
  counters_.sequence = sequence;
  return {};
}

void Follower::CompactIfWorth() {
  const State state = memory_->state();
  if (state == nullptr) return;
  const int64_t deleted = state->memory.capacity() - state->memory.rows();
  if (deleted <= limits_.compact_above || deleted <= state->memory.capacity() / 5) return;
  const std::lock_guard<std::mutex> lock(memory_->changing());
  Status status = CompactMemory(memory_->source().path, {.wait_seconds = kLockSeconds});
  if (status.ok()) status = OpenState();
  if (status.ok()) return;
  LogWarning("not_compacted",
             JsonText().Add("memory", memory_->name()).Add("reason", status.message()));
}

}  // namespace resmem::serve
