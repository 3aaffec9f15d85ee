// Files that somebody made to hurt, or that were damaged on their way.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/test_graphs.h"
#include "resmem/models/onnx_model.h"

namespace resmem {
namespace {

namespace fs = std::filesystem;

class HostileOnnx : public testing::Test {
 protected:
  Status Inspect(const std::string& bytes) {
    fixtures::WriteBytes(path_, bytes);
    return InspectOnnx(path_).status();
  }
  // The table's first weights, spoiled.
  Status InspectSpoiled(const std::function<void(onnx::TensorProto&)>& spoil) {
    fixtures::GraphMaker maker = fixtures::Table();
    spoil(*maker.graph().mutable_initializer(0));
    return Inspect(maker.bytes());
  }
  // The same weights, 24 bytes, outside the file.
  Status InspectExternal(const std::string& location, const std::string& offset = "",
                         const std::string& length = "") {
    return InspectSpoiled([&](onnx::TensorProto& tensor) {
      tensor.clear_raw_data();
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      const auto add = [&](const char* key, const std::string& value) {
        auto* entry = tensor.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      };
      add("location", location);
      if (!offset.empty()) add("offset", offset);
      if (!length.empty()) add("length", length);
    });
  }

  const fixtures::TemporaryFolder folder_{fixtures::FastParent()};
  const std::string path_ = folder_ / "net.onnx";
};

TEST_F(HostileOnnx, EveryTruncationIsRefusedOrStillWhole) {
  const std::string bytes = fixtures::Image().bytes();
  ASSERT_TRUE(Inspect(bytes).ok());
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    refused += Inspect(bytes.substr(0, size)).ok() ? 0 : 1;
  }
  // A message may end after any of its fields: the opset's version comes last.
  EXPECT_GE(refused, static_cast<int>(bytes.size()) - 10);
}

TEST_F(HostileOnnx, EveryFlippedBitIsSurvived) {
  const std::string bytes = fixtures::Table().bytes();
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const Status status = Inspect(flipped);
    EXPECT_TRUE(status.ok() || status.code() == ErrorCode::kBadData ||
                status.code() == ErrorCode::kNotFound || status.code() == ErrorCode::kUnsupported)
        << status.message();
  }
}

TEST_F(HostileOnnx, DeepNestingIsRefusedAndDoesNotOverflowTheStack) {
  // Graph (field 7 of the model) > node (1) > attribute (5) > graph (6) > node (1) > ...
  std::string reversed;  // each message begins with its field and the size of what is inside
  const auto wrap = [&reversed](int field) {
    std::string begin(1, static_cast<char>(field << 3 | 2));
    for (size_t rest = reversed.size(); true; rest >>= 7) {
      begin.push_back(static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0)));
      if (rest <= 127) break;
    }
    reversed.append(begin.rbegin(), begin.rend());
  };
  for (int depth = 0; depth < 100000; ++depth) {
    for (const int field : {6, 5, 1}) wrap(field);
  }
  wrap(7);
  EXPECT_EQ(Inspect({reversed.rbegin(), reversed.rend()}).code(), ErrorCode::kBadData);
}

TEST_F(HostileOnnx, MillionsOfEmptyPartsAreRefusedBeforeTheyFillTheMemory) {
  fixtures::GraphMaker maker = fixtures::Table();
  const auto with = [&maker](const std::string& part, int count) {
    std::string bytes = maker.bytes();
    for (int i = 0; i < count; ++i) bytes += part;
    return bytes;
  };
  const std::string text("\x72\0", 2);         // an empty entry of metadata
  const std::string unknown("\xf8\x07\1", 3);  // a number in a field that ONNX has not
  EXPECT_TRUE(Inspect(with(text, 1000)).ok());
  for (const std::string& part : {text, unknown}) {
    const Status status = Inspect(with(part, 4'000'001));
    EXPECT_EQ(status.code(), ErrorCode::kBadData);
    EXPECT_NE(status.message().find("millions of parts"), std::string::npos) << status.message();
  }
}

TEST_F(HostileOnnx, NothingAndGarbageAreRefused) {
  for (const std::string& bytes : {std::string(), std::string("weights of a model"),
                                   std::string(1000, '\xff'), std::string(1000, '\0')}) {
    const Status status = Inspect(bytes);
    EXPECT_EQ(status.code(), ErrorCode::kBadData);
    EXPECT_EQ(status.message().rfind(path_, 0), 0u) << status.message();
  }
  EXPECT_EQ(InspectOnnx(folder_ / "missing.onnx").status().code(), ErrorCode::kNotFound);
}

TEST_F(HostileOnnx, AFileAboveTwoGigabytesIsRefusedUnread) {
  fixtures::WriteBytes(path_, "");
  fs::resize_file(path_, (uintmax_t{1} << 31) + 1);
  EXPECT_EQ(InspectOnnx(path_).status().code(), ErrorCode::kUnsupported);
}

TEST_F(HostileOnnx, ShapesThatDisagreeWithTheDataAreRefused) {
  const std::vector<std::function<void(onnx::TensorProto&)>> spoilers = {
      [](auto& t) { t.set_dims(0, 4); },
      [](auto& t) { t.set_dims(0, -3); },
      [](auto& t) { t.set_dims(0, int64_t{1} << 62), t.set_dims(1, 8); },
      [](auto& t) { t.add_dims(int64_t{1} << 41); },
      [](auto& t) { t.add_dims(0); },
      [](auto& t) { t.mutable_raw_data()->pop_back(); },
      [](auto& t) { t.clear_raw_data(); },
      [](auto& t) { t.clear_raw_data(), t.add_float_data(1); },
      [](auto& t) { t.add_float_data(1); },
      [](auto& t) { t.set_data_type(onnx::TensorProto::DOUBLE); },
      [](auto& t) { t.set_data_type(0); },
      [](auto& t) { t.set_data_type(99); },
      [](auto& t) { t.set_data_type(-1); },
      [](auto& t) { t.set_data_type(onnx::TensorProto::STRING); },
      [](auto& t) { t.mutable_segment()->set_begin(1); },
  };
  for (size_t i = 0; i < spoilers.size(); ++i) {
    const Status status = InspectSpoiled(spoilers[i]);
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << "spoiler " << i;
    EXPECT_NE(status.message().find("\"w1\""), std::string::npos) << status.message();
  }
}

TEST_F(HostileOnnx, ExternalDataBesideTheModelIsRead) {
  fixtures::WriteBytes(folder_ / "weights.bin", std::string(30, 'w'));
  EXPECT_TRUE(InspectExternal("weights.bin").ok());
  EXPECT_TRUE(InspectExternal("weights.bin", "6", "24").ok());
  fs::create_directory(folder_ / "deeper");
  fs::rename(folder_ / "weights.bin", folder_ / "deeper/weights.bin");
  EXPECT_TRUE(InspectExternal("deeper/weights.bin").ok());
}

TEST_F(HostileOnnx, ExternalDataAnywhereElseIsRefused) {
  const fixtures::TemporaryFolder outside;
  fixtures::WriteBytes(outside / "weights.bin", std::string(30, 'w'));
  fs::create_symlink(outside / "weights.bin", folder_ / "link.bin");
  fs::create_directory_symlink(outside / "", folder_ / "linked");
  for (const std::string& location :
       {outside / "weights.bin", std::string("../weights.bin"), std::string("a/../../weights.bin"),
        std::string("link.bin"), std::string("linked/weights.bin"), std::string(),
        std::string("/etc/passwd"), std::string("a\0b", 3)}) {
    const Status status = InspectExternal(location);
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << location << ": " << status.message();
  }
  // The marker by which the runtime finds tensors in its own memory.
  EXPECT_EQ(InspectExternal("*/_ORT_MEM_ADDR_/*", "4096", "24").code(), ErrorCode::kNotFound);
  EXPECT_EQ(InspectExternal("missing.bin").code(), ErrorCode::kNotFound);
  EXPECT_EQ(InspectExternal(".").code(), ErrorCode::kBadData);
}

TEST_F(HostileOnnx, ExternalDataThatIsTooShortIsRefused) {
  fixtures::WriteBytes(folder_ / "weights.bin", std::string(24, 'w'));
  EXPECT_TRUE(InspectExternal("weights.bin").ok());
  for (const auto& [offset, length] : {std::pair{"1", ""},
                                       {"0", "23"},
                                       {"0", "25"},
                                       {"-1", "24"},
                                       {"9223372036854775807", "24"},
                                       {"99999999999999999999", ""},
                                       {"x", ""},
                                       {"0", "24 "}}) {
    EXPECT_EQ(InspectExternal("weights.bin", offset, length).code(), ErrorCode::kBadData)
        << offset << ", " << length;
  }
}

}  // namespace
}  // namespace resmem
