// Memories that answer by a blend: of the same rows with each kind of keys, tuned on held-out rows.
#ifndef RESMEM_LAB_REPRODUCE_CIFAR100_TUNED_MEMORY_H_
#define RESMEM_LAB_REPRODUCE_CIFAR100_TUNED_MEMORY_H_

#include <vector>

#include "reproduce/cifar100/base.h"
#include "reproduce/json.h"
#include "resmem/tuner.h"

namespace resmem::cli::reproduce::cifar100 {

struct TunedMemory {
  ResidualMemory memory;
  Tuning tuning;

  std::string KeysName() const { return KeyTransformName(memory.description().key_transform); }
};

struct TunedMemories {
  std::vector<TunedMemory> all;  // keys as they are first
  size_t best = 0;               // by the blend's cross-validated NLL

  const TunedMemory& raw() const { return all.front(); }
  const TunedMemory& chosen() const { return all[best]; }
  Json NllByKeys() const;  // cross-validated
};

// In memories/NAME-keys-...; nothing but the held-out rows chooses.
Result<TunedMemory> TuneWithKeys(Workspace& workspace, const Base& base, const Embedded& rows,
                                 const Rows& held_out, KeyTransform keys, Method method);
Result<TunedMemories> TuneWithEveryKeys(Workspace& workspace, const Base& base,
                                        const Embedded& rows, const Rows& held_out);

}  // namespace resmem::cli::reproduce::cifar100

#endif  // RESMEM_LAB_REPRODUCE_CIFAR100_TUNED_MEMORY_H_
