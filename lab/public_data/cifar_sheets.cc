#include "public_data/cifar_sheets.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <vector>

#include "resmem/models/image_bytes.h"
#include "resmem_program/output_file.h"

namespace resmem {
namespace {

constexpr size_t kBatches = 5;  // of training
constexpr size_t kPixels = 1024, kChannels = 3, kClasses = 10;
constexpr char kClassNames[] =
    "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n";

Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Status(ErrorCode::kNotFound, path + ": cannot be read");
  }
  return std::move(text).str();
}

// [6,9,4,...]: digits.
Result<std::vector<char>> ReadLabels(const std::string& path, size_t count) {
  RESMEM_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  std::vector<char> labels;
  bool number = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c < static_cast<char>('0' + kClasses);
    if (digit && number) return Status(ErrorCode::kBadData, path + ": holds a label above 9");
    if (digit) labels.push_back(static_cast<char>(c - '0'));
    number = digit;
  }
  if (labels.size() == count) return labels;
  return Status(ErrorCode::kBadData, path + ": holds " + std::to_string(labels.size()) +
                                         " labels, expected " + std::to_string(count));
}

Status WriteWhole(const std::string& path, std::string_view bytes) {
  RESMEM_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  RESMEM_RETURN_IF_ERROR(file.Write(bytes));
  return file.Close();
}

// A record of the original: the label, then the image plane by plane.
Status ConvertSheet(const std::string& folder, const std::string& name,
                    std::span<const char> labels) {
  const std::string path = folder + "/" + name + ".png";
  const ImageShape shape = {static_cast<int64_t>(labels.size()), kPixels, kChannels};
  std::vector<uint8_t> sheet(static_cast<size_t>(shape.bytes()));
  {
    RESMEM_ASSIGN_OR_RETURN(const std::string png, ReadWhole(path));
    RESMEM_RETURN_IF_ERROR(ReadImageBytes(path, std::as_bytes(std::span(png)), shape, /*resize=*/0,
                                          shape.height * shape.width, sheet));
  }
  std::string records;
  records.reserve(sheet.size() + labels.size());
  for (size_t image = 0; image < labels.size(); ++image) {
    records += labels[image];
    const uint8_t* const pixels = sheet.data() + image * kPixels * kChannels;
    for (size_t channel = 0; channel < kChannels; ++channel) {
      for (size_t pixel = 0; pixel < kPixels; ++pixel) {
        records += static_cast<char>(pixels[pixel * kChannels + channel]);
      }
    }
  }
  RESMEM_RETURN_IF_ERROR(WriteWhole(folder + "/" + name + ".bin", records));
  std::filesystem::remove(path);
  return {};
}

}  // namespace

Status ConvertCifarSheets(const std::string& folder, int64_t images) {
  const auto count = static_cast<size_t>(images);
  const std::string train_labels = folder + "/train_lables.json";  // as the package spells it
  const std::string test_labels = folder + "/test_lables.json";
  RESMEM_ASSIGN_OR_RETURN(const std::vector<char> train,
                          ReadLabels(train_labels, kBatches * count));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<char> test, ReadLabels(test_labels, count));
  for (size_t batch = 0; batch < kBatches; ++batch) {
    RESMEM_RETURN_IF_ERROR(ConvertSheet(folder, "data_batch_" + std::to_string(batch + 1),
                                        std::span(train).subspan(batch * count, count)));
  }
  RESMEM_RETURN_IF_ERROR(ConvertSheet(folder, "test_batch", test));
  std::filesystem::remove(train_labels);
  std::filesystem::remove(test_labels);
  std::filesystem::remove(folder + "/package.json");
  return WriteWhole(folder + "/batches.meta.txt", kClassNames);
}

}  // namespace resmem
