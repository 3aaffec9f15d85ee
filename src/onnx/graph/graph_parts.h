// How many objects a file would become, before it becomes any.
#ifndef RESMEM_ONNX_GRAPH_GRAPH_PARTS_H_
#define RESMEM_ONNX_GRAPH_GRAPH_PARTS_H_

#include <cstddef>
#include <span>

namespace resmem {

// Two bytes of a file can be an object of 200 in memory.  True where the bytes hold at most as
// many messages, texts and unknown fields as the largest models have, a few hundred MB of objects;
// also where they are no protobuf at all, which the parser then finds out.
bool HasReasonableParts(std::span<const std::byte> model);

}  // namespace resmem

#endif  // RESMEM_ONNX_GRAPH_GRAPH_PARTS_H_
