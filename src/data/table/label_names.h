// Labels that are names, as class numbers.
#ifndef RESMEM_DATA_TABLE_LABEL_NAMES_H_
#define RESMEM_DATA_TABLE_LABEL_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/data/array.h"

namespace resmem {

struct ClassNaming {
  std::vector<std::string> known;    // in the order of the classes; empty: learned from the labels
  std::vector<std::string> columns;  // of the logits in their table; empty: without names
  int64_t classes = 0;               // columns of the logits; 0: there are none
  // Whole numbers are names, too, and not class numbers: always, or where one is no class number.
  bool numbers_are_names = false, numbers_may_be_names = false;
  bool new_names = false;     // names that are not known are classes after them, sorted
  bool skip_missing = false;  // a label without text becomes -1 instead of an error
};

// Puts class numbers in the place of `labels` that are names.
// The names are ordered as the first of these that there is: known; the columns of the logits,
// where they name every label; sorted, numbers by value.  `names` stays empty where labels are
// class numbers already.  kBadData: a name that is none of the classes, or more or fewer names than
// classes.
Status NumberLabels(const ClassNaming& naming, Array* labels, std::vector<std::string>* names);

}  // namespace resmem

#endif  // RESMEM_DATA_TABLE_LABEL_NAMES_H_
