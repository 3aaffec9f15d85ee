#include "reproduce/imagenet/photos.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "images/decode.h"
#include "support/file_system.h"

namespace resmem::cli::reproduce::imagenet {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostOutputs = 1'000'000;

// The words of a line, which stand apart by blanks, tabs or commas.
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char letter : line) {
    if (letter == ' ' || letter == '\t' || letter == ',' || letter == '\r') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Sorted by name, so that nothing depends on the order of a folder.
Result<std::vector<std::string>> List(const std::string& folder) {
  RESMEM_ASSIGN_OR_RETURN(std::vector<std::string> names, FileSystem::Posix().List(folder));
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  std::sort(names.begin(), names.end());
  return names;
}

// The folder itself, or images/ in it.
std::string WithImages(const std::string& folder) {
  const std::string inside = folder + "/images";
  return fs::is_directory(inside) ? inside : folder;
}

// The list of the photos' classes that lies where one of the usual layouts has it; empty: none.
std::string UsualList(const std::string& folder) {
  fs::path here = fs::absolute(folder).lexically_normal();
  for (int above = 0; above <= 4; ++above, here = here.parent_path()) {
    for (const char* const name : {"val_annotations.txt", "LOC_val_solution.csv"}) {
      if (fs::is_regular_file(here / name)) return (here / name).string();
    }
  }
  return "";
}

// Each photo's class by its name without ending.
Result<std::map<std::string, std::string>> ReadList(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status(ErrorCode::kNotFound, path + " cannot be read");
  std::map<std::string, std::string> classes;
  std::string line;
  while (std::getline(file, line)) {
    const std::vector<std::string> words = WordsOf(line);
    if (words.size() > 1) classes[fs::path(words[0]).stem().string()] = words[1];
  }
  return classes;
}

Result<Photos> FindListed(const std::string& folder, const std::vector<std::string>& names,
                          const std::map<std::string, int32_t>& number, std::string list) {
  if (list.empty()) list = UsualList(folder);
  if (list.empty()) {
    return Status(ErrorCode::kNotFound,
                  folder +
                      ": photos without folders of classes, and no list of their classes "
                      "(val_annotations.txt, LOC_val_solution.csv); give --judge-list FILE with "
                      "\"PHOTO CLASS\" a line");
  }
  RESMEM_ASSIGN_OR_RETURN(const auto classes, ReadList(list));
  std::vector<std::pair<int32_t, std::string>> found;
  for (const std::string& name : names) {
    if (!HasImageName(name)) continue;
    const auto listed = classes.find(fs::path(name).stem().string());
    if (listed == classes.end()) {
      return Status(ErrorCode::kBadData, folder + "/" + name + ": " + list +
                                             " does not say its class; give a whole list");
    }
    const auto known = number.find(listed->second);
    if (known != number.end()) found.emplace_back(known->second, folder + "/" + name);
  }
  std::sort(found.begin(), found.end());
  Photos photos;
  for (auto& [label, file] : found) {
    photos.labels.push_back(label);
    photos.files.push_back(std::move(file));
  }
  return photos;
}

}  // namespace

Result<Classes> ReadClasses(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status(ErrorCode::kNotFound, path + " cannot be read");
  Classes classes;
  std::set<std::string> names;
  std::set<int64_t> outputs;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    const std::vector<std::string> words = WordsOf(line);
    if (words.empty()) continue;
    int64_t output = -1;
    const std::string& last = words.back();
    const auto read = std::from_chars(last.data(), last.data() + last.size(), output);
    if (words.size() != 2 || read.ec != std::errc() || read.ptr != last.data() + last.size() ||
        output < 0 || output >= kMostOutputs) {
      return Status(ErrorCode::kBadData,
                    path + ":" + std::to_string(number) + ": \"" + line.substr(0, 80) +
                        "\"; expected a class and the network's output for it, such as "
                        "\"n01443537 1\"");
    }
    if (!names.insert(words[0]).second || !outputs.insert(output).second) {
      return Status(ErrorCode::kBadData, path + ":" + std::to_string(number) + ": the class " +
                                             words[0] + " or the output " + words[1] +
                                             " stands there twice");
    }
    classes.names.push_back(words[0]);
    classes.outputs.push_back(output);
  }
  if (classes.size() >= 2) return classes;
  return Status(ErrorCode::kBadData, path + ": names fewer than two classes");
}

Result<Classes> ClassesOfFolders(const std::string& folder) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, List(folder));
  Classes classes;
  for (const std::string& name : names) {
    if (!fs::is_directory(folder + "/" + name)) continue;
    classes.outputs.push_back(classes.size());
    classes.names.push_back(name);
  }
  if (classes.size() >= 2) return classes;
  return Status(ErrorCode::kNotFound, folder + ": holds fewer than two folders of classes");
}

Result<Photos> FindPhotos(const std::string& folder, const Classes& classes,
                          const std::string& list) {
  std::map<std::string, int32_t> number;
  for (int32_t i = 0; i < classes.size(); ++i) number[classes.names[static_cast<size_t>(i)]] = i;
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> entries, List(folder));
  Photos photos;
  for (const std::string& entry : entries) {
    const auto known = number.find(entry);
    if (known == number.end() || !fs::is_directory(folder + "/" + entry)) continue;
    const std::string inside = WithImages(folder + "/" + entry);
    RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, List(inside));
    for (const std::string& name : names) {
      if (!HasImageName(name)) continue;
      photos.files.push_back(inside + "/" + name);
      photos.labels.push_back(known->second);
    }
  }
  if (photos.size() == 0) {
    const std::string inside = WithImages(folder);
    RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, List(inside));
    RESMEM_ASSIGN_OR_RETURN(photos, FindListed(inside, names, number, list));
  }
  if (photos.size() > 0) return photos;
  return Status(ErrorCode::kNotFound, folder + ": holds no PNG, JPEG or WebP file of the " +
                                          std::to_string(classes.size()) + " classes, such as " +
                                          classes.names.front());
}

DividedPhotos DivideByClass(const Photos& photos, const Classes& classes, int64_t count) {
  std::vector<int64_t> taken(static_cast<size_t>(classes.size()));
  DividedPhotos divided;
  for (size_t i = 0; i < photos.files.size(); ++i) {
    const bool first = taken[static_cast<size_t>(photos.labels[i])]++ < count;
    Photos& part = first ? divided.first : divided.others;
    part.files.push_back(photos.files[i]);
    part.labels.push_back(photos.labels[i]);
  }
  return divided;
}

Result<Image> Reduce(const Image& image, const Reduction& reduction) {
  const int64_t side = reduction.side;
  const ImageShape shape{side, side, image.shape.channels};
  Image reduced{shape, std::vector<uint8_t>(static_cast<size_t>(shape.bytes()))};
  if (!reduction.nearest) {
    RESMEM_ASSIGN_OR_RETURN(const ImageFit fit, MakeImageFit(shape, side));
    RESMEM_RETURN_IF_ERROR(FitImage(fit, image, reduced.pixels));
    return reduced;
  }
  const int64_t square = std::min(image.shape.height, image.shape.width);
  const int64_t top = (image.shape.height - square) / 2, left = (image.shape.width - square) / 2;
  const int64_t channels = shape.channels;
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      // The pixel in which the center of the smaller one lies.
      const int64_t from_y = top + (2 * y + 1) * square / (2 * side);
      const int64_t from_x = left + (2 * x + 1) * square / (2 * side);
      const auto from = image.pixels.begin() + (from_y * image.shape.width + from_x) * channels;
      std::copy(from, from + channels, reduced.pixels.begin() + (y * side + x) * channels);
    }
  }
  return reduced;
}

Status ReadPhoto(const std::string& file, const Reduction& reduction, const ImageFit& fit,
                 std::span<uint8_t> out) {
  RESMEM_ASSIGN_OR_RETURN(const MappedFile mapped, FileSystem::Posix().Map(file));
  Image image;
  RESMEM_RETURN_IF_ERROR(DecodeImage(file, mapped.bytes(), &image));
  if (reduction.side > 0) {
    RESMEM_ASSIGN_OR_RETURN(image, Reduce(image, reduction));
  }
  const Status fitted = FitImage(fit, image, out);
  return fitted.ok() ? fitted : Status(fitted.code(), file + " " + fitted.message());
}

}  // namespace resmem::cli::reproduce::imagenet
