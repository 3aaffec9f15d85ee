#include "report/sample.h"

#include <algorithm>
#include <cmath>

#include "support/random.h"

namespace resmem::sample {

std::vector<std::string> ClassNames() {
  return {"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
          "Sandal",  "Shirt",   "Sneaker",  "Bag",   kHostileName};
}

RunInfo Run() {
  RunInfo run;
  run.command = {"resmem",   "eval",  "my memory", "--data", "/home/somebody/test.npz",
                 "--report", "r.html"};
  run.version = "0.1.0";
  run.build = "g++ 12.2.0, release";
  run.processor = "A processor of the test";
  run.cores = 2;
  run.memory_bytes = 8'345'678'901;
  run.simd = "avx512";
  run.started = "2026-11-16T00:30:00Z";
  run.seconds = 83.25;
  run.seeds = {{"folds", 7}, {"base/<b>~", 18446744073709551615u}};
  run.inputs = {{"test.npz", 6'912'345, "0123456789abcdef0123456789abcdef"},
                {"labels & <i>names</i>.csv", 117, "fedcba9876543210fedcba9876543210"}};
  MemoryInfo memory;
  memory.index = {0.95, 0.9612, 8, 1, 894, 50000, 60, 4'636'352, 2000};
  memory.index_used = true;
  memory.asked_recall = 0.95;
  memory.task = "classification";
  memory.deleted_rows = 17;
  memory.top = 128;
  memory.calibrator = "clip";
  memory.class_names = {"coat", "<b>shirt</b>"};
  memory.index_obstacle = "a key is too far away";
  memory.residual_mass = 0.21;
  memory.dropped_mass = 0.01;
  memory.notes = {{"model", "net.onnx"}};
  memory.path = "my memory";
  memory.rows = 50000;
  memory.dim = 64;
  memory.outputs = 10;
  memory.segments = 1;
  memory.bytes_on_disk = 15'203'512;
  memory.key_type = "float32";
  memory.key_transform = "whiten";
  memory.former_bytes = 12'801'024;
  memory.snapshots.emplace();
  memory.snapshots->snapshots = {
      {"monday", "before", "2026-11-16T00:20:00Z", 49990, 15'203'512, 900, ""},
      {"broken", "", "", 0, 0, 0, "m/snapshots/broken: no memory here"}};
  memory.snapshots->own_bytes = 900;
  memory.in_snapshots = {{"monday", {3, 5}}};
  memory.form = "logits";
  memory.tuned = true;
  memory.fingerprint = {"00112233445566778899aabbccddeeff", "penultimate"};
  memory.tool_version = "0.1.0";
  memory.created = "2026-11-16T00:20:00Z";
  run.memory = memory;
  return run;
}

namespace {

Calibration MakeCalibration(double overconfidence, int64_t total) {
  Calibration calibration;
  calibration.nll = 0.41 + overconfidence;
  calibration.brier = 0.22 + overconfidence / 3;
  calibration.floored = 3;
  int64_t left = total;
  for (size_t i = 0; i < calibration.bins.size(); ++i) {
    Calibration::Bin& bin = calibration.bins[i];
    if (i < 2) continue;  // no answer of ten classes is this unsure
    if (i == 2) {         // a single one, and it was right
      bin = {1, 0.19, 1};
      left -= 1;
      continue;
    }
    const double middle = (static_cast<double>(i) + 0.5) / 15.0;
    bin.count = i == 14 ? left : std::min<int64_t>(left, static_cast<int64_t>(15 * i * i / 4));
    left -= bin.count;
    bin.confidence = middle + 0.003;
    bin.accuracy = std::clamp(middle - overconfidence * std::sin(3 * middle), 0.02, 0.995);
    calibration.ece += static_cast<double>(bin.count) / static_cast<double>(total) *
                       std::abs(bin.confidence - bin.accuracy);
  }
  return calibration;
}

MethodResult MakeMethod(Method method, float lambda, int64_t fixed, int64_t harmed,
                        int64_t base_right, int64_t total) {
  MethodResult result;
  result.method = method;
  result.lambda = lambda;
  result.accuracy = MakeAccuracy(base_right + fixed - harmed, total);
  result.against_base =
      MakePairedGain(fixed, harmed, base_right - harmed, total - base_right - fixed);
  if (method != Method::kNearestClassMean) result.nll = 1 - result.accuracy.value;
  return result;
}

std::vector<GroupResult> MakeGroups(const std::vector<std::string>& names, int64_t each) {
  Random random(11);
  std::vector<GroupResult> groups;
  for (const std::string& name : names) {
    GroupResult group;
    group.name = name;
    group.total = each;
    group.base_correct = each * 3 / 4 + static_cast<int64_t>(random.Below(each / 8));
    group.fixed = static_cast<int64_t>(random.Below(each / 14));
    group.harmed = static_cast<int64_t>(random.Below(each / 24));
    group.resmem_correct = group.base_correct + group.fixed - group.harmed;
    groups.push_back(group);
  }
  return groups;
}

}  // namespace

Diagnosis Diagnosed(const Evaluation& evaluation) {
  Diagnosis diagnosis;
  diagnosis.index = {500, 53, 0.95, 0.9583, 0.003, 0.83, 0.4, 0.01, 0.2};
  diagnosis.index_on_given = {500, 53, 0.95, 0.9392, 0.004, 0.77, 0.2, 0.01, 0.2};
  diagnosis.evaluation = evaluation;
  diagnosis.exact_evaluation = evaluation;
  diagnosis.lost = 0.0004;
  diagnosis.judged = true;
  diagnosis.verdict = "base + memory is better than the base on these rows by 2.11 points";
  diagnosis.advice = {"k, sigma and T are not tuned."};
  return diagnosis;
}

Evaluation Classification() {
  constexpr int64_t kTotal = 10000, kBase = 8412;
  Evaluation evaluation;
  evaluation.rows = kTotal;
  evaluation.parameters = {53, 0.7f, 1.4f};
  evaluation.methods = {MakeMethod(Method::kBase, 0, 0, 0, kBase, kTotal),
                        MakeMethod(Method::kNearestClassMean, 0, 301, 905, kBase, kTotal),
                        MakeMethod(Method::kKnn, 0, 498, 433, kBase, kTotal)};
  for (int i = 0; i <= 10; ++i) {
    const int64_t fixed = 39 * i, harmed = 2 * i * i + 5 * i;
    evaluation.methods.push_back(
        MakeMethod(Method::kKnnLm, static_cast<float>(i) / 10.0f, fixed, harmed, kBase, kTotal));
  }
  evaluation.methods.push_back(MakeMethod(Method::kResMem, 0, 412, 201, kBase, kTotal));
  evaluation.methods.insert(evaluation.methods.begin() + 1,
                            MakeMethod(Method::kBase, 0, 0, 0, kBase, kTotal));
  evaluation.methods[1].refit = Refit::kTemperature;
  for (size_t e : {size_t{0}, evaluation.methods.size() - 1}) {
    evaluation.methods[e].metrics = Metrics{0.5, 0.04, {0.03, 0.05}, 0.9, 0.7, 0.71, 0.95};
  }
  MethodPair pair;
  pair.right = evaluation.methods.size() - 1;
  pair.gain = evaluation.methods.back().against_base;
  pair.nll = MethodPair::NllGain{0.1, {0.08, 0.12}};
  evaluation.pairs = {pair};
  evaluation.better_rivals = {"knn is better than the memory's answer: accuracy by 0.10 points"};
  evaluation.gain = evaluation.methods.back().against_base;
  evaluation.base_calibration = MakeCalibration(0.08, kTotal);
  evaluation.resmem_calibration = MakeCalibration(0.02, kTotal);
  evaluation.calibrator = "clip";
  evaluation.classes = MakeGroups(ClassNames(), 1000);
  evaluation.slices = MakeGroups({"clean", "noise, strength 3", "blur", kHostileName}, 2500);
  const std::vector<std::string> names = ClassNames();
  evaluation.confusions = {{names[6], names[0], 170, 121}, {names[4], names[2], 96, 88},
                           {names[2], names[6], 71, 75},   {names[0], names[6], 40, 52},
                           {names[9], names[8], 3, 0},     {names[1], names[9], 0, 1}};
  evaluation.coarse = CoarseAnalysis{1588, 803, 412, 291};
  evaluation.row_results = {{0, 9, 9, 9, 0.99f, 0.98f}, {1, 2, 4, 2, 0.51f, 0.62f}};
  evaluation.mean_residual_mass = 0.1375;
  evaluation.rows_at_distance_zero = 12;
  evaluation.warnings = {"12 of the rows judged lie in the memory at distance zero: are they " +
                         std::string(kHostileName) + " copies of training rows?"};
  evaluation.search_seconds = 1.25;
  evaluation.score_seconds = 0.5;
  return evaluation;
}

Evaluation Regression() {
  Evaluation evaluation;
  evaluation.task = Task::kRegression;
  evaluation.rows = 442;
  evaluation.parameters = {20, 0.5f, 1.0f};
  evaluation.regression = {3120.5, 3333.25, 2875.125, 44.5,           46.25, 41.125, 0.41,
                           0.37,   0.457,   245.375,  {120.5, 371.0}, {},    {},     {}};
  for (int percent = 0; percent <= 100; ++percent) {
    evaluation.regression->base_errors.push_back(1.5 * percent);
    evaluation.regression->resmem_errors.push_back(1.25 * percent);
  }
  evaluation.regression->intervals = {{0.9, 442, 400, 171.5, 8.25, 396, 184.25, 8.75}};
  return evaluation;
}

Tuning ClassificationTuning() {
  Tuning tuning;
  tuning.rows = 5000;
  tuning.objective = Objective::kGain;
  tuning.grid.k = {1, 2, 4, 8, 16, 27, 53, 100, 200, 500};
  for (int i = 0; i < 12; ++i) tuning.grid.sigma.push_back(0.1f * static_cast<float>(i + 1));
  tuning.grid.temperature = {0.5f, 0.7f, 1.0f, 1.4f, 2.0f, 3.0f, 5.0f};
  int64_t best = -5000;
  for (const float temperature : tuning.grid.temperature) {
    for (const float sigma : tuning.grid.sigma) {
      for (const int64_t k : tuning.grid.k) {
        const double off = std::pow(std::log(static_cast<double>(k) / 53.0) / 2.2, 2) +
                           std::pow((static_cast<double>(sigma) - 0.7) / 0.35, 2) +
                           std::pow(std::log(static_cast<double>(temperature) / 1.4) / 0.8, 2);
        const auto fixed = static_cast<int64_t>(260 - 25 * off);
        const auto harmed = static_cast<int64_t>(150 + 22 * off);
        const int64_t safe_fixed = std::max<int64_t>(0, fixed);
        tuning.points.push_back({{k, sigma, temperature}, safe_fixed, harmed, 0});
        if (safe_fixed - harmed > best) {
          best = safe_fixed - harmed;
          tuning.chosen = tuning.points.back().parameters;
          tuning.chosen_gain = MakePairedGain(safe_fixed, harmed, 4200 - harmed, 800 - safe_fixed);
        }
      }
    }
  }
  tuning.cross_validated_gain = MakePairedGain(251, 158, 4042, 549);
  BlendTuning blend;
  blend.adopted = true;
  blend.blend.emplace();
  blend.blend->distances.assign(101, 0.5f);
  blend.rows = 5000;
  blend.gain = MakePairedGain(301, 120, 4080, 499);
  tuning.blend = blend;
  tuning.answer = Method::kBlend;
  tuning.keys = {.former = KeyTransform::kNone,
                 .chosen = KeyTransform::kUnit,
                 .reason = "",
                 .trials = {{KeyTransform::kNone, 1.66, ""},
                            {KeyTransform::kUnit, 1.63, ""},
                            {KeyTransform::kWhiten, 0, "the keys cannot be whitened"}},
                 .gain = 0.03,
                 .interval = {0.02, 0.04}};
  RivalTuning rival;
  rival.gain = MakePairedGain(251, 158, 4042, 549);
  tuning.rival_tunings = {rival, rival, rival};
  tuning.rival_tunings[1].refit = Refit::kTemperature;
  tuning.rival_tunings[2].refit = Refit::kLastLayer;
  tuning.calibrator = "clip";
  tuning.search_seconds = 2;
  tuning.grid_seconds = 9.5;
  return tuning;
}

Tuning RegressionTuning() {
  Tuning tuning;
  tuning.task = Task::kRegression;
  tuning.rows = 100;
  tuning.grid = {{1, 10, 30}, {0.5f, 1.0f}, {1.0f}};
  for (const float sigma : tuning.grid.sigma) {
    for (const int64_t k : tuning.grid.k) {
      tuning.points.push_back({{k, sigma, 1.0f}, 0, 0, 10.0 / static_cast<double>(k) + 2});
    }
  }
  tuning.chosen = {30, 0.5f, 1.0f};
  tuning.base_loss = 5.5;
  tuning.chosen_loss = tuning.points[2].loss;
  tuning.cross_validated_loss = 2.75;
  return tuning;
}

std::vector<Figure> Figures() {
  Figure memory_size;
  memory_size.title = "Size of the memory against accuracy";
  memory_size.caption = "Rows drawn evenly from the training set.";
  memory_size.x = {"rows memorized", true, false};
  memory_size.y = {"accuracy", false, true};
  Curve resmem{"ResMem", false, {}}, knn{"k-NN on labels", false, {}}, base{"base", true, {}};
  for (const double rows : {500.0, 1000.0, 2000.0, 5000.0, 10000.0, 20000.0, 50000.0}) {
    const double value = 0.84 + 0.008 * std::log(rows / 500);
    resmem.points.push_back({rows, value, Interval{value - 0.007, value + 0.007}});
    knn.points.push_back({rows, value - 0.06 + 0.012 * std::log(rows / 500), {}});
    base.points.push_back({rows, 0.8412, {}});
  }
  memory_size.curves = {resmem, knn, base};
  Figure risk;
  risk.title = "Risk against sample size";
  risk.caption = "A bound beside what was measured.";
  risk.x = {"n", true, false};
  risk.y = {"risk", true, false};
  Curve measured{"ResMem", false, {}}, bound{"bound", true, {}};
  for (double n = 10; n <= 1e6; n *= 10) {
    measured.points.push_back({n, 2 * std::pow(n, -0.6), {}});
    bound.points.push_back({n, 5 * std::pow(n, -0.33), {}});
  }
  measured.points.push_back({1e7, 0, {}});  // nothing left to measure
  risk.curves = {measured, bound};
  return {memory_size, risk};
}

SimulationResult Simulation() {
  SimulationOptions options;
  options.dimensions = {1, 2};
  options.bounds = {0.5};
  options.samples = {10, 100, 1000};
  options.draws = 3;
  options.tests = 20;
  return *RunSimulation(options);
}

OnnxSummary Onnx() {
  OnnxSummary summary;
  summary.producer = "pytorch 2.3.1";
  summary.ir_version = 8;
  summary.opset = 17;
  summary.parameters = 277540;
  summary.inputs = {{"image", "float32", {"n", "3", "32", "32"}, ""}};
  summary.outputs = {{"y", "float32", {"n", "100"}, "Gemm"}};
  summary.candidates = {{"pool", "", {"?", "64"}, "Flatten"}};
  summary.logits = "y";
  summary.operators = {{"Conv", 21}, {"Gemm", 1}};
  return summary;
}

ModelManifest Manifest() {
  ModelManifest manifest;
  manifest.input = "image";
  manifest.channels = 3;
  manifest.height = manifest.width = 32;
  manifest.mean = {0.5f, 0.5f, 0.5f};
  manifest.deviation = {0.25f, 0.25f, 0.25f};
  manifest.embedding = "pool";
  manifest.logits = "y";
  manifest.dim = 64;
  manifest.classes = 100;
  return manifest;
}

std::string Combined() {
  const RunInfo run = Run();
  const std::vector<std::string> names = ClassNames();
  const std::vector<std::string> parts = {
      EvaluationJson(Classification(), run), TuningJson(ClassificationTuning(), run),
      ExamplesJson(ImageExamples(), "the largest change of the true class's score.", names, run),
      FiguresJson("Learning curves", Figures(), run)};
  return *CombineJson("Fashion, as a test would have it", parts);
}

}  // namespace resmem::sample
