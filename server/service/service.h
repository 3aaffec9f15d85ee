// The service as the HTTP server sees it: routes, keys, and the threads that do the work.
#ifndef RESMEM_SERVER_SERVICE_SERVICE_H_
#define RESMEM_SERVER_SERVICE_SERVICE_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "operation/config.h"
#include "service/context.h"

namespace resmem::serve {

class Service : public Handler {
 public:
  explicit Service(const Config& config);
  ~Service() override;

  // Opens every memory, with all checksums compared, and reads the keys.
  Status Load();
  void Start();  // the threads
  // What has begun is finished; edits that wait are made.
  void Stop();
  // Keys and memories: all are read and checked first; where one fails, nothing changes.
  Status Reload();

  bool Refuse(const Request& head, Response* answer) override;
  void Handle(Request request, Reply reply) override;
  void Done(const Exchange& exchange) override;

  Context& context() { return context_; }

 private:
  Status OpenEdits(const MemorySource& source, Hosted* hosted);
  bool Allow(const Request& head, const Route& route, KeyOwner* who, Response* answer) const;

  const Config config_;
  Context context_;
  std::vector<std::thread> threads_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SERVICE_SERVICE_H_
