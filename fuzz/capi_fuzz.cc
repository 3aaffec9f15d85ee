// libFuzzer's entry for the C interface: the first byte chooses what the rest is: calls with
// numbers of any size, files of a memory, or a document for a page.  Pointers are sound, as the
// interface cannot check them; shapes are small where they are not negative, because arrays are.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "capi/resmem.h"
#include "data/test_seeds.h"

namespace resmem {
namespace {

constexpr int64_t kMostRows = 24, kDim = 3, kClasses = 2;
constexpr int kMostFits = 40, kMostFolders = 200;  // of one process: they are slow

struct Arrays {
  std::vector<float> keys, logits;
  std::vector<int32_t> labels;
  explicit Arrays(size_t rows = kMostRows) : keys(rows * 32), logits(rows * 32), labels(rows) {
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

// Of this process, and gone with it.
const std::string& Folder() {
  static const std::string folder =
      (std::filesystem::temp_directory_path() / ("capi_fuzz_" + std::to_string(getpid()))).string();
  static const bool once = [] {
    std::filesystem::create_directories(folder);
    return std::atexit([] { std::filesystem::remove_all(folder); }) == 0;
  }();
  if (!once) std::abort();
  return folder;
}

// What only a memory in a folder can: versions under any name, and files of arrays.
void InFolder(resmem_memory* in_ram, Numbers* numbers) {
  static int folders = 0;
  if (++folders > kMostFolders) return;
  const std::string path = Folder() + "/m.resmem";
  Expect(resmem_save(in_ram, path.c_str(), 1, nullptr));
  resmem_memory* memory = nullptr;
  Expect(resmem_open(path.c_str(), nullptr, &memory));
  if (memory == nullptr) return;
  std::string name;
  for (int length = numbers->Take<uint8_t>() % 5; length >= 0; --length) {
    name += static_cast<char>(std::max<uint8_t>(numbers->Take<uint8_t>(), 1));
  }
  const uint64_t id = numbers->Take<uint8_t>() % 12;
  char *changes = nullptr, *holders = nullptr;
  Expect(resmem_snapshot_take(memory, name.c_str(), name.c_str()));
  Expect(resmem_delete(memory, &id, 1));
  Expect(resmem_diff(memory, name.c_str(), nullptr, &changes));
  Expect(resmem_find_in_snapshots(memory, &id, 1, &holders));
  Expect(resmem_rollback(memory, name.c_str(), nullptr));
  Expect(resmem_snapshot_drop(memory, name.c_str()));
  const char* const part = numbers->Take<uint8_t>() % 2 == 0 ? "keys" : name.c_str();
  Expect(resmem_export(memory, (Folder() + "/m.npz").c_str(), &part, 1, nullptr));
  Expect(resmem_verify(memory, nullptr));
  resmem_free(changes);
  resmem_free(holders);
  resmem_close(memory);
}

void Ask(resmem_memory* memory, Numbers* numbers) {
  static Arrays arrays;
  std::vector<float> answers(kMostRows * 32), distances(kMostRows * 64);
  std::vector<int64_t> rows(kMostRows * 64);
  resmem_predict_options options;
  resmem_predict_options_init(&options);
  char* text = nullptr;
  switch (numbers->Take<uint8_t>() % 13) {
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
    case 7: {
      resmem_tune_options tuning;
      resmem_tune_options_init(&tuning);
      static const char* const kMethods[] = {nullptr, "blend", "logit-boost", "resmem", "base"};
      static const char* const kTransforms[] = {nullptr, "keep", "unit", "whiten", "x"};
      tuning.method = kMethods[numbers->Take<uint8_t>() % 5];
      tuning.key_transform = kTransforms[numbers->Take<uint8_t>() % 5];
      const int64_t k = numbers->Take<int64_t>();
      const float sigma = numbers->Take<float>(), temperature = numbers->Take<float>();
      tuning.k = &k;
      tuning.sigma = &sigma;
      tuning.temperature = &temperature;
      tuning.k_count = tuning.sigma_count = tuning.temperature_count = 1;
      tuning.folds = numbers->Take<int8_t>();
      tuning.fpr_limit = numbers->Take<double>();
      tuning.fit_megabytes = numbers->Take<int64_t>();
      tuning.size = numbers->Take<uint8_t>() % 2 == 0 ? sizeof(tuning) : numbers->Take<uint16_t>();
      tuning.size = std::min(tuning.size, sizeof(tuning));
      // A hundred rows and more are fitted, which takes a while: not each time.
      static int fits = 0;
      const bool many = numbers->Take<uint8_t>() % 2 == 0 && ++fits <= kMostFits;
      const int64_t asked = many ? 110 : 20;
      static const Arrays kMany(150);
      const resmem_rows given = SoundRows(kMany, asked);
      Expect(resmem_tune(memory, numbers->Take<uint8_t>() % 2 == 0 ? nullptr : &given, &tuning,
                         &text));
      const resmem_matrix keys = numbers->Matrix(arrays.keys);
      Expect(resmem_distance_percentiles(memory, &keys, 1, nullptr, distances.data()));
      if (resmem_answer(memory) == nullptr) std::abort();
      Expect(resmem_undo_tuning(memory, nullptr));
      break;
    }
    case 8: {
      resmem_index_options indexing;
      resmem_index_options_init(&indexing);
      indexing.recall = numbers->Take<double>();
      indexing.code_bits = numbers->Take<int8_t>();
      indexing.queries = numbers->Matrix(arrays.keys);
      Expect(resmem_index(memory, &indexing));
      Expect(resmem_remove_index(memory));
      break;
    }
    case 9: {
      resmem_evaluate_options judging;
      resmem_evaluate_options_init(&judging);
      judging.sample = numbers->Take<int64_t>();
      const resmem_rows judged = SoundRows(arrays, 5);
      Expect(resmem_doctor(memory, numbers->Take<uint8_t>() % 2 == 0 ? nullptr : &judged, &judging,
                           &text));
      Expect(resmem_verify(memory, nullptr));
      break;
    }
    case 10: {
      for (float& distance : distances) {
        distance = numbers->Take<float>();
        if (!numbers->more()) break;
      }
      const int64_t queries = std::min<int64_t>(numbers->Take<int64_t>(), kMostRows);
      const int64_t k = std::min<int64_t>(numbers->Take<int64_t>(), 32);
      Expect(resmem_weights(distances.data(), queries, k, numbers->Take<float>(), answers.data()));
      break;
    }
    case 11:
      InFolder(memory, numbers);
      break;
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
