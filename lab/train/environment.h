// What libtorch's libraries read from their surroundings, set right before they do real work.
#ifndef RESMEM_LAB_TRAIN_ENVIRONMENT_H_
#define RESMEM_LAB_TRAIN_ENVIRONMENT_H_

namespace resmem::train {

// Starts the program again with the environment that its libraries read when they are loaded,
// unless it is there; what the user has set stays.  Then sets the allocator.
void SetEnvironment(char** argv);

// For libtorch and for the BLAS below it.
void SetLibraryThreads(int threads);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_ENVIRONMENT_H_
