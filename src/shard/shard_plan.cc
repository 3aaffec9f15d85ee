#include "resmem/shard/shard_plan.h"

#include <filesystem>
#include <utility>

#include "format/checksum.h"
#include "resmem/lm/token_rows.h"
#include "shard/inputs.h"
#include "shard/plan_json.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kMostShards = 1'000'000;
constexpr int64_t kMostPlanBytes = int64_t{256} << 20;
constexpr int64_t kDenseClasses = 4096;  // where logits would be 16 kB a row and more

Status TooMany(int64_t count, int64_t most, const char* what) {
  return {ErrorCode::kInvalidArgument,
          Text(count, " shards of ", most, " ", what, "; give 1 to ", std::min(most, kMostShards))};
}

Status Identify(ShardFile* file) {
  file->path = std::filesystem::absolute(file->path).lexically_normal().string();
  while (file->path.size() > 1 && file->path.back() == '/') file->path.pop_back();
  RESMEM_ASSIGN_OR_RETURN(file->digest, DigestInput(file->path));
  return {};
}

// A shard ends with the document that reaches its share of the rows.
Status CutTokens(const TokenRows& rows, int64_t count, ShardPlan* plan) {
  const int64_t documents = rows.documents();
  if (count > std::min(documents, kMostShards)) return TooMany(count, documents, "documents");
  ShardRange range;
  for (int64_t shard = 1; shard <= count; ++shard) {
    // One document each is left for those that follow.
    const int64_t last = documents - (count - shard);
    const double share =
        static_cast<double>(rows.rows()) * static_cast<double>(shard) / static_cast<double>(count);
    range.first_document = range.end_document;
    range.begin = range.end;
    do {
      ++range.end_document;
      range.end = rows.set().document(range.end_document - 1).end - range.end_document;
    } while (range.end_document < last &&
             (shard == count || static_cast<double>(range.end) < share));
    plan->shards.push_back(range);
  }
  return {};
}

Status PlanTokens(int64_t count, const OnnxOptions& runtime, ShardPlan* plan) {
  RESMEM_ASSIGN_OR_RETURN(const TokenModel model,
                          TokenModel::Open(plan->model.path, plan->engine, runtime));
  plan->model.path = std::filesystem::absolute(plan->model.path).lexically_normal().string();
  plan->model.digest = model.fingerprint().digest;
  plan->engine = model.engine();
  plan->form = ResidualForm::kSparse;
  plan->half_residuals = true;
  plan->top = std::min(plan->top, model.manifest().classes);
  for (const std::optional<ShardFile>* other : {&plan->queries, &plan->held_out}) {
    if (!*other) continue;
    RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open((*other)->path));
    RESMEM_RETURN_IF_ERROR(TokenRows::Make(model, set, {.shape = plan->windows}).status());
  }
  RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(plan->rows.path));
  RESMEM_ASSIGN_OR_RETURN(const TokenRows rows,
                          TokenRows::Make(model, set, {.shape = plan->windows}));
  return CutTokens(rows, count, plan);
}

Status PlanArrays(int64_t count, ShardPlan* plan) {
  RESMEM_ASSIGN_OR_RETURN(const Dataset rows, OpenArrays(plan->rows.path, plan->task));
  if (!rows.has_logits() || !rows.has_labels()) {
    return {ErrorCode::kBadData,
            Text(plan->rows.path, ": has no logits or no labels, which a memory is made of")};
  }
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> roles, rows.CountRoles());
  if (roles[static_cast<size_t>(Role::kTest)] > 0 ||
      roles[static_cast<size_t>(Role::kValidation)] > 0) {
    return {ErrorCode::kInvalidArgument,
            Text(plan->rows.path,
                 ": some of its rows are marked validation or test, and a plan "
                 "takes all rows; give a file of training rows")};
  }
  for (const std::optional<ShardFile>* other : {&plan->queries, &plan->held_out}) {
    if (!*other) continue;
    RESMEM_ASSIGN_OR_RETURN(const Dataset asked, OpenArrays((*other)->path, plan->task));
    if (asked.dim() != rows.dim() || (asked.has_logits() && asked.outputs() != rows.outputs())) {
      return {ErrorCode::kBadData,
              Text((*other)->path, ": has keys of ", asked.dim(), " values and ", asked.outputs(),
                   " outputs, but ", plan->rows.path, " ", rows.dim(), " and ", rows.outputs(),
                   "; give arrays of the same model")};
    }
  }
  if (plan->task == Task::kRegression) {
    plan->form = ResidualForm::kDense;
  } else if (plan->form == ResidualForm::kLogits && rows.outputs() > kDenseClasses) {
    plan->form = ResidualForm::kSparse;
  }
  plan->top = std::min(plan->top, rows.outputs());
  if (count > std::min(rows.rows(), kMostShards)) return TooMany(count, rows.rows(), "rows");
  for (int64_t shard = 0; shard < count; ++shard) {
    const int64_t each = rows.rows() / count, more = rows.rows() % count;
    const int64_t begin = each * shard + std::min(shard, more);
    plan->shards.push_back({begin, begin + each + (shard < more ? 1 : 0)});
  }
  return {};
}

}  // namespace

Result<ShardPlan> PlanShards(ShardPlan plan, int64_t count, const OnnxOptions& runtime) try {
  if (count < 1) return Status(ErrorCode::kInvalidArgument, Text(count, " shards; give 1 or more"));
  RESMEM_RETURN_IF_ERROR(CheckParameters(plan.parameters));
  if (plan.parameters.k < 1 || plan.top < 1 || plan.segment_rows < 1) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("k is ", plan.parameters.k, ", top ", plan.top, ", segment rows ",
                       plan.segment_rows, "; all must be 1 or more"));
  }
  if (plan.key_transform == KeyTransform::kWhiten) {
    return Status(ErrorCode::kInvalidArgument,
                  "whitened keys need all rows in one place; give --key-transform none or unit");
  }
  if (plan.recall) RESMEM_RETURN_IF_ERROR(CheckIndexOptions({.recall = *plan.recall}));
  plan.shards.clear();
  RESMEM_RETURN_IF_ERROR(Identify(&plan.rows));
  if (plan.queries) RESMEM_RETURN_IF_ERROR(Identify(&*plan.queries));
  if (plan.held_out) RESMEM_RETURN_IF_ERROR(Identify(&*plan.held_out));
  RESMEM_RETURN_IF_ERROR(plan.tokens ? PlanTokens(count, runtime, &plan)
                                     : PlanArrays(count, &plan));
  return plan;
} catch (...) {
  return CaughtException("plan the shards");
}

ShardFolder::ShardFolder(std::string path, ShardPlan plan, std::string digest)
    : path_(std::move(path)), plan_(std::move(plan)), digest_(std::move(digest)) {}

Result<ShardFolder> ShardFolder::Create(const std::string& path, const ShardPlan& plan) try {
  FileSystem& files = FileSystem::Posix();
  const std::string text = PlanText(plan);
  const auto bytes = std::as_bytes(std::span(text));
  for (const std::string& folder : {path, path + "/shards", path + "/answers"}) {
    RESMEM_RETURN_IF_ERROR(files.MakeDirectory(folder));
  }
  const std::string file = path + "/plan.json";
  if (files.Exists(file)) {
    RESMEM_ASSIGN_OR_RETURN(ShardFolder folder, Open(path));
    if (folder.digest_ == Digest(bytes)) return folder;
    return Status(ErrorCode::kInvalidArgument,
                  Text(path, ": holds the plan of other inputs or options; name another folder"));
  }
  RESMEM_RETURN_IF_ERROR(WriteFileAtomically(files, file, bytes));
  return ShardFolder(path, plan, Digest(bytes));
} catch (...) {
  return CaughtException("write the plan");
}

Result<ShardFolder> ShardFolder::Open(const std::string& path) try {
  const std::string file = path + "/plan.json";
  auto mapped = FileSystem::Posix().Map(file);
  if (mapped.status().code() == ErrorCode::kNotFound) {
    return Status(ErrorCode::kNotFound,
                  Text(path, ": holds no plan; make one with: resmem shard plan"));
  }
  if (!mapped.ok()) return mapped.status();
  const std::span<const std::byte> bytes = mapped->bytes();
  if (static_cast<int64_t>(bytes.size()) > kMostPlanBytes) {
    return Status(ErrorCode::kCorrupt, Text(file, ": ", bytes.size(), " bytes are no plan"));
  }
  auto plan = ParsePlan({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!plan.ok()) {
    return Status(plan.status().code(), Text(file, ": ", plan.status().message(),
                                             "; make a plan with: resmem shard plan"));
  }
  return ShardFolder(path, std::move(*plan), Digest(bytes));
} catch (...) {
  return CaughtException("read the plan");
}

std::string ShardFolder::Name(const char* folder, int64_t shard, const char* ending) const {
  const auto padded = [](int64_t number) {
    constexpr size_t kDigits = 4;
    const std::string digits = std::to_string(number);
    return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
  };
  return Text(path_, "/", folder, "/shard-", padded(shard), "-of-", padded(shards()), ending);
}

std::string ShardFolder::memory_path(int64_t shard) const {
  return Name("shards", shard, ".resmem");
}
std::string ShardFolder::answers_path(int64_t shard) const {
  return Name("answers", shard, ".answers");
}

}  // namespace resmem
