// Images and labels in files of arrays, and those files in a folder.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "data/array_storage.h"
#include "data/formats/formats.h"
#include "images/array_images.h"
#include "images/found_images.h"
#include "resmem/data/array.h"
#include "support/text.h"

namespace resmem {
namespace {

const Member* FindMember(const FileContent& content, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const Member& member : content.members) {
      if (member.info.member == name) return &member;
    }
  }
  return nullptr;
}

Result<StoragePointer> Open(const std::string& name, const Member& member) {
  RESMEM_RETURN_IF_ERROR(member.unreadable);
  RESMEM_ASSIGN_OR_RETURN(StoragePointer storage, member.open());
  storage->name = name;
  return storage;
}

Result<const Member*> ImageMember(const ArrayPlace& place, const FileContent& content,
                                  const std::string& part) {
  const Member* found = place.member ? FindMember(content, {*place.member})
                        : content.members.size() == 1
                            ? &content.members[0]
                            : FindMember(content, {"images", "x_" + part, "x"});
  if (found != nullptr) return found;
  return Status(ErrorCode::kNotFound,
                place.member ? Text(place.path, ": has no member \"", *place.member, "\"")
                             : Text(place.path,
                                    ": has no member named images; name the one with "
                                    "the images after a colon: ",
                                    place.path, ":NAME"));
}

// "train-labels-idx1-ubyte.gz" for "train-images-idx3-ubyte.gz", where such a file is there.
std::optional<std::string> LabelsBeside(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const size_t images = name.find("images");
  if (images == std::string::npos) return std::nullopt;
  name.replace(images, 6, "labels");
  const size_t three = name.find("idx3");
  if (three != std::string::npos) name.replace(three, 4, "idx1");
  const std::string beside = ParentDirectory(path) + "/" + name;
  if (!FileSystem::Posix().Exists(beside)) return std::nullopt;
  return beside;
}

struct OneFile {
  StoragePointer pixels;
  std::vector<int32_t> labels, coarse_labels;
};

Result<std::vector<int32_t>> MemberLabels(const std::string& path, const Member* member,
                                          int64_t rows) {
  if (member == nullptr) return std::vector<int32_t>();
  RESMEM_ASSIGN_OR_RETURN(StoragePointer storage,
                          Open(Text(path, ":", member->info.member), *member));
  return ReadLabels(Array(std::move(storage)), rows, member->classes);
}

Result<OneFile> OpenFile(const std::string& path, const std::string& part) {
  const ArrayPlace place = FindArrayFile(path);
  RESMEM_ASSIGN_OR_RETURN(const FileContent content, ReadFile(place.path));
  RESMEM_ASSIGN_OR_RETURN(const Member* images, ImageMember(place, content, part));
  OneFile file;
  RESMEM_ASSIGN_OR_RETURN(file.pixels, Open(path, *images));
  const int64_t rows = file.pixels->layout.rows();
  const Member* labels = FindMember(content, {"fine_labels", "labels", "y_" + part, "y"});
  if (labels != nullptr && labels != images) {
    RESMEM_ASSIGN_OR_RETURN(file.labels, MemberLabels(path, labels, rows));
    RESMEM_ASSIGN_OR_RETURN(file.coarse_labels,
                            MemberLabels(path, FindMember(content, {"coarse_labels"}), rows));
  } else if (const std::optional<std::string> beside = LabelsBeside(place.path)) {
    RESMEM_ASSIGN_OR_RETURN(const Array array, OpenArray({*beside, {}, {}}));
    RESMEM_ASSIGN_OR_RETURN(file.labels, ReadLabels(array, rows, 0));
  }
  return file;
}

void Append(const std::vector<int32_t>& more, std::vector<int32_t>* all) {
  all->insert(all->end(), more.begin(), more.end());
}

// The plain file before a compressed one of the same name.
void AddFile(const std::string& folder, const std::string& name, std::vector<std::string>* files) {
  for (const char* suffix : {"", ".xz", ".gz"}) {
    const std::string path = folder + "/" + name + suffix;
    if (!FileSystem::Posix().Exists(path)) continue;
    files->push_back(path);
    return;
  }
}

std::vector<std::string> FilesOfPart(const std::string& folder, const std::string& part) {
  const bool train = part == "train";
  std::vector<std::string> files;
  AddFile(folder, part + ".bin", &files);
  if (train && files.empty()) {
    constexpr int kMostBatches = 99;
    for (int i = 1; i <= kMostBatches; ++i) {
      const size_t before = files.size();
      AddFile(folder, Text("data_batch_", i, ".bin"), &files);
      if (files.size() == before) break;
    }
  }
  if (!files.empty()) return files;
  std::vector<std::string> names = {part + "_images.npy", part + ".npz"};
  for (const char* prefix : {train ? "train" : "t10k", train ? "train" : "test"}) {
    for (const char* ending : {"-images-idx3-ubyte", "-images.idx3-ubyte"}) {
      names.push_back(std::string(prefix) + ending);
    }
  }
  if (!train) names.push_back("test_batch.bin");
  for (const std::string& name : names) {
    AddFile(folder, name, &files);
    if (!files.empty()) return files;
  }
  return files;
}

}  // namespace

Result<FoundImages> OpenArrayFiles(const std::vector<std::string>& files, const std::string& part) {
  FoundImages found;
  std::vector<StoragePointer> arrays;
  size_t rows = 0;
  for (const std::string& path : files) {
    RESMEM_ASSIGN_OR_RETURN(OneFile file, OpenFile(path, part));
    rows += static_cast<size_t>(file.pixels->layout.rows());
    arrays.push_back(std::move(file.pixels));
    Append(file.labels, &found.labels);
    Append(file.coarse_labels, &found.coarse_labels);
    found.paths.push_back(FindArrayFile(path).path);
    if (!found.labels.empty() && found.labels.size() != rows) {
      return Status(ErrorCode::kBadData,
                    Text(path, ": has no labels, but the files before it have; all or none"));
    }
  }
  const std::string folder = ParentDirectory(found.paths.front());
  if (!found.labels.empty()) {
    RESMEM_ASSIGN_OR_RETURN(found.class_names,
                            ReadNamesBeside(folder, {"fine_label_names.txt", "batches.meta.txt",
                                                     "class_names.txt", "classes.txt"}));
  }
  if (!found.coarse_labels.empty()) {
    RESMEM_ASSIGN_OR_RETURN(found.coarse_class_names,
                            ReadNamesBeside(folder, {"coarse_label_names.txt"}));
  }
  RESMEM_ASSIGN_OR_RETURN(found.store, MakeArrayImages(std::move(arrays)));
  return found;
}

Result<std::vector<std::string>> FindArrayFiles(const std::string& folder,
                                                const std::string& part) {
  std::vector<std::string> train = FilesOfPart(folder, "train");
  std::vector<std::string> test = FilesOfPart(folder, "test");
  if (part == "train") return train;
  if (part == "test") return test;
  if (!train.empty() && !test.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(folder, ": holds ", train.front(), " and ", test.front(),
                       "; choose the part train or test"));
  }
  return train.empty() ? test : train;
}

}  // namespace resmem
