#include "shard/plan_json.h"

#include <algorithm>
#include <array>

#include "format/json_fields.h"
#include "memory/manifest/description.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kVersion = 1;
constexpr int kLevels = 5;
constexpr int64_t kMostRows = int64_t{1} << 62;
constexpr std::array kTasks = {Task::kClassification, Task::kRegression};
constexpr std::array kKeyTypes = {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8};
constexpr std::array kTransforms = {KeyTransform::kNone, KeyTransform::kUnit};
constexpr std::array kForms = {ResidualForm::kLogits, ResidualForm::kDense, ResidualForm::kSparse};
constexpr std::array kEngines = {TokenEngine::kNative, TokenEngine::kOnnxRuntime};

Json FileJson(const ShardFile& file) {
  return {{"path", file.path}, {"digest", file.digest}};
}

bool IsDigest(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void GetFile(const Json& json, const char* name, Fields* all, ShardFile* file) {
  Fields fields(json, Text("its ", name));
  fields.Get("path", &file->path);
  fields.Get("digest", &file->digest);
  if (!fields.status().ok()) return all->Fail(fields.status().message());
  if (file->path.empty() || !IsDigest(file->digest)) {
    all->Fail(Text("its ", name, " lacks a path, or a digest of 32 hexadecimal digits"));
  }
}

void GetFile(const char* name, Fields* all, ShardFile* file) {
  const Json* json = all->Find(name);
  if (json != nullptr) GetFile(*json, name, all, file);
}

void GetFile(const char* name, Fields* all, std::optional<ShardFile>* file) {
  const Json* json = all->Find(name);
  if (json != nullptr && !json->is_null()) GetFile(*json, name, all, &file->emplace());
}

Json MemoryJson(const ShardPlan& plan) {
  return {{"task", TaskName(plan.task)},
          {"key_type", KeyTypeName(plan.key_type)},
          {"key_transform", KeyTransformName(plan.key_transform)},
          {"form", ResidualFormName(plan.form)},
          {"top", plan.top},
          {"half_residuals", plan.half_residuals},
          {"k", plan.parameters.k},
          {"sigma", plan.parameters.sigma},
          {"temperature", plan.parameters.temperature}};
}

void GetMemory(Fields* all, ShardPlan* plan) {
  const Json* json = all->Find("memory");
  if (json == nullptr) return;
  Fields fields(*json, "its memory");
  fields.Get("task", kTasks, TaskName, &plan->task);
  fields.Get("key_type", kKeyTypes, KeyTypeName, &plan->key_type);
  fields.Get("key_transform", kTransforms, KeyTransformName, &plan->key_transform);
  fields.Get("form", kForms, ResidualFormName, &plan->form);
  fields.Get("top", &plan->top);
  fields.Get("half_residuals", &plan->half_residuals);
  fields.Get("k", &plan->parameters.k);
  fields.Get("sigma", &plan->parameters.sigma);
  fields.Get("temperature", &plan->parameters.temperature);
  if (!fields.status().ok()) return all->Fail(fields.status().message());
  const Status sound = CheckParameters(plan->parameters);
  if (!sound.ok()) return all->Fail("its memory: " + sound.message());
  if (plan->top < 1 || plan->parameters.k < 1) all->Fail("its memory: top or k is 0");
}

void GetTokens(Fields* all, ShardPlan* plan) {
  GetFile("model", all, &plan->model);
  std::string windows;
  all->Get("windows", &windows);
  all->Get("engine", kEngines, TokenEngineName, &plan->engine);
  all->Get("segment_rows", &plan->segment_rows);
  if (!all->status().ok()) return;
  const std::optional<WindowShape> shape = ParseWindows(windows);
  if (!shape || plan->segment_rows < 1) {
    return all->Fail(
        Text("its windows are \"", windows, "\" and its segments ", plan->segment_rows, " rows"));
  }
  plan->windows = *shape;
}

void GetRecall(Fields* all, ShardPlan* plan) {
  const Json* json = all->Find("recall");
  if (json == nullptr || json->is_null()) return;
  const double recall = json->is_number() ? json->get<double>() : 0;
  if (!(recall > 0 && recall < 1)) return all->Fail("its recall is not a share");
  plan->recall = recall;
}

// [begin, end) of whole numbers that continue where `last` ends.
std::optional<std::pair<int64_t, int64_t>> RangeFrom(const Json& json, const char* name,
                                                     int64_t last) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array() || found->size() != 2) return std::nullopt;
  for (const Json& number : *found) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > kMostRows) return std::nullopt;
  }
  const std::pair range((*found)[0].get<int64_t>(), (*found)[1].get<int64_t>());
  if (range.first != last || range.second <= range.first) return std::nullopt;
  return range;
}

void GetShards(Fields* all, ShardPlan* plan) {
  const Json* json = all->Find("shards");
  if (json == nullptr) return;
  if (!json->is_array() || json->empty()) return all->Fail("its shards are no list, or none");
  ShardRange last;
  for (const Json& entry : *json) {
    const auto wrong = [&] {
      all->Fail(Text("shard ", plan->shards.size() + 1,
                     " does not begin where the one before it ends, or is empty"));
    };
    if (!entry.is_object()) return wrong();
    const auto rows = RangeFrom(entry, "rows", last.end);
    if (!rows) return wrong();
    ShardRange range{rows->first, rows->second};
    if (plan->tokens) {
      const auto documents = RangeFrom(entry, "documents", last.end_document);
      if (!documents) return wrong();
      range.first_document = documents->first;
      range.end_document = documents->second;
    }
    plan->shards.push_back(last = range);
  }
}

}  // namespace

std::string PlanText(const ShardPlan& plan) {
  Json json = {{"resmem_shards", kVersion}, {"tokens", plan.tokens}, {"rows", FileJson(plan.rows)}};
  if (plan.tokens) {
    json["model"] = FileJson(plan.model);
    json["windows"] = WindowsText(plan.windows);
    json["engine"] = TokenEngineName(plan.engine);
    json["segment_rows"] = plan.segment_rows;
  }
  json["queries"] = plan.queries ? FileJson(*plan.queries) : Json();
  json["held_out"] = plan.held_out ? FileJson(*plan.held_out) : Json();
  json["memory"] = MemoryJson(plan);
  json["recall"] = plan.recall ? Json(*plan.recall) : Json();
  json["seed"] = plan.seed;
  json["shards"] = Json::array();
  for (const ShardRange& range : plan.shards) {
    Json entry = {{"rows", {range.begin, range.end}}};
    if (plan.tokens) entry["documents"] = {range.first_document, range.end_document};
    json["shards"].push_back(std::move(entry));
  }
  return json.dump(1) + "\n";
}

Result<ShardPlan> ParsePlan(std::string_view text) {
  RESMEM_ASSIGN_OR_RETURN(const Json json, ParseShallowJson(text, kLevels));
  ShardPlan plan;
  Fields fields(json, "the plan");
  int64_t version = 0;
  fields.Get("resmem_shards", &version);
  if (fields.status().ok() && version > kVersion) {
    return Status(ErrorCode::kTooNew,
                  Text("is a plan of version ", version, ", this program reads ", kVersion));
  }
  fields.Get("tokens", &plan.tokens);
  GetFile("rows", &fields, &plan.rows);
  if (fields.status().ok() && plan.tokens) GetTokens(&fields, &plan);
  GetFile("queries", &fields, &plan.queries);
  GetFile("held_out", &fields, &plan.held_out);
  GetMemory(&fields, &plan);
  GetRecall(&fields, &plan);
  fields.Get("seed", &plan.seed);
  if (fields.status().ok()) GetShards(&fields, &plan);
  RESMEM_RETURN_IF_ERROR(fields.status());
  return plan;
}

}  // namespace resmem
