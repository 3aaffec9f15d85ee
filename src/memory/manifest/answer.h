// What a memory's manifest says about its default answer: docs/memory_format.md, section 5.
#ifndef RESMEM_MEMORY_MANIFEST_ANSWER_H_
#define RESMEM_MEMORY_MANIFEST_ANSWER_H_

#include "format/json_fields.h"
#include "resmem/residual_memory.h"

namespace resmem {

// kInvalidArgument unless answer and blend fit each other and every number is allowed.
Status CheckAnswer(const MemoryDescription& description);

// What the manifest's `calibrator` says where the answer is not ResMem's, so that a program that
// does not know the answer refuses the memory.
inline constexpr char kAnswerInsteadOfCalibrator[] = "answer";

// Of a description whose answer is not kResMem; holds the calibrator, too.
Json AnswerToJson(const MemoryDescription& description);
// Sets answer, blend and calibrator.  Errors: kCorrupt, kUnsupported (an answer of a later
// program).
Status AnswerFromJson(const Json& object, MemoryDescription* description);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_ANSWER_H_
