#include <filesystem>

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

struct Form {
  const char* name;
  KeyType keys;
  ResidualForm form;
  int64_t top;
  bool half;
};
// From the largest on; all at the paper's T, as residuals have to be frozen at one.
constexpr Form kForms[] = {
    {"keys and logits in float32", KeyType::kFloat32, ResidualForm::kLogits, 0, false},
    {"keys and residuals in float16", KeyType::kFloat16, ResidualForm::kDense, 0, true},
    {"keys in float16, 16 residuals", KeyType::kFloat16, ResidualForm::kSparse, 16, true},
    {"keys in int8, 8 residuals", KeyType::kInt8, ResidualForm::kSparse, 8, true},
};

}  // namespace

Result<Json> MeasureBytes(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  const Embedded rows = base.train.Take(base.split.train);
  Json forms = Json::array();
  for (const Form& form : kForms) {
    const std::string path = workspace.Path("memories", base.name + "-bytes");
    MemoryDescription description;
    description.dim = rows.dim;
    description.outputs = rows.classes;
    description.fingerprint = base.fingerprint;
    description.parameters = kPaperParameters;
    description.key_type = form.keys;
    description.form = form.form;
    if (form.top > 0) description.top = form.top;
    description.half_residuals = form.half;
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, MakeMemory(path, description, rows));
    RESMEM_ASSIGN_OR_RETURN(Json judged,
                            Judge(workspace, memory, base.test.view(), kPaperParameters));
    forms.push_back(
        {{"name", form.name}, {"bytes", memory.bytes_on_disk()}, {"test", std::move(judged)}});
  }
  const auto network = [&](const std::string& run) -> Result<Json> {
    const std::string file = workspace.Path("runs", run) + "/last.onnx";
    RESMEM_ASSIGN_OR_RETURN(const OnnxSummary summary, InspectOnnx(file));
    std::error_code error;
    return Json{{"run", run},
                {"parameters", summary.parameters},
                {"file_bytes", static_cast<int64_t>(std::filesystem::file_size(file, error))}};
  };
  Json result = {{"run", context.base},
                 {"rows", rows.count()},
                 {"dim", rows.dim},
                 {"key_bytes", rows.count() * rows.dim * int64_t{sizeof(float)}},
                 {"forms", std::move(forms)}};
  RESMEM_ASSIGN_OR_RETURN(result["network"], network(context.base));
  const std::string next = "short-resnet14-seed1";
  if (!context.ResultOf(next).is_null()) {
    RESMEM_ASSIGN_OR_RETURN(result["next_network"], network(next));
  }
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
