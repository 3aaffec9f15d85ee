#include "memories/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "protocol/json_text.h"
#include "protocol/json_value.h"
#include "resmem_program/output_file.h"
#include "resmem_program/system_error.h"

namespace resmem::serve {
namespace {

constexpr std::string_view kLineBegins = "{\"edit\":";

Status Failed(const std::string& path, const char* what) {
  const int error = errno;
  return {CodeOfSystemError(error), path + ": cannot " + what + ": " + std::strerror(error)};
}

Status SyncFolder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return Failed(path, "open");
  const bool synced = fsync(folder) == 0;
  close(folder);
  return synced ? Status() : Failed(path, "sync");
}

Status WriteAll(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path, "write");
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

const char* KindName(Edit::Kind kind) {
  if (kind == Edit::Kind::kRelabel) return "relabel";
  return kind == Edit::Kind::kLearn ? "learn" : "forget";
}

namespace {

void AddFeedback(const Feedback& feedback, JsonText* json) {
  if (feedback.rows() == 0) return;
  json->AddJson("feedback", JsonText()
                                .Add("both_right", feedback.both_right)
                                .Add("both_wrong", feedback.both_wrong)
                                .Add("fixed", feedback.fixed)
                                .Add("harmed", feedback.harmed)
                                .Object());
}

std::string LineOf(const Edit& edit) {
  JsonText json;
  json.Add("edit", edit.number).Add("kind", KindName(edit.kind));
  json.Add("time", edit.time).Add("who", edit.who).Add("request", edit.request);
  if (!edit.token.empty()) json.Add("token", edit.token);
  if (edit.undoes != 0) json.Add("undoes", edit.undoes);
  if (edit.kept) json.Add("kept", true);
  AddFeedback(edit.feedback, &json);
  return json.AddNumbers("ids", std::span<const uint64_t>(edit.ids)).Object() + "\n";
}

std::string TextOf(const JsonValue& object, const char* name) {
  const JsonValue* value = object.Find(name);
  return value != nullptr && value->kind == JsonValue::Kind::kText ? value->text : "";
}

int64_t NumberOf(const JsonValue& object, const char* name) {
  const JsonValue* value = object.Find(name);
  int64_t number = 0;
  if (value == nullptr || value->kind != JsonValue::Kind::kNumber) return 0;
  return value->number.AsInt64(&number) ? number : 0;
}

}  // namespace

std::string EditJson(const Edit& edit) {
  JsonText json;
  json.Add("edit", edit.number).Add("kind", KindName(edit.kind));
  json.Add("time", edit.time).Add("who", edit.who).Add("request", edit.request);
  if (!edit.token.empty()) json.Add("token", edit.token);
  if (edit.undoes != 0) json.Add("undoes", edit.undoes);
  if (edit.undone_by != 0) json.Add("undone_by", edit.undone_by);
  json.Add("done", edit.outcome == Edit::Outcome::kDone).Add("undoable", edit.undoable());
  AddFeedback(edit.feedback, &json);
  return json.AddNumbers("ids", std::span<const uint64_t>(edit.ids)).Object();
}

Journal::~Journal() {
  if (file_ >= 0) close(file_);
}

std::string Journal::RowsPath(int64_t number) const {
  return folder_ + "/rows-" + std::to_string(number) + ".json";
}

Status Journal::Open() {
  const std::string path = folder_ + "/journal.jsonl";
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};  // no edit yet
  std::string line;
  std::streamoff sound = 0;
  while (std::getline(file, line)) {
    if (file.eof()) break;  // cut off: its edit was never begun
    if (!Apply(line)) {
      // A line that was glued to what a full disk had left of another.
      const size_t begin = line.rfind(kLineBegins);
      if (begin == std::string::npos || !Apply(line.substr(begin))) continue;
    }
    sound = file.tellg();
  }
  file.close();
  if (truncate(path.c_str(), sound) != 0) return Failed(path, "cut the last line off");
  return Prepare();
}

bool Journal::Apply(const std::string& line) {
  const Result<JsonValue> json = ParseJson(line);
  if (!json.ok()) return false;
  const int64_t number = NumberOf(*json, "edit");
  if (number < 1 || number == INT64_MAX) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const JsonValue* done = json->Find("done")) {
    Edit* edit = At(number);
    if (edit == nullptr) return true;
    edit->outcome = done->boolean ? Edit::Outcome::kDone : Edit::Outcome::kFailed;
    Edit* undone = At(edit->undoes);
    if (undone != nullptr && done->boolean) undone->undone_by = number;
    return true;
  }
  Edit edit;
  edit.number = number;
  const std::string kind = TextOf(*json, "kind");
  edit.kind = kind == "learn"     ? Edit::Kind::kLearn
              : kind == "relabel" ? Edit::Kind::kRelabel
                                  : Edit::Kind::kForget;
  edit.time = TextOf(*json, "time");
  edit.who = TextOf(*json, "who");
  edit.request = TextOf(*json, "request");
  edit.token = TextOf(*json, "token");
  edit.undoes = NumberOf(*json, "undoes");
  edit.kept = json->Find("kept") != nullptr && access(RowsPath(number).c_str(), R_OK) == 0;
  if (const JsonValue* feedback = json->Find("feedback")) {
    edit.feedback = {NumberOf(*feedback, "both_right"), NumberOf(*feedback, "both_wrong"),
                     NumberOf(*feedback, "fixed"), NumberOf(*feedback, "harmed")};
  }
  if (const JsonValue* ids = json->Find("ids")) {
    for (const JsonNumber& id : ids->numbers) {
      uint64_t value = 0;
      if (id.AsUint64(&value)) edit.ids.push_back(value);
    }
  }
  Remember(std::move(edit));
  return true;
}

void Journal::Remember(Edit edit) {
  next_ = std::max(next_, edit.number + 1);
  if (!edit.token.empty()) tokens_[edit.token] = edit.number;
  edits_.push_back(std::move(edit));
  if (edits_.size() <= kMostEdits) return;
  tokens_.erase(edits_.front().token);
  edits_.pop_front();
}

Edit* Journal::At(int64_t number) {
  const auto at =
      std::lower_bound(edits_.begin(), edits_.end(), number,
                       [](const Edit& edit, int64_t wanted) { return edit.number < wanted; });
  return at != edits_.end() && at->number == number ? &*at : nullptr;
}

std::vector<Edit> Journal::OpenEdits() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Edit> open;
  std::copy_if(edits_.begin(), edits_.end(), std::back_inserter(open),
               [](const Edit& edit) { return edit.outcome == Edit::Outcome::kOpen; });
  return open;
}

Status Journal::Prepare() {
  if (file_ >= 0) return {};
  if (mkdir(folder_.c_str(), 0750) != 0 && errno != EEXIST) return Failed(folder_, "make it");
  const std::string path = folder_ + "/journal.jsonl";
  file_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (file_ < 0) return Failed(path, "open");
  RESMEM_RETURN_IF_ERROR(SyncFolder(folder_));
  const size_t slash = folder_.find_last_of('/');
  return SyncFolder(slash == std::string::npos ? "." : folder_.substr(0, slash + 1));
}

Status Journal::CutTornLine() {
  if (torn_at_ < 0) return {};
  if (ftruncate(file_, torn_at_) != 0) return Failed(folder_, "cut the half of a line off");
  torn_at_ = -1;
  return {};
}

// Whole, or the file is as it was.
Status Journal::Write(std::string_view lines, bool sync) {
  RESMEM_RETURN_IF_ERROR(CutTornLine());
  const off_t before = lseek(file_, 0, SEEK_END);
  if (before < 0) return Failed(folder_, "find the end of its journal");
  Status status = WriteAll(file_, lines, folder_);
  if (status.ok() && sync && fdatasync(file_) != 0) status = Failed(folder_, "sync its journal");
  if (status.ok()) return {};
  torn_at_ = before;
  // Where even that fails, it is done before the next line is written.
  [[maybe_unused]] const Status cut = CutTornLine();
  return status;
}

Status Journal::Begin(std::vector<Edit> edits, const std::vector<std::string>& rows) {
  RESMEM_RETURN_IF_ERROR(Prepare());
  const auto begin = [&]() -> Status {
    std::string lines = unwritten_;
    for (size_t i = 0; i < edits.size(); ++i) {
      if (!rows[i].empty()) {
        RESMEM_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(RowsPath(edits[i].number)));
        RESMEM_RETURN_IF_ERROR(file.Write(rows[i]));
        RESMEM_RETURN_IF_ERROR(file.Close());
        edits[i].kept = true;
      }
      lines += LineOf(edits[i]);
    }
    return Write(lines, /*sync=*/true);
  };
  const Status begun = begin();
  if (!begun.ok()) {
    for (const Edit& edit : edits) {
      if (edit.kept) unlink(RowsPath(edit.number).c_str());
    }
    return {begun.code(), begun.message() + "; nothing was changed"};
  }
  unwritten_.clear();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Edit& edit : edits) Remember(std::move(edit));
  return {};
}

Status Journal::End(int64_t number, bool done) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Edit* edit = At(number);
    if (edit == nullptr) return {};  // it was never begun
    edit->outcome = done ? Edit::Outcome::kDone : Edit::Outcome::kFailed;
    Edit* undone = At(edit->undoes);
    if (undone != nullptr && done) undone->undone_by = number;
  }
  unwritten_ += JsonText().Add("edit", number).Add("done", done).Object() + "\n";
  RESMEM_RETURN_IF_ERROR(Write(unwritten_, /*sync=*/false));
  unwritten_.clear();
  return {};
}

Result<std::string> Journal::ReadRows(int64_t number) const {
  std::ifstream file(RowsPath(number), std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Status(ErrorCode::kNotFound, RowsPath(number) + ": the removed rows are gone");
  }
  return text.str();
}

void Journal::ForgetRows(int64_t number) {
  unlink(RowsPath(number).c_str());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (Edit* edit = At(number)) edit->kept = false;
}

void Journal::ForgetRowsWith(const std::vector<uint64_t>& ids) {
  const std::set<uint64_t> erased(ids.begin(), ids.end());
  std::vector<int64_t> found;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Edit& edit : edits_) {
      const auto is_erased = [&](uint64_t id) { return erased.contains(id); };
      if (edit.kept && std::any_of(edit.ids.begin(), edit.ids.end(), is_erased)) {
        found.push_back(edit.number);
      }
    }
  }
  for (const int64_t number : found) ForgetRows(number);
}

std::vector<Edit> Journal::History(int64_t before, size_t most) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Edit> found;
  for (auto edit = edits_.rbegin(); edit != edits_.rend() && found.size() < most; ++edit) {
    if (edit->number < before) found.push_back(*edit);
  }
  return found;
}

std::optional<Edit> Journal::Find(int64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Edit* edit = const_cast<Journal*>(this)->At(number);
  if (edit == nullptr) return std::nullopt;
  return *edit;
}

std::optional<Edit> Journal::FindToken(const std::string& token) const {
  int64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = tokens_.find(token);
    if (at == tokens_.end()) return std::nullopt;
    number = at->second;
  }
  return Find(number);
}

}  // namespace resmem::serve
