#include "outputs/memory_text.h"

#include "console/format.h"
#include "console/next_step.h"
#include "inputs/images/model_options.h"
#include "inputs/parameter_options.h"
#include "resmem/diagnosis.h"
#include "resmem/models/bundle.h"

namespace resmem::cli {
namespace {

constexpr int64_t kManySegments = 1000;

std::string FormText(const MemoryDescription& description) {
  const std::string frozen = ", frozen at T = " + ShortNumber(description.parameters.temperature);
  const std::string half = description.half_residuals ? ", float16" : "";
  switch (description.form) {
    case ResidualForm::kLogits:
      return "logits (T may change)";
    case ResidualForm::kDense:
      return "dense" + half + (description.task == Task::kRegression ? "" : frozen);
    case ResidualForm::kSparse:
      return "sparse, top " + Count(description.top) + half + frozen;
    case ResidualForm::kPacked:
      return "packed, " + Percent(static_cast<double>(description.packed_share)) +
             " of each row's mass" +
             (description.packed_least > 0
                  ? ", none of rows with less than " + ShortNumber(description.packed_least)
                  : "") +
             frozen;
  }
  return ResidualFormName(description.form);
}

const char* TransformText(KeyTransform transform) {
  switch (transform) {
    case KeyTransform::kNone:
      break;
    case KeyTransform::kUnit:
      return ", scaled to unit length (cosine)";
    case KeyTransform::kWhiten:
      return ", whitened within classes";
  }
  return "";
}

}  // namespace

Table MemoryTable(const std::string& path, const ResidualMemory& memory) {
  const MemoryDescription& description = memory.description();
  const bool classification = description.task == Task::kClassification;
  Table table = Table::Facts();
  table.AddRow({"memory", path});
  const int64_t deleted = memory.capacity() - memory.rows();
  table.AddRow({"rows", Count(memory.rows()) +
                            (deleted == 0 ? "" : " (and " + Count(deleted) + " deleted)")});
  table.AddRow({"keys", Counted(description.dim, "value") + " of " +
                            KeyTypeName(description.key_type) +
                            TransformText(description.key_transform)});
  table.AddRow({classification ? "classes" : "outputs",
                Count(description.outputs) + (description.class_names.empty() ? "" : ", named")});
  table.AddRow({"residuals", FormText(description)});
  if (classification) {
    table.AddRow({"residual mass",
                  memory.rows() == 0
                      ? "none: the memory is empty"
                      : Fixed(memory.MeanResidualMass(description.parameters.temperature), 4) +
                            " (0: the base predicted every label with certainty, 1: none)"});
  }
  if (description.form == ResidualForm::kSparse || description.form == ResidualForm::kPacked) {
    table.AddRow({"dropped mass", Percent(memory.dropped_mass()) + " of it by the " +
                                      ResidualFormName(description.form) + " form"});
  }
  table.AddRow({"parameters", ParametersText(description.parameters, description.task) +
                                  (description.tuned ? ", tuned" : ", not tuned")});
  if (classification) table.AddRow({"calibrator", description.calibrator});
  table.AddRow({"answer", description.blend
                              ? std::string(MethodName(description.answer)) + ", " +
                                    ParametersText(description.blend->parameters, description.task)
                              : MethodName(description.answer)});
  table.AddRow({"cross-fitted", description.cross_fitted ? "yes: out-of-fold logits" : "no"});
  table.AddRow({"fingerprint", description.fingerprint.empty()
                                   ? "none: arrays are checked by the last layer, where possible"
                                   : FingerprintText(description.fingerprint)});
  const auto model = description.notes.find(kModelNote);
  if (model != description.notes.end()) {
    table.AddRow(
        {"model", model->second + (CarriesModel(description.notes) ? ", in its folder" : "")});
  }
  table.AddRow({"search", SearchText(memory)});
  std::string on_disk =
      Bytes(memory.bytes_on_disk()) + " in " + Counted(memory.segments(), "segment");
  if (memory.segments() > kManySegments)
    on_disk += "; opening them takes long, 'compact' makes one";
  if (memory.former_bytes() > 0) {
    on_disk += "; of it " + Bytes(memory.former_bytes()) +
               " former keys, which 'tune --undo' needs and 'compact' removes";
  }
  table.AddRow({"on disk", on_disk});
  return table;
}

std::string SearchText(const ResidualMemory& memory) {
  const std::optional<IndexInfo> info = memory.index_info();
  const std::string& obstacle = memory.index_obstacle();
  if (!info.has_value()) {
    if (!obstacle.empty()) return "exact, without its index: " + obstacle;
    const std::optional<double> asked = AskedRecall(memory);
    if (!asked.has_value()) return "exact";
    return "exact so far; an index for recall " + ShortNumber(*asked) +
           " will be made when many rows are appended, or by 'resmem compact'";
  }
  const std::string asked = "index for recall " + ShortNumber(info->recall);
  const std::string size = "codes of " + std::to_string(info->code_bits) + " bits, " +
                           Counted(info->lists, "list") + " in " + Counted(info->files, "file") +
                           " of " + Bytes(info->bytes);
  const int64_t k = memory.description().parameters.k;
  if (!memory.index().Approximate(k)) {
    return "exact: for " + Counted(k, "neighbor") +
           " scanning all keys is faster than lists; not used: " + asked + ", " + size;
  }
  return asked + " (" + Fixed(info->measured_recall, 4) + " measured on " +
         (info->given_queries == 0 ? "its rows" : Counted(info->given_queries, "given row")) +
         "), " + size +
         (info->unindexed_rows == 0
              ? ""
              : "; " + Counted(info->unindexed_rows, "newer row") + " searched exactly" +
                    (obstacle.empty() ? "" : ": " + obstacle));
}

void WarnOfObstacle(const std::string& path, const ResidualMemory& memory, Console& console) {
  if (memory.index_obstacle().empty()) return;
  console.Warn(path + (memory.index_info().has_value() ? ": newer rows are" : ": is") +
               " searched exactly, not by the index: " + memory.index_obstacle());
}

void WarnOfManySegments(const std::string& path, const ResidualMemory& memory, Console& console) {
  if (memory.segments() <= kManySegments) return;
  console.Warn(path + ": has " + Counted(memory.segments(), "segment") +
               ", which makes opening slow; the next append joins the small ones, or: " +
               CommandText({"compact", path}));
}

void WarnIfNothingToAdd(const ResidualMemory& memory, Console& console) {
  const MemoryDescription& description = memory.description();
  if (description.task != Task::kClassification) return;
  const double mass = memory.MeanResidualMass(description.parameters.temperature);
  const std::string warning = MemorizedWarning(memory, mass);
  if (!warning.empty()) console.Warn(warning);
}

}  // namespace resmem::cli
