// Edits that a crash, or a full disk, left open: what became of them.
#include "memories/editor.h"
#include "operation/log.h"

namespace resmem::serve {

// How an edit ended that a crash left open.  It is made whole or not at all, so one id tells; but
// relabeling is two changes, and where the second did not come, the rows are restored.
Status Editor::Settle(const Edit& edit) {
  const std::shared_ptr<const MemoryState> state = memory_->state();
  const std::optional<int64_t> row =
      edit.ids.empty() ? std::nullopt : state->memory.FindId(edit.ids[0]);
  bool done = row.has_value() == (edit.kind == Edit::Kind::kLearn);
  if (edit.kind == Edit::Kind::kRelabel) {
    const Result<RowSet> former = ReadKeptRows(edit.number, *state);
    if (!former.ok()) {
      LogWarning("edit_not_settled", JsonText()
                                         .Add("memory", memory_->name())
                                         .Add("edit", edit.number)
                                         .Add("reason", former.status().message()));
      return journal_.End(edit.number, false);
    }
    done = row.has_value() && state->memory.label(*row) != former->labels[0];
    if (!row) {
      RESMEM_RETURN_IF_ERROR(AppendRows(*former));
      RESMEM_ASSIGN_OR_RETURN(std::shared_ptr<const MemoryState> now,
                              memory_->Open(/*verify=*/false));
      memory_->Publish(std::move(now));
    }
  }
  const Status ended = journal_.End(edit.number, done);
  LogInfo("edit_settled",
          JsonText().Add("memory", memory_->name()).Add("edit", edit.number).Add("done", done));
  return ended;
}

Status Editor::SettleAll() {
  for (const Edit& edit : journal_.OpenEdits()) RESMEM_RETURN_IF_ERROR(Settle(edit));
  unsettled_ = false;
  return {};
}

Result<RowSet> Editor::ReadKeptRows(int64_t number, const MemoryState& state) const {
  RESMEM_ASSIGN_OR_RETURN(const std::string text, journal_.ReadRows(number));
  RESMEM_ASSIGN_OR_RETURN(const JsonValue json, ParseJson(text, {.values = INT64_MAX}));
  return ReadRowSet(json, state, /*labelled=*/true, INT64_MAX);
}

}  // namespace resmem::serve
