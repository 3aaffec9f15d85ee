// The note that keeps what a memory answered before it was tuned.
#ifndef RESMEM_TUNE_FORMER_NOTE_H_
#define RESMEM_TUNE_FORMER_NOTE_H_

namespace resmem {

inline constexpr char kFormerNote[] = "before_tuning";

}  // namespace resmem

#endif  // RESMEM_TUNE_FORMER_NOTE_H_
