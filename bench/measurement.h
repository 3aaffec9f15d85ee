// What every measurement must tell beside its numbers: command, machine, date and commit.
#ifndef RESMEM_BENCH_MEASUREMENT_H_
#define RESMEM_BENCH_MEASUREMENT_H_

#include <string>

namespace resmem::bench {

// "bench_search --small --arrays 'my keys' keys.npy queries.npy": how this program was called,
// files without their folders.
std::string CommandLine();

// "Intel Xeon ..., 2 cores, avx512; 2026-11-16; commit 1a2b3c4; load average 2.0".
std::string MachineLine();

// Prints to standard output, and writes the file where a path is given.  False where it fails.
bool Publish(const std::string& markdown, const std::string& path);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_MEASUREMENT_H_
