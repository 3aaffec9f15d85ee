// What a memory's answers give away of its rows: how well somebody who asks tells a row of the
// memory from one that is not (membership), and how much of a stored row can be got back
// (extraction).  Attacks that are known, not a bound on those that are not (docs/privacy.md).
#ifndef RESMEM_PRIVACY_H_
#define RESMEM_PRIVACY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

// How well a number tells members, which should have larger ones, from held-out rows.
struct Separation {
  double auc = 0.5;   // probability that a member's is larger than a held-out row's; ties: half
  Interval interval;  // DeLong's; without width where every pair is ordered alike
  // Share of members found at the threshold that at most 1 % and 0.1 % of held-out rows pass.
  double tpr_at_1_percent = 0, tpr_at_0_1_percent = 0;
};

// What somebody who asks looks at.
enum class Clue {
  kLoss,        // log of the probability that the answer gives the row's label
  kConfidence,  // the largest probability: needs no label
  kGain,        // the label's log probability in the answer less that in the base's
  kDistance,    // minus the distance to the nearest row, which 'neighbors' and 'explain' show
};
const char* ClueName(Clue clue);  // "loss", "confidence", "gain", "distance"

struct MembershipTest {
  Method method = Method::kBase;  // whose answer is looked at; kDistance: the memory's
  Clue clue = Clue::kLoss;
  Separation inside;    // as a service answers: members find themselves
  Separation left_out;  // each member left out of its own answer; what is left is not the memory's
  // AUC inside less that of the base's loss (kConfidence: of the base's confidence).
  double more = 0;
  Interval more_interval;  // paired, DeLong's
};

// Somebody has a member's key and logits, and asks for its label.
struct LabelRecovery {
  Method method = Method::kBase;
  int64_t members = 0, recovered = 0, recovered_left_out = 0;
  // Of these, members about whose label the base is wrong.
  int64_t base_wrong = 0, base_wrong_recovered = 0, base_wrong_recovered_left_out = 0;
};

// The same with a key that is only near the member's.
struct NearQuery {
  double noise = 0;  // length of what was added, in distances to the nearest other row
  int64_t members = 0, nearest = 0;  // of them, so many were still the query's nearest row
  int64_t base_wrong = 0, recovered = 0;
};

// Keys computed from nothing but the distances that neighbor lists show.
struct KeyRecovery {
  std::string obstacle;  // why it was not tried, or ""
  int64_t tried = 0, recovered = 0;
  double median_error = 0;  // of those recovered, in lengths of the key
  int64_t queries = 0;      // for all of them together
};

// ResMem's form at another k and sigma.
struct PrivacyPoint {
  Parameters parameters;
  double own_weight = 0;  // mean share of a member in its own answer
  Separation gain;        // by Clue::kGain, inside
  double accuracy = 0;    // on the held-out rows
};

struct PrivacyOptions {
  int64_t most = 10000;      // members that are asked; chosen by the seed
  int64_t most_near = 1000;  // of them for NearQuery
  int64_t most_keys = 10;    // rows for KeyRecovery; 0: not tried
  uint64_t seed = 0;
  int threads = 0;
  Progress* progress = nullptr;
};

struct PrivacyReport {
  int64_t members = 0, held_out = 0;
  Method method = Method::kResMem;         // the memory's own
  Parameters parameters;                   // its own
  double base_accuracy = 0, accuracy = 0;  // of it, on the held-out rows
  std::vector<MembershipTest> membership;
  std::vector<LabelRecovery> labels;
  std::vector<NearQuery> near;  // of the memory's own answer, or ResMem's where it is the base's
  KeyRecovery keys;
  std::vector<PrivacyPoint> sweep;            // the memory's k and sigma first
  std::vector<std::string> advice, warnings;  // plain sentences
};

// `held_out`: rows like those of the memory, but not in it, with logits and labels.
// Errors: kUnsupported (a regression, a memory that keeps no logits), kBadData (rows that do not
// fit the memory, fewer than 20 members or held-out rows), kInvalidArgument, kCancelled.
Result<PrivacyReport> MeasurePrivacy(const Predictor& predictor, const RowSource& held_out,
                                     const PrivacyOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_PRIVACY_H_
