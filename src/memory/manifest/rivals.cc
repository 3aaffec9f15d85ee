#include "memory/manifest/rivals.h"

#include <cmath>
#include <string>

namespace resmem {
namespace {

SortedJson NeighborRivalToJson(const Rivals::NeighborRival& rival) {
  return {{"k", rival.k}, {"sigma", rival.sigma}, {"lambda", rival.lambda}};
}

bool IsPositive(const Json& json) {
  return json.is_number() && std::isfinite(json.get<double>()) && json.get<double>() > 0;
}

// A note may have been written by anyone: what does not fit is left out.
std::optional<Rivals::NeighborRival> NeighborRivalFrom(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_object()) return std::nullopt;
  const Json k = found->value("k", Json()), sigma = found->value("sigma", Json()),
             lambda = found->value("lambda", Json());
  if (!k.is_number_integer() || !IsPositive(k) || !IsPositive(sigma) || !IsPositive(lambda) ||
      lambda.get<double>() > 1) {
    return std::nullopt;
  }
  return Rivals::NeighborRival{k.get<int64_t>(), sigma.get<float>(), lambda.get<float>()};
}

bool ReadFloats(const Json& json, const char* name, size_t count, std::vector<float>* out) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array() || found->size() != count) return false;
  for (const Json& value : *found) {
    if (!value.is_number() || !std::isfinite(value.get<float>())) return false;
    out->push_back(value.get<float>());
  }
  return true;
}

}  // namespace

SortedJson RivalsToJson(const Rivals& rivals) {
  SortedJson json = SortedJson::object();
  if (rivals.knn) json["knn"] = NeighborRivalToJson(*rivals.knn);
  if (rivals.knn_lm) json["knn_lm"] = NeighborRivalToJson(*rivals.knn_lm);
  if (rivals.temperature) json["temperature"] = *rivals.temperature;
  if (rivals.last_layer) {
    json["last_layer"] = {{"scale", rivals.last_layer->scale},
                          {"offset", rivals.last_layer->offset},
                          {"weights", rivals.last_layer->weights}};
  }
  return json;
}

std::optional<Rivals> RivalsOf(const MemoryDescription& description) {
  const auto note = description.notes.find(kTuningNote);
  if (note == description.notes.end()) return std::nullopt;
  const Json trace = Json::parse(note->second, nullptr, /*allow_exceptions=*/false);
  if (!trace.is_object() || !trace.contains(kRivalsField)) return std::nullopt;
  const Json& json = trace[kRivalsField];
  if (!json.is_object()) return std::nullopt;
  Rivals rivals;
  rivals.knn = NeighborRivalFrom(json, "knn");
  rivals.knn_lm = NeighborRivalFrom(json, "knn_lm");
  const auto temperature = json.find("temperature");
  if (temperature != json.end() && IsPositive(*temperature)) {
    rivals.temperature = temperature->get<float>();
  }
  const auto layer = json.find("last_layer");
  if (layer != json.end() && layer->is_object()) {
    const auto classes = static_cast<size_t>(description.outputs);
    Rivals::LastLayer last;
    const Json scale = layer->value("scale", Json());
    const bool fits = scale.is_number() && std::isfinite(scale.get<float>()) &&
                      description.outputs <= Rivals::LastLayer::kMostWeights &&
                      ReadFloats(*layer, "offset", classes, &last.offset) &&
                      ReadFloats(*layer, "weights", classes * static_cast<size_t>(description.dim),
                                 &last.weights);
    if (fits) last.scale = scale.get<float>();
    if (fits) rivals.last_layer = std::move(last);
  }
  return rivals;
}

}  // namespace resmem
