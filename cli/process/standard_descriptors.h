// Standard input, output and error that the caller closed.
#ifndef RESMEM_CLI_PROCESS_STANDARD_DESCRIPTORS_H_
#define RESMEM_CLI_PROCESS_STANDARD_DESCRIPTORS_H_

namespace resmem::cli {

// Takes the numbers 0 to 2 where they are free, so that no file of ours gets one: what is printed
// would land in it.  Using them then fails, as using a closed one does.
void ReserveStandardDescriptors();

}  // namespace resmem::cli

#endif  // RESMEM_CLI_PROCESS_STANDARD_DESCRIPTORS_H_
