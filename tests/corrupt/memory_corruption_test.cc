// Every byte of a whole memory falsified, every length cut, and lies with right checksums: always
// a clear error, never another answer.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "corrupt/memory_operations.h"
#include "fixtures/file_bytes.h"
#include "format/container_reader.h"
#include "format/container_writer.h"

namespace resmem {
namespace {

using fixtures::ReadBytes;
using fixtures::TemporaryFolder;
using fixtures::WriteBytes;
using Json = nlohmann::json;

std::vector<std::string> FilesOf(const std::string& path) {
  return FileSystem::Posix().List(path).value();
}

// A memory with two segments and deletions.
void WriteWorn(const std::string& path, const MemoryDescription& description) {
  const RowData data = MakeRows(7, description.dim, description.outputs);
  fixtures::Write(path, description, data.Part(0, 4).view(description));
  auto writer = MemoryWriter::Append(path, 3);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Add(data.Part(4, 3).view(description)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const std::vector<uint64_t> ids = {data.ids[1], data.ids[5]};
  ASSERT_TRUE(DeleteRows(path, ids).ok());
}

MemoryDescription SparseInt8() {
  MemoryDescription description;
  description.dim = 3;
  description.outputs = 5;
  description.key_type = KeyType::kInt8;
  description.form = ResidualForm::kSparse;
  description.top = 2;
  description.has_sources = true;
  return description;
}

TEST(MemoryCorruption, EveryFlippedByteOfEveryFileIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, SparseInt8());
  ASSERT_EQ(FilesOf(path).size(), 4u);
  for (const std::string& name : FilesOf(path)) {
    const std::string good = ReadBytes(path + "/" + name);
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
      WriteBytes(path + "/" + name, bytes);
      const Status status = ResidualMemory::Open(path).status();
      ASSERT_EQ(status.code(), ErrorCode::kCorrupt) << name << ", byte " << i;
      ASSERT_NE(status.message().find(name), std::string::npos) << status.message();
    }
    WriteBytes(path + "/" + name, good);
  }
  EXPECT_TRUE(ResidualMemory::Open(path).ok());
}

TEST(MemoryCorruption, ADamagedVersionIsCorruptAndALaterOneTooNew) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, SparseInt8());
  std::string bytes = ReadBytes(path + "/MANIFEST");
  for (const uint32_t version : {2u, 3u, 257u, 262145u}) {
    fixtures::HeaderOf(bytes).version = version;
    WriteBytes(path + "/MANIFEST", bytes);
    EXPECT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kCorrupt) << version;
  }
  fixtures::HeaderOf(bytes).version = 2;
  fixtures::ResealHeader(bytes);
  WriteBytes(path + "/MANIFEST", bytes);
  EXPECT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kTooNew);
  // Of a later version not even the form of the header is known.
  fixtures::HeaderOf(bytes).header_bytes = 0xFFFFFFFF;
  WriteBytes(path + "/MANIFEST", bytes);
  EXPECT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kTooNew);
}

TEST(MemoryCorruption, EveryShorterLengthOfEveryFileIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, SparseInt8());
  for (const std::string& name : FilesOf(path)) {
    const std::string good = ReadBytes(path + "/" + name);
    for (size_t size = good.size(); size-- > 0;) {
      std::filesystem::resize_file(path + "/" + name, size);
      ASSERT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kCorrupt)
          << name << " cut to " << size;
    }
    WriteBytes(path + "/" + name, good);
  }
}

TEST(MemoryCorruption, OneFlippedByteInEveryBlockOfALargeSegmentIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  MemoryDescription description;
  description.dim = 64;
  description.outputs = 10;
  fixtures::Write(path, description, MakeRows(20000, 64, 10).view(description));
  const std::string file = path + "/segment-000001.resmem";
  const std::string good = ReadBytes(file);
  ASSERT_GT(good.size(), size_t{5} << 20);
  for (size_t at = 1000; at < good.size(); at += size_t{1} << 20) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    WriteBytes(file, bytes);
    EXPECT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kCorrupt) << at;
    // Without verification it opens, but for ids and labels; Verify() finds it, and no change
    // copies it.
    const auto quick = ResidualMemory::Open(path, {.verify_blocks = false});
    EXPECT_EQ(quick.ok() ? quick->Verify().code() : quick.status().code(), ErrorCode::kCorrupt);
    CompactOptions freeze;
    freeze.freeze = true;
    EXPECT_EQ(CompactMemory(path, freeze).code(), ErrorCode::kCorrupt);
  }
}

TEST(MemoryCorruption, AMissingOrForeignFileIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m", other = folder / "other";
  WriteWorn(path, SparseInt8());
  fixtures::Write(other, SparseInt8(), MakeRows(4, 3, 5, 9).view(SparseInt8()));
  for (const std::string& name : FilesOf(path)) {
    std::filesystem::rename(path + "/" + name, folder / "aside");
    const ErrorCode expected = name == "MANIFEST" ? ErrorCode::kNotFound : ErrorCode::kCorrupt;
    EXPECT_EQ(ResidualMemory::Open(path).status().code(), expected) << name;
    std::filesystem::rename(folder / "aside", path + "/" + name);
  }
  // The same shape, sound in itself, of another memory.
  WriteBytes(path + "/segment-000001.resmem", ReadBytes(other + "/segment-000001.resmem"));
  EXPECT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kCorrupt);
}

// A manifest whose JSON was changed, as a forger would write it.
Status OpenWithManifest(const std::string& path, const std::string& json) {
  auto writer =
      ContainerWriter::Create(FileSystem::Posix(), path + "/MANIFEST", FileKind::kManifest,
                              {{"json", StoredType::kU8, static_cast<int64_t>(json.size()), 1}});
  EXPECT_TRUE(writer->Append(0, fixtures::AsBytes(json)).ok());
  EXPECT_TRUE(writer->Finish().ok());
  return ResidualMemory::Open(path).status();
}

std::string JsonOf(const std::string& path) {
  const auto reader =
      ContainerReader::Open(FileSystem::Posix(), path + "/MANIFEST", FileKind::kManifest);
  const auto text = reader->Values<char>(0);
  return {text.begin(), text.end()};
}

TEST(MemoryCorruption, EveryFieldOfTheManifestIsRequiredAndHasItsType) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, SparseInt8());
  const Json good = Json::parse(JsonOf(path));
  for (const auto& [name, value] : good.items()) {
    Json without = good;
    without.erase(name);
    // Memories of before there were indexes say nothing of one.
    EXPECT_EQ(OpenWithManifest(path, without.dump()).code(),
              name == "index" ? ErrorCode::kOk : ErrorCode::kCorrupt)
        << name;
    for (const Json& wrong : {Json(nullptr), Json(-1), Json("x"), Json(true), Json(1.5),
                              Json::array({1}), Json::object({{"x", 1}})}) {
      if (wrong.type() == value.type() || (value.is_number() && wrong.is_number())) continue;
      Json changed = good;
      changed[name] = wrong;
      const Status status = OpenWithManifest(path, changed.dump());
      const bool undeletes = name == "deletions" && wrong.is_null();  // sound, another memory
      EXPECT_EQ(status.code(), undeletes ? ErrorCode::kOk : ErrorCode::kCorrupt)
          << name << " = " << wrong << ": " << status.message();
    }
  }
  Json more = good;
  more["of_a_later_version"] = {1, 2, 3};
  EXPECT_TRUE(OpenWithManifest(path, more.dump()).ok());
}

TEST(MemoryCorruption, EveryLieOfTheManifestIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, SparseInt8());
  const Json good = Json::parse(JsonOf(path));
  ASSERT_TRUE(OpenWithManifest(path, good.dump()).ok());
  const std::vector<std::pair<const char*, std::function<void(Json&)>>> lies = {
      {"other dim", [](Json& j) { j["dim"] = 4; }},
      {"dim of nothing", [](Json& j) { j["dim"] = 0; }},
      {"dim that overflows", [](Json& j) { j["dim"] = int64_t{1} << 62; }},
      {"outputs below the labels", [](Json& j) { j["outputs"] = 2; }},
      {"outputs that widen classes", [](Json& j) { j["outputs"] = 70000; }},
      {"other key type", [](Json& j) { j["key_type"] = "float32"; }},
      {"other form", [](Json& j) { j["residual_form"] = "dense"; }},
      {"other top", [](Json& j) { j["top"] = 3; }},
      {"top above outputs", [](Json& j) { j["top"] = 6; }},
      {"halves", [](Json& j) { j["half_residuals"] = true; }},
      {"no sources", [](Json& j) { j["has_sources"] = false; }},
      {"regression", [](Json& j) { j["task"] = "regression"; }},
      {"sigma 0", [](Json& j) { j["sigma"] = 0; }},
      {"sigma too large", [](Json& j) { j["sigma"] = 1e300; }},
      {"temperature below 0", [](Json& j) { j["temperature"] = -1; }},
      {"calibrator temperature 0", [](Json& j) { j["calibrator_temperature"] = 0; }},
      {"too few class names", [](Json& j) { j["class_names"] = {"a"}; }},
      {"next id below the ids", [](Json& j) { j["next_id"] = 3; }},
      {"next id too large", [](Json& j) { j["next_id"] = ~uint64_t{0}; }},
      {"more rows", [](Json& j) { j["segments"][0]["rows"] = 5; }},
      {"no rows", [](Json& j) { j["segments"][0]["rows"] = 0; }},
      {"rows that overflow",
       [](Json& j) {
         j["segments"][0]["rows"] = INT64_MAX;
         j["segments"][1]["rows"] = INT64_MAX;
       }},
      {"rows whose offsets overflow",
       [](Json& j) {
         j["segments"].erase(j["segments"].begin() + 1);
         j["segments"][0]["rows"] = INT64_MAX;
         j["deletions"] = nullptr;
       }},
      {"a generation without a name", [](Json& j) { j["generation"] = 1'000'000'000'000'000; }},
      {"the largest generation", [](Json& j) { j["generation"] = INT64_MAX; }},
      {"files of a later generation", [](Json& j) { j["generation"] = 1; }},
      {"other bytes", [](Json& j) { j["segments"][0]["bytes"] = 5; }},
      {"other hash", [](Json& j) { j["segments"][0]["header_hash"] = "0123456789abcdef"; }},
      {"no hash", [](Json& j) { j["segments"][0]["header_hash"] = "0123"; }},
      {"segments swapped in part",
       [](Json& j) { std::swap(j["segments"][0]["file"], j["segments"][1]["file"]); }},
      {"a segment twice", [](Json& j) { j["segments"][1] = j["segments"][0]; }},
      {"a segment less: the deletions point outside",
       [](Json& j) { j["segments"].erase(j["segments"].begin() + 1); }},
      {"a path", [](Json& j) { j["segments"][0]["file"] = "../m/segment-000001.resmem"; }},
      {"deletions as a segment", [](Json& j) { j["segments"][0] = j["deletions"]; }},
      {"more deletions than rows", [](Json& j) { j["deletions"]["rows"] = 9; }},
  };
  for (const auto& [name, tell] : lies) {
    Json changed = good;
    tell(changed);
    const Status status = OpenWithManifest(path, changed.dump());
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << name << ": " << status.message();
  }
  Json metric = good;
  metric["metric"] = "cosine";
  EXPECT_EQ(OpenWithManifest(path, metric.dump()).code(), ErrorCode::kUnsupported);
  Json calibrator = good;
  calibrator["calibrator"] = "isotonic";
  const Status status = OpenWithManifest(path, calibrator.dump());
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("isotonic"), std::string::npos) << status.message();
}

TEST(MemoryCorruption, ShapesOfEveryFormMustAgreeWithTheManifest) {
  const TemporaryFolder folder(fixtures::FastParent());
  for (const MemoryDescription& description : EveryDescription(3, 5)) {
    const std::string path = folder / NameOf(description);
    WriteWorn(path, description);
    const Json good = Json::parse(JsonOf(path));
    for (const char* field : {"dim", "outputs", "top"}) {
      // A sparse row does not tell the number of outputs, others do not tell `top`.
      const bool sparse = description.form == ResidualForm::kSparse;
      if (std::string(field) == (sparse ? "outputs" : "top")) continue;
      if (std::string(field) == "outputs" && description.form == ResidualForm::kPacked) continue;
      Json changed = good;
      changed[field] = good[field].get<int64_t>() + 1;
      const Status status = OpenWithManifest(path, changed.dump());
      EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << NameOf(description) << ", " << field;
    }
  }
}

MemoryDescription PackedInt4() {
  MemoryDescription description = Small();
  description.key_type = KeyType::kInt4;
  description.form = ResidualForm::kPacked;
  description.top = 3;
  return description;
}

TEST(MemoryCorruption, WhatCompressionSaysOfItselfMustBeSound) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, PackedInt4());
  const Json good = Json::parse(JsonOf(path));
  ASSERT_TRUE(OpenWithManifest(path, good.dump()).ok());
  const std::vector<std::pair<const char*, Json>> lies = {{"share", 0},
                                                          {"share", 1.5},
                                                          {"share", "all"},
                                                          {"least_mass", -0.5},
                                                          {"least_mass", 2},
                                                          {"key_type", "int2"},
                                                          {"key_type", "int8"},
                                                          {"residual_form", "tiny"},
                                                          {"residual_form", "sparse"},
                                                          {"calibrator", nullptr}};
  for (const auto& [field, value] : lies) {
    Json changed = good;
    changed["compressed"][field] = value;
    EXPECT_EQ(OpenWithManifest(path, changed.dump()).code(), ErrorCode::kCorrupt)
        << field << ": " << value.dump();
  }
  Json top = good;
  top["top"] = 256;
  EXPECT_EQ(OpenWithManifest(path, top.dump()).code(), ErrorCode::kCorrupt);
}

// A program from before knows the fields outside "compressed" only.
TEST(MemoryCorruption, ACompressedMemoryIsUnsupportedToAProgramFromBefore) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, PackedInt4());
  Json seen = Json::parse(JsonOf(path));
  EXPECT_EQ(seen["key_type"], "int8");
  EXPECT_EQ(seen["residual_form"], "sparse");
  seen.erase("compressed");
  const Status status = OpenWithManifest(path, seen.dump());
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported) << status.message();
  EXPECT_NE(status.message().find("use a newer resmem"), std::string::npos) << status.message();
}

TEST(MemoryCorruption, JsonThatIsBrokenOrDeepIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, SparseInt8());
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  for (const std::string& json :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"),
        std::string("\"\xff\""), JsonOf(path) + "x", deep, "{\"notes\":" + deep + "}"}) {
    EXPECT_EQ(OpenWithManifest(path, json).code(), ErrorCode::kCorrupt) << json.substr(0, 20);
  }
}

// Changes values of the first segment, with every checksum right and the manifest in agreement.
Status OpenWithValues(const std::string& path,
                      const std::function<void(std::string& bytes)>& change) {
  const std::string file = path + "/segment-000001.resmem";
  const std::string good = ReadBytes(file), manifest = JsonOf(path);
  std::string bytes = good;
  change(bytes);
  fixtures::ResealAll(bytes);
  WriteBytes(file, bytes);
  Json json = Json::parse(manifest);
  json["segments"][0]["header_hash"] = HexOfHash(fixtures::HeaderOf(bytes).header_hash);
  const Status status = OpenWithManifest(path, json.dump());
  WriteBytes(file, good);
  EXPECT_TRUE(OpenWithManifest(path, manifest).ok());
  return status;
}

TEST(MemoryCorruption, ValuesThatCannotBeAreRefusedBehindRightChecksums) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  WriteWorn(path, SparseInt8());
  // Sections: keys, key_scales, ids, labels, top_classes, top_values, dropped, source_offsets.
  const auto put = [](size_t section, size_t offset, auto value) {
    return [=](std::string& bytes) {
      std::memcpy(bytes.data() + fixtures::EntryOf(bytes, section).offset + offset, &value,
                  sizeof(value));
    };
  };
  ASSERT_TRUE(OpenWithValues(path, put(3, 0, int32_t{4})).ok());
  const std::vector<std::pair<const char*, std::function<void(std::string&)>>> lies = {
      {"key of -128", put(0, 0, int8_t{-128})},
      {"negative scale", put(1, 0, -1.0f)},
      {"infinite scale", put(1, 0, std::numeric_limits<float>::infinity())},
      {"an id of a living row", put(2, 0, uint64_t{11})},
      {"an id at next_id", put(2, 0, uint64_t{1000})},
      {"an id past the end", put(2, 0, ~uint64_t{0})},
      {"label too large", put(3, 0, int32_t{5})},
      {"label below 0", put(3, 4, int32_t{-1})},
      {"class too large", put(4, 2, uint16_t{5})},
      {"classes that descend", put(4, 0, uint16_t{4})},
      {"a value that is not a number", put(5, 0, std::numeric_limits<float>::quiet_NaN())},
      {"negative dropped mass", put(6, 0, -0.5f)},
      {"first source not at 0", put(7, 0, uint64_t{1})},
      {"sources that descend", put(7, 8, uint64_t{7})},
      {"a source past the end", put(7, 32, uint64_t{1} << 40)},
  };
  for (const auto& [name, lie] : lies) {
    const Status status = OpenWithValues(path, lie);
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << name << ": " << status.message();
  }
}

TEST(MemoryCorruption, AWildClassWithARightChecksumIsNotWrittenOutside) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  fixtures::Write(path, SparseInt8(), MakeRows(4, 3, 5).view(SparseInt8()));
  const std::string file = path + "/segment-000001.resmem";
  std::string bytes = ReadBytes(file);
  const uint16_t wild = 60000;
  std::memcpy(bytes.data() + fixtures::EntryOf(bytes, 4).offset, &wild, sizeof(wild));
  fixtures::ResealAll(bytes);
  WriteBytes(file, bytes);
  Json json = Json::parse(JsonOf(path));
  json["segments"][0]["header_hash"] = HexOfHash(fixtures::HeaderOf(bytes).header_hash);
  ASSERT_EQ(OpenWithManifest(path, json.dump()).code(), ErrorCode::kCorrupt);
  const auto memory = ResidualMemory::Open(path, {.verify_blocks = false});
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  std::vector<float> residual(5), scratch(5), sum(5);
  memory->Residual(0, memory->description().parameters.temperature, residual);
  memory->AddResidual(0, memory->description().parameters.temperature, 1, scratch, sum);
  EXPECT_EQ(sum, residual);
}

}  // namespace
}  // namespace resmem
