#include "search/key_store.h"

#include <gtest/gtest.h>

#include "search/search_test_data.h"

namespace resmem {
namespace {

TEST(KeyStore, RowsOfOneFloatBlockAreGivenInPlace) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const StoredKeys keys(values, 2, KeyType::kFloat32);
  auto store = KeyStore::Make(2, {keys.block()}, {});
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_EQ(store->Rows(1, 2, nullptr), keys.floats.data() + 2);
}

TEST(KeyStore, RowsAcrossBlocksAndFormatsAreDecodedInOrder) {
  const StoredKeys floats({1, 2, 3, 4}, 2, KeyType::kFloat32);
  const StoredKeys halves({0.5f, -0.25f}, 2, KeyType::kFloat16);
  const StoredKeys codes({127, -127, 254, 0}, 2, KeyType::kInt8);
  // Around (1, 2), in steps of 0 and 1.
  const StoredKeys nibbles({1, 2, 8.5f, 2}, 2, KeyType::kInt4);
  const KeyBlock nothing;
  auto store = KeyStore::Make(
      2, {floats.block(), nothing, halves.block(), codes.block(), nibbles.block()}, {});
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_EQ(store->rows(), 7);
  float scratch[14];
  const float* rows = store->Rows(0, 7, scratch);
  EXPECT_EQ(std::vector<float>(rows, rows + 14),
            (std::vector<float>{1, 2, 3, 4, 0.5f, -0.25f, 127, -127, 254, 0, 1, 2, 8.5f, 2.5f}));
  EXPECT_EQ(store->Rows(2, 1, scratch)[1], -0.25f);
}

TEST(KeyStore, HiddenRowsAreKnown) {
  const StoredKeys keys(std::vector<float>(10), 1, KeyType::kFloat32);
  auto store = KeyStore::Make(1, {keys.block()}, {0, 3, 9});
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->visible_rows(), 7);
  EXPECT_TRUE(store->hidden(3));
  EXPECT_FALSE(store->hidden(4));
}

TEST(KeyStore, UnsoundBlocksAreRefused) {
  const StoredKeys keys(std::vector<float>(10), 1, KeyType::kFloat32);
  const float value = 0;
  const auto refused = [](const Result<KeyStore>& result) {
    return result.status().code() == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(KeyStore::Make(0, {keys.block()}, {})));
  EXPECT_TRUE(refused(KeyStore::Make(1, {{KeyType::kFloat32, nullptr, nullptr, 1}}, {})));
  EXPECT_TRUE(refused(KeyStore::Make(1, {{KeyType::kInt8, &value, nullptr, 1}}, {})));
  EXPECT_TRUE(refused(KeyStore::Make(1, {{KeyType::kInt4, &value, nullptr, 1, &value}}, {})));
  EXPECT_TRUE(refused(KeyStore::Make(1, {{KeyType::kInt4, &value, &value, 1}}, {})));
  EXPECT_TRUE(refused(KeyStore::Make(1, {{KeyType::kFloat32, &value, nullptr, -1}}, {})));
  EXPECT_TRUE(
      refused(KeyStore::Make(8, {{KeyType::kFloat32, &value, nullptr, INT64_MAX / 4}}, {})));
  EXPECT_TRUE(refused(KeyStore::Make(1, {keys.block()}, {10})));
  EXPECT_TRUE(refused(KeyStore::Make(1, {keys.block()}, {-1})));
  EXPECT_TRUE(refused(KeyStore::Make(1, {keys.block()}, {3, 3})));
}

}  // namespace
}  // namespace resmem
