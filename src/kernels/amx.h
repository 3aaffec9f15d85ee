// Tiles: the matrix unit of newer x86 processors.  Eight registers of 16 rows of 64 bytes; one
// instruction multiplies 16 x 32 by 32 x 16 numbers of 16 bits and adds the products up in float32.
//
// Used where AmxActive().  A function that works with tiles opens a TileScope first.
#ifndef RESMEM_KERNELS_AMX_H_
#define RESMEM_KERNELS_AMX_H_

namespace resmem {

// Whether processor and kernel have tiles at all; asks the kernel for them once.
bool AmxAvailable();

// Whether kernels use them: the chosen level (kernels/simd_level.h) is "amx".
bool AmxActive();

// All eight tiles of the calling thread are 16 rows of 64 bytes while it lives.
class TileScope {
 public:
  TileScope();
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;
};

}  // namespace resmem

#endif  // RESMEM_KERNELS_AMX_H_
