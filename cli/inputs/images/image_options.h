// Images that a base model turns into rows: --images, --part, --rows, --resize, or IMAGE...
#ifndef RESMEM_CLI_INPUTS_IMAGES_IMAGE_OPTIONS_H_
#define RESMEM_CLI_INPUTS_IMAGES_IMAGE_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/models/embedded_images.h"

namespace resmem::cli {

// For Option::Needs(): what rows can come from, and images among them.
inline const std::vector<std::string> kRowInputs = {"--data", "--keys", "--inputs", "--images",
                                                    "IMAGE"};
inline const std::vector<std::string> kImageInputs = {"--images", "IMAGE"};

class ImageOptions {
 public:
  // `as_arguments`: image files may also stand after the memory.
  void Declare(CommandLine& line, bool as_arguments);

  bool given() const { return !path_.empty() || !files_.empty(); }
  const std::string& path() const { return path_; }  // of --images
  std::vector<std::string> Paths() const;            // for the run's manifest
  const OnnxOptions& runtime() const { return runtime_; }
  // What --part says of every row.
  std::optional<Role> role() const;

  // Opens the model and the images; `labels` names an array or is empty.
  Result<std::shared_ptr<const EmbeddedImages>> Embed(const std::string& model,
                                                      const std::string& labels, int threads,
                                                      Console& console) const;

 private:
  std::string path_, part_, rows_;
  std::vector<std::string> files_;
  std::optional<int64_t> resize_;
  OnnxOptions runtime_;
  bool for_answers_ = false;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_IMAGES_IMAGE_OPTIONS_H_
