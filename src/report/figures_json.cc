#include "report/document.h"

namespace resmem {
namespace {

Json ToJson(const Axis& axis) {
  return {{"label", axis.label}, {"logarithmic", axis.logarithmic}, {"percent", axis.percent}};
}

Json ToJson(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points) {
    Json json = {{"x", Number(point.x)}, {"y", Number(point.y)}};
    if (point.interval) {
      json["low"] = Number(point.interval->low);
      json["high"] = Number(point.interval->high);
    }
    points.push_back(std::move(json));
  }
  return {{"name", curve.name}, {"reference", curve.reference}, {"points", std::move(points)}};
}

Json ToJson(const Figure& figure) {
  Json curves = Json::array();
  for (const Curve& curve : figure.curves) curves.push_back(ToJson(curve));
  return {{"title", figure.title},
          {"caption", figure.caption},
          {"x", ToJson(figure.x)},
          {"y", ToJson(figure.y)},
          {"curves", std::move(curves)}};
}

}  // namespace

std::string FiguresJson(std::string_view title, std::span<const Figure> figures,
                        const RunInfo& run) {
  Json document = StartDocument("figures", run);
  document["title"] = title;
  Json list = Json::array();
  for (const Figure& figure : figures) list.push_back(ToJson(figure));
  document["figures"] = std::move(list);
  return WriteDocument(document);
}

std::string MemoryJson(const MemoryInfo& memory, const RunInfo& run) {
  Json document = StartDocument("memory", run);
  document["memory"] = resmem::ToJson(memory);
  return WriteDocument(document);
}

std::string ScrubJson(const std::string& memory, const ScrubReport& report, const RunInfo& run) {
  Json document = StartDocument("scrub", run);
  document["memory"] = memory;
  document["sound"] = report.sound();
  document["files"] = report.files;
  document["blocks"] = report.blocks;
  document["bytes"] = report.bytes;
  document["past_cache"] = report.past_cache;
  document["broken"] = report.broken;
  document["damage"] = report.damage;
  return WriteDocument(document);
}

}  // namespace resmem
