// Classes that a memory knows and its base does not.
//
// The base has no logits for them.  It is taken to give each of them the probability `floor`:
//
//   logit of a new class = log(floor) + log(sum over the base's classes of exp(logit))
//
// so that the order of the base's own classes stays as it was.  A new class is answered where
// neighbors say so.  New classes are numbered after the base's.
#ifndef RESMEM_DATA_NEW_CLASSES_H_
#define RESMEM_DATA_NEW_CLASSES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

// The note of a memory that has classes which its base does not: how many the base has.
inline constexpr char kBaseClassesNote[] = "base_classes";
// How many classes the base of this memory has.
int64_t BaseClasses(const MemoryDescription& memory);

// Fills logits[base_classes ..] from logits[.. base_classes].
void FillNewLogits(int64_t base_classes, float floor, std::span<float> logits);

// Gives the memory more classes, in one change: as if it had been made of its rows with a logit for
// each class.  `class_names`: of all of them, or empty where the memory has none.  An index is made
// again; parameters and blend stay.  Errors: kInvalidArgument (fewer classes), kUnsupported (a
// memory that keeps no logits, or a regression), kMismatch (it was changed meanwhile; try again),
// and those of MemoryWriter.
Status AddClasses(const std::string& path, int64_t classes,
                  const std::vector<std::string>& class_names, float floor,
                  const ChangeOptions& change = {});
// The same with `rows` after its own, which have a logit for each class already; both or neither.
// False where the memory knows the token of `options`: then nothing was done.
Result<bool> AppendNewClasses(const std::string& path, int64_t classes,
                              const std::vector<std::string>& class_names, float floor,
                              const RowSource& rows, const AppendOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_DATA_NEW_CLASSES_H_
