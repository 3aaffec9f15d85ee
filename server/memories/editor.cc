#include "memories/editor.h"

#include <algorithm>
#include <set>

#include "memories/rest.h"
#include "operation/log.h"

namespace resmem::serve {
namespace {

using Clock = std::chrono::steady_clock;

// Another process may be changing the memory.
constexpr double kWaitSeconds = 10;

Status Failure(ErrorCode code, std::string words) {
  return {code, std::move(words)};
}

std::string FolderOf(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path + ".edits";
}

}  // namespace

struct Editor::Plan {
  EditRequest* request = nullptr;
  Edit edit;
  RowSet rows;            // to add
  RowSet former;          // relabel: the rows as they were
  std::string kept;       // to undo a forget or relabel
  bool half = false;      // neither made nor not: it is settled before the next edit
  bool numbered = false;  // its ids are ours
  Status status;
};

Editor::Editor(ServedMemory* memory, const EditorLimits& limits)
    : memory_(memory), limits_(limits), journal_(FolderOf(memory->source().path)) {}

Editor::~Editor() {
  Stop();
}

Status Editor::Start() {
  RESMEM_RETURN_IF_ERROR(journal_.Open());
  const std::shared_ptr<const MemoryState> state = memory_->state();
  if (state == nullptr) return Failure(ErrorCode::kNotFound, "the memory is not loaded");
  RESMEM_RETURN_IF_ERROR(SettleAll());
  for (const Edit& edit : journal_.History(INT64_MAX, Journal::kMostEdits)) {
    if (edit.kept) kept_.push_front(edit.number);
    if (edit.outcome == Edit::Outcome::kDone) memory_->metrics().Count(edit.feedback);
  }
  FindNextId(*memory_->state());
  known_state_ = memory_->state()->number;
  thread_ = std::thread([this] { Run(); });
  return {};
}

void Editor::FindNextId(const MemoryState& state) {
  uint64_t largest = 0;
  const int64_t capacity = state.memory.capacity();
  for (int64_t row = 0; row < capacity; ++row) largest = std::max(largest, state.memory.id(row));
  next_id_.reset();
  if (capacity == 0) next_id_ = 0;
  if (capacity > 0 && largest < UINT64_MAX) next_id_ = largest + 1;
}

void Editor::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Editor::Submit(EditRequest&& request) {
  if (!thread_.joinable()) {
    request.done(Failure(ErrorCode::kUnsupported,
                         "this memory cannot be changed here; the log of "
                         "the server's start says why (no_edits)"));
    return true;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || static_cast<int64_t>(requests_.size()) >= limits_.waiting) return false;
    requests_.push_back(std::move(request));
  }
  changed_.notify_all();
  return true;
}

int64_t Editor::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(requests_.size());
}

void Editor::Run() {
  Rest rest(limits_.longest_rest);
  while (true) {
    std::vector<EditRequest> taken;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return !requests_.empty() || stopping_; });
      changed_.wait_until(lock, rest.until(), [&] { return stopping_; });
      if (requests_.empty()) return;
      taken.assign(std::make_move_iterator(requests_.begin()),
                   std::make_move_iterator(requests_.end()));
      requests_.clear();
    }
    rest.WorkBegins();
    try {
      Commit(std::move(taken));
      CompactIfWorth();
    } catch (const std::exception& error) {
      LogWarning("edit_failed",
                 JsonText().Add("memory", memory_->name()).Add("what", error.what()));
    }
    rest.WorkEnds();
  }
}

Result<Editor::Plan> Editor::PrepareUndo(EditRequest* request, const MemoryState& state) {
  const std::optional<Edit> edit = journal_.Find(request->undo);
  if (!edit) {
    return Failure(ErrorCode::kNotFound, "there is no edit " + std::to_string(request->undo));
  }
  if (!edit->undoable()) {
    return Failure(ErrorCode::kMismatch,
                   "edit " + std::to_string(edit->number) +
                       (edit->undone_by != 0                    ? " is undone already"
                        : edit->outcome != Edit::Outcome::kDone ? " was not made"
                                                                : ": its rows are not kept"));
  }
  Plan plan;
  plan.request = request;
  plan.edit.undoes = edit->number;
  plan.edit.ids = edit->ids;
  if (edit->kind == Edit::Kind::kLearn) {
    plan.edit.kind = Edit::Kind::kForget;
    return plan;
  }
  plan.edit.kind = edit->kind == Edit::Kind::kRelabel ? edit->kind : Edit::Kind::kLearn;
  RESMEM_ASSIGN_OR_RETURN(plan.rows, ReadKeptRows(edit->number, state));
  return plan;
}

// What the edit would do to the state, with everything checked that can be.
Result<Editor::Plan> Editor::Prepare(EditRequest* request, const MemoryState& state) {
  Plan plan;
  plan.request = request;
  if (request->kind == EditRequest::Kind::kUndo) {
    RESMEM_ASSIGN_OR_RETURN(plan, PrepareUndo(request, state));
  } else if (request->kind == EditRequest::Kind::kLearn) {
    plan.rows = std::move(request->rows);
    plan.numbered = plan.rows.ids.empty();
    if (plan.numbered) {
      for (int64_t i = 0; i < plan.rows.rows; ++i) {
        if (!next_id_) {
          return Failure(ErrorCode::kUnsupported,
                         "the memory's ids end at the largest number; "
                         "give the rows \"ids\" of your own");
        }
        plan.rows.ids.push_back(*next_id_);
        next_id_ = *next_id_ < UINT64_MAX ? std::optional(*next_id_ + 1) : std::nullopt;
      }
    } else if (next_id_) {
      const uint64_t largest = *std::max_element(plan.rows.ids.begin(), plan.rows.ids.end());
      if (largest >= *next_id_) {
        next_id_ = largest < UINT64_MAX ? std::optional(largest + 1) : std::nullopt;
      }
    }
    plan.edit.ids = plan.rows.ids;
  } else {
    const bool relabel = request->kind == EditRequest::Kind::kRelabel;
    plan.edit.kind = relabel ? Edit::Kind::kRelabel : Edit::Kind::kForget;
    plan.edit.ids = request->ids;
  }
  const bool learns = plan.edit.kind == Edit::Kind::kLearn;
  for (const uint64_t id : plan.edit.ids) {
    if (learns != state.memory.FindId(id).has_value()) continue;
    return Failure(learns ? ErrorCode::kMismatch : ErrorCode::kNotFound,
                   learns ? "the memory has a row with the id " + std::to_string(id) + " already"
                          : "no row has the id " + std::to_string(id));
  }
  if (plan.edit.kind == Edit::Kind::kRelabel) {
    RESMEM_ASSIGN_OR_RETURN(plan.former, CopyRows(state, plan.edit.ids));
    plan.kept = WriteRowSet(plan.former);
    if (request->kind == EditRequest::Kind::kRelabel) {
      plan.rows = plan.former;
      plan.rows.labels = request->rows.labels;
    }
    for (size_t i = 0; i < plan.edit.ids.size(); ++i) {
      if (plan.rows.labels[i] != plan.former.labels[i]) continue;
      return Failure(ErrorCode::kMismatch,
                     "row " + std::to_string(plan.edit.ids[i]) + " has this label already");
    }
  }
  if (learns && state.description().has_sources && plan.rows.sources.empty()) {
    plan.rows.sources.assign(static_cast<size_t>(plan.rows.rows), "serve:" + request->request);
  }
  if (learns && !state.description().has_sources) plan.rows.sources.clear();
  const bool forgets = plan.edit.kind == Edit::Kind::kForget;
  const bool frozen = state.classifies() && state.description().form != ResidualForm::kLogits;
  if (forgets && (request->keep || request->kind == EditRequest::Kind::kUndo) && !frozen) {
    RESMEM_ASSIGN_OR_RETURN(const RowSet rows, CopyRows(state, plan.edit.ids));
    plan.kept = WriteRowSet(rows);
  }
  plan.edit.time = TimeNow();
  plan.edit.who = request->who;
  plan.edit.request = request->request;
  plan.edit.token = request->token;
  plan.edit.feedback = request->feedback;
  return plan;
}

Status Editor::AppendAll(std::vector<Plan*> plans) {
  RowSet all;
  for (const Plan* plan : plans) all.Append(plan->rows);
  return AppendRows(all);
}

Status Editor::AppendRows(const RowSet& rows) {
  AppendOptions options;
  options.change.wait_seconds = kWaitSeconds;
  options.tags = !rows.tags.empty();
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Append(memory_->source().path, rows.rows, options));
  RESMEM_RETURN_IF_ERROR(writer.Add(rows.View()));
  return writer.Finish();
}

Status Editor::DeleteAll(std::vector<Plan*> plans) {
  std::vector<uint64_t> ids;
  for (const Plan* plan : plans) {
    ids.insert(ids.end(), plan->edit.ids.begin(), plan->edit.ids.end());
  }
  return DeleteRows(memory_->source().path, ids, {.wait_seconds = kWaitSeconds});
}

// Nobody who reads sees the memory between the two changes.
void Editor::Relabel(Plan* plan) {
  plan->status = DeleteAll({plan});
  if (!plan->status.ok()) return;
  plan->status = AppendRows(plan->rows);
  if (plan->status.ok() || AppendRows(plan->former).ok()) return;
  plan->half = unsettled_ = true;
  plan->status = Failure(plan->status.code(),
                         plan->status.message() + "; the rows are restored before the next edit");
}

// All of a kind at once; where that fails one by one, so that each gets its own error.
void Editor::Apply(std::vector<Plan>* plans) {
  for (const Edit::Kind kind : {Edit::Kind::kLearn, Edit::Kind::kForget}) {
    std::vector<Plan*> group;
    for (Plan& plan : *plans) {
      if (plan.edit.kind == kind) group.push_back(&plan);
    }
    if (group.empty()) continue;
    const auto make = [&](const std::vector<Plan*>& some) {
      return kind == Edit::Kind::kLearn ? AppendAll(some) : DeleteAll(some);
    };
    const Status together = make(group);
    if (together.ok()) continue;
    for (Plan* plan : group) plan->status = group.size() > 1 ? make({plan}) : together;
  }
  for (Plan& plan : *plans) {
    if (plan.edit.kind == Edit::Kind::kRelabel) Relabel(&plan);
  }
}

// `expected`: rows stored, if no other program has changed the memory; otherwise our ids may be
// taken.
Status Editor::OpenState(int64_t expected, std::shared_ptr<const MemoryState>* state) {
  RESMEM_ASSIGN_OR_RETURN(*state, memory_->Open(/*verify=*/false));
  memory_->Publish(*state);
  known_state_ = (*state)->number;
  if ((*state)->memory.capacity() != expected) FindNextId(**state);
  return {};
}

void Editor::Commit(std::vector<EditRequest> requests) {
  const Clock::time_point begin = Clock::now();
  const std::lock_guard<std::mutex> lock(memory_->changing());
  if (unsettled_ && memory_->state() != nullptr) {
    const Status settled = SettleAll();
    if (!settled.ok()) {
      for (EditRequest& request : requests) request.done(settled);
      return;
    }
  }
  const std::shared_ptr<const MemoryState> state = memory_->state();
  if (state != nullptr && state->number != known_state_) FindNextId(*state);  // it was reloaded
  std::vector<Plan> plans;
  std::set<uint64_t> touched;
  std::set<std::string> tokens;
  std::vector<EditRequest> later;  // what needs the outcome of another in this batch
  for (EditRequest& request : requests) {
    if (state == nullptr) {
      request.done(Failure(ErrorCode::kResourceExhausted, "the memory is not loaded"));
      continue;
    }
    const std::optional<Edit> before =
        request.token.empty() ? std::nullopt : journal_.FindToken(request.token);
    if (before && before->outcome == Edit::Outcome::kDone) {
      request.done(EditResult{*before, state->memory.rows(), state->number, /*repeated=*/true});
      continue;
    }
    if (!request.token.empty() && !tokens.insert(request.token).second) {
      later.push_back(std::move(request));
      continue;
    }
    Result<Plan> plan = Prepare(&request, *state);
    if (!plan.ok()) {
      request.done(plan.status());
      continue;
    }
    const auto& ids = plan->edit.ids;
    if (std::any_of(ids.begin(), ids.end(), [&](uint64_t id) { return touched.contains(id); })) {
      request.rows = std::move(plan->rows);
      later.push_back(std::move(request));
      continue;
    }
    touched.insert(ids.begin(), ids.end());
    plan->edit.number = journal_.next_number() + static_cast<int64_t>(plans.size());
    plans.push_back(std::move(*plan));
  }
  if (!plans.empty()) {
    std::vector<Edit> edits;
    std::vector<std::string> kept;
    for (const Plan& plan : plans) {
      edits.push_back(plan.edit);
      kept.push_back(plan.kept);
    }
    const Status begun = journal_.Begin(std::move(edits), kept);
    if (begun.ok()) {
      Apply(&plans);
    } else {
      for (Plan& plan : plans) plan.status = begun;
    }
    // Also after a failure: perhaps another program has changed the memory.
    std::shared_ptr<const MemoryState> now = state;
    if (begun.ok()) {
      int64_t expected = state->memory.capacity();
      for (const Plan& plan : plans) expected += plan.status.ok() ? plan.rows.rows : 0;
      const Status opened = OpenState(expected, &now);
      if (!opened.ok()) {
        LogWarning("edits_not_visible",
                   JsonText().Add("memory", memory_->name()).Add("reason", opened.message()));
        for (Plan& plan : plans) {
          if (!plan.status.ok()) continue;
          plan.request->done(Failure(opened.code(),
                                     "the edit is on disk, but the memory cannot "
                                     "be opened: " +
                                         opened.message()));
          plan.request->done = nullptr;
        }
      }
      memory_->metrics().commits.fetch_add(1, std::memory_order_relaxed);
      memory_->metrics().commit_seconds.Observe(
          std::chrono::duration<double>(Clock::now() - begin).count());
    }
    Answer(&plans, now, &later);
  }
  if (!later.empty()) {
    const std::lock_guard<std::mutex> queue_lock(mutex_);
    requests_.insert(requests_.begin(), std::make_move_iterator(later.begin()),
                     std::make_move_iterator(later.end()));
  }
}

void Editor::Answer(std::vector<Plan>* plans, const std::shared_ptr<const MemoryState>& state,
                    std::vector<EditRequest>* later) {
  MemoryMetrics& metrics = memory_->metrics();
  for (Plan& plan : *plans) {
    const bool done = plan.status.ok();
    const int64_t number = plan.edit.number;
    const Status ended = plan.half ? Status() : journal_.End(number, done);
    if (!ended.ok()) {
      LogWarning("journal",
                 JsonText().Add("memory", memory_->name()).Add("reason", ended.message()));
    }
    if (done) {
      const auto rows = static_cast<int64_t>(plan.edit.ids.size());
      const bool learned = plan.edit.kind != Edit::Kind::kForget;
      const bool forgot = plan.edit.kind != Edit::Kind::kLearn;
      metrics.Count(plan.edit.feedback);
      if (learned) metrics.learned.fetch_add(rows, std::memory_order_relaxed);
      if (forgot) metrics.forgotten.fetch_add(rows, std::memory_order_relaxed);
      if (learned && plan.edit.undoes != 0) journal_.ForgetRows(plan.edit.undoes);
      if (!plan.kept.empty()) kept_.push_back(number);
      if (!learned && plan.request->kind == EditRequest::Kind::kForget && !plan.request->keep) {
        compact_now_ = true;
        journal_.ForgetRowsWith(plan.edit.ids);  // what earlier edits kept of them
      }
      LogInfo("edit", JsonText()
                          .Add("memory", memory_->name())
                          .Add("edit", number)
                          .Add("kind", KindName(plan.edit.kind))
                          .Add("rows", rows)
                          .Add("who", plan.edit.who)
                          .Add("request", plan.edit.request));
    } else {
      metrics.commit_failures.fetch_add(1, std::memory_order_relaxed);
    }
    if (plan.request->done == nullptr) continue;
    if (!done && plan.numbered && !plan.request->again) {  // another program had taken the ids
      plan.request->again = true;
      plan.request->rows = std::move(plan.rows);
      plan.request->rows.ids.clear();
      later->push_back(std::move(*plan.request));
      continue;
    }
    if (!done) {
      plan.request->done(plan.status);
      continue;
    }
    EditResult result{journal_.Find(number).value_or(plan.edit), state->memory.rows(),
                      state->number};
    if (plan.edit.kind == Edit::Kind::kForget) {
      auto found = FindInSnapshots(memory_->source().path, plan.edit.ids);
      if (found.ok()) {
        result.in_snapshots = std::move(*found);
      } else {
        LogWarning(
            "snapshots_not_searched",
            JsonText().Add("memory", memory_->name()).Add("reason", found.status().message()));
      }
    }
    plan.request->done(std::move(result));
  }
  DropOldRows();
}

void Editor::DropOldRows() {
  while (static_cast<int64_t>(kept_.size()) > limits_.kept_forgets) {
    journal_.ForgetRows(kept_.front());
    kept_.pop_front();
  }
}

void Editor::CompactIfWorth() {
  const std::shared_ptr<const MemoryState> state = memory_->state();
  if (state == nullptr) return;
  const int64_t deleted = state->memory.capacity() - state->memory.rows();
  const bool worth = deleted > limits_.compact_above && deleted > state->memory.capacity() / 5;
  if (!(worth && waiting() == 0) && !(compact_now_ && deleted > 0)) return;
  compact_now_ = false;
  const std::lock_guard<std::mutex> lock(memory_->changing());
  std::shared_ptr<const MemoryState> now;
  Status status = CompactMemory(memory_->source().path, {.wait_seconds = kWaitSeconds});
  if (status.ok()) status = OpenState(-1, &now);
  JsonText details;
  details.Add("memory", memory_->name()).Add("deleted_rows", deleted);
  status.ok() ? LogInfo("compacted", details)
              : LogWarning("not_compacted", details.Add("reason", status.message()));
}

}  // namespace resmem::serve
