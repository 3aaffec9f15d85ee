#include "reproduce/imagenet/workspace.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "console/format.h"
#include "reproduce/json.h"
#include "resmem_program/system_error.h"
#include "support/parallel.h"

namespace resmem::cli::reproduce::imagenet {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kReadTogether = 512;
constexpr int64_t kTuneShare = 10;  // of 100: of the training photos, where none are given to tune

Status Missing(const std::string& what, const std::string& option) {
  return Status(ErrorCode::kNotFound, what + "; give " + option + " FOLDER");
}

// The folder and name of each photo and its length: what tells one set of files from another.
void AddPhotos(const Photos& photos, Digest* digest) {
  for (size_t i = 0; i < photos.files.size(); ++i) {
    const fs::path path = photos.files[i];
    std::error_code error;
    digest->Add(path.parent_path().filename().string() + "/" + path.filename().string() + " " +
                std::to_string(fs::file_size(path, error)) + " " +
                std::to_string(photos.labels[i]) + "\n");
  }
}

}  // namespace

Result<Workspace> Workspace::Open(WorkspaceOptions options, Console& console) {
  Workspace workspace(std::move(options), console);
  std::error_code error;
  for (const char* kind : {"models", "arrays", "memories", "steps"}) {
    const fs::path folder = fs::path(workspace.options_.folder) / kind;
    fs::create_directories(folder, error);
    if (error) {
      return Status(CodeOfSystemError(error.value()),
                    folder.string() + " cannot be made: " + error.message());
    }
  }
  RESMEM_RETURN_IF_ERROR(workspace.FindNetworks());
  RESMEM_RETURN_IF_ERROR(workspace.FindClasses());
  RESMEM_RETURN_IF_ERROR(workspace.FindAllPhotos());
  workspace.reductions_ = {{"none", 0, false}};
  if (const int64_t side = workspace.options_.reduce; side > 0) {
    workspace.reductions_.push_back({"nearest", side, true});
    workspace.reductions_.push_back({"smooth", side, false});
  }
  return workspace;
}

Status Workspace::FindNetworks() {
  std::set<std::string> names;
  for (const std::string& given : options_.models) {
    const size_t equals = given.find('=');
    Network network{given.substr(0, equals),
                    equals == std::string::npos ? "" : given.substr(equals + 1), ""};
    const bool named = !network.name.empty() && network.name.find('/') == std::string::npos &&
                       network.name.front() != '.';
    if (!named || network.file.empty() || !names.insert(network.name).second) {
      return Status(ErrorCode::kInvalidArgument,
                    "--models: \"" + given +
                        "\"; expected NAME=FILE.onnx with a name of its own, such as "
                        "0.35=mobilenet_v2_0.35.onnx");
    }
    RESMEM_ASSIGN_OR_RETURN(network.digest, DigestFile(network.file));
    networks_.push_back(std::move(network));
  }
  return {};
}

Status Workspace::FindClasses() {
  const std::string train = options_.data + "/train", usual = options_.data + "/classes.txt";
  if (!fs::is_directory(train)) {
    return Status(ErrorCode::kNotFound,
                  train + " is not there; --data is a folder with train/CLASS/*.JPEG");
  }
  std::string& file = options_.classes;
  if (file.empty() && fs::is_regular_file(usual)) file = usual;
  Result<Classes> found = file.empty() ? ClassesOfFolders(train) : ReadClasses(file);
  RESMEM_RETURN_IF_ERROR(found.status());
  classes_ = std::move(*found);
  return {};
}

Status Workspace::FindAllPhotos() {
  const std::string val = options_.data + "/val", real = options_.data + "/ilsvrc-val";
  if (options_.judge.empty()) options_.judge = fs::is_directory(real) ? real : val;
  if (!fs::is_directory(options_.judge)) {
    return Missing(options_.judge + " is not there, so no photos judge", "--judge");
  }
  if (options_.tune.empty() && options_.judge != val && fs::is_directory(val)) options_.tune = val;
  RESMEM_ASSIGN_OR_RETURN(judge_, FindPhotos(options_.judge, classes_, options_.judge_list));
  RESMEM_ASSIGN_OR_RETURN(Photos train, FindPhotos(options_.data + "/train", classes_));
  if (options_.tune.empty()) {
    const int64_t held_out =
        std::max<int64_t>(train.size() / classes_.size() * kTuneShare / 100, 1);
    DividedPhotos divided = DivideByClass(train, classes_, held_out);
    tune_ = std::move(divided.first);
    train = std::move(divided.others);
  } else {
    RESMEM_ASSIGN_OR_RETURN(tune_, FindPhotos(options_.tune, classes_));
  }
  memory_ = options_.per_class > 0 ? DivideByClass(train, classes_, options_.per_class).first
                                   : std::move(train);
  Digest digest;
  for (const Photos* photos : {&memory_, &tune_, &judge_}) AddPhotos(*photos, &digest);
  for (size_t i = 0; i < classes_.names.size(); ++i) {
    digest.Add(classes_.names[i] + " " + std::to_string(classes_.outputs[i]) + "\n");
  }
  data_digest_ = digest.Hex();
  return {};
}

// The file itself where a manifest lies beside it, else a prepared copy in models/.
Result<std::string> Workspace::Prepared(const Network& network) {
  if (fs::exists(ManifestPath(network.file))) return network.file;
  const std::string path = Path("models", network.name) + ".onnx";
  PrepareOptions options;
  options.mean = options_.mean;
  options.deviation = options_.deviation;
  options.network = "mobilenetv2-" + network.name;
  RESMEM_RETURN_IF_ERROR(PrepareOnnx(network.file, options, path, options_.runtime).status());
  return path;
}

Result<Fingerprint> Workspace::FingerprintOf(const Network& network) {
  RESMEM_ASSIGN_OR_RETURN(const std::string model, Prepared(network));
  return FingerprintModel(model);
}

Result<Embedded> Workspace::Arrays(const Network& network, const std::string& part,
                                   const Reduction& reduction) {
  RESMEM_ASSIGN_OR_RETURN(const std::string file, Prepared(network));
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint fingerprint, FingerprintModel(file));
  const std::string name = part + (reduction.side > 0 ? "-" + reduction.name : "");
  const Photos& photos = part == "memory" ? memory_ : part == "tune" ? tune_ : judge_;
  const auto embed = [&]() -> Result<Embedded> {
    console_->Note(network.name + ": " + Count(photos.size()) + " photos, " + name);
    RESMEM_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(file, options_.runtime));
    return Embed(model, photos, reduction);
  };
  return KeptArrays(Path("arrays", network.name) + "/" + name,
                    fingerprint.digest + " " + fingerprint.layer + " " + data_digest_ + " " +
                        std::to_string(reduction.side),
                    embed);
}

Result<Embedded> Workspace::Embed(const OnnxModel& model, const Photos& photos,
                                  const Reduction& reduction) {
  const ModelManifest& manifest = model.manifest();
  const int64_t largest = *std::max_element(classes_.outputs.begin(), classes_.outputs.end());
  if (!manifest.takes_images() || largest >= manifest.classes) {
    return Status(ErrorCode::kMismatch, "the network has " + Count(manifest.classes) +
                                            " outputs, but a class is output " + Count(largest) +
                                            "; give --classes FILE with \"CLASS OUTPUT\" a line");
  }
  const ImageShape shape{manifest.height, manifest.width, manifest.channels};
  RESMEM_ASSIGN_OR_RETURN(
      const ImageFit fit,
      MakeImageFit(shape,
                   manifest.resize > 0 ? manifest.resize : std::max(shape.height, shape.width)));
  const int64_t count = photos.size(), classes = classes_.size();
  Embedded embedded;
  embedded.dim = manifest.dim;
  embedded.classes = classes;
  embedded.labels = photos.labels;
  embedded.keys.resize(static_cast<size_t>(count * manifest.dim));
  embedded.logits.resize(static_cast<size_t>(count * classes));
  std::vector<uint8_t> pixels;
  std::vector<float> logits;
  for (int64_t begin = 0; begin < count; begin += kReadTogether) {
    if (console_->progress()->Cancelled()) return Status(ErrorCode::kCancelled, "stopped");
    console_->progress()->Report("embedding", begin, count);
    const int64_t rows = std::min(kReadTogether, count - begin);
    const auto bytes = static_cast<size_t>(shape.bytes());
    pixels.resize(static_cast<size_t>(rows) * bytes);
    logits.resize(static_cast<size_t>(rows * manifest.classes));
    std::vector<Status> read(static_cast<size_t>(rows));
    ParallelFor(threads(), rows, 8, [&](int64_t from, int64_t to, int) {
      for (int64_t row = from; row < to; ++row) {
        const auto at = static_cast<size_t>(row);
        read[at] = ReadPhoto(photos.files[static_cast<size_t>(begin + row)], reduction, fit,
                             std::span(pixels).subspan(at * bytes, bytes));
      }
    });
    for (const Status& status : read) RESMEM_RETURN_IF_ERROR(status);
    RESMEM_RETURN_IF_ERROR(model.Run(pixels, rows,
                                     std::span(embedded.keys)
                                         .subspan(static_cast<size_t>(begin * manifest.dim),
                                                  static_cast<size_t>(rows * manifest.dim)),
                                     logits));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = 0; c < classes; ++c) {
        embedded.logits[static_cast<size_t>((begin + row) * classes + c)] =
            logits[static_cast<size_t>(row * manifest.classes +
                                       classes_.outputs[static_cast<size_t>(c)])];
      }
    }
  }
  console_->progress()->Report("embedding", count, count);
  return embedded;
}

}  // namespace resmem::cli::reproduce::imagenet
