#include "resmem/lm/text_source.h"

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "support/random.h"

namespace resmem {
namespace {

struct ReadText {
  std::vector<TextDocument> documents;
  TextCounts counts;
  std::string first_broken_record;
  Status status;
};

ReadText ReadAll(const std::vector<std::string>& paths, const TextSourceOptions& options = {}) {
  ReadText read;
  auto source = TextSource::Open(paths, options);
  read.status = source.status();
  if (!source.ok()) return read;
  while (true) {
    TextDocument document;
    const auto more = source->Next(&document);
    read.status = more.status();
    if (!more.ok() || !*more) break;
    read.documents.push_back(document);
  }
  read.counts = source->counts();
  read.first_broken_record = source->first_broken_record();
  EXPECT_LE(source->stored_bytes_read(), source->stored_bytes());
  return read;
}

class TextSourceTest : public testing::Test {
 protected:
  ReadText Read(const std::string& content, const TextSourceOptions& options = {}) {
    fixtures::WriteBytes(folder_ / "file", content);
    return ReadAll({folder_ / "file"}, options);
  }
  static TextSourceOptions As(TextForm form, int64_t max_bytes = int64_t{128} << 20) {
    return {form, max_bytes};
  }

  const fixtures::TemporaryFolder folder_{fixtures::FastParent()};
};

std::vector<std::string> Texts(const ReadText& read) {
  EXPECT_TRUE(read.status.ok()) << read.status.message();
  EXPECT_EQ(read.counts.documents, static_cast<int64_t>(read.documents.size()));
  std::vector<std::string> texts;
  for (const TextDocument& document : read.documents) texts.push_back(document.text);
  return texts;
}
std::vector<std::string> Titles(const ReadText& read) {
  std::vector<std::string> titles;
  for (const TextDocument& document : read.documents) titles.push_back(document.title);
  return titles;
}
using Strings = std::vector<std::string>;

TEST_F(TextSourceTest, PlainFileIsOneDocument) {
  const ReadText read = Read("\n\none\r\n\r\ntwo\nthree");
  EXPECT_EQ(Texts(read), Strings{"one\n\ntwo\nthree"});
  EXPECT_EQ(Titles(read), Strings{"file"});
  EXPECT_EQ(read.counts.bytes, 18);
}

TEST_F(TextSourceTest, BlankLinesPartParagraphs) {
  const ReadText read = Read("one\nmore\n\n \n\ntwo\n", As(TextForm::kParagraphs));
  EXPECT_EQ(Texts(read), (Strings{"one\nmore", "two"}));
  EXPECT_EQ(Titles(read), (Strings{"file:1", "file:6"}));
}

TEST_F(TextSourceTest, WikiTextArticleBeginsAtItsHeading) {
  const ReadText read = Read(
      " \n = Valkyria = \n \n text of it \n = = Section = = \n \n x = 3 \n = not one = \n more \n"
      " \n = Du Fu = \n \n poet \n");
  ASSERT_EQ(Texts(read).size(), 2u);
  EXPECT_EQ(Titles(read), (Strings{"Valkyria", "Du Fu"}));
  EXPECT_EQ(read.documents[1].text, " = Du Fu = \n \n poet ");
  EXPECT_NE(read.documents[0].text.find("= not one ="), std::string::npos)
      << "a heading stands between blank lines";
  EXPECT_EQ(read.counts.empty_documents, 0);
}

TEST_F(TextSourceTest, JsonLinesGiveTheirText) {
  const ReadText read = Read(R"({"text":"one\ntwo","url":"http://a"})"
                             "\n\n"
                             R"({"title":"T","text":"x","more":{"text":"not this"}})"
                             "\n"
                             R"({"more":["text",{"text":1}],"text":"caf\u00e9"})");
  EXPECT_EQ(Texts(read), (Strings{"one\ntwo", "x", "caf\xC3\xA9"}));
  EXPECT_EQ(Titles(read), (Strings{"http://a", "T", "file:4"}));
}

TEST_F(TextSourceTest, BrokenJsonLinesAreCountedWithTheFirstPlace) {
  const ReadText read = Read(
      "{\"text\":\"good\"}\n{\"text\":\"cut\n[\"text\"]\n\"text\"\n{\"text\":5}\n{}\n"
      "{\"text\":\"a\"} x\n{\"text\":\"last\"}\n");
  EXPECT_EQ(Texts(read), (Strings{"good", "last"}));
  EXPECT_EQ(read.counts.broken_records, 6);
  EXPECT_EQ(read.first_broken_record, "file: line 2: it is not a JSON object");
}

TEST_F(TextSourceTest, DeeplyNestedJsonIsNoDanger) {
  const std::string deep(1000000, '[');
  const ReadText read = Read("{\"text\":\"a\"}\n{\"x\":" + deep + "\n{\"x\":" + deep +
                             std::string(1000000, ']') + ",\"text\":\"b\"}\n");
  EXPECT_EQ(Texts(read), (Strings{"a", "b"}));
  EXPECT_EQ(read.counts.broken_records, 1);
}

TEST_F(TextSourceTest, DocTagsPartArticles) {
  const ReadText read = Read(
      "<doc id=\"1\" url=\"u1\" title=\"A &amp; B\">\nA & B\n\nbody\n</doc>\n\n"
      "<doc id=\"2\" url=\"u2\">\nsecond <doc in text\n</doc>\n<doc id=\"3\">\n \n</doc>\n");
  EXPECT_EQ(Texts(read), (Strings{"A & B\n\nbody", "second <doc in text"}));
  EXPECT_EQ(Titles(read), (Strings{"A & B", "u2"}));
  EXPECT_EQ(read.counts.empty_documents, 1);
  EXPECT_EQ(read.counts.broken_records, 0);
}

TEST_F(TextSourceTest, DocumentsWithoutTheirEndAreCountedAndLeftOut) {
  const ReadText read = Read(
      "<doc id=\"1\" title=\"A\">\nlost\n<doc id=\"2\" title=\"B\">\nkept\n</doc>\nstray\n"
      "<doc id=\"3\" title=\"C\">\nlost\n");
  EXPECT_EQ(Texts(read), Strings{"kept"});
  EXPECT_EQ(read.counts.broken_records, 3);
  EXPECT_EQ(read.first_broken_record, "file: line 3: <doc> follows a document that has no </doc>");
}

TEST_F(TextSourceTest, BytesThatAreNotUtf8AndNulsAreReplacedAndCounted) {
  const ReadText read = Read(std::string("a\xFF\xC3(\xE2\x82\0b\xED\xA0\x80\xC3\xA9", 13));
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(Texts(read), Strings{"a" + r + r + "(" + r + r + " b" + r + r + r + "\xC3\xA9"});
  EXPECT_EQ(read.counts.bad_bytes, 7);
  EXPECT_EQ(read.counts.nul_bytes, 1);
  const ReadText json = Read("{\"text\":\"a\xFF\\u0000\"}");
  EXPECT_EQ(Texts(json), Strings{"a" + r + " "});
  EXPECT_EQ(json.counts.bad_bytes, 1);
  EXPECT_EQ(json.counts.nul_bytes, 1);
}

TEST_F(TextSourceTest, LongDocumentIsGivenInPartsThatLoseNothing) {
  std::string line;
  for (int i = 0; i < 5000; ++i) line += "w\xC3\xB6rt" + std::to_string(i % 10) + " ";
  for (const std::string& content : {line, "<doc title=\"t\">\n" + line + "\n</doc>"}) {
    const ReadText read = Read(content, As(TextForm::kFound, 1000));
    std::string joined;
    for (const std::string& part : Texts(read)) {
      EXPECT_LE(part.size(), 1000u);
      joined += part;
    }
    EXPECT_EQ(joined, line);
    EXPECT_GT(read.documents.size(), 30u);
    EXPECT_EQ(read.counts.cut_documents, 1);
    EXPECT_EQ(read.counts.bad_bytes, 0) << "never inside a character";
  }
}

TEST_F(TextSourceTest, TooLongJsonLineIsBroken) {
  const ReadText read = Read("{\"text\":\"" + std::string(3000, 'a') + "\"}\n{\"text\":\"b\"}\n",
                             As(TextForm::kJsonLines, 1000));
  EXPECT_EQ(Texts(read), Strings{"b"});
  EXPECT_EQ(read.counts.broken_records, 1);
  EXPECT_EQ(read.first_broken_record, "file: line 1: it is longer than a document may be");
}

std::string Gzip(const std::string& text) {
  z_stream zlib{};
  deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(compressBound(text.size()) + 64, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  deflate(&zlib, Z_FINISH);
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}
std::string Zstd(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 27);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}
std::string Xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr,
                          reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                          reinterpret_cast<uint8_t*>(out.data()), &size, out.size());
  out.resize(size);
  return out;
}

std::string ManyLines() {
  std::string text;
  Random random(2);
  while (text.size() < 300000) text += std::to_string(random.Bits()) + " line\n";
  text.pop_back();
  return text;
}

TEST_F(TextSourceTest, CompressedFilesAreUnpacked) {
  const std::string text = ManyLines();
  for (auto pack : {Gzip, Zstd, Xz}) {
    EXPECT_EQ(Texts(Read(pack(text))), Strings{text});
    // Two streams in one file are joined.
    EXPECT_EQ(Texts(Read(pack(text) + pack("\nend"))), Strings{text + "\nend"});
  }
}

TEST_F(TextSourceTest, DamagedCompressionIsAnErrorThatNamesTheFile) {
  const std::string text = ManyLines();
  for (auto pack : {Gzip, Zstd, Xz}) {
    const std::string packed = pack(text);
    for (const std::string& damaged :
         {packed.substr(0, packed.size() / 2), packed.substr(0, packed.size() - 3),
          packed.substr(0, 50000) + std::string(50, 'x') + packed.substr(50050)}) {
      const ReadText read = Read(damaged);
      EXPECT_EQ(read.status.code(), ErrorCode::kBadData) << read.status.message();
      EXPECT_NE(read.status.message().find("/file: "), std::string::npos);
    }
  }
}

TEST_F(TextSourceTest, FoldersAreReadInTheOrderOfNames) {
  std::filesystem::create_directories(folder_ / "in/B");
  std::filesystem::create_directories(folder_ / "in/A");
  fixtures::WriteBytes(folder_ / "in/B/1", "third");
  fixtures::WriteBytes(folder_ / "in/A/2", "second");
  fixtures::WriteBytes(folder_ / "in/A/1", "{\"text\":\"first\"}");
  fixtures::WriteBytes(folder_ / "in/.hidden", "not read");
  fixtures::WriteBytes(folder_ / "last", "last");
  const ReadText read = ReadAll({folder_ / "in", folder_ / "last"});
  EXPECT_EQ(Texts(read), (Strings{"first", "second", "third", "last"}));
  EXPECT_EQ(read.counts.files, 4);
}

TEST_F(TextSourceTest, NamesWhatIsNotThere) {
  EXPECT_EQ(ReadAll({folder_ / "none"}).status.code(), ErrorCode::kNotFound);
  EXPECT_EQ(ReadAll({}).status.code(), ErrorCode::kInvalidArgument);
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_EQ(ReadAll({folder_ / "empty"}).status.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Texts(Read("")).empty());
  EXPECT_TRUE(Texts(Read("\n \n")).empty());
}

}  // namespace
}  // namespace resmem
