#include "tune/key_choice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/statistics.h"
#include "support/text.h"
#include "tune/key_candidates.h"

namespace resmem {
namespace {

// One transform: its neighbors, and the blend tuned on them.
struct Candidate {
  KeyTransform transform;
  std::vector<Neighbors> neighbors;  // of each block
  BlendTrial trial;
};

void SwapNeighbors(std::vector<Neighbors>* neighbors, ValidationRows* rows) {
  for (size_t b = 0; b < rows->blocks.size(); ++b) {
    std::swap(rows->blocks[b].neighbors, (*neighbors)[b]);
  }
  rows->typical_distance = TypicalDistance(rows->blocks);
}

std::vector<Neighbors> NeighborsOf(const ValidationRows& rows) {
  std::vector<Neighbors> neighbors;
  for (const ValidationBlock& block : rows.blocks) neighbors.push_back(block.neighbors);
  return neighbors;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Each row judged by the transform that the other folds would have chosen, by their own
// cross-validation.
BlendTrial JudgeChoice(const std::vector<Candidate>& candidates, size_t best) {
  BlendTrial judged = candidates[best].trial;
  for (size_t row = 0; row < judged.losses.size(); ++row) {
    const auto subset = static_cast<size_t>(judged.folds[row]) + 1;
    const auto chosen = std::min_element(
        candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
          return a.trial.inner_losses[subset] < b.trial.inner_losses[subset];
        });
    judged.losses[row] = chosen->trial.losses[row];
    judged.right[row] = chosen->trial.right[row];
  }
  return judged;
}

// By how much the second is less, paired.
void Compare(const BlendTrial& own, const BlendTrial& chosen, KeyTuning* keys) {
  std::vector<double> gains;
  for (size_t row = 0; row < own.losses.size(); ++row) {
    gains.push_back(own.losses[row] - chosen.losses[row]);
  }
  keys->gain = Mean(gains);
  keys->interval = MeanInterval(gains, own.slices);
}

class KeyChooser {
 public:
  KeyChooser(const ResidualMemory& memory, const TuneOptions& options, ValidationRows* rows)
      : memory_(memory), options_(options), rows_(rows) {
    chosen_.keys.former = chosen_.keys.chosen = memory.description().key_transform;
  }

  Result<ChosenKeys> Take(KeyTransform transform) {
    if (transform != chosen_.keys.former) {
      RESMEM_ASSIGN_OR_RETURN(std::vector<Neighbors> neighbors,
                              FindTransformedNeighbors(memory_, transform, *rows_, options_));
      SwapNeighbors(&neighbors, rows_);
    }
    chosen_.keys.chosen = transform;
    return std::move(chosen_);
  }

  // The memory's own is the first of the candidates, so that it wins where others are as good.
  Result<ChosenKeys> Choose(std::vector<KeyTransform> transforms) {
    const auto own = std::find(transforms.begin(), transforms.end(), chosen_.keys.former);
    if (own != transforms.end()) std::rotate(transforms.begin(), own, own + 1);
    for (const KeyTransform transform : transforms) RESMEM_RETURN_IF_ERROR(Try(transform));
    if (candidates_.empty()) return Take(chosen_.keys.former);
    Decide();
    const auto taken = std::find_if(
        candidates_.begin(), candidates_.end(),
        [&](const Candidate& candidate) { return candidate.transform == chosen_.keys.chosen; });
    SwapNeighbors(&taken->neighbors, rows_);
    return std::move(chosen_);
  }

 private:
  Status Try(KeyTransform transform) {
    Candidate candidate{transform, {}, {}};
    if (transform == chosen_.keys.former) {
      candidate.neighbors = NeighborsOf(*rows_);
    } else {
      auto found = FindTransformedNeighbors(memory_, transform, *rows_, options_);
      if (found.status().code() == ErrorCode::kUnsupported) {
        chosen_.keys.trials.push_back({transform, 0, found.status().message()});
        return {};
      }
      RESMEM_ASSIGN_OR_RETURN(candidate.neighbors, std::move(found));
    }
    SwapNeighbors(&candidate.neighbors, rows_);
    RESMEM_ASSIGN_OR_RETURN(candidate.trial, TuneBlend(memory_, *rows_, options_, rows_->folds));
    SwapNeighbors(&candidate.neighbors, rows_);
    const BlendTuning& tuning = candidate.trial.tuning;
    if (!tuning.blend) {
      chosen_.keys.trials.push_back({transform, 0, tuning.reason});
      if (!chosen_.blend) chosen_.blend = tuning;
      return {};
    }
    chosen_.keys.trials.push_back({transform, Mean(candidate.trial.losses), ""});
    candidates_.push_back(std::move(candidate));
    return {};
  }

  void Decide() {
    const auto least = std::min_element(candidates_.begin(), candidates_.end(),
                                        [](const Candidate& a, const Candidate& b) {
                                          return a.trial.inner_losses[0] < b.trial.inner_losses[0];
                                        });
    const auto best = static_cast<size_t>(least - candidates_.begin());
    BlendTrial judged = JudgeChoice(candidates_, best);
    DecideBlend(options_, &judged);
    Candidate& own = candidates_.front();
    const bool own_tried = own.transform == chosen_.keys.former;
    if (own_tried) {
      DecideBlend(options_, &own.trial);
      Compare(own.trial, judged, &chosen_.keys);
    }
    const char* const name = KeyTransformName(least->transform);
    std::string& reason = chosen_.keys.reason;
    if (own_tried && best == 0) {
      reason = "no other transform is better";
    } else if (own_tried && !(chosen_.keys.interval.low > 0)) {
      reason = Text(name, ", chosen within each fold, does not clearly lower the loss: by ",
                    chosen_.keys.gain, " (95 % interval ", chosen_.keys.interval.low, " to ",
                    chosen_.keys.interval.high, ")");
    } else if (!judged.tuning.adopted && own_tried) {
      reason =
          Text("with the transform ", name, " the blend is not adopted: ", judged.tuning.reason);
    } else {
      chosen_.keys.chosen = least->transform;
      chosen_.blend = std::move(judged.tuning);
      return;
    }
    chosen_.blend = std::move(own.trial.tuning);
  }

  const ResidualMemory& memory_;
  const TuneOptions& options_;
  ValidationRows* const rows_;
  ChosenKeys chosen_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<KeyTransform> KeyCandidates(const ResidualMemory& memory, const TuneOptions& options) {
  std::vector<KeyTransform> transforms = options.key_transforms;
  if (transforms.empty()) transforms.push_back(memory.description().key_transform);
  std::sort(transforms.begin(), transforms.end());
  transforms.erase(std::unique(transforms.begin(), transforms.end()), transforms.end());
  return transforms;
}

Result<ChosenKeys> ChooseKeys(const ResidualMemory& memory, const TuneOptions& options,
                              const std::string& why_not, ValidationRows* rows) {
  const std::vector<KeyTransform> transforms = KeyCandidates(memory, options);
  KeyChooser chooser(memory, options, rows);
  if (transforms.size() == 1) return chooser.Take(transforms[0]);
  if (why_not.empty()) return chooser.Choose(transforms);
  RESMEM_ASSIGN_OR_RETURN(ChosenKeys chosen, chooser.Take(memory.description().key_transform));
  chosen.keys.reason = why_not;
  return chosen;
}

}  // namespace resmem
