#include "report/document.h"

namespace resmem {
namespace {

Json ToJson(const CompressionLoss& loss) {
  return {{"points", Number(loss.points)},
          {"points_low", Number(loss.points_interval.low)},
          {"points_high", Number(loss.points_interval.high)},
          {"perplexity", Number(loss.perplexity)},
          {"perplexity_low", Number(loss.perplexity_interval.low)},
          {"perplexity_high", Number(loss.perplexity_interval.high)}};
}

}  // namespace

std::string CompressionJson(const Compression& compression, const std::string& written,
                            int64_t written_bytes, const RunInfo& run) {
  Json document = StartDocument("compression", run);
  document["rows"] = compression.rows;
  document["judged"] = compression.judged;
  document["bytes"] = compression.bytes;
  document["accuracy"] = Number(compression.accuracy);
  document["nll"] = Number(compression.nll);
  document["chosen"] = compression.chosen;
  document["strictness"] = Number(compression.strictness);
  document["cross_validated"] = ToJson(compression.cross_validated);
  Json points = Json::array();
  for (const CompressionPoint& point : compression.points) {
    points.push_back({{"key_type", KeyTypeName(point.form.key_type)},
                      {"packed", point.form.packed},
                      {"share", Number(point.form.share)},
                      {"least", Number(point.form.least)},
                      {"bytes", point.bytes},
                      {"accuracy", Number(point.accuracy)},
                      {"nll", Number(point.nll)},
                      {"loss", ToJson(point.loss)}});
  }
  document["points"] = std::move(points);
  document["written"] = written;
  document["written_bytes"] = written_bytes;
  return WriteDocument(document);
}

}  // namespace resmem
