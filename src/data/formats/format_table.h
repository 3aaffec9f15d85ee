// The formats of array files.  To add one: its reader, a line in format_table.cc, its test, and a
// line in docs/arrays.md (a test compares).
#ifndef RESMEM_DATA_FORMATS_FORMAT_TABLE_H_
#define RESMEM_DATA_FORMATS_FORMAT_TABLE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/array_storage.h"

namespace resmem {

struct ArrayFormat {
  std::string_view name;       // in messages: "npy"
  std::string_view extension;  // ".npy"
  std::string_view help;       // as people give it to a command: ".npz:member"
  // Whether the first bytes are this format's; null where it has no mark of its own.
  // `named_otherwise`: the file's extension is that of another format.
  bool (*marked)(ByteSpan bytes, bool named_otherwise);
  Result<FileContent> (*read)(const std::string& name, SharedBytes bytes);
  // How many bytes a file compressed by gzip holds, from its own first bytes or gzip's last, so
  // that a small file cannot fill the memory; null where it is not read compressed.
  Result<int64_t> (*gzip_size)(const std::string& name, ByteSpan compressed);
  // A folder of arrays finds NAME.extension as its array NAME.
  bool in_folders;
};

std::span<const ArrayFormat> ArrayFormats();

// By mark, then by extension; null where neither is known.
const ArrayFormat* FindArrayFormat(std::string_view extension, ByteSpan bytes);

// The extensions that a folder of arrays is searched for, compressed ones too.
std::vector<std::string> FolderExtensions();

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_FORMAT_TABLE_H_
