// The axes of a tuning run.
#ifndef RESMEM_TUNE_GRID_H_
#define RESMEM_TUNE_GRID_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/tuner.h"

namespace resmem {

// Checks the axes that the user gave: every value possible, and for a frozen memory or regression
// no temperature but the memory's own.
Status CheckGrid(const MemoryDescription& description, const Grid& grid);

// The largest k that the grid will hold, before its empty axes are filled.
int64_t LargestK(const Grid& grid, int64_t memory_rows);

// k beyond the ends of the usual axes, up to kMostTunedK; Tune() asks for them in a second search.
inline constexpr int64_t kMoreK[] = {640, 800, kMostTunedK};

// Fills the empty axes and sorts all of them, without repetition; k up to what was searched.
Grid FillGrid(const MemoryDescription& description, const Grid& grid, double typical_distance,
              int64_t memory_rows, int64_t searched_k);

// Says on which axes `chosen` lies at an end beyond which a better value may lie; empty: on none.
std::string EdgeWarning(const Grid& grid, const Parameters& chosen, int64_t memory_rows);

// Adds values beyond the edge of sigma or T at which `chosen` lies, to axes that were not `given`.
// False where there is nothing to add.
bool ExtendGrid(const Grid& given, const Parameters& chosen, Grid* grid);

}  // namespace resmem

#endif  // RESMEM_TUNE_GRID_H_
