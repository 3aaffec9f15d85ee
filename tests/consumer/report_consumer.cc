// A program that writes a page of its own figures, with resmem::report.
#include <cstdio>

#include "resmem/report/report.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const resmem::RunInfo run = resmem::DescribeRun({"report_consumer"});
  const resmem::Figure figure{
      "accuracy", "", {"epoch"}, {"accuracy"}, {{"base", false, {{1, 0.5, {}}, {2, 0.6, {}}}}}};
  const resmem::Status written =
      resmem::WriteReport(resmem::FiguresJson("figures", {&figure, 1}, run), argv[1]);
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.message().c_str());
  std::printf("%s on %s\n", run.version.c_str(), run.simd.c_str());
  return written.ok() ? 0 : 1;
}
