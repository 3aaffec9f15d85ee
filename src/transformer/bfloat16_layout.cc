// Transposing, and the panels of kernels/bfloat16.h.  Vectors of 16 bytes are wide enough: memory
// is what this waits for.
#include <cstring>

#include "transformer/bfloat16.h"

namespace resmem {
namespace {

using Shorts = uint16_t __attribute__((vector_size(16)));
using Words = uint32_t __attribute__((vector_size(16)));
using Pairs = uint64_t __attribute__((vector_size(16)));

Shorts Load(const Bfloat16* from) {
  Shorts values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
template <typename Vector>
void Store(Vector values, Bfloat16* to) {
  std::memcpy(to, &values, sizeof values);
}

Shorts Lower(Shorts a, Shorts b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
Shorts Upper(Shorts a, Shorts b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
Pairs Lower(Words a, Words b) {
  return reinterpret_cast<Pairs>(__builtin_shufflevector(a, b, 0, 4, 1, 5));
}
Pairs Upper(Words a, Words b) {
  return reinterpret_cast<Pairs>(__builtin_shufflevector(a, b, 2, 6, 3, 7));
}
Pairs Lower(Pairs a, Pairs b) {
  return __builtin_shufflevector(a, b, 0, 2);
}
Pairs Upper(Pairs a, Pairs b) {
  return __builtin_shufflevector(a, b, 1, 3);
}

// Four rows of four words become four columns.
void StoreTurned(const Words* rows, Bfloat16* out, int64_t out_stride) {
  const Pairs first = Lower(rows[0], rows[1]), second = Upper(rows[0], rows[1]);
  const Pairs third = Lower(rows[2], rows[3]), fourth = Upper(rows[2], rows[3]);
  Store(Lower(first, third), out);
  Store(Upper(first, third), out + out_stride);
  Store(Lower(second, fourth), out + 2 * out_stride);
  Store(Upper(second, fourth), out + 3 * out_stride);
}

// Eight rows of eight values.
void TransposeBlock(const Bfloat16* in, int64_t in_stride, Bfloat16* out, int64_t out_stride) {
  Words lower[4], upper[4];
  for (int64_t i = 0; i < 4; ++i) {
    const Shorts even = Load(in + 2 * i * in_stride), odd = Load(in + (2 * i + 1) * in_stride);
    lower[i] = reinterpret_cast<Words>(Lower(even, odd));
    upper[i] = reinterpret_cast<Words>(Upper(even, odd));
  }
  StoreTurned(lower, out, out_stride);
  StoreTurned(upper, out + 4 * out_stride, out_stride);
}

}  // namespace

void Transpose(const Bfloat16* in, int64_t in_stride, int64_t rows, int64_t columns, Bfloat16* out,
               int64_t out_stride) {
  for (int64_t row = 0; row < rows; row += 8) {
    for (int64_t column = 0; column < columns; column += 8) {
      TransposeBlock(in + row * in_stride + column, in_stride, out + column * out_stride + row,
                     out_stride);
    }
  }
}

void PanelsFromRows(const Bfloat16* in, int64_t in_stride, int64_t inner, int64_t columns,
                    Bfloat16* panels) {
  for (int64_t column = 0; column < columns; column += kPanelSide) {
    for (int64_t step = 0; step < inner; step += kPanelSide) {
      for (int64_t tile = 0; tile < 2; ++tile) {
        const Bfloat16* from = in + step * in_stride + column + tile * 16;
        for (int64_t row = 0; row < 16; ++row, from += 2 * in_stride, panels += 32) {
          for (int64_t part = 0; part < 2; ++part) {
            const Shorts even = Load(from + 8 * part), odd = Load(from + in_stride + 8 * part);
            Store(Lower(even, odd), panels + 16 * part);
            Store(Upper(even, odd), panels + 16 * part + 8);
          }
        }
      }
    }
  }
}

void PanelsFromColumns(const Bfloat16* in, int64_t in_stride, int64_t inner, int64_t columns,
                       Bfloat16* panels) {
  for (int64_t column = 0; column < columns; column += kPanelSide) {
    for (int64_t step = 0; step < inner; step += kPanelSide) {
      for (int64_t tile = 0; tile < 2; ++tile, panels += 512) {
        const Bfloat16* from = in + (column + tile * 16) * in_stride + step;
        for (int64_t r = 0; r < 16; r += 4) {
          for (int64_t c = 0; c < 16; c += 4) {
            Words rows[4];
            for (int64_t i = 0; i < 4; ++i) {
              rows[i] = reinterpret_cast<Words>(Load(from + (c + i) * in_stride + 2 * r));
            }
            StoreTurned(rows, panels + r * 32 + c * 2, 32);
          }
        }
      }
    }
  }
}

}  // namespace resmem
