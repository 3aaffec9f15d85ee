#include "report/document.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace resmem {

Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json Number(float value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  const auto written = std::to_chars(text, text + sizeof(text) - 1, value);
  *written.ptr = '\0';
  return std::strtod(text, nullptr);  // 0.7f as 0.7, not 0.699999988079071
}

Json Numbers(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(Number(value));
  return list;
}

Json Numbers(std::span<const float> values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(Number(value));
  return list;
}

Json ToJson(const Parameters& parameters) {
  return {{"k", parameters.k},
          {"sigma", Number(parameters.sigma)},
          {"temperature", Number(parameters.temperature)}};
}

Json ToJson(const PairedGain& gain) {
  return {{"total", gain.total},
          {"fixed", gain.fixed},
          {"harmed", gain.harmed},
          {"both_right", gain.both_right},
          {"both_wrong", gain.both_wrong},
          {"gain", Number(gain.gain)},
          {"tpr", Number(gain.tpr)},
          {"fpr", Number(gain.fpr)},
          {"low", Number(gain.interval.low)},
          {"high", Number(gain.interval.high)},
          {"p_value", Number(gain.p_value)}};
}

namespace {

Json ToJson(const IndexInfo& index, bool used) {
  return {{"used", used},
          {"recall", Number(index.recall)},
          {"measured_recall", Number(index.measured_recall)},
          {"code_bits", index.code_bits},
          {"given_queries", index.given_queries},
          {"files", index.files},
          {"lists", index.lists},
          {"rows", index.rows},
          {"unindexed_rows", index.unindexed_rows},
          {"bytes", index.bytes}};
}

Json SnapshotsToJson(const SnapshotList& list) {
  Json json = Json::array();
  for (const SnapshotInfo& info : list.snapshots) {
    Json snapshot = {{"name", info.name}};
    if (info.problem.empty()) {
      snapshot["created"] = info.created;
      snapshot["note"] = info.note;
      snapshot["rows"] = info.rows;
      snapshot["bytes"] = info.bytes;
      snapshot["own_bytes"] = info.own_bytes;
    } else {
      snapshot["problem"] = info.problem;
    }
    json.push_back(std::move(snapshot));
  }
  return json;
}

}  // namespace

Json ToJson(const MemoryInfo& memory) {
  Json json = {{"path", memory.path},
               {"rows", memory.rows},
               {"dim", memory.dim},
               {"outputs", memory.outputs},
               {"segments", memory.segments},
               {"bytes_on_disk", memory.bytes_on_disk},
               {"key_type", memory.key_type},
               {"key_transform", memory.key_transform},
               {"form", memory.form},
               {"parameters", ToJson(memory.parameters)},
               {"tuned", memory.tuned},
               {"cross_fitted", memory.cross_fitted},
               {"model_digest", memory.fingerprint.digest},
               {"model_layer", memory.fingerprint.layer},
               {"tool_version", memory.tool_version},
               {"created", memory.created}};
  if (memory.index) json["index"] = ToJson(*memory.index, memory.index_used);
  if (memory.asked_recall) json["asked_recall"] = Number(*memory.asked_recall);
  json["task"] = memory.task;
  json["deleted_rows"] = memory.deleted_rows;
  if (memory.former_bytes > 0) json["former_bytes"] = memory.former_bytes;
  if (memory.top > 0) json["top"] = memory.top;
  json["half_residuals"] = memory.half_residuals;
  json["has_sources"] = memory.has_sources;
  if (memory.snapshots) {
    json["snapshots"] = SnapshotsToJson(*memory.snapshots);
    json["snapshot_bytes"] = memory.snapshots->own_bytes;
  }
  if (memory.in_snapshots) {
    Json& list = json["in_snapshots"] = Json::array();
    for (const SnapshotRows& rows : *memory.in_snapshots) {
      list.push_back({{"name", rows.name}, {"ids", rows.ids}});
    }
  }
  json["calibrator"] = memory.calibrator;
  json["calibrator_temperature"] = Number(memory.calibrator_temperature);
  if (!memory.class_names.empty()) json["class_names"] = memory.class_names;
  if (!memory.index_obstacle.empty()) json["index_obstacle"] = memory.index_obstacle;
  if (memory.residual_mass) json["residual_mass"] = Number(*memory.residual_mass);
  if (memory.dropped_mass) json["dropped_mass"] = Number(*memory.dropped_mass);
  Json notes = Json::object();
  for (const auto& [name, text] : memory.notes) notes[name] = text;
  json["notes"] = std::move(notes);
  return json;
}

Json ToJson(const RunInfo& run) {
  Json seeds = Json::object();
  for (const auto& [name, seed] : run.seeds) seeds[name] = seed;
  Json inputs = Json::array();
  for (const InputFile& input : run.inputs) {
    inputs.push_back({{"path", input.path}, {"bytes", input.bytes}, {"digest", input.digest}});
  }
  Json json = {{"command", run.command},
               {"version", run.version},
               {"build", run.build},
               {"processor", run.processor},
               {"cores", run.cores},
               {"memory_bytes", run.memory_bytes},
               {"simd", run.simd},
               {"started", run.started},
               {"seconds", Number(run.seconds)},
               {"seeds", std::move(seeds)},
               {"inputs", std::move(inputs)}};
  if (run.memory) json["memory"] = ToJson(*run.memory);
  return json;
}

Json StartDocument(std::string_view kind, const RunInfo& run) {
  return {{"schema", "resmem." + std::string(kind) + ".v1"}, {"run", ToJson(run)}};
}

std::string WriteDocument(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace resmem
