// The experiments on one network.  Every one gives the object that is kept as its step's result.
#ifndef RESMEM_LAB_REPRODUCE_IMAGENET_EXPERIMENTS_H_
#define RESMEM_LAB_REPRODUCE_IMAGENET_EXPERIMENTS_H_

#include "reproduce/answers.h"
#include "reproduce/imagenet/workspace.h"
#include "resmem/tuner.h"

namespace resmem::cli::reproduce::imagenet {

// What the paper reports for a width, and with which values.
struct PaperLine {
  const char* name;
  Parameters parameters;
  double base, resmem;
};
std::span<const PaperLine> PaperLines();
const PaperLine* FindPaperLine(const std::string& name);  // null: none of this name

// Memories whose answer was fitted, and what they answer.
class TunedAnswers {
 public:
  // A memory of `rows` in memories/NAME, tuned on `held_out`; where that is null, on the rows
  // themselves, each without itself.
  static Result<TunedAnswers> Make(Workspace& workspace, const std::string& name,
                                   const Fingerprint& fingerprint, const Embedded& rows,
                                   const Embedded* held_out);
  // base, k-NN, ResMem and blend on these rows, in this order; names begin with `beginning`.  The
  // blend is the memory's own answer, and the base's where it was not adopted.
  Result<std::vector<Answers>> Answer(const Embedded& rows,
                                      const std::string& beginning = "") const;
  Json Chosen() const;  // keys, adopted, reason, parameters

 private:
  TunedAnswers(ResidualMemory memory, Tuning tuning, int threads)
      : memory_(std::move(memory)), tuning_(std::move(tuning)), threads_(threads) {}
  ResidualMemory memory_;
  Tuning tuning_;
  int threads_;
};
// ResMem in the paper's form at these values, keys as they are.
Result<Answers> AnswerAt(Workspace& workspace, const ResidualMemory& memory,
                         const Parameters& parameters, const Embedded& rows,
                         const std::string& name);

// Base, k-NN, ResMem and blend on the judged photos, reduced in every way.
Result<Json> JudgeTable(Workspace& workspace, const Network& network);
// Is it the memory, or does it only teach the network these photos' resolution?  The last layer
// fitted on the rows of the memory, with a memory over it; and memories of the judged photos
// themselves, each part answered by a memory of the others.
Result<Json> JudgeControls(Workspace& workspace, const Network& network);

}  // namespace resmem::cli::reproduce::imagenet

#endif  // RESMEM_LAB_REPRODUCE_IMAGENET_EXPERIMENTS_H_
