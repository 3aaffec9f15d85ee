// libFuzzer's entry for the C interface: the first byte chooses what the rest is: calls with
// numbers of any size, files of a memory, or a document for a page.  Pointers are sound, as the
// interface cannot check them; shapes are small where they are not negative, because arrays are.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "capi/resmem.h"
#include "data/test_seeds.h"

namespace resmem {
namespace {

constexpr int64_t kMostRows = 24, kDim = 3, kClasses = 2;

struct Arrays {
  std::vector<float> keys, logits;
  std::vector<int32_t> labels;
  Arrays() : keys(kMostRows * 32), logits(kMostRows * 32), labels(kMostRows) {
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] = static_cast<float>(i * 7 % 11);
      logits[i] = static_cast<float>(i * 5 % 3);
    }
    for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(i % kClasses);
  }
};

resmem_rows SoundRows(const Arrays& arrays, int64_t rows) {
  resmem_rows sound{};
  sound.keys = {arrays.keys.data(), rows, kDim, kDim};
  sound.logits = {arrays.logits.data(), rows, kClasses, kClasses};
  sound.labels = arrays.labels.data();
  return sound;
}

// Numbers from the input, zeros after its end.
class Numbers {
 public:
  Numbers(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool more() const { return size_ > 0; }
  template <class Value>
  Value Take() {
    Value value{};
    const size_t taken = std::min(size_, sizeof(value));
    if (taken > 0) std::memcpy(&value, data_, taken);
    data_ += taken;
    size_ -= taken;
    return value;
  }
  resmem_matrix Matrix(const std::vector<float>& values) {
    const auto rows = Take<int64_t>(), columns = Take<int64_t>(), stride = Take<int64_t>();
    return {values.data(), std::min(rows, kMostRows), std::min<int64_t>(columns, 32),
            std::min<int64_t>(stride, 32)};
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// A code that is in the list, with a text where it is an error.
void Expect(int code) {
  if (code < RESMEM_OK || code > RESMEM_CANCELLED) std::abort();
  if (code != RESMEM_OK && std::strlen(resmem_last_error()) == 0) std::abort();
}

void Ask(resmem_memory* memory, Numbers* numbers) {
  static Arrays arrays;
  std::vector<float> answers(kMostRows * 32), distances(kMostRows * 64);
  std::vector<int64_t> rows(kMostRows * 64);
  resmem_predict_options options;
  resmem_predict_options_init(&options);
  char* text = nullptr;
  switch (numbers->Take<uint8_t>() % 8) {
    case 0: {
      const resmem_matrix keys = numbers->Matrix(arrays.keys),
                          logits = numbers->Matrix(arrays.logits);
      options.k = numbers->Take<int64_t>();
      options.sigma = numbers->Take<float>();
      options.temperature = numbers->Take<float>();
      options.lambda = numbers->Take<float>();
      options.threads = numbers->Take<uint8_t>() % 3;
      static const char* const kMethods[] = {nullptr, "base", "knn", "knn-lm", "resmem", "x"};
      options.method = kMethods[numbers->Take<uint8_t>() % 6];
      const resmem_output output = {answers.data(), std::clamp<int64_t>(keys.rows, 0, kMostRows),
                                    kClasses};
      Expect(resmem_predict(memory, &keys, &logits, &options, &output, &output));
      break;
    }
    case 1: {
      const resmem_matrix keys = numbers->Matrix(arrays.keys);
      const int64_t k = std::min<int64_t>(numbers->Take<int64_t>(), 64);
      std::vector<int64_t> exclude(kMostRows);
      for (int64_t& row : exclude) row = numbers->Take<int8_t>();
      Expect(resmem_neighbors(memory, &keys, k, exclude.data(), 1, nullptr, rows.data(),
                              distances.data(), nullptr));
      break;
    }
    case 2: {
      resmem_row_arrays wanted{};
      wanted.size = sizeof(wanted);
      wanted.keys = answers.data();
      wanted.residuals = distances.data();
      const int64_t row[2] = {numbers->Take<int64_t>(), numbers->Take<int8_t>()};
      Expect(resmem_read_rows(memory, row, 2, &wanted));
      break;
    }
    case 3: {
      const uint64_t ids[2] = {numbers->Take<uint64_t>(), numbers->Take<uint8_t>()};
      Expect(resmem_find_ids(memory, ids, 2, rows.data()));
      Expect(resmem_delete(memory, ids + 1, 1));
      break;
    }
    case 4: {
      resmem_rows more = SoundRows(arrays, kMostRows);
      more.keys = numbers->Matrix(arrays.keys);
      more.logits = numbers->Matrix(arrays.logits);
      std::vector<uint64_t> ids(kMostRows);
      std::vector<int32_t> labels(kMostRows), roles(kMostRows);
      for (size_t i = 0; i < ids.size(); ++i) {
        ids[i] = i + numbers->Take<uint8_t>();
        labels[i] = numbers->Take<int8_t>();
      }
      more.ids = ids.data();
      more.labels = labels.data();
      more.roles = roles.data();
      Expect(resmem_append(memory, &more, nullptr));
      break;
    }
    case 5: {
      const int64_t k = numbers->Take<int64_t>();
      const float sigma = numbers->Take<float>();
      Expect(resmem_set_parameters(memory, k, sigma, numbers->Take<float>()));
      Expect(resmem_compact(memory, numbers->Take<uint8_t>() % 2, nullptr));
      break;
    }
    case 6: {
      const resmem_matrix key = numbers->Matrix(arrays.keys),
                          logits = numbers->Matrix(arrays.logits);
      const auto without = numbers->Take<uint64_t>();
      Expect(resmem_explain(memory, &key, &logits, &options, &without, &text));
      break;
    }
    default: {
      resmem_evaluate_options judging;
      resmem_evaluate_options_init(&judging);
      judging.size = numbers->Take<uint16_t>() % sizeof(judging);
      judging.k = numbers->Take<int64_t>();
      judging.sigma = numbers->Take<float>();
      const resmem_rows judged = SoundRows(arrays, 5);
      Expect(resmem_evaluate(memory, &judged, &judging, &text));
      break;
    }
  }
  resmem_free(text);
}

resmem_memory* SoundMemory() {
  static Arrays arrays;
  const resmem_rows rows = SoundRows(arrays, 9);
  resmem_memory* memory = nullptr;
  if (resmem_build(nullptr, &rows, nullptr, &memory) != RESMEM_OK) std::abort();
  return memory;
}

void Call(const uint8_t* data, size_t size) {
  Numbers numbers(data, size);
  resmem_memory* memory = SoundMemory();
  for (int calls = 0; numbers.more() && calls < 20; ++calls) Ask(memory, &numbers);
  resmem_close(memory);
}

std::vector<std::string> SoundFiles() {
  resmem_memory* memory = SoundMemory();
  resmem_files* files = nullptr;
  if (resmem_files_read(memory, &files) != RESMEM_OK) std::abort();
  std::vector<std::string> bytes;
  for (int64_t i = 0; i < resmem_files_count(files); ++i) {
    size_t size = 0;
    const void* data = resmem_files_bytes(files, i, &size);
    bytes.emplace_back(static_cast<const char*>(data), size);
  }
  resmem_files_free(files);
  resmem_close(memory);
  return bytes;
}

// The input in the place of one of the two files.
void OpenFiles(size_t replaced, const uint8_t* data, size_t size) {
  static const std::vector<std::string> kSound = SoundFiles();
  const char* const names[2] = {"MANIFEST", "segment-000001.resmem"};
  const void* bytes[2] = {kSound[0].data(), kSound[1].data()};
  size_t sizes[2] = {kSound[0].size(), kSound[1].size()};
  bytes[replaced] = data;
  sizes[replaced] = size;
  resmem_open_options options;
  resmem_open_options_init(&options);
  for (const int skip : {0, 1}) {  // unverified files must not crash either while they are opened
    options.skip_checksums = skip;
    resmem_memory* memory = nullptr;
    Expect(resmem_files_open(2, names, bytes, sizes, &options, &memory));
    resmem_close(memory);
  }
}

void Page(const uint8_t* data, size_t size) {
  const std::string json(reinterpret_cast<const char*>(data), size);
  char* html = nullptr;
  Expect(resmem_report(json.c_str(), &html));
  resmem_free(html);
}

std::string ExplanationSeed() {
  static Arrays arrays;
  resmem_memory* memory = SoundMemory();
  const resmem_matrix key = {arrays.keys.data(), 1, kDim, kDim},
                      logits = {arrays.logits.data(), 1, kClasses, kClasses};
  char* text = nullptr;
  if (resmem_explain(memory, &key, &logits, nullptr, nullptr, &text) != RESMEM_OK) std::abort();
  const std::string json = text;
  resmem_free(text);
  resmem_close(memory);
  return json;
}

std::string CallsSeed() {
  std::string seed;
  const auto put = [&](auto value) {
    seed.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (uint8_t call = 0; call < 8; ++call) {
    put(call);
    for (const int64_t number : {4, 3, 3, 4, 2, 2, 5}) put(number);
    put(0.5f);
    put(1.5f);
  }
  return seed;
}

}  // namespace

std::vector<Seed> Seeds() {
  const std::vector<std::string> files = SoundFiles();
  return {{"calls", CallsSeed(), false},
          {"manifest", files[0], false},
          {"segment", files[1], false},
          {"page", ExplanationSeed(), false}};
}

}  // namespace resmem

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t kind = data[0] % 4;
  if (kind == 0) {
    resmem::Call(data + 1, size - 1);
  } else if (kind == 3) {
    resmem::Page(data + 1, size - 1);
  } else {
    resmem::OpenFiles(kind - 1u, data + 1, size - 1);
  }
  return 0;
}
