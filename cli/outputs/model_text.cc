#include "outputs/model_text.h"

#include "console/format.h"
#include "inputs/images/model_options.h"

namespace resmem::cli {
namespace {

std::string ListText(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) text += (text.empty() ? "" : ", ") + ShortNumber(value);
  return text;
}

std::string InputText(const ModelManifest& manifest) {
  if (manifest.takes_tokens()) return "windows of up to " + Counted(manifest.context, "token");
  if (!manifest.takes_images()) return "rows of " + Counted(manifest.columns, "number");
  const std::string size = Count(manifest.height) + " x " + Count(manifest.width);
  return size + " images of " + Counted(manifest.channels, "channel") +
         (manifest.resize == 0 ? ""
                               : ", the shorter side resized to " + Count(manifest.resize) +
                                     " and the center cropped");
}

}  // namespace

std::string Printable(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  }
  return text;
}

std::string ShapeText(const std::vector<std::string>& shape) {
  std::string text;
  for (const std::string& side : shape) text += (text.empty() ? "" : " x ") + Printable(side);
  return text.empty() ? "?" : text;
}

void AddManifest(const ModelManifest& manifest, const Fingerprint& fingerprint, Table* table) {
  if (!manifest.network.empty()) table->AddRow({"network", Printable(manifest.network)});
  table->AddRow({"takes", InputText(manifest)});
  if (manifest.takes_images()) {
    table->AddRow({"normalized", "(pixel / 255 - mean) / std, mean " + ListText(manifest.mean) +
                                     ", std " + ListText(manifest.deviation)});
  }
  table->AddRow({"embedding",
                 Printable(manifest.embedding) + ": " + Counted(manifest.dim, "value") + " a row"});
  table->AddRow({"logits", Printable(manifest.logits) + ": " + Count(manifest.classes) +
                               " classes" + (manifest.class_names.empty() ? "" : ", named")});
  table->AddRow({"fingerprint", Printable(FingerprintText(fingerprint))});
}

}  // namespace resmem::cli
