#include "reproduce/cifar100/workspace.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "console/output.h"
#include "reproduce/json.h"
#include "resmem_program/system_error.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kQuickTrainRows = 400, kQuickTestRows = 200;
constexpr int64_t kReadTogether = 1000;

Result<ImageSet> OpenPart(const std::string& path, const std::string& part) {
  ImageSetSource source;
  source.path = path;
  source.part = part;
  return ImageSet::Open(source);
}

// The first `count` images as a CIFAR-100 file: coarse and fine label, then planes of R, G, B.
Status WriteFirst(const ImageSet& set, int64_t count, const std::string& path) {
  count = std::min(count, set.size());
  const ImageShape& shape = set.shape();
  const int64_t plane = shape.height * shape.width;
  std::vector<uint8_t> pixels(static_cast<size_t>(count * shape.bytes()));
  RESMEM_RETURN_IF_ERROR(set.Read(0, count, pixels));
  std::string records;
  for (int64_t row = 0; row < count; ++row) {
    records += static_cast<char>(set.coarse_labels()[static_cast<size_t>(row)]);
    records += static_cast<char>(set.labels()[static_cast<size_t>(row)]);
    const uint8_t* image = pixels.data() + row * shape.bytes();
    for (int64_t channel = 0; channel < shape.channels; ++channel) {
      for (int64_t i = 0; i < plane; ++i) {
        records += static_cast<char>(image[i * shape.channels + channel]);
      }
    }
  }
  RESMEM_ASSIGN_OR_RETURN(Output file, Output::File(path));
  RESMEM_RETURN_IF_ERROR(file.Write(records));
  return file.Close();
}

Status AddToDigest(const ImageSet& set, Console& console, Digest* digest) {
  std::vector<uint8_t> pixels;
  for (int64_t begin = 0; begin < set.size(); begin += kReadTogether) {
    if (console.progress()->Cancelled()) return Status(ErrorCode::kCancelled, "stopped");
    console.progress()->Report("reading images", begin, set.size());
    const int64_t count = std::min(kReadTogether, set.size() - begin);
    pixels.resize(static_cast<size_t>(count * set.shape().bytes()));
    RESMEM_RETURN_IF_ERROR(set.Read(begin, count, pixels));
    digest->Add({reinterpret_cast<const char*>(pixels.data()), pixels.size()});
  }
  const std::vector<int32_t>& labels = set.labels();
  digest->Add({reinterpret_cast<const char*>(labels.data()), labels.size() * sizeof(int32_t)});
  return {};
}

// From the two labels of every image.  A class without images is a superclass of its own.
Result<std::vector<int32_t>> CoarseOfClass(const ImageSet& train, const ImageSet& test) {
  std::vector<int32_t> coarse_of_class;
  for (const ImageSet* set : {&train, &test}) {
    for (size_t i = 0; i < set->labels().size(); ++i) {
      const auto label = static_cast<size_t>(set->labels()[i]);
      const int32_t coarse = set->coarse_labels()[i];
      while (coarse_of_class.size() <= label) coarse_of_class.push_back(-1);
      if (coarse_of_class[label] < 0) coarse_of_class[label] = coarse;
      if (coarse_of_class[label] == coarse) continue;
      return Status(ErrorCode::kBadData, set->name(static_cast<int64_t>(i)) + ": class " +
                                             std::to_string(label) + " is in superclass " +
                                             std::to_string(coarse) + ", but was in " +
                                             std::to_string(coarse_of_class[label]) + " before");
    }
  }
  int32_t next = *std::max_element(coarse_of_class.begin(), coarse_of_class.end());
  for (int32_t& coarse : coarse_of_class) {
    if (coarse < 0) coarse = ++next;
  }
  return coarse_of_class;
}

}  // namespace

Status Workspace::OpenImages(const std::string& folder) {
  RESMEM_ASSIGN_OR_RETURN(train_, OpenPart(folder, "train"));
  RESMEM_ASSIGN_OR_RETURN(test_, OpenPart(folder, "test"));
  for (const ImageSet* set : {&*train_, &*test_}) {
    if (std::ssize(set->coarse_labels()) == set->size() && set->size() > 0) continue;
    return Status(ErrorCode::kBadData,
                  folder +
                      ": images without superclasses; give the folder with CIFAR-100's "
                      "train.bin and test.bin (also .xz or .gz)");
  }
  data_ = folder;
  return {};
}

Result<Workspace> Workspace::Open(WorkspaceOptions options, Console& console) {
  Workspace workspace(std::move(options), console);
  std::error_code error;
  for (const char* kind : {"runs", "arrays", "memories", "models", "steps", "data"}) {
    if (std::string_view(kind) == "data" && !workspace.options_.quick) continue;
    const fs::path folder = fs::path(workspace.options_.folder) / kind;
    fs::create_directories(folder, error);
    if (error) {
      return Status(CodeOfSystemError(error.value()),
                    folder.string() + " cannot be made: " + error.message());
    }
  }
  RESMEM_RETURN_IF_ERROR(workspace.OpenImages(workspace.options_.data));
  if (workspace.options_.quick) {
    const std::string cut = workspace.options_.folder + "/data";
    RESMEM_RETURN_IF_ERROR(WriteFirst(workspace.train(), kQuickTrainRows, cut + "/train.bin"));
    RESMEM_RETURN_IF_ERROR(WriteFirst(workspace.test(), kQuickTestRows, cut + "/test.bin"));
    RESMEM_RETURN_IF_ERROR(workspace.OpenImages(cut));
  }
  Digest digest;
  RESMEM_RETURN_IF_ERROR(AddToDigest(workspace.train(), console, &digest));
  RESMEM_RETURN_IF_ERROR(AddToDigest(workspace.test(), console, &digest));
  workspace.data_digest_ = digest.Hex();
  RESMEM_ASSIGN_OR_RETURN(workspace.coarse_of_class_,
                          CoarseOfClass(workspace.train(), workspace.test()));
  return workspace;
}

}  // namespace resmem::cli::reproduce::cifar100
