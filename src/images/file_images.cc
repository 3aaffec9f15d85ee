// Image files: some named ones, a folder of them, a folder of class folders.
#include <algorithm>
#include <utility>

#include "images/decode.h"
#include "images/found_images.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

class FileImages final : public ImageStore {
 public:
  // The files of a folder, or (empty folder) files with their own paths.
  void Add(std::string folder, std::vector<std::string> names) {
    for (std::string& name : names) {
      files_.push_back({static_cast<uint32_t>(folders_.size()), std::move(name)});
    }
    folders_.push_back(std::move(folder));
  }

  int64_t size() const override { return static_cast<int64_t>(files_.size()); }

  Status Read(int64_t row, Image* image) const override {
    const std::string path = name(row);
    RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(path));
    return DecodeImage(path, file.bytes(), image);
  }

  std::string name(int64_t row) const override {
    const File& file = files_[static_cast<size_t>(row)];
    const std::string& folder = folders_[file.folder];
    return folder.empty() ? file.name : folder + "/" + file.name;
  }

 private:
  struct File {
    uint32_t folder;
    std::string name;
  };
  std::vector<std::string> folders_;
  std::vector<File> files_;
};

// The names in a folder by kind, each sorted; hidden ones are passed over.
struct Entries {
  std::vector<std::string> images, folders, others;
};

Result<Entries> ListFolder(const std::string& folder) {
  FileSystem& files = FileSystem::Posix();
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(folder));
  Entries entries;
  for (const std::string& name : names) {
    if (name.starts_with('.')) continue;
    if (HasImageName(name)) {
      entries.images.push_back(name);
    } else if (files.IsDirectory(folder + "/" + name)) {
      entries.folders.push_back(name);
    } else {
      entries.others.push_back(name);
    }
  }
  return entries;
}

// What lies among the images and is not read.
class LeftOut {
 public:
  void Add(const std::string& folder, const std::vector<std::string>& names) {
    if (count_ == 0 && !names.empty()) first_ = folder + "/" + names.front();
    count_ += names.size();
  }
  void Tell(const std::string& what, std::vector<std::string>* notes) const {
    if (count_ == 0) return;
    notes->push_back(Text(what, " are left out: ", count_, ", the first is ", first_));
  }

 private:
  size_t count_ = 0;
  std::string first_;
};

// The label of each class folder.  Sets the names and notes of `found`.
Result<std::vector<int32_t>> NumberClasses(const std::string& path,
                                           const std::vector<std::string>& folders,
                                           const ImageSetSource& source, FoundImages* found) {
  const std::vector<std::string>& class_names = source.class_names;
  const bool labels_wanted = source.labels.empty();  // else an array gives them
  if (class_names.empty() && source.classes > 0 && labels_wanted &&
      std::ssize(folders) != source.classes) {
    return Status(ErrorCode::kMismatch,
                  Text(path, ": holds ", folders.size(), " class folders, the first is \"",
                       folders.front(), "\", but the model has ", source.classes,
                       " classes without names, so which class a folder is cannot be known; name ",
                       "the model's classes (resmem model prepare --classes FILE, the folders' ",
                       "names in the order of the logits), or give the labels as an array ",
                       "(--labels FILE)"));
  }
  std::vector<int32_t> labels;
  std::vector<std::string> unknown;
  for (const std::string& folder : folders) {
    const auto at = std::find(class_names.begin(), class_names.end(), folder);
    if (at == class_names.end()) unknown.push_back(folder);
    labels.push_back(static_cast<int32_t>(at - class_names.begin()));
  }
  found->class_names = class_names.empty() ? folders : class_names;
  if (unknown.empty()) return labels;
  if (unknown.size() < folders.size() || found->class_names.size() != folders.size()) {
    return Status(ErrorCode::kMismatch,
                  Text(path, "/", unknown.front(), ": \"", unknown.front(),
                       "\" is not the name of any of the model's ", class_names.size(),
                       " classes, which begin with \"", class_names.front(),
                       "\"; rename the folder, or give the labels as an array"));
  }
  if (!class_names.empty()) {
    found->notes.push_back(Text(path, ": no folder bears the name of a class of the model, so the ",
                                folders.size(), " folders were numbered in the order of their ",
                                "names: ", folders.front(), " is ", class_names.front()));
  }
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(i);
  return labels;
}

Result<FoundImages> OpenClassFolders(const std::string& path, const Entries& entries,
                                     const ImageSetSource& source) {
  FoundImages found;
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int32_t> labels,
                          NumberClasses(path, entries.folders, source, &found));
  auto store = std::make_unique<FileImages>();
  LeftOut loose, others, nested;
  loose.Add(path, entries.images);
  others.Add(path, entries.others);
  for (size_t i = 0; i < entries.folders.size(); ++i) {
    const std::string folder = path + "/" + entries.folders[i];
    RESMEM_ASSIGN_OR_RETURN(Entries inside, ListFolder(folder));
    if (inside.images.empty()) {
      return Status(ErrorCode::kBadData,
                    Text(folder,
                         ": the class folder holds no PNG, JPEG or WebP file; fill it or take it "
                         "away"));
    }
    others.Add(folder, inside.others);
    nested.Add(folder, inside.folders);
    found.labels.insert(found.labels.end(), inside.images.size(), labels[i]);
    store->Add(folder, std::move(inside.images));
  }
  loose.Tell("images that are in no class folder", &found.notes);
  others.Tell("files that are not named .png, .jpg, .jpeg or .webp", &found.notes);
  nested.Tell("folders inside class folders", &found.notes);
  found.store = std::move(store);
  return found;
}

}  // namespace

FoundImages OpenImageFiles(const std::vector<std::string>& files) {
  FoundImages found;
  auto store = std::make_unique<FileImages>();
  store->Add("", files);
  found.store = std::move(store);
  found.paths = files;
  return found;
}

Result<FoundImages> OpenImageFolder(const std::string& path, const ImageSetSource& source) {
  RESMEM_ASSIGN_OR_RETURN(Entries entries, ListFolder(path));
  FoundImages found;
  if (!entries.folders.empty()) {
    RESMEM_ASSIGN_OR_RETURN(found, OpenClassFolders(path, entries, source));
  } else if (!entries.images.empty()) {
    auto store = std::make_unique<FileImages>();
    store->Add(path, std::move(entries.images));
    found.store = std::move(store);
    LeftOut others;
    others.Add(path, entries.others);
    others.Tell("files that are not named .png, .jpg, .jpeg or .webp", &found.notes);
  } else {
    return Status(ErrorCode::kNotFound,
                  Text(path, ": holds no images: neither CIFAR, IDX or NumPy files of the usual ",
                       "names, nor PNG, JPEG or WebP files, nor class folders of them"));
  }
  found.paths = {path};
  return found;
}

}  // namespace resmem
