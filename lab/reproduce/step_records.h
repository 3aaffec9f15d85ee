// What is known of the steps: WORK/steps/NAME.json, written when a step has finished.
//
//   inputs   settings, digest of the data, digests of the results of other steps it was made from
//   result   what the step found
//   made     when, by which machine and commit, in how many seconds
//
// A record whose inputs are no longer those that a run of today would have is out of date.
#ifndef RESMEM_LAB_REPRODUCE_STEP_RECORDS_H_
#define RESMEM_LAB_REPRODUCE_STEP_RECORDS_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "reproduce/step.h"

namespace resmem::cli::reproduce {

enum class StepState { kMissing, kOutOfDate, kFinished };
const char* StepStateName(StepState state);  // "not run", "out of date", "finished"

class StepRecords {
 public:
  // `steps` in an order in which each comes after those that it needs.  `data`: digest of the
  // images.  Errors: kCorrupt with the file.
  static Result<StepRecords> Open(std::string folder, std::span<const Step> steps,
                                  std::string data);

  StepState state(const std::string& step) const;
  // Null where it was never finished.  A result that is out of date is still there to be read.
  const Json& record(const std::string& step) const;
  const std::map<std::string, Json>& records() const { return records_; }
  // Null unless the step is finished.
  const Json& result(const std::string& step) const;

  // The one of `first_of` that is finished; empty: none, or the step has no such list.
  std::string BaseOf(const Step& step) const;
  // Empty, or the sentence that says what must be run before.
  std::string Missing(const Step& step) const;

  // Keeps it in the file and here; steps that depend on it are judged again.
  Status Finish(const Step& step, Json result, Json made);

  // What a page shows: `published`, records by step that stand on the page already, wherever none
  // of this folder is finished.  All are judged again, together.  Those of steps that are no
  // longer there are kept in records().
  StepRecords With(const Json& published) const;
  // Whether the record comes from `published`, and this folder has nothing to repeat it from.
  bool is_published(const std::string& step) const { return published_.contains(step); }

 private:
  StepRecords(std::string folder, std::span<const Step> steps, std::string data)
      : folder_(std::move(folder)), steps_(steps.begin(), steps.end()), data_(std::move(data)) {}
  std::string File(const std::string& step) const { return folder_ + "/" + step + ".json"; }
  Json InputsOf(const Step& step) const;
  void JudgeAll();

  std::string folder_;
  std::vector<Step> steps_;
  std::string data_;
  std::map<std::string, Json> records_;
  std::map<std::string, StepState> states_;
  std::set<std::string> published_;
};

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_STEP_RECORDS_H_
