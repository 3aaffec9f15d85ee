#include "data/test_seeds.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "data/formats/formats.h"
#include "data/formats/numpy/npy.h"

namespace resmem {
namespace {

template <typename T>
std::string Number(T value) {
  return BytesOf<T>({value});
}

uint32_t Crc32(const std::string& text) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : text) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

std::string Deflate(const std::string& content) {
  const auto length = static_cast<uint16_t>(content.size());
  return "\x01" + Number(length) + Number(static_cast<uint16_t>(~length)) + content;
}

Status ReadAll(const Array& array) {
  const int64_t rows = array.rows();
  const auto block = std::max<int64_t>(1, rows / 2);
  for (int64_t begin = 0; begin < rows && array.columns() > 0; begin += block) {
    const int64_t count = std::min(block, rows - begin);
    const auto size = static_cast<size_t>(count * array.columns());
    RESMEM_RETURN_IF_ERROR(array.ReadText(begin, count).status());
    std::vector<float> floats(size);
    std::vector<int64_t> integers(size);
    // A value that is no number, or no whole one, is not an error of the file.
    (void)array.ReadIntegers(begin, count, integers).ok();
    (void)array.ReadFloats(begin, count, floats).ok();
    array.DropRows(begin, count);
  }
  if (const auto view = array.InPlace(); view && view->rows > 0 && view->columns > 0) {
    std::vector<float> copy(view->row(view->rows - 1), view->row(view->rows - 1) + view->columns);
  }
  return {};
}

}  // namespace

std::string NpyText(std::string_view descriptor, const std::vector<int64_t>& shape,
                    const std::string& values) {
  return NpyHeader(descriptor, shape) + values;
}

std::string GzipText(const std::string& content) {
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + Deflate(content) +
         Number(Crc32(content)) + Number(static_cast<uint32_t>(content.size()));
}

std::string ZipText(const std::vector<ZipMember>& members, bool zip64) {
  std::string file, directory;
  const uint16_t version = 45;
  const uint32_t moved = 0xffffffff;
  for (const ZipMember& member : members) {
    const std::string data = member.deflated ? Deflate(member.content) : member.content;
    const uint64_t size = member.claimed_size != 0 ? member.claimed_size : member.content.size();
    const uint64_t offset = file.size();
    const std::string extra = zip64 ? BytesOf<uint16_t>({1, 24}) + Number(size) +
                                          Number(uint64_t{data.size()}) + Number(offset)
                                    : "";
    const std::string common =
        Number(version) + BytesOf<uint16_t>({0, uint16_t(member.deflated ? 8 : 0), 0, 0}) +
        Number(Crc32(member.content)) + Number(zip64 ? moved : static_cast<uint32_t>(data.size())) +
        Number(zip64 ? moved : static_cast<uint32_t>(size)) +
        Number(static_cast<uint16_t>(member.name.size()));
    file += "PK\3\4" + common + Number(uint16_t{0}) + member.name + data;
    directory += "PK\1\2" + Number(version) + common + Number(static_cast<uint16_t>(extra.size())) +
                 BytesOf<uint16_t>({0, 0, 0, 0, 0}) +
                 Number(zip64 ? moved : static_cast<uint32_t>(offset)) + member.name + extra;
  }
  const uint64_t start = file.size();
  const uint64_t count = members.size();
  file += directory;
  if (zip64) {
    const uint64_t end = file.size();
    file += "PK\6\6" + BytesOf<uint64_t>({44}) + BytesOf<uint16_t>({version, version}) +
            BytesOf<uint32_t>({0, 0}) + BytesOf<uint64_t>({count, count, directory.size(), start});
    file += "PK\6\7" + Number(uint32_t{0}) + Number(end) + Number(uint32_t{1});
  }
  const auto entries = static_cast<uint16_t>(zip64 ? 0xffff : count);
  return file + "PK\5\6" + BytesOf<uint16_t>({0, 0, entries, entries}) +
         BytesOf<uint32_t>({zip64 ? moved : static_cast<uint32_t>(directory.size()),
                            zip64 ? moved : static_cast<uint32_t>(start)}) +
         Number(uint16_t{0});
}

std::string SafetensorsText(const std::string& header, const std::string& values) {
  return Number(uint64_t{header.size()}) + header + values;
}

std::string IdxText(uint8_t type, std::initializer_list<uint8_t> sizes, const std::string& values) {
  std::string text = BytesOf<uint8_t>({0, 0, type, static_cast<uint8_t>(sizes.size())});
  for (const uint8_t size : sizes) text += BytesOf<uint8_t>({0, 0, 0, size});
  return text + values;
}

// 3073 zero bytes, which are one CIFAR-10 record, by xz.
const std::string kCifarXz(
    "\xfd\x37\x7a\x58\x5a\x00\x00\x01\x69\x22\xde\x36\x02\x00\x21\x01\x0c\x00\x00\x00\x8f\x98"
    "\x41\x9c\xe0\x0c\x00\x00\x17\x5d\x00\x00\x6f\xfd\xff\xff\xa3\xb7\xff\x47\x3e\x48\x15\x72"
    "\x39\x61\x51\xb8\x90\xfd\xcc\x08\x00\x00\x00\x00\x7d\x4e\xb0\x38\x00\x01\x2f\x81\x18\x00"
    "\x00\x00\x6c\x85\x84\x2c\x3e\x30\x0d\x8b\x02\x00\x00\x00\x00\x01\x59\x5a",
    84);

std::vector<Seed> Seeds() {
  const std::string floats = BytesOf<float>({1, 2, 3, 4, 5, 6});
  const std::string npy = NpyText("<f4", {3, 2}, floats);
  std::string fortran = NpyText("<f8", {2, 2}, BytesOf<double>({1, 2, 3, 4}));
  fortran.replace(fortran.find("False"), 5, "True ");
  const std::string words = NpyText("<U2", {2}, BytesOf<uint32_t>({'a', 'b', 'c', 0}));
  const std::string header =
      R"({"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[16,24]}})";
  std::string cifar10, cifar100;
  for (int i = 0; i < 2; ++i) {
    cifar10 += BytesOf<uint8_t>({9}) + std::string(3072, 'p');
    cifar100 += BytesOf<uint8_t>({19, 99}) + std::string(3072, 'p');
  }
  return {
      {"c.npy", npy, true},
      {"fortran.npy", fortran, true},
      {"words.npy", words, true},
      {"stored.npz", ZipText({{"a.npy", npy}, {"b.npy", words}}), true},
      {"cifar.bin.xz", kCifarXz, true},
      {"deflated.npz", ZipText({{"a.npy", npy, true}, {"notes.txt", "hello"}}), true},
      {"zip64.npz", ZipText({{"a.npy", npy}, {"b.npy", words, true}}, true), true},
      {"t.safetensors", SafetensorsText(header, floats), true},
      {"i.idx", IdxText(0x0d, {3, 2}, floats), true},
      {"i.idx.gz", GzipText(IdxText(0x08, {3, 2}, "abcdef")), true},
      {"data_batch_1.bin", cifar10, false},
      {"train.bin", cifar100, false},
      {"t.csv", "a,\"b\"\"c\",d\r\n1,2.5,x\n-3,1e3,\"y, z\"\n", false},
      {"v.fvecs",
       Number(int32_t{2}) + floats.substr(0, 8) + Number(int32_t{2}) + floats.substr(8, 8), false},
      {"v.ivecs", BytesOf<int32_t>({1, 7, 1, 8}), false},
      {"v.bvecs", Number(int32_t{3}) + "abc" + Number(int32_t{3}) + "def", false},
  };
}

Status ReadEverything(const std::string& name, std::string_view content) {
  std::unique_ptr<std::byte[]> memory(new std::byte[content.size()]);
  std::copy_n(reinterpret_cast<const std::byte*>(content.data()), content.size(), memory.get());
  RESMEM_ASSIGN_OR_RETURN(
      const FileContent file,
      ReadAnyFormat(name, std::make_shared<const FileBytes>(std::move(memory), content.size())));
  for (const Member& member : file.members) {
    RESMEM_RETURN_IF_ERROR(member.unreadable);
    RESMEM_ASSIGN_OR_RETURN(StoragePointer storage, member.open());
    RESMEM_RETURN_IF_ERROR(ReadAll(Array(std::move(storage))));
  }
  if (file.whole) {
    Result<StoragePointer> storage = file.whole();  // mixed columns are no matrix
    if (storage.ok()) RESMEM_RETURN_IF_ERROR(ReadAll(Array(std::move(storage).value())));
  }
  return {};
}

}  // namespace resmem
