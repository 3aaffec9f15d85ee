#include "outputs/prediction_lines.h"

#include <nlohmann/json.hpp>

#include "outputs/exact_number.h"

namespace resmem::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// "prediction", or "prediction_0", "prediction_1", ... for several outputs.
void AddColumns(const char* name, int64_t outputs, std::string* header) {
  for (int64_t i = 0; i < outputs; ++i) {
    *header += std::string(",") + name + (outputs == 1 ? "" : "_" + std::to_string(i));
  }
}

// Of the intervals, one for each output; empty without them.
std::vector<float> EndsOf(const PredictionLine& line, float sign) {
  std::vector<float> ends;
  for (size_t i = 0; i < line.half_widths.size(); ++i) {
    ends.push_back(line.values[i] + sign * line.half_widths[i]);
  }
  return ends;
}

Json Values(std::span<const float> values) {
  if (values.size() == 1) return ShortestDouble(values[0]);
  Json list = Json::array();
  for (const float value : values) list.push_back(ShortestDouble(value));
  return list;
}

}  // namespace

PredictionLines::PredictionLines(const MemoryDescription& memory, LineFormat format,
                                 const Columns& columns)
    : memory_(memory), format_(format), columns_(columns) {}

std::string PredictionLines::Header() const {
  if (format_ == LineFormat::kJsonLines) return "";
  std::string header = "row";
  if (columns_.ids) header += ",id";
  if (columns_.sources) header += ",source";
  if (columns_.distance) header += ",distance_percentile,unknown";
  if (memory_.task == Task::kRegression) {
    AddColumns("base", memory_.outputs, &header);
    AddColumns("prediction", memory_.outputs, &header);
    if (columns_.intervals) {
      AddColumns("low", memory_.outputs, &header);
      AddColumns("high", memory_.outputs, &header);
    }
    return header + "\n";
  }
  header += ",base,base_probability,prediction,probability";
  if (!memory_.class_names.empty()) header += ",base_name,prediction_name";
  for (int64_t i = 1; i <= columns_.top; ++i) {
    const std::string rank = std::to_string(i);
    header += ",top" + rank + ",top" + rank + "_probability";
  }
  return header + "\n";
}

std::string PredictionLines::Line(const PredictionLine& line) const {
  return format_ == LineFormat::kCsv ? CsvLine(line) : JsonLine(line);
}

std::string PredictionLines::CsvLine(const PredictionLine& line) const {
  std::string text = std::to_string(line.row);
  if (line.id.has_value()) text += "," + std::to_string(*line.id);
  if (columns_.sources) text += "," + CsvText(line.source);
  if (columns_.distance) {
    text += "," + ExactNumber(line.distance_percentile) + (line.unknown ? ",1" : ",0");
  }
  if (memory_.task == Task::kRegression) {
    for (const float value : line.base_values) text += "," + ExactNumber(value);
    for (const float value : line.values) text += "," + ExactNumber(value);
    for (const float sign : {-1.0f, 1.0f}) {
      for (const float end : EndsOf(line, sign)) text += "," + ExactNumber(end);
    }
    return text + "\n";
  }
  text += "," + std::to_string(line.base) + "," + ExactNumber(line.base_probability) + "," +
          std::to_string(line.prediction) + "," + ExactNumber(line.probability);
  if (!memory_.class_names.empty()) {
    text += "," + CsvText(memory_.class_names[static_cast<size_t>(line.base)]) + "," +
            CsvText(memory_.class_names[static_cast<size_t>(line.prediction)]);
  }
  for (const auto& [label, probability] : line.top) {
    text += "," + std::to_string(label) + "," + ExactNumber(probability);
  }
  return text + "\n";
}

std::string PredictionLines::JsonLine(const PredictionLine& line) const {
  Json json = {{"row", line.row}};
  if (line.id.has_value()) json["id"] = *line.id;
  if (columns_.sources) json["source"] = line.source;
  if (columns_.distance) {
    json["distance_percentile"] = ShortestDouble(line.distance_percentile);
    json["unknown"] = line.unknown;
  }
  if (memory_.task == Task::kRegression) {
    json["base"] = Values(line.base_values);
    json["prediction"] = Values(line.values);
    if (columns_.intervals) {
      json["low"] = Values(EndsOf(line, -1));
      json["high"] = Values(EndsOf(line, 1));
    }
  } else {
    json["base"] = line.base;
    json["base_probability"] = ShortestDouble(line.base_probability);
    json["prediction"] = line.prediction;
    json["probability"] = ShortestDouble(line.probability);
    if (!memory_.class_names.empty()) {
      json["base_name"] = memory_.class_names[static_cast<size_t>(line.base)];
      json["prediction_name"] = memory_.class_names[static_cast<size_t>(line.prediction)];
    }
    for (const auto& [label, probability] : line.top) {
      json["top"].push_back({{"class", label}, {"probability", ShortestDouble(probability)}});
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace resmem::cli
