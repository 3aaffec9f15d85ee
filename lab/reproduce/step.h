// One experiment, or one training run with its evaluation.
#ifndef RESMEM_LAB_REPRODUCE_STEP_H_
#define RESMEM_LAB_REPRODUCE_STEP_H_

#include <functional>
#include <string>
#include <vector>

#include "reproduce/json.h"

namespace resmem::cli::reproduce {

class StepRecords;

// What a step may see of the others while it runs.
struct StepContext {
  const StepRecords& records;
  std::string base;  // the one of Step::first_of that is taken; empty where there is none

  // Of a step that is finished; null where it is not.
  const Json& ResultOf(const std::string& step) const;
};

struct Step {
  std::string name;
  std::string title;
  bool by_default = true;
  double seconds = 0;                 // about, on the machine of docs/reproduce.md
  std::vector<std::string> needs;     // steps that must be finished
  std::vector<std::string> first_of;  // the first of these that is finished; one must be
  std::vector<std::string> uses;      // taken into account where they are finished
  Json settings = Json::object();     // what the result depends on besides
  std::function<Result<Json>(const StepContext&)> run;
};

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_STEP_H_
