#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "support/text.h"
#include "theory/log_axes.h"
#include "theory/simulation.h"

namespace resmem {
namespace {

constexpr double kPanelWidth = 230, kPanelHeight = 200;
constexpr double kMarginLeft = 46, kMarginTop = 72, kMarginBottom = 34;

struct Series {
  const char* style;
  const char* name;
  Estimate (*value)(const SimulationCurve&, const SimulationPoint&);
};
constexpr Series kSeries[] = {
    {"limit", "limit of the base",
     [](const auto& curve, const auto&) {
       return Estimate{curve.plateau, 0};
     }},
    {"proved", "proved rate (constant 1)",
     [](const auto&, const auto& point) {
       return Estimate{point.theorem_bound, 0};
     }},
    {"parts", "3(T1+T2)", [](const auto&, const auto& point) { return point.decomposition; }},
    {"base", "base", [](const auto&, const auto& point) { return point.base; }},
    {"knn", "k-NN on labels", [](const auto&, const auto& point) { return point.knn; }},
    {"resmem", "ResMem", [](const auto&, const auto& point) { return point.resmem; }},
};

constexpr char kStyle[] = R"(<style>
text { font: 11px sans-serif; fill: #333 }
.title { font-size: 12px; font-weight: bold }
.heading { font-size: 15px; font-weight: bold }
.grid { stroke: #e4e4e4 }
.axis { stroke: #777 }
polyline { fill: none; stroke-width: 2 }
.limit { stroke: #888; stroke-dasharray: 2 3; stroke-width: 1.2 }
.proved { stroke: #888; stroke-dasharray: 7 4; stroke-width: 1.2 }
.parts { stroke: #c9b458; stroke-width: 1.2 }
.base { stroke: #3b6fb6 }
.knn { stroke: #d9782d }
.resmem { stroke: #1a8a5a }
</style>
)";

std::vector<Estimate> Values(const SimulationCurve& curve, const Series& series) {
  std::vector<Estimate> values;
  for (const SimulationPoint& point : curve.points) values.push_back(series.value(curve, point));
  return values;
}

// The proved rate belongs to the paper's setting alone.
bool Shown(const Series& series, const SimulationSetting& setting) {
  return setting == SimulationSetting() || std::string_view(series.style) != "proved";
}

std::string Legend(const SimulationSetting& setting) {
  std::string svg;
  double x = kMarginLeft;
  for (const Series& series : kSeries) {
    if (!Shown(series, setting)) continue;
    const std::string_view name = setting.noise > 0 && std::string_view(series.style) == "parts"
                                      ? "4(T1+T2+noise)"
                                      : series.name;
    svg +=
        Text("<line class=\"", series.style, "\" stroke-width=\"2\" x1=\"", x, "\" x2=\"", x + 22,
             "\" y1=\"42\" y2=\"42\"/><text x=\"", x + 27, "\" y=\"46\">", name, "</text>\n");
    x += 45 + 6.2 * static_cast<double>(name.size());
  }
  return svg;
}

}  // namespace

std::string SimulationSvg(const SimulationResult& result, size_t setting_number) {
  const SimulationOptions& options = result.options;
  const SimulationSetting& setting = options.settings[setting_number];
  const size_t columns = options.dimensions.size(), rows = options.bounds.size();
  const double width = std::max(kMarginLeft + kPanelWidth * static_cast<double>(columns), 720.0);
  const double height = kMarginTop + kPanelHeight * static_cast<double>(rows) + 8;

  std::string svg =
      Text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, " ", height,
           "\" width=\"", width, "\" height=\"", height,
           "\" role=\"img\">\n<title>Risk against n, setting: ", SimulationSettingName(setting),
           "</title>\n", kStyle, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
           "<text class=\"heading\" x=\"", kMarginLeft, "\" y=\"24\">Risk against n (",
           SimulationSettingName(setting), "): mean over ", options.draws,
           " draws, bars of two standard errors</text>\n", Legend(setting));
  Decades x;
  for (int64_t n : options.samples) x.Include(static_cast<double>(n));
  for (size_t d = 0; d < columns; ++d) {
    // One vertical scale for a dimension, so that bounds can be compared.
    const SimulationCurve* first = &result.curves[(setting_number * columns + d) * rows];
    Decades y;
    for (size_t b = 0; b < rows; ++b) {
      for (const Series& series : kSeries) {
        if (!Shown(series, setting)) continue;
        for (const Estimate& value : Values(first[b], series)) y.Include(value.mean);
      }
    }
    for (size_t b = 0; b < rows; ++b) {
      const SimulationCurve& curve = first[b];
      const LogAxes axes({kMarginLeft + kPanelWidth * static_cast<double>(d),
                          kMarginTop + kPanelHeight * static_cast<double>(b), kPanelWidth - 56,
                          kPanelHeight - kMarginBottom - 14},
                         x, y);
      svg += axes.Frame(Text("d = ", curve.dimension, ", L = ", curve.bound));
      for (const Series& series : kSeries) {
        if (Shown(series, setting)) {
          svg += axes.Curve(options.samples, Values(curve, series), series.style);
        }
      }
    }
  }
  return svg + "</svg>\n";
}

}  // namespace resmem
