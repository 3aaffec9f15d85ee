// The folder that a reproduction on ImageNet works in, and the photos and networks that it is
// about:
//
//   models/NAME.onnx  networks, prepared
//   arrays/NAME/...   what each makes of the photos
//   memories/NAME-... memories
//   steps/NAME.json   results of the finished steps
#ifndef RESMEM_LAB_REPRODUCE_IMAGENET_WORKSPACE_H_
#define RESMEM_LAB_REPRODUCE_IMAGENET_WORKSPACE_H_

#include <optional>
#include <string>
#include <vector>

#include "console/console.h"
#include "reproduce/embedded.h"
#include "reproduce/imagenet/photos.h"
#include "resmem/models/onnx_model.h"

namespace resmem::cli::reproduce::imagenet {

struct WorkspaceOptions {
  std::string data;                 // with train/
  std::vector<std::string> models;  // NAME=FILE.onnx
  std::string classes;              // a file as ReadClasses() takes it; empty: classes.txt in data
  std::string tune, judge, judge_list;  // folders; empty: found in data
  int64_t reduce = 0;                   // judged photos are also reduced to this side
  int64_t per_class = 0;                // photos of a class in the memory; 0: all
  std::vector<float> mean = {0.5f}, deviation = {0.5f};  // of a file without manifest
  std::string folder;
  OnnxOptions runtime;
};

struct Network {
  std::string name;  // of the steps, often the width: "0.35"
  std::string file;
  std::string digest;  // of the file's bytes
};

class Workspace {
 public:
  // Makes the folders and finds everything; reads no pixels.
  static Result<Workspace> Open(WorkspaceOptions options, Console& console);

  int threads() const { return options_.runtime.threads; }
  const WorkspaceOptions& options() const { return options_; }
  // "models", "arrays", "memories".
  std::string Path(const std::string& kind, const std::string& name) const {
    return options_.folder + "/" + kind + "/" + name;
  }
  Console& console() const { return *console_; }

  const Classes& classes() const { return classes_; }
  const std::vector<Network>& networks() const { return networks_; }
  const std::vector<Reduction>& reductions() const { return reductions_; }
  // What goes into the memory, what chooses, what judges.
  const Photos& memory() const { return memory_; }
  const Photos& tune() const { return tune_; }
  const Photos& judge() const { return judge_; }
  // Of every photo's folder, name and length, and of the classes.
  const std::string& data_digest() const { return data_digest_; }

  // The network's keys and its logits of the classes, from arrays/ where they are kept.
  // `part`: "memory", "tune" or "judge".
  Result<Embedded> Arrays(const Network& network, const std::string& part,
                          const Reduction& reduction);
  Result<Fingerprint> FingerprintOf(const Network& network);

 private:
  Workspace(WorkspaceOptions options, Console& console)
      : options_(std::move(options)), console_(&console) {}
  Status FindClasses();
  Status FindAllPhotos();
  Status FindNetworks();
  Result<std::string> Prepared(const Network& network);
  Result<Embedded> Embed(const OnnxModel& model, const Photos& photos, const Reduction& reduction);

  WorkspaceOptions options_;
  Console* console_;
  Classes classes_;
  Photos memory_, tune_, judge_;
  std::vector<Network> networks_;
  std::vector<Reduction> reductions_;
  std::string data_digest_;
};

}  // namespace resmem::cli::reproduce::imagenet

#endif  // RESMEM_LAB_REPRODUCE_IMAGENET_WORKSPACE_H_
