// The training program, which links libtorch and is therefore a program of its own.
#ifndef RESMEM_LAB_REPRODUCE_TRAINING_PROGRAM_H_
#define RESMEM_LAB_REPRODUCE_TRAINING_PROGRAM_H_

#include <string>

#include "console/console.h"
#include "resmem/status.h"

namespace resmem::cli {

// $RESMEM_TRAIN, beside this program, or where `cmake --install` puts it.
// kNotFound says how to get it.
Result<std::string> FindTrainingProgram();

// Trains by FOLDER/recipe.json to the end; goes on where a former run was stopped.  An epoch is a
// note on the console, the steps within it move the progress bar.
Status RunTrainingProgram(const std::string& folder, Console& console);

}  // namespace resmem::cli

#endif  // RESMEM_LAB_REPRODUCE_TRAINING_PROGRAM_H_
