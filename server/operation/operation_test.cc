#include <gtest/gtest.h>

#include "operation/config.h"
#include "operation/keys.h"
#include "operation/metrics.h"

namespace resmem::serve {
namespace {

TEST(Keys, FindTheOwnerOfAKeyAndNobodyElse) {
  const auto keys = Keys::Parse(
      "# comment\n"
      "phone predict 0123456789abcdef\n"
      "boss  admin   sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
      "keys");
  ASSERT_TRUE(keys.ok()) << keys.status().message();
  const auto phone = keys->Find("Bearer 0123456789abcdef");
  ASSERT_TRUE(phone.has_value());
  EXPECT_EQ(phone->name, "phone");
  EXPECT_EQ(phone->permission, Permission::kPredict);
  EXPECT_EQ(keys->Find("bearer test")->permission, Permission::kAdmin);
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Basic test",
                            "Bearer 0123456789abcdeff", "Bearer  0123456789abcdef"}) {
    EXPECT_FALSE(keys->Find(wrong).has_value()) << wrong;
  }
}

TEST(Keys, RefuseLinesThatAreWrong) {
  for (const char* text :
       {"", "phone predict", "phone predict short", "phone king 0123456789abcdef",
        "a predict 0123456789abcdef x", "a predict sha256:12",
        "a predict 0123456789abcdef\na teach 1123456789abcdef",
        "a predict 0123456789abcdef\nb teach 0123456789abcdef"}) {
    EXPECT_FALSE(Keys::Parse(text, "keys").ok()) << text;
  }
}

struct Parsed {
  ConfigValues values;
  cli::CommandLine line{"serve"};
  Parsed() { DeclareConfig(line, &values); }
};

TEST(Config, AFileSetsWhatOptionsSet) {
  Parsed parsed;
  const Status status = ApplyConfigText(
      "# a comment\nport = 9000   # here too\nmemory = a=/x\nmemory = /srv/b.resmem\n"
      "access-log = true\nmax-k=7\n",
      "f", parsed.line, &parsed.values);
  ASSERT_TRUE(status.ok()) << status.message();
  const auto config = MakeConfig(parsed.values);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->port, 9000);
  EXPECT_EQ(config->service.k, 7);
  EXPECT_TRUE(config->service.access_log);
  ASSERT_EQ(config->memories.size(), 2u);
  EXPECT_EQ(config->memories[1].name, "b");
}

TEST(Config, MistakesNameTheLine) {
  for (const char* text : {"\nprot = 1", "\nport", "\nport = x", "\naccess-log = maybe",
                           "\nconfig = other", "\nhelp = true"}) {
    Parsed parsed;
    const Status status = ApplyConfigText(text, "f", parsed.line, &parsed.values);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_TRUE(status.message().starts_with("f, line 2:")) << status.message();
  }
}

TEST(Config, NoOtherMachineIsLetInWithoutKeys) {
  ConfigValues values;
  values.memories = {"m.resmem"};
  EXPECT_TRUE(MakeConfig(values).ok());
  for (const char* address : {"0.0.0.0", "::", "192.168.0.1", "nonsense"}) {
    values.address = address;
    EXPECT_FALSE(MakeConfig(values).ok()) << address;
  }
  values.address = "0.0.0.0";
  values.keys = "keys.txt";
  EXPECT_TRUE(MakeConfig(values).ok());
  values.certificate = "chain.pem";
  EXPECT_FALSE(MakeConfig(values).ok());  // without its key
}

TEST(Config, RangesAreChecked) {
  const auto sound = [](auto set) {
    ConfigValues values;
    values.memories = {"m.resmem"};
    set(values);
    return MakeConfig(values).ok();
  };
  EXPECT_FALSE(sound([](auto& v) { v.port = 65536; }));
  EXPECT_FALSE(sound([](auto& v) { v.max_body = 0; }));
  EXPECT_FALSE(sound([](auto& v) { v.idle_seconds = -1; }));
  EXPECT_FALSE(sound([](auto& v) { v.gather = -1; }));
  EXPECT_FALSE(sound([](auto& v) { v.memories = {"a/b=c"}; }));
  EXPECT_FALSE(sound([](auto& v) { v.memories = {}; }));
  EXPECT_FALSE(sound([](auto& v) { v.models = {"other=x.onnx"}; }));
}

TEST(Metrics, HistogramsCountCumulatively) {
  const double bounds[] = {1, 2};
  Histogram histogram(bounds);
  for (const double value : {0.5, 1.0, 1.5, 9.0}) histogram.Observe(value);
  MetricsText text;
  text.Family("x", "histogram", "help");
  text.Sample({{"memory", "a\"b\\"}}, histogram);
  EXPECT_EQ(
      text.text(),
      "# HELP x help\n# TYPE x histogram\n"
      "x_bucket{memory=\"a\\\"b\\\\\",le=\"1\"} 2\nx_bucket{memory=\"a\\\"b\\\\\",le=\"2\"} 3\n"
      "x_bucket{memory=\"a\\\"b\\\\\",le=\"+Inf\"} 4\nx_sum{memory=\"a\\\"b\\\\\"} 12\n"
      "x_count{memory=\"a\\\"b\\\\\"} 4\n");
}

}  // namespace
}  // namespace resmem::serve
