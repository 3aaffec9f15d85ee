#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

constexpr float kTemperatures[] = {0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 1.0f, 1.1f, 1.2f,
                                   1.3f, 1.4f, 1.6f, 1.8f, 2.0f, 2.5f, 3.0f};

Embedded WithTemperature(Embedded embedded, float temperature) {
  for (float& logit : embedded.logits) logit /= temperature;
  return embedded;
}

class Judgement {
 public:
  Judgement(const Workspace& workspace, std::string memory, Parameters parameters)
      : workspace_(workspace), memory_(std::move(memory)), parameters_(parameters) {}

  Result<Calibration> Of(const std::string& calibrator, float temperature,
                         const Embedded& rows) const {
    RESMEM_ASSIGN_OR_RETURN(ResidualMemory memory, ResidualMemory::Open(memory_));
    MemoryDescription description = memory.description();
    description.calibrator = calibrator;
    description.calibrator_temperature = temperature;
    RESMEM_RETURN_IF_ERROR(UpdateDescription(memory_, description));
    RESMEM_ASSIGN_OR_RETURN(memory, ResidualMemory::Open(memory_));
    RESMEM_ASSIGN_OR_RETURN(const Evaluation evaluation,
                            JudgeFully(workspace_, memory, rows.view(), parameters_));
    return evaluation.resmem_calibration;
  }

  // softmax(f / temperature) alone.
  Result<Calibration> OfBase(float temperature, const Embedded& rows) const {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(memory_));
    Parameters alone;
    alone.k = 0;
    RESMEM_ASSIGN_OR_RETURN(
        const Evaluation evaluation,
        JudgeFully(workspace_, memory, WithTemperature(rows, temperature).view(), alone));
    return evaluation.base_calibration;
  }

 private:
  const Workspace& workspace_;
  std::string memory_;
  Parameters parameters_;
};

// The temperature of the smallest NLL on the held-out rows.
Result<float> FitTemperature(const std::function<Result<Calibration>(float)>& judge) {
  float best = 1;
  double smallest = 0;
  for (const float temperature : kTemperatures) {
    RESMEM_ASSIGN_OR_RETURN(const Calibration calibration, judge(temperature));
    if (smallest > 0 && calibration.nll >= smallest) continue;
    smallest = calibration.nll;
    best = temperature;
  }
  return best;
}

}  // namespace

Result<Json> JudgeProbabilities(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  // A memory of its own: its calibrator is changed again and again.
  const std::string name = base.name + "-calibration";
  {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            OpenMemory(workspace, base, name, base.train.Take(base.split.train)));
  }
  const Embedded held_out = base.train.Take(base.split.validation);
  const Parameters parameters =
      ParametersAt(context.ResultOf(context.base), "tuned/gain/chosen/parameters");
  const Judgement judgement(workspace, workspace.Path("memories", name), parameters);

  Json methods = Json::array();
  const auto add = [&](const std::string& method, float temperature, const Calibration& found) {
    Json json = ToJson(found);
    json["method"] = method;
    json["temperature"] = ToJson(Parameters{1, 1, temperature})["temperature"];
    methods.push_back(std::move(json));
  };
  RESMEM_ASSIGN_OR_RETURN(const Calibration plain, judgement.OfBase(1, base.test));
  add("base", 1, plain);
  RESMEM_ASSIGN_OR_RETURN(const float scale,
                          FitTemperature([&](float t) { return judgement.OfBase(t, held_out); }));
  RESMEM_ASSIGN_OR_RETURN(const Calibration scaled, judgement.OfBase(scale, base.test));
  add("base, temperature fitted", scale, scaled);
  for (const std::string_view view : CalibratorNames()) {
    const std::string calibrator(view);
    float temperature = 1;
    if (calibrator == "log-temperature") {
      RESMEM_ASSIGN_OR_RETURN(temperature, FitTemperature([&](float t) {
                                return judgement.Of(calibrator, t, held_out);
                              }));
    }
    RESMEM_ASSIGN_OR_RETURN(const Calibration found,
                            judgement.Of(calibrator, temperature, base.test));
    add("ResMem, " + calibrator, temperature, found);
  }
  return Json{{"run", context.base},
              {"parameters", ToJson(parameters)},
              {"held_out_rows", held_out.count()},
              {"methods", std::move(methods)}};
}

}  // namespace resmem::cli::reproduce::cifar100
