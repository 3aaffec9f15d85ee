#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "theory/simulation.h"

namespace resmem {
namespace {

// The shortest digits that read back as the same double, whatever the locale.
void Append(std::string* line, double value) {
  char buffer[40];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  *line += ',';
  line->append(buffer, end.ptr);
}

void Append(std::string* line, const Estimate& value) {
  Append(line, value.mean);
  Append(line, value.error);
}

}  // namespace

std::string SimulationCsv(const SimulationResult& result) {
  std::string text =
      "target,k,sigma,noise,d,L,n,base,base_error,knn,knn_error,resmem,resmem_error,t1,t1_error,"
      "t2,t2_error,noise_part,noise_part_error,decomposition,decomposition_error,z,z_error,z_bound,"
      "theorem_bound,plateau,ratio_limit,knn_minus_resmem,knn_minus_resmem_error,base_minus_resmem,"
      "base_minus_resmem_error,violations,interior_draws,kkt_residual\n";
  for (const SimulationCurve& curve : result.curves) {
    for (const SimulationPoint& point : curve.points) {
      std::string line = SimulationTargetName(curve.setting.target);
      line += ',' + std::to_string(curve.setting.k);
      Append(&line, curve.setting.sigma);
      Append(&line, curve.setting.noise);
      line += ',' + std::to_string(curve.dimension);
      Append(&line, curve.bound);
      line += ',' + std::to_string(point.n);
      for (const Estimate& value : {point.base, point.knn, point.resmem, point.t1, point.t2,
                                    point.noise_part, point.decomposition, point.z}) {
        Append(&line, value);
      }
      Append(&line, point.z_bound);
      Append(&line, point.theorem_bound);
      Append(&line, curve.plateau);
      Append(&line, curve.ratio_limit);
      Append(&line, point.knn_minus_resmem);
      Append(&line, point.base_minus_resmem);
      line += ',' + std::to_string(point.violations);
      line += ',' + std::to_string(point.interior_draws);
      Append(&line, point.kkt_residual);
      text += line + '\n';
    }
  }
  return text;
}

}  // namespace resmem
