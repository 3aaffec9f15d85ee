#include "onnx/graph/graph_parts.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <onnx/onnx_pb.h>

#include <cstdint>

namespace resmem {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr int kMostParts = 4'000'000;
constexpr int kDeepest = 100;  // as the parser

// Adds the parts of one message to `parts`.  False at its first fault, at the end or beyond a
// limit.
bool Count(CodedInputStream* in, const Descriptor& type, int depth, int* parts) {
  while (const uint32_t tag = in->ReadTag()) {
    const FieldDescriptor* field = type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    const bool has_length =
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if ((field == nullptr || has_length) && ++*parts > kMostParts) return false;
    if (field == nullptr || !has_length || field->type() != FieldDescriptor::TYPE_MESSAGE) {
      if (!WireFormatLite::SkipField(in, tag)) return false;
      continue;
    }
    uint32_t size = 0;
    if (depth == kDeepest || !in->ReadVarint32(&size)) return false;
    const CodedInputStream::Limit limit = in->PushLimit(static_cast<int>(size));
    if (!Count(in, *field->message_type(), depth + 1, parts)) return false;
    in->PopLimit(limit);
  }
  return in->ConsumedEntireMessage();
}

}  // namespace

bool HasReasonableParts(std::span<const std::byte> model) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(model.data()),
                      static_cast<int>(model.size()));
  int parts = 0;
  (void)Count(&in, *onnx::ModelProto::descriptor(), 0, &parts);
  return parts <= kMostParts;
}

}  // namespace resmem
