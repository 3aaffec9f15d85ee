#include "memory/manifest/manifest_json.h"

#include <array>
#include <set>
#include <utility>

#include "format/json_fields.h"
#include "memory/index/index_json.h"
#include "memory/manifest/answer.h"
#include "memory/manifest/description.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/file_record_json.h"
#include "memory/residuals/calibrators.h"
#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int kMaxDepth = 8;

// The metric of stored keys.  A program that does not know a transform refuses its name.
std::string MetricName(KeyTransform transform) {
  return transform == KeyTransform::kNone ? "l2" : Text("l2-", KeyTransformName(transform));
}

Result<KeyTransform> ReadMetric(const Json& object, const std::string& where) {
  std::string metric;
  Fields fields(object, where);
  fields.Get("metric", &metric);
  RESMEM_RETURN_IF_ERROR(fields.status());
  for (const KeyTransform transform :
       {KeyTransform::kNone, KeyTransform::kUnit, KeyTransform::kWhiten}) {
    if (metric == MetricName(transform)) return transform;
  }
  return Status(ErrorCode::kUnsupported,
                Text("metric is \"", metric,
                     "\", this program knows only l2, l2-unit and l2-whiten; use a newer resmem"));
}

// Instead of the calibrator's name, so that a program from before refuses the memory.
constexpr char kCompressedInsteadOfCalibrator[] = "compressed";

bool IsCompressed(const MemoryDescription& description) {
  return description.key_type == KeyType::kInt4 || description.form == ResidualForm::kPacked;
}

Json CompressedToJson(const MemoryDescription& description) {
  return {{"calibrator", description.calibrator},
          {"key_type", KeyTypeName(description.key_type)},
          {"residual_form", ResidualFormName(description.form)},
          {"share", description.packed_share},
          {"least_mass", description.packed_least}};
}

Status ReadCompressed(const Json& json, MemoryDescription* description) {
  Fields fields(json, "compressed");
  fields.Get("calibrator", &description->calibrator);
  fields.Get("key_type",
             std::array{KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8, KeyType::kInt4},
             KeyTypeName, &description->key_type);
  fields.Get("residual_form",
             std::array{ResidualForm::kLogits, ResidualForm::kDense, ResidualForm::kSparse,
                        ResidualForm::kPacked},
             ResidualFormName, &description->form);
  fields.Get("share", &description->packed_share);
  fields.Get("least_mass", &description->packed_least);
  RESMEM_RETURN_IF_ERROR(fields.status());
  if (IsCompressed(*description)) return {};
  return CorruptManifest("compressed: neither are keys int4 nor residuals packed");
}

Status ReadDescription(const Json& object, MemoryDescription* description) {
  Fields fields(object, "the manifest");
  fields.Get("task", std::array{Task::kClassification, Task::kRegression}, TaskName,
             &description->task);
  fields.Get("dim", &description->dim);
  fields.Get("outputs", &description->outputs);
  fields.Get("key_type", std::array{KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8},
             KeyTypeName, &description->key_type);
  fields.Get("residual_form",
             std::array{ResidualForm::kLogits, ResidualForm::kDense, ResidualForm::kSparse},
             ResidualFormName, &description->form);
  fields.Get("top", &description->top);
  fields.Get("half_residuals", &description->half_residuals);
  fields.Get("k", &description->parameters.k);
  fields.Get("sigma", &description->parameters.sigma);
  fields.Get("temperature", &description->parameters.temperature);
  fields.Get("tuned", &description->tuned);
  fields.Get("cross_fitted", &description->cross_fitted);
  fields.Get("has_sources", &description->has_sources);
  fields.Get("calibrator", &description->calibrator);
  fields.Get("calibrator_temperature", &description->calibrator_temperature);
  fields.Get("class_names", &description->class_names);
  fields.Get("seed", &description->seed);
  fields.Get("tool_version", &description->tool_version);
  fields.Get("created", &description->created);
  fields.Get("notes", &description->notes);
  if (const Json* fingerprint = fields.Find("fingerprint")) {
    Fields inner(*fingerprint, "fingerprint");
    inner.Get("digest", &description->fingerprint.digest);
    inner.Get("layer", &description->fingerprint.layer);
    RESMEM_RETURN_IF_ERROR(inner.status());
  }
  RESMEM_RETURN_IF_ERROR(fields.status());
  const auto answer = object.find("answer");  // absent where it is ResMem's
  if (answer != object.end() && !answer->is_null()) {
    RESMEM_RETURN_IF_ERROR(AnswerFromJson(*answer, description));
  }
  const auto compressed = object.find("compressed");
  if (compressed != object.end()) {
    RESMEM_RETURN_IF_ERROR(ReadCompressed(*compressed, description));
  }
  if (FindCalibrator(description->calibrator) == nullptr) {
    return {ErrorCode::kUnsupported,
            Text("calibrator is \"", description->calibrator, "\", this program knows only ",
                 CalibratorNamesText(), "; use a newer resmem")};
  }
  const Status status = CheckDescription(*description);
  return status.ok() ? status : CorruptManifest(status.message());
}

Status ReadTokens(const Json& object, Manifest* manifest) {
  const auto tokens = object.find("append_tokens");  // where there are any
  if (tokens == object.end()) return {};
  if (!tokens->is_array()) return CorruptManifest("the manifest: append_tokens is not a list");
  for (const Json& entry : *tokens) {
    AppendToken token;
    Fields fields(entry, Text("append token ", manifest->append_tokens.size()));
    fields.Get("token", &token.token);
    fields.Get("rows", &token.rows);
    RESMEM_RETURN_IF_ERROR(fields.status());
    manifest->append_tokens.push_back(std::move(token));
  }
  return {};
}

// Segments, the transform and the index of these rows, which `where` names.
Status ReadKeyFiles(const Json& object, const std::string& where, Manifest* manifest) {
  Fields fields(object, where);
  const Json* segments = fields.Find("segments");
  RESMEM_RETURN_IF_ERROR(fields.status());
  if (!segments->is_array()) return CorruptManifest(Text(where, ": segments is not a list"));
  std::set<std::string> files;
  int64_t rows = 0;
  for (const Json& entry : *segments) {
    const std::string place = Text("segment ", manifest->segments.size());
    RESMEM_ASSIGN_OR_RETURN(FileRecord record,
                            RecordFromJson(entry, kSegmentPrefix, manifest->generation, place));
    if (!files.insert(record.file).second)
      return CorruptManifest(Text(place, " names ", record.file, " again"));
    const auto sum = CheckedAdd(rows, record.rows);
    if (!sum) return CorruptManifest(Text(place, ": ", record.rows, " rows are too many"));
    rows = *sum;
    manifest->segments.push_back(std::move(record));
  }
  if (manifest->description.key_transform == KeyTransform::kWhiten) {
    const Json* const transform = fields.Find("transform");
    RESMEM_RETURN_IF_ERROR(fields.status());
    RESMEM_ASSIGN_OR_RETURN(manifest->transform, RecordFromJson(*transform, kTransformPrefix,
                                                                manifest->generation, "transform"));
  }
  const auto index = object.find("index");  // memories had none at first
  if (index != object.end() && !index->is_null()) {
    RESMEM_ASSIGN_OR_RETURN(manifest->index, IndexFromJson(*index, *manifest));
  }
  return {};
}

Status ReadFormerKeys(const Json& object, Manifest* manifest) {
  const auto json = object.find("former");  // where keys were transformed
  if (json == object.end()) return {};
  Manifest before;
  before.generation = manifest->generation;
  before.description = manifest->description;
  RESMEM_ASSIGN_OR_RETURN(before.description.key_transform, ReadMetric(*json, "former"));
  RESMEM_RETURN_IF_ERROR(ReadKeyFiles(*json, "former", &before));
  if (before.stored_rows() != manifest->stored_rows()) {
    return CorruptManifest(Text("former: ", before.stored_rows(), " rows where the memory has ",
                                manifest->stored_rows()));
  }
  manifest->former = FormerKeys{before.description.key_transform, std::move(before.segments),
                                std::move(before.transform), std::move(before.index)};
  return {};
}

Status ReadSnapshot(const Json& object, Manifest* manifest) {
  const auto json = object.find("snapshot");  // only a snapshot's manifest has it
  if (json == object.end()) return {};
  SnapshotRecord snapshot;
  Fields fields(*json, "snapshot");
  fields.Get("name", &snapshot.name);
  fields.Get("created", &snapshot.created);
  fields.Get("note", &snapshot.note);
  RESMEM_RETURN_IF_ERROR(fields.status());
  manifest->snapshot = std::move(snapshot);
  return {};
}

Status ReadStream(const Json& object, Manifest* manifest) {
  const auto json = object.find("stream");  // where rows follow one
  if (json == object.end()) return {};
  StreamPosition position;
  Fields fields(*json, "stream");
  fields.Get("name", &position.stream);
  fields.Get("created", &position.created);
  fields.Get("sequence", &position.sequence);
  fields.Get("seed", &position.seed);
  fields.Get("shard", &position.shard);
  fields.Get("shards", &position.shards);
  const Json* named = fields.Find("named");
  RESMEM_RETURN_IF_ERROR(fields.status());
  if (position.shard < 1 || position.shard > position.shards) {
    return CorruptManifest(
        Text("the manifest: stream is of shard ", position.shard, " of ", position.shards));
  }
  if (!named->is_array()) return CorruptManifest("the manifest: named is not a list");
  for (const Json& entry : *named) {
    NamedEdit edit;
    Fields inner(entry, Text("named edit ", position.named.size()));
    inner.Get("token", &edit.token);
    inner.Get("sequence", &edit.sequence);
    RESMEM_RETURN_IF_ERROR(inner.status());
    position.named.push_back(std::move(edit));
  }
  manifest->stream = std::move(position);
  return {};
}

Status ReadFileList(const Json& object, Manifest* manifest) {
  Fields fields(object, "the manifest");
  fields.Get("generation", &manifest->generation);
  fields.Get("next_id", &manifest->next_id);
  const Json* deletions = fields.Find("deletions");
  RESMEM_RETURN_IF_ERROR(fields.status());
  if (manifest->generation > kLargestGeneration) {
    return CorruptManifest(Text("the manifest: generation is ", manifest->generation, ", at most ",
                                kLargestGeneration, " is allowed"));
  }
  if (manifest->next_id > kLargestId + 1) {
    return CorruptManifest(
        Text("the manifest: next_id is ", manifest->next_id, ", which is too large"));
  }
  RESMEM_RETURN_IF_ERROR(ReadKeyFiles(object, "the manifest", manifest));
  RESMEM_RETURN_IF_ERROR(ReadFormerKeys(object, manifest));
  RESMEM_RETURN_IF_ERROR(ReadTokens(object, manifest));
  RESMEM_RETURN_IF_ERROR(ReadSnapshot(object, manifest));
  RESMEM_RETURN_IF_ERROR(ReadStream(object, manifest));
  if (deletions->is_null()) return {};
  RESMEM_ASSIGN_OR_RETURN(manifest->deletions, RecordFromJson(*deletions, kDeletionsPrefix,
                                                              manifest->generation, "deletions"));
  const int64_t rows = manifest->stored_rows();
  if (manifest->deletions->rows > rows) {
    return CorruptManifest(
        Text("deletions: ", manifest->deletions->rows, " of ", rows, " rows are deleted"));
  }
  return {};
}

Json RecordsToJson(const std::vector<FileRecord>& records) {
  Json list = Json::array();
  for (const FileRecord& record : records) list.push_back(RecordToJson(record));
  return list;
}

Json StreamToJson(const StreamPosition& position) {
  Json named = Json::array();
  for (const NamedEdit& edit : position.named) {
    named.push_back({{"token", edit.token}, {"sequence", edit.sequence}});
  }
  return {{"name", position.stream},       {"created", position.created},
          {"sequence", position.sequence}, {"seed", position.seed},
          {"shard", position.shard},       {"shards", position.shards},
          {"named", std::move(named)}};
}

Json FormerToJson(const FormerKeys& former) {
  Json json = {{"metric", MetricName(former.key_transform)},
               {"segments", RecordsToJson(former.segments)},
               {"index", former.index ? IndexToJson(*former.index) : Json(nullptr)}};
  if (former.transform) json["transform"] = RecordToJson(*former.transform);
  return json;
}

}  // namespace

Result<std::string> ManifestToJson(const Manifest& manifest) {
  const MemoryDescription& d = manifest.description;
  const bool own_answer = d.answer != Method::kResMem, compressed = IsCompressed(d);
  const std::string calibrator = compressed   ? kCompressedInsteadOfCalibrator
                                 : own_answer ? kAnswerInsteadOfCalibrator
                                              : d.calibrator;
  const KeyType known_keys = d.key_type == KeyType::kInt4 ? KeyType::kInt8 : d.key_type;
  const ResidualForm known_form = d.form == ResidualForm::kPacked ? ResidualForm::kSparse : d.form;
  Json json = {
      {"generation", manifest.generation},
      {"task", TaskName(d.task)},
      {"metric", MetricName(d.key_transform)},
      {"dim", d.dim},
      {"outputs", d.outputs},
      {"key_type", KeyTypeName(known_keys)},
      {"residual_form", ResidualFormName(known_form)},
      {"top", d.top},
      {"half_residuals", d.half_residuals},
      {"k", d.parameters.k},
      {"sigma", d.parameters.sigma},
      {"temperature", d.parameters.temperature},
      {"tuned", d.tuned},
      {"cross_fitted", d.cross_fitted},
      {"has_sources", d.has_sources},
      {"calibrator", calibrator},
      {"calibrator_temperature", d.calibrator_temperature},
      {"fingerprint", {{"digest", d.fingerprint.digest}, {"layer", d.fingerprint.layer}}},
      {"class_names", d.class_names},
      {"seed", d.seed},
      {"tool_version", d.tool_version},
      {"created", d.created},
      {"notes", Json(d.notes)},
      {"next_id", manifest.next_id},
      {"segments", RecordsToJson(manifest.segments)},
      {"deletions", manifest.deletions ? RecordToJson(*manifest.deletions) : Json(nullptr)},
      {"index", manifest.index ? IndexToJson(*manifest.index) : Json(nullptr)},
  };
  if (compressed) json["compressed"] = CompressedToJson(d);
  if (own_answer) json["answer"] = AnswerToJson(d);
  if (manifest.transform) json["transform"] = RecordToJson(*manifest.transform);
  if (manifest.former) json["former"] = FormerToJson(*manifest.former);
  if (manifest.stream) json["stream"] = StreamToJson(*manifest.stream);
  if (manifest.snapshot) {
    json["snapshot"] = {{"name", manifest.snapshot->name},
                        {"created", manifest.snapshot->created},
                        {"note", manifest.snapshot->note}};
  }
  if (!manifest.append_tokens.empty()) {
    Json& tokens = json["append_tokens"] = Json::array();
    for (const AppendToken& append : manifest.append_tokens) {
      tokens.push_back({{"token", append.token}, {"rows", append.rows}});
    }
  }
  for (const auto& [name, value] : json.items()) {
    try {
      (void)value.dump();
    } catch (const Json::exception&) {
      return Status(ErrorCode::kInvalidArgument,
                    Text(name, " holds bytes that are not UTF-8; convert the text to UTF-8"));
    }
  }
  return json.dump(1);
}

Result<Manifest> ManifestFromJson(std::string_view text) {
  RESMEM_ASSIGN_OR_RETURN(const Json json, ParseShallowJson(text, kMaxDepth));
  Manifest manifest;
  RESMEM_ASSIGN_OR_RETURN(manifest.description.key_transform, ReadMetric(json, "the manifest"));
  RESMEM_RETURN_IF_ERROR(ReadDescription(json, &manifest.description));
  RESMEM_RETURN_IF_ERROR(ReadFileList(json, &manifest));
  return manifest;
}

}  // namespace resmem
