// resmem audit: rows of a memory that deserve a look, and a quarantine for them.
#include "resmem/audit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "outputs/audit_text.h"
#include "outputs/output_paths.h"
#include "outputs/snapshot_text.h"
#include "process/last_words.h"
#include "resmem/data/export.h"

namespace resmem::cli {
namespace {

class AuditCommand : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status CheckOptions(const MemoryDescription& description) const;
  Status CheckLimit() const;
  std::vector<uint64_t> Quarantined(const ResidualMemory& memory, const Audit& audit,
                                    const std::optional<HarmReport>& harm) const;
  Status MoveOut(const std::vector<uint64_t>& ids, Console& console);
  std::string HowToReturn(const MemoryDescription& description) const;
  bool Of(const char* list) const { return std::find(of_.begin(), of_.end(), list) != of_.end(); }

  std::string memory_path_, output_, quarantine_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  AuditOptions options_;
  std::vector<std::string> of_ = {"suspects"};
  int64_t shown_ = 20;
  std::optional<double> share_;
  double wait_seconds_ = 0;
  bool exact_ = false, json_ = false;
};

void AuditCommand::Declare(CommandLine& line) {
  line.About(
      "find rows that deserve a look: label errors, duplicates, harmful rows",
      "Asks each row of the memory for its neighbors, without the row itself. Likely label errors "
      "(suspects) are rows whose neighbors have another label, ordered by that disagreement times "
      "the base's residual. Near-duplicates (twins) are pairs at a hundredth of the usual distance "
      "or less. With held-out rows also: which rows make their answers worse (harmful), exactly, "
      "by computing each answer again without each of its neighbors. Rows marked test are refused: "
      "a memory cleaned by them can no longer be judged on them.\ndocs/audit.md explains the "
      "lists.");
  DeclareMemory(line, &memory_path_);
  data_.Declare(line, DatasetUse::kJudge);
  roles_.Declare(line, Role::kValidation);
  line.Group("Audit");
  line.Value("--most", &options_.most, "ROWS",
             "ask only this many rows: for suspects those about which the base was most wrong, for "
             "twins rows spread evenly")
      .Default("all");
  line.Value("--limit", &options_.listed, "ROWS", "keep the first lines of each list")
      .Default("all");
  line.Value("--share", &share_, "P",
             "instead of --limit: as many lines as this share of the memory's rows, such as 0.05");
  DeclareExact(line, &exact_);
  model_.Declare(line, /*check=*/true);
  line.Group("Output");
  line.Value("--show", &shown_, "ROWS", "lines of each list that the text shows");
  line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
  line.Value("--output", &output_, "FILE.csv", "also write every line: list, id, label and so on")
      .Short("-o")
      .File();
  line.Value("--quarantine", &quarantine_, "FILE.npz",
             "move rows out of the memory: write them here, then delete them. 'resmem append "
             "MEMORY --data FILE.npz' brings them back. Suspects need --limit or --share: most of "
             "all suspects have a right label, and without them the memory answers worse "
             "(docs/results/audit.md)")
      .File();
  line.Value("--of", &of_, "LISTS",
             "which lists to move: suspects, twins (the later of each two), "
             "harmful")
      .Needs({"--quarantine"});
  DeclareWait(line, &wait_seconds_);
  DeclareThreads(line, &options_.threads);
  line.AddExample("what there is to see", "resmem audit my.resmem");
  line.AddExample("which rows harm held-out answers, all lines to a file",
                  "resmem audit my.resmem --data validation.npz -o audit.csv");
  line.AddExample("the 100 likeliest label errors out, to be looked at",
                  "resmem audit my.resmem --limit 100 --quarantine suspects.npz");
}

Status AuditCommand::CheckOptions(const MemoryDescription& description) const {
  const auto usage = [](std::string text) {
    return Status(ErrorCode::kInvalidArgument, std::move(text));
  };
  if (options_.most < 0) return usage("--most " + Count(options_.most) + ": give 1 or more rows");
  if (options_.listed < 0) return usage("--limit " + Count(options_.listed) + ": give 1 or more");
  if (share_.has_value() && options_.listed > 0) {
    return usage("--share and --limit exclude each other; give one of them");
  }
  if (share_.has_value() && !(*share_ > 0 && *share_ <= 1)) {
    return usage("--share " + ShortNumber(*share_) + ": give a number above 0 and at most 1");
  }
  if (shown_ < 0) return usage("--show " + Count(shown_) + ": give 0 or more");
  for (const std::string& list : of_) {
    if (list != "suspects" && list != "twins" && list != "harmful") {
      return usage("--of '" + list + "': the lists are suspects, twins and harmful");
    }
  }
  if (quarantine_.empty()) return {};
  if (Of("harmful") && !data_.given()) {
    return usage("--of harmful needs held-out rows; give --data PATH or the like");
  }
  if (Of("suspects") && description.task == Task::kRegression) {
    return usage("--of suspects: " + memory_path_ +
                 " is a regression, whose rows have no labels; give --of twins or harmful");
  }
  return CheckLimit();
}

// Where errors were planted, all suspects together were mostly right (docs/results/audit.md).
Status AuditCommand::CheckLimit() const {
  if (!Of("suspects") || options_.listed > 0 || share_.has_value()) return {};
  return {ErrorCode::kInvalidArgument,
          "--quarantine of suspects needs --limit ROWS or --share P: the first are the likeliest "
          "errors, but of all suspects 7 in 10 had a right label where errors were planted, and "
          "a memory without them answered worse (docs/results/audit.md); give about as many as "
          "you expect wrong labels, such as --share 0.05"};
}

std::vector<uint64_t> AuditCommand::Quarantined(const ResidualMemory& memory, const Audit& audit,
                                                const std::optional<HarmReport>& harm) const {
  std::set<uint64_t> ids;
  if (Of("suspects")) {
    for (const SuspectRow& suspect : audit.suspects) ids.insert(memory.id(suspect.row));
  }
  if (Of("twins")) {
    for (const TwinRows& pair : audit.twins) ids.insert(memory.id(pair.other));
  }
  if (Of("harmful") && harm.has_value()) {
    for (const RowEffect& effect : harm->harmful) ids.insert(memory.id(effect.row));
  }
  return {ids.begin(), ids.end()};
}

std::string AuditCommand::HowToReturn(const MemoryDescription& description) const {
  if (description.form != ResidualForm::kLogits && description.task == Task::kClassification) {
    return "the memory keeps no logits, so they cannot be appended again";
  }
  std::vector<std::string> words = {"append", memory_path_, "--data", quarantine_};
  if (description.cross_fitted) {
    words.insert(words.end(), {"--out-of-fold-logits", quarantine_ + ":logits"});
  }
  // A digest is as good a name of the model as its file.
  const Fingerprint& made_by = description.fingerprint;
  if (!made_by.digest.empty()) words.insert(words.end(), {"--model", made_by.digest});
  if (!made_by.layer.empty()) words.insert(words.end(), {"--layer", made_by.layer});
  return "to bring them back: " + CommandText(words);
}

Status AuditCommand::MoveOut(const std::vector<uint64_t>& ids, Console& console) {
  if (ids.empty()) {
    console.Note("no row to move out; " + memory_path_ + " is unchanged");
    return {};
  }
  std::string how;
  {  // the memory must not stay open while it is changed
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    how = HowToReturn(memory.description());
    ExportOptions options;
    options.ids = ids;
    options.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(ExportMemory(memory, quarantine_, options).status());
  }
  RESMEM_RETURN_IF_ERROR(DeleteRows(memory_path_, ids, {wait_seconds_, console.progress()}));
  (void)WarnOfRowsInSnapshots(memory_path_, ids, console);
  console.Note("moved " + Counted(static_cast<int64_t>(ids.size()), "row") + " to " + quarantine_ +
               "; " + how);
  return {};
}

Result<ExitCode> AuditCommand::Run(Console& console) {
  AnnounceChange("the rows were moved out");
  std::vector<std::string> inputs = data_.Paths();
  inputs.push_back(memory_path_);
  RESMEM_RETURN_IF_ERROR(
      CheckOutputPaths({{"-o", output_}, {"--quarantine", quarantine_}}, inputs));
  std::vector<uint64_t> moved;
  {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.exact = exact_}));
    RESMEM_RETURN_IF_ERROR(CheckOptions(memory.description()));
    if (share_.has_value()) {
      options_.listed =
          std::max<int64_t>(1, std::llround(*share_ * static_cast<double>(memory.rows())));
    }
    options_.progress = console.progress();
    const Predictor predictor(memory);
    std::optional<HarmReport> harm;
    if (data_.given()) {
      RESMEM_ASSIGN_OR_RETURN(const Input input, model_.OpenInput(data_, memory_path_, memory,
                                                                  options_.threads, console));
      RESMEM_ASSIGN_OR_RETURN(const std::optional<Role> role,
                              roles_.Choose(input.dataset, console));
      RESMEM_ASSIGN_OR_RETURN(const RowSource rows, SelectRows(input.dataset, role));
      RESMEM_ASSIGN_OR_RETURN(harm, MeasureHarm(predictor, rows, options_));
      if (harm->method != predictor.DefaultOptions().method) {
        console.Note(
            "the memory's answer is the base's, on which no row has an effect; the "
            "effects are on ResMem's answer");
      }
    }
    RESMEM_ASSIGN_OR_RETURN(const Audit audit, AuditMemory(predictor, options_));
    const HarmReport* const report = harm.has_value() ? &*harm : nullptr;
    if (json_) {
      RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, data_.Paths()));
      run.memory = DescribeMemory(memory_path_, memory);
      RESMEM_RETURN_IF_ERROR(PrintResult(
          AuditJson(audit, report, memory, FinishedRun(std::move(run), console)) + "\n"));
    } else {
      RESMEM_RETURN_IF_ERROR(PrintResult(AuditText(memory, audit, report, shown_)));
    }
    if (!output_.empty()) {
      RESMEM_ASSIGN_OR_RETURN(Output out, Output::File(output_));
      RESMEM_RETURN_IF_ERROR(out.Write(AuditCsv(memory, audit, report)));
      RESMEM_RETURN_IF_ERROR(out.Close());
    }
    if (!quarantine_.empty()) moved = Quarantined(memory, audit, harm);
  }
  if (!quarantine_.empty()) RESMEM_RETURN_IF_ERROR(MoveOut(moved, console));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeAudit() {
  return std::make_unique<AuditCommand>();
}

}  // namespace resmem::cli
