// Files that were cut, damaged or written to deceive.  Under the sanitizers of the debug preset
// each access outside the bytes is a failure.
#include "data/test_files.h"

namespace resmem {
namespace {

TEST(HostileFile, SeedsAreSound) {
  for (const Seed& seed : Seeds()) {
    const Status status = ReadEverything(seed.name, seed.bytes);
    EXPECT_TRUE(status.ok()) << seed.name << ": " << status.message();
  }
}

TEST(HostileFile, EveryTruncationOfASizedFormatIsAnError) {
  for (const Seed& seed : Seeds()) {
    for (size_t length = 0; length < std::min<size_t>(seed.bytes.size(), 2000); ++length) {
      const Status status = ReadEverything(seed.name, seed.bytes.substr(0, length));
      if (!seed.tells_size) continue;
      EXPECT_FALSE(status.ok()) << seed.name << " cut to " << length;
      EXPECT_NE(status.code(), ErrorCode::kResourceExhausted) << seed.name << " cut to " << length;
    }
  }
}

TEST(HostileFile, AppendedByteIsAnErrorWhereTheFormatTellsItsSize) {
  for (const Seed& seed : Seeds()) {
    if (!seed.tells_size) continue;
    EXPECT_FALSE(ReadEverything(seed.name, seed.bytes + "x").ok()) << seed.name;
  }
}

TEST(HostileFile, EveryDamagedByteGivesAnErrorOrAReadableArray) {
  for (const Seed& seed : Seeds()) {
    std::string bytes = seed.bytes;
    const size_t looked_at = seed.tells_size ? 1000 : 64;  // the others have little to damage
    for (size_t i = 0; i < std::min(bytes.size(), looked_at); ++i) {
      const char sound = bytes[i];
      const auto value = static_cast<unsigned char>(sound);
      for (const unsigned damaged : {value ^ 1u, value ^ 2u, value ^ 4u, value ^ 16u, value ^ 128u,
                                     value + 1u, value - 1u, 0u, 255u}) {
        bytes[i] = static_cast<char>(damaged);
        const Status status = ReadEverything(seed.name, bytes);
        EXPECT_NE(status.code(), ErrorCode::kResourceExhausted) << seed.name << " byte " << i;
        if (!status.ok()) {
          EXPECT_FALSE(status.message().empty());
        }
      }
      bytes[i] = sound;
    }
  }
}

}  // namespace
}  // namespace resmem
