#include "reproduce/cifar100/tuned_memory.h"

#include <utility>

namespace resmem::cli::reproduce::cifar100 {

Result<TunedMemory> TuneWithKeys(Workspace& workspace, const Base& base, const Embedded& rows,
                                 const Rows& held_out, KeyTransform keys, Method method) {
  const std::string name = base.name + "-keys-" + KeyTransformName(keys) +
                           (method == Method::kBlend ? "" : std::string("-") + MethodName(method));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory untuned, OpenMemory(workspace, base, name, rows));
  const std::string path = workspace.Path("memories", name);
  MemoryDescription description = untuned.description();
  description.key_transform = keys;
  RESMEM_RETURN_IF_ERROR(UpdateDescription(path, description));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
  TuneOptions options;
  options.method = method;
  options.threads = workspace.threads();
  options.progress = workspace.console().progress();
  RESMEM_ASSIGN_OR_RETURN(Tuning tuning, Tune(Predictor(memory), ReadRows(held_out), options));
  if (!tuning.blend.has_value()) tuning.blend.emplace();
  RESMEM_RETURN_IF_ERROR(UpdateDescription(path, ApplyTuning(memory.description(), tuning)));
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory tuned, ResidualMemory::Open(path));
  return TunedMemory{std::move(tuned), std::move(tuning)};
}

Json TunedMemories::NllByKeys() const {
  Json json = Json::object();
  for (const TunedMemory& one : all) json[one.KeysName()] = one.tuning.blend->nll;
  return json;
}

Result<TunedMemories> TuneWithEveryKeys(Workspace& workspace, const Base& base,
                                        const Embedded& rows, const Rows& held_out) {
  TunedMemories tuned;
  for (const KeyTransform keys :
       {KeyTransform::kNone, KeyTransform::kUnit, KeyTransform::kWhiten}) {
    RESMEM_ASSIGN_OR_RETURN(TunedMemory one,
                            TuneWithKeys(workspace, base, rows, held_out, keys, Method::kBlend));
    tuned.all.push_back(std::move(one));
    const double nll = tuned.all.back().tuning.blend->nll;
    if (nll < tuned.chosen().tuning.blend->nll) tuned.best = tuned.all.size() - 1;
  }
  return tuned;
}

}  // namespace resmem::cli::reproduce::cifar100
