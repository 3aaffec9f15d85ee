#include "data/formats/numpy/npz.h"

#include "data/test_files.h"

namespace resmem {
namespace {

using NpzTest = DataTest;

const std::string kFloats = NpyText("<f4", {2, 2}, BytesOf<float>({1, 2, 3, 4}));
const std::string kLabels = NpyText("<i8", {2}, BytesOf<int64_t>({5, 6}));

TEST_F(NpzTest, MembersReadAlikeHoweverTheyAreStored) {
  for (const bool zip64 : {false, true}) {
    const std::string path =
        Write("a.npz", ZipText({{"keys.npy", kFloats}, {"labels.npy", kLabels, true}}, zip64));
    EXPECT_EQ(Floats(path + ":keys"), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(Integers(path + ":labels"), (std::vector<int64_t>{5, 6}));
    const auto list = ListArrays(path);
    ASSERT_TRUE(list.ok());
    ASSERT_EQ(list->size(), 2u);
    EXPECT_EQ((*list)[0].member, "keys");
    EXPECT_EQ((*list)[1].type, ElementType::kInt64);
    EXPECT_EQ((*list)[1].shape, std::vector<int64_t>{2});
  }
}

TEST_F(NpzTest, SeveralMembersAndNoneNamedIsAnErrorThatListsThem) {
  const std::string path =
      Write("a.npz", ZipText({{"keys.npy", kFloats}, {"labels.npy", kLabels}}));
  const Status none = OpenError(path);
  EXPECT_EQ(none.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(none.message().find("(keys, labels)"), std::string::npos) << none.message();
  const Status wrong = OpenError(path + ":logits");
  EXPECT_EQ(wrong.code(), ErrorCode::kNotFound);
  EXPECT_NE(wrong.message().find("it has keys, labels"), std::string::npos) << wrong.message();
}

TEST_F(NpzTest, OnlyMemberNeedsNoName) {
  EXPECT_EQ(Floats(Write("a.npz", ZipText({{"keys.npy", kFloats}}))).size(), 4u);
}

TEST_F(NpzTest, FileWhoseNameHoldsAColonIsFoundUnderItsWholeName) {
  Write("a.npz", ZipText({{"b.npy", kLabels}, {"c.npy", kLabels}}));
  const std::string path = Write("a.npz:b", kFloats);
  EXPECT_EQ(Floats(path).size(), 4u);
  EXPECT_EQ(Integers(folder_ + "/a.npz:c").size(), 2u);
}

TEST_F(NpzTest, PathLikeMemberNamesAreOnlyNames) {
  const std::string path =
      Write("a.npz", ZipText({{"../../etc/x.npy", kFloats}, {"/abs.npy", kLabels}}));
  EXPECT_EQ(Floats(path + ":../../etc/x").size(), 4u);
  EXPECT_EQ(Integers(path + ":/abs").size(), 2u);
}

TEST_F(NpzTest, NameThatComesTwiceIsRefused) {
  const Status status =
      OpenError(Write("a.npz", ZipText({{"keys.npy", kFloats}, {"keys.npy", kLabels}})) + ":keys");
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("\"keys.npy\" comes twice"), std::string::npos);
}

TEST_F(NpzTest, ObjectsDoNotHideTheOtherMembers) {
  const std::string path = Write(
      "a.npz", ZipText({{"names.npy", NpyText("|O", {1}, "xxxxxxxx")}, {"keys.npy", kFloats}}));
  EXPECT_EQ(Floats(path + ":keys").size(), 4u);
  EXPECT_EQ(ListArrays(path)->size(), 1u);
  const Status status = OpenError(path + ":names");
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("pickled"), std::string::npos);
}

TEST_F(NpzTest, SizesThatDeflateCannotReachAreRefusedUnallocated) {
  // Header and directory agree on 4 TB; only the compressed bytes tell the lie.
  const std::string bomb = NpyText("<f4", {int64_t{1} << 40}, "");
  const uint64_t size = bomb.size() + (uint64_t{4} << 40);
  const Status status = OpenError(Write("a.npz", ZipText({{"a.npy", bomb, true, size}}, true)));
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("impossible"), std::string::npos) << status.message();
}

TEST_F(NpzTest, ContentThatIsLongerOrShorterThanDeclaredIsRefused) {
  for (const int64_t rows : {1, 3}) {
    // The member's header declares `rows` of 8 bytes, and so does the directory; 2 are there.
    std::string content = NpyText("<i8", {rows}, BytesOf<int64_t>({5, 6}));
    const uint64_t claimed = content.size() - 16 + static_cast<uint64_t>(rows) * 8;
    const Status status = OpenError(Write("a.npz", ZipText({{"a.npy", content, true, claimed}})));
    EXPECT_EQ(status.code(), ErrorCode::kBadData);
    EXPECT_NE(status.message().find("declares"), std::string::npos) << status.message();
  }
}

TEST_F(NpzTest, DamagedContentFailsItsChecksumHoweverItIsStored) {
  for (const bool deflated : {false, true}) {
    std::string text = ZipText({{"a.npy", kLabels, deflated}});
    text[text.find(BytesOf<int64_t>({5, 6}))] ^= 1;
    const Status status = OpenError(Write("a.npz", text));
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << deflated;
    EXPECT_NE(status.message().find("checksum"), std::string::npos) << status.message();
  }
}

TEST_F(NpzTest, EveryFlippedBitOfStoredContentIsAnError) {
  const std::string text = ZipText({{"a.npy", kFloats}});
  const size_t begin = text.find(kFloats);
  for (size_t bit = 8 * begin; bit < 8 * (begin + kFloats.size()); ++bit) {
    std::string broken = text;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(OpenError(Write("a.npz", broken)).ok()) << bit;
  }
}

TEST_F(NpzTest, StoredContentOfManyPiecesIsCheckedToItsEnd) {
  const std::string values((9 << 20) + 4, '\0');
  const std::string member = NpyText("<f4", {static_cast<int64_t>(values.size() / 4)}, values);
  std::string text = ZipText({{"a.npy", member}});
  const std::string path = Write("a.npz", text);
  EXPECT_EQ(Floats(path).size(), values.size() / 4);
  text[text.find(member) + member.size() - 1] ^= 1;
  EXPECT_EQ(OpenError(Write("a.npz", text)).code(), ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
