// The dearest component: what a run's manifest says, as a program with resmem::report would print.
#include <cstdio>

#include "resmem/report/report.h"

int main() {
  const resmem::RunInfo run = resmem::DescribeRun({"report_consumer"});
  std::printf("%s on %s\n", run.version.c_str(), run.simd.c_str());
  return run.version.empty() ? 1 : 0;
}
