#include "reproduce/json.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "console/output.h"

namespace resmem::cli::reproduce {
namespace {

// The shortest decimal of the float, as a double: 0.7 and not 0.699999988.
double Decimal(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  double decimal = 0;
  std::from_chars(text, end, decimal);
  return decimal;
}

}  // namespace

Json ToJson(const Parameters& parameters) {
  return {{"k", parameters.k},
          {"sigma", Decimal(parameters.sigma)},
          {"temperature", Decimal(parameters.temperature)}};
}

Json ToJson(const Interval& interval) {
  return {{"low", interval.low}, {"high", interval.high}};
}

Json ToJson(const Accuracy& accuracy) {
  return {{"value", accuracy.value},
          {"correct", accuracy.correct},
          {"total", accuracy.total},
          {"low", accuracy.interval.low},
          {"high", accuracy.interval.high}};
}

Json ToJson(const PairedGain& gain) {
  return {{"value", gain.gain},
          {"low", gain.interval.low},
          {"high", gain.interval.high},
          {"tpr", gain.tpr},
          {"fpr", gain.fpr},
          {"fixed", gain.fixed},
          {"harmed", gain.harmed},
          {"both_right", gain.both_right},
          {"both_wrong", gain.both_wrong},
          {"p_value", gain.p_value}};
}

Json ToJson(const Calibration& calibration) {
  Json bins = Json::array();
  for (const Calibration::Bin& bin : calibration.bins) {
    bins.push_back(
        {{"count", bin.count}, {"confidence", bin.confidence}, {"accuracy", bin.accuracy}});
  }
  return {{"nll", calibration.nll},
          {"brier", calibration.brier},
          {"ece", calibration.ece},
          {"floored", calibration.floored},
          {"bins", std::move(bins)}};
}

const Json& At(const Json& json, std::string_view path) {
  static const Json kNothing;
  const Json* at = &json;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string name(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (at->is_object() && at->contains(name)) {
      at = &(*at)[name];
      continue;
    }
    size_t index = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    if (!at->is_array() || parsed.ptr != name.data() + name.size() || index >= at->size()) {
      return kNothing;
    }
    at = &(*at)[index];
  }
  return *at;
}

double NumberAt(const Json& json, std::string_view path) {
  const Json& value = At(json, path);
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

int64_t CountAt(const Json& json, std::string_view path) {
  const Json& value = At(json, path);
  return value.is_number_integer() ? value.get<int64_t>() : -1;
}

std::string TextAt(const Json& json, std::string_view path) {
  const Json& value = At(json, path);
  return value.is_string() ? value.get<std::string>() : std::string();
}

Interval IntervalAt(const Json& json, std::string_view path) {
  const Json& value = At(json, path);
  return {NumberAt(value, "low"), NumberAt(value, "high")};
}

Parameters ParametersAt(const Json& json, std::string_view path) {
  const Json& value = At(json, path);
  Parameters parameters;
  parameters.k = 0;
  if (!value.is_object()) return parameters;
  parameters.k = std::max<int64_t>(CountAt(value, "k"), 0);
  parameters.sigma = static_cast<float>(NumberAt(value, "sigma"));
  parameters.temperature = static_cast<float>(NumberAt(value, "temperature"));
  return parameters;
}

Result<Json> ReadJson(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return Status(ErrorCode::kNotFound, path + " does not exist");
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Status(ErrorCode::kIo, path + " cannot be read");
  constexpr int kMostDepth = 32;
  Json json = Json::parse(
      text.str(), [](int depth, Json::parse_event_t, Json&) { return depth <= kMostDepth; },
      /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return Status(ErrorCode::kCorrupt, path + " is not a JSON object; remove it to make it again");
  }
  return json;
}

Status WriteJson(const std::string& path, const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(Output file, Output::File(path));
  RESMEM_RETURN_IF_ERROR(
      file.Write(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
  return file.Close();
}

void Digest::Add(std::string_view bytes) {
  constexpr uint64_t kPrime = 0x100000001b3u;
  while (bytes.size() >= sizeof(uint64_t)) {  // FNV-1a by words: images come in 180 MB
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    state_ = (state_ ^ word) * kPrime;
    state_ ^= state_ >> 32;
    bytes.remove_prefix(sizeof word);
  }
  for (const char byte : bytes) state_ = (state_ ^ static_cast<uint8_t>(byte)) * kPrime;
}

std::string Digest::Hex() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
  return text;
}

}  // namespace resmem::cli::reproduce
