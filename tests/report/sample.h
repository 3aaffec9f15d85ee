// Results as a run would give them, made up and seeded: for tests of documents and pages.
// One class, one slice and one source are named as an attacker would name them.
#ifndef RESMEM_TESTS_REPORT_SAMPLE_H_
#define RESMEM_TESTS_REPORT_SAMPLE_H_

#include <string>
#include <vector>

#include "resmem/models/model_report.h"
#include "resmem/report/report.h"
#include "theory/simulation_json.h"

namespace resmem::sample {

inline const char kHostileName[] = "<script>alert(1)</script>\"'&";

std::vector<std::string> ClassNames();
RunInfo Run();
Evaluation Classification();
Evaluation Regression();
Diagnosis Diagnosed(const Evaluation& evaluation);
Tuning ClassificationTuning();
Tuning RegressionTuning();
std::vector<Example> ImageExamples();
std::vector<Example> TextExamples();
std::vector<Figure> Figures();
SimulationResult Simulation();  // run, and not made up: small enough
OnnxSummary Onnx();
ModelManifest Manifest();

// All of the above as one document.
std::string Combined();

}  // namespace resmem::sample

#endif  // RESMEM_TESTS_REPORT_SAMPLE_H_
