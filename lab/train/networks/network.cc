#include "train/networks/network.h"

#include "recipe/train_recipe.h"
#include "support/text.h"

namespace resmem::train {

int64_t Network::ParameterCount() const {
  int64_t count = 0;
  for (const torch::Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

Result<std::shared_ptr<Network>> MakeNetwork(const std::string& name, const InputShape& input,
                                             int64_t classes) {
  RESMEM_ASSIGN_OR_RETURN(const NetworkName parsed, ParseNetworkName(name));
  const bool table = input.height == 0;
  switch (parsed.family) {
    case NetworkFamily::kResNet:
    case NetworkFamily::kMobileNet:
      if (table) {
        return Status(ErrorCode::kInvalidArgument,
                      Text(name, " takes images, but the data are table rows of ", input.channels,
                           " columns; use linear or mlp-HIDDEN"));
      }
      return parsed.family == NetworkFamily::kResNet ? MakeResNet(parsed.depth, input, classes)
                                                     : MakeMobileNet(parsed.width, input, classes);
    case NetworkFamily::kPerceptron:
      if (!table) {
        return Status(ErrorCode::kInvalidArgument,
                      Text(name,
                           " takes table rows (--inputs, --labels), but the data are "
                           "images; use a resnet or mobilenetv2"));
      }
      return MakePerceptron(parsed.hidden, input, classes);
  }
  return Status(ErrorCode::kInvalidArgument, name);
}

}  // namespace resmem::train
