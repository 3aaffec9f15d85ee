#include "lm_training/matrix_gradients.h"

#include <algorithm>

#include "support/parallel.h"

namespace resmem {
namespace {

constexpr int64_t kOutputsTogether = 64;

// gradient (outputs x inputs) += output_gradient^T input
struct MatrixGradient {
  const Parameter* parameter;
  const RoundedRows* output_gradient;
  const RoundedRows* input;
};

void AddGradient(const MatrixGradient& task, int64_t rows, int threads, Bfloat16* panels,
                 float* gradient) {
  const Parameter& parameter = *task.parameter;
  ParallelFor(threads, parameter.columns, kPanelSide, [&](int64_t begin, int64_t, int) {
    PanelsFromRows(task.input->Row(0) + begin, task.input->stride, rows, kPanelSide,
                   panels + begin * rows);
  });
  const int64_t stride = Bfloat16Stride(rows);
  ParallelFor(threads, parameter.rows, kOutputsTogether, [&](int64_t begin, int64_t end, int) {
    AlignedArray<Bfloat16> turned((end - begin) * stride);
    Transpose(task.output_gradient->Row(0) + begin, task.output_gradient->stride, rows, end - begin,
              turned.data(), stride);
    Multiply(end - begin, parameter.columns, rows, turned.data(), stride, {panels, rows}, true,
             gradient + parameter.offset + begin * parameter.columns, parameter.columns);
  });
}

}  // namespace

void AddMatrixGradients(const ParameterLayout& layout, const Activations& activations, int64_t rows,
                        int threads, float* gradient) {
  int64_t widest = 0;
  for (const LayerActivations& layer : activations.layers) {
    widest = std::max({widest, layer.normed_input.columns, layer.hidden.columns});
  }
  AlignedArray<Bfloat16> panels(widest * rows);
  for (size_t l = 0; l < layout.layers.size(); ++l) {
    const LayerParameters& parameters = layout.layers[l];
    const LayerActivations& layer = activations.layers[l];
    for (const MatrixGradient& task :
         {MatrixGradient{&parameters.qkv, &layer.qkv_gradient, &layer.normed_input},
          MatrixGradient{&parameters.projection, &layer.projection_gradient, &layer.attended},
          MatrixGradient{&parameters.expansion, &layer.expansion_gradient, &layer.normed_middle},
          MatrixGradient{&parameters.contraction, &layer.contraction_gradient, &layer.hidden}}) {
      AddGradient(task, rows, threads, panels.data(), gradient);
    }
  }
}

}  // namespace resmem
