#include "inputs/images/image_options.h"

#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "inputs/dataset_options.h"
#include "inputs/images/runtime_options.h"
#include "inputs/row_range.h"

namespace resmem::cli {

void ImageOptions::Declare(CommandLine& line, bool as_arguments) {
  for_answers_ = as_arguments;
  if (as_arguments) {
    line.Arguments("IMAGE", &files_, "PNG, JPEG and WebP files, instead of arrays or --images");
  }
  line.Group("Images instead of arrays (docs/images.md)");
  line.Value("--images", &path_, "PATH",
             "images to run the base model --model on: CIFAR or IDX files or their folder, .npy, "
             ".npz:member, PNG, JPEG, WebP, a folder of those, or one folder per class")
      .File();
  line.Choice<std::string, std::string>(
          "--part", &part_, {{"train", "train"}, {"test", "test"}},
          "which part of a folder that holds both to read; marks all its rows accordingly")
      .Needs(kImageInputs);
  DeclareRowRange(line, &rows_).Needs(kImageInputs);
  line.Value("--resize", &resize_, "N",
             "resize the shorter side of each image to N pixels, then crop the center; 0: every "
             "image already has the model's size")
      .Default("from the model's manifest")
      .Needs(kImageInputs);
  DeclareRuntime(line, &runtime_).Needs(kImageInputs);
}

std::vector<std::string> ImageOptions::Paths() const {
  std::vector<std::string> paths = files_;
  if (!path_.empty()) paths.push_back(FilePart(path_));
  return paths;
}

std::optional<Role> ImageOptions::role() const {
  if (part_.empty()) return std::nullopt;
  return part_ == "train" ? Role::kTrain : Role::kTest;
}

Result<std::shared_ptr<const EmbeddedImages>> ImageOptions::Embed(const std::string& model_path,
                                                                  const std::string& labels,
                                                                  int threads,
                                                                  Console& console) const {
  for (const std::string& file : files_) {
    std::error_code error;
    if (!std::filesystem::is_directory(file, error)) continue;
    return Status(ErrorCode::kInvalidArgument,
                  file + ": is a folder; give a folder of images as --images " + file);
  }
  OnnxOptions runtime = runtime_;
  runtime.threads = threads;
  RESMEM_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::Open(model_path, runtime));
  const ModelManifest& manifest = model.manifest();
  if (!manifest.takes_images()) {
    return Status(ErrorCode::kMismatch, model_path + ": reads rows of " +
                                            std::to_string(manifest.columns) +
                                            " values, not images; give arrays");
  }
  ImageSetSource source;
  source.path = path_;
  source.files = files_;
  source.part = part_;
  source.labels = labels;
  source.shape = ImageShape{manifest.height, manifest.width, manifest.channels};
  source.resize = resize_.value_or(manifest.resize);
  source.class_names = manifest.class_names;
  if (!for_answers_) source.classes = manifest.classes;  // else labels play no part
  RESMEM_ASSIGN_OR_RETURN(ImageSet images, ImageSet::Open(source));
  for (const std::string& note : images.notes()) console.Note(note);
  EmbedOptions options;
  options.threads = threads;
  RESMEM_ASSIGN_OR_RETURN(
      const auto range, ParseRowRange(rows_, images.size(), path_.empty() ? "the images" : path_));
  std::tie(options.begin, options.end) = range;
  return EmbeddedImages::Create(std::move(model), std::move(images), options);
}

}  // namespace resmem::cli
