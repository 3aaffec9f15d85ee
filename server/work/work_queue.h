// Work that waits for a thread.  Jobs of one group that are there together are taken together, so
// that one search answers many clients; a job that is alone is taken at once.
//
// When the load has been such that several came at a time, a thread that finds fewer waits for them
// at most `gather`, counted from the arrival of the oldest: what a batch may cost its first query.
#ifndef RESMEM_SERVER_WORK_WORK_QUEUE_H_
#define RESMEM_SERVER_WORK_WORK_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace resmem::serve {

using WorkClock = std::chrono::steady_clock;

// What a group's jobs carry.
struct JobData {
  virtual ~JobData() = default;
};

struct Job {
  // Answers several jobs of one group at once, `alone`: nobody else is being answered or waits.
  using Group = std::function<void(std::vector<Job> jobs, bool alone)>;

  std::shared_ptr<const Group> group;  // null: `run` is all there is to do
  std::unique_ptr<JobData> data;
  std::function<void()> run;
  int64_t bytes = 0;  // of its request
  WorkClock::time_point arrived{};
};

struct WorkLimits {
  int64_t waiting = 1024;                  // jobs
  int64_t batch_requests = 256;            // taken together
  int64_t batch_bytes = int64_t{4} << 20;  // of their requests; one alone may be larger
  std::chrono::microseconds gather{200};
};

class WorkQueue {
 public:
  explicit WorkQueue(const WorkLimits& limits) : limits_(limits) {}

  // False: too many wait, or the queue is closed; the job is untouched.
  bool Push(Job&& job);
  // Takes and does work until the queue is closed and empty.  Any number of threads.
  void Work();
  void Close();
  int64_t waiting() const;
  bool idle() const;  // nothing waits and nothing is being done

 private:
  std::vector<Job> Take(std::unique_lock<std::mutex>& lock);
  void Gather(std::unique_lock<std::mutex>& lock);
  int64_t CountLike(const Job& first) const;

  const WorkLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::map<const void*, int64_t> last_size_;  // of each group's latest batch
  bool gathering_ = false;                    // by one thread at a time, or they share what comes
  int64_t missing_ = 0;                       // of the jobs that it waits for
  int64_t working_ = 0;                       // jobs that are being done
  bool closed_ = false;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_WORK_WORK_QUEUE_H_
