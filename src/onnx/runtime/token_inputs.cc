#include "onnx/runtime/token_inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "onnx/runtime/onnxruntime_api.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr std::array<std::pair<std::string_view, TokenRole>, 9> kRoles = {
    {{"input_ids", TokenRole::kIds},
     {"attention_mask", TokenRole::kMask},
     {"position_ids", TokenRole::kPositions},
     {"cache_position", TokenRole::kPositions},
     {"token_type_ids", TokenRole::kSegments},
     {"use_cache_branch", TokenRole::kSwitch},
     {"num_logits_to_keep", TokenRole::kKept},
     {"logits_to_keep", TokenRole::kKept},
     {"past", TokenRole::kPast}}};

constexpr std::array<std::pair<std::string_view, int>, 6> kTypes = {{{"float32", ort::kFloat},
                                                                     {"int32", ort::kInt32},
                                                                     {"int64", ort::kInt64},
                                                                     {"bool", ort::kBool},
                                                                     {"float16", ort::kFloat16},
                                                                     {"bfloat16", ort::kBfloat16}}};

bool IsInteger(const OnnxTensor& tensor) {
  return tensor.type == "int64" || tensor.type == "int32";
}

int64_t NumberOf(const std::string& side) {
  int64_t number = -1;
  const char* end = side.data() + side.size();
  return std::from_chars(side.data(), end, number).ptr == end && number > 0 ? number : -1;
}

std::optional<TokenRole> RoleOf(const OnnxTensor& tensor) {
  for (const auto& [name, role] : kRoles) {
    if (role == TokenRole::kPast ? tensor.name.starts_with(name) : tensor.name == name) {
      return role;
    }
  }
  return std::nullopt;
}

// "past_key_values.0.key" has "present.0.key" or "present_key_values.0.key".
std::string PresentOf(const std::string& past, const std::vector<OnnxTensor>& outputs) {
  for (const auto& [from, to] :
       {std::pair{"past_key_values", "present"}, std::pair{"past_key_values", "present_key_values"},
        std::pair{"past", "present"}}) {
    if (!past.starts_with(from)) continue;
    const std::string present = to + past.substr(std::string_view(from).size());
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const OnnxTensor& o) { return o.name == present; });
    if (found != outputs.end()) return present;
  }
  return {};
}

// Of the sides that are left open the first is the batch, the last that of the tokens.
Status ReadPastSides(const OnnxTensor& tensor, std::vector<int64_t>* sides) {
  for (const std::string& side : tensor.shape) sides->push_back(NumberOf(side));
  const auto open = std::count(sides->begin(), sides->end(), -1);
  if (open != 1 && open != 2) {
    return {ErrorCode::kUnsupported,
            Text("input ", tensor.name, " has ", open, " open sides of ", sides->size(),
                 "; only its batch and its tokens may be open: export it with the numbers of heads "
                 "and their sizes")};
  }
  if (open == 2) *std::find(sides->begin(), sides->end(), -1) = 1;
  return {};
}

}  // namespace

bool TokenInputs::keeps_past() const {
  const auto is_past = [](const NamedTokenInput& input) { return input.role == TokenRole::kPast; };
  return std::any_of(inputs.begin(), inputs.end(), is_past) &&
         std::all_of(inputs.begin(), inputs.end(), [&](const NamedTokenInput& input) {
           return !is_past(input) || !input.present.empty();
         });
}

const std::string& TokenInputs::ids() const {
  return std::find_if(inputs.begin(), inputs.end(),
                      [](const NamedTokenInput& input) { return input.role == TokenRole::kIds; })
      ->name;
}

bool TakesTokenIds(const GraphIndex& index) {
  const std::vector<OnnxTensor> inputs = index.Inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const OnnxTensor& input) {
                       return IsInteger(input) &&
                              RoleOf(input).value_or(TokenRole::kIds) == TokenRole::kIds;
                     }) &&
         std::none_of(inputs.begin(), inputs.end(),
                      [](const OnnxTensor& input) { return !IsInteger(input) && !RoleOf(input); });
}

Result<TokenInputs> FindTokenInputs(const GraphIndex& index) {
  const std::vector<OnnxTensor> outputs = index.Outputs();
  TokenInputs found;
  const std::vector<OnnxTensor> inputs = index.Inputs();
  const bool named = std::any_of(inputs.begin(), inputs.end(), [](const OnnxTensor& tensor) {
    return RoleOf(tensor) == TokenRole::kIds;
  });
  bool has_ids = false;
  for (const OnnxTensor& tensor : inputs) {
    NamedTokenInput input;
    input.name = tensor.name;
    const auto role = RoleOf(tensor);
    // A graph with one integer input more, whatever it is called, takes its ids there.
    const bool may_be_ids = IsInteger(tensor) && !has_ids && (role || !named);
    if ((!role || *role == TokenRole::kIds) && !may_be_ids) {
      return Status(ErrorCode::kUnsupported,
                    Text("the graph's input ", tensor.name,
                         " is none that a causal language model has: input_ids, attention_mask, "
                         "position_ids, token_type_ids, past_key_values and a few more "
                         "(docs/lm.md); export it without"));
    }
    input.role = role.value_or(TokenRole::kIds);
    has_ids |= input.role == TokenRole::kIds;
    const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const auto& known) { return known.first == tensor.type; });
    if (type == kTypes.end()) {
      return Status(ErrorCode::kUnsupported,
                    Text("the graph's input ", tensor.name, " takes ",
                         tensor.type.empty() ? "no tensor" : tensor.type, "; export it otherwise"));
    }
    input.type = type->second;
    if (input.role == TokenRole::kPast) {
      RESMEM_RETURN_IF_ERROR(ReadPastSides(tensor, &input.sides));
      input.present = PresentOf(tensor.name, outputs);
    } else {
      if (input.type == ort::kFloat16 || input.type == ort::kBfloat16) {
        return Status(ErrorCode::kUnsupported, Text("the graph's input ", tensor.name, " takes ",
                                                    tensor.type, "; export it with integers"));
      }
      input.sides.assign(tensor.shape.size(), -1);
      // Windows are of any length: a side of tokens must be open.
      const bool fixed = input.role != TokenRole::kSwitch && input.role != TokenRole::kKept &&
                         !tensor.shape.empty() && NumberOf(tensor.shape.back()) != -1;
      if (fixed) {
        return Status(ErrorCode::kUnsupported,
                      Text("the graph's input ", tensor.name, " takes exactly ",
                           tensor.shape.back(), " tokens; export it with an open length"));
      }
    }
    found.inputs.push_back(std::move(input));
  }
  if (has_ids) return found;
  return Status(ErrorCode::kUnsupported, "the graph has no input of token ids");
}

}  // namespace resmem
