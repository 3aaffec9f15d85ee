#include "work/work_queue.h"

#include <algorithm>

namespace resmem::serve {

bool WorkQueue::Push(Job&& job) {
  bool gathering = false, enough = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || static_cast<int64_t>(jobs_.size()) >= limits_.waiting) return false;
    gathering = gathering_;
    if (gathering && job.group == jobs_.front().group) enough = --missing_ == 0;
    job.arrived = WorkClock::now();
    jobs_.push_back(std::move(job));
  }
  // While a thread gathers, the others wait for it too, and it is not to wake before all are there.
  if (!gathering) changed_.notify_one();
  if (enough) changed_.notify_all();
  return true;
}

void WorkQueue::Close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

int64_t WorkQueue::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(jobs_.size());
}

bool WorkQueue::idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return jobs_.empty() && working_ == 0 && !closed_;
}

int64_t WorkQueue::CountLike(const Job& first) const {
  return std::count_if(jobs_.begin(), jobs_.end(),
                       [&](const Job& job) { return job.group == first.group; });
}

// Until as many have come as came last time, or the oldest has waited long enough.
void WorkQueue::Gather(std::unique_lock<std::mutex>& lock) {
  const auto group = jobs_.front().group;
  const auto until = jobs_.front().arrived + limits_.gather;
  const int64_t expected = std::min(last_size_[group.get()], limits_.batch_requests);
  missing_ = expected - CountLike(jobs_.front());
  if (missing_ <= 0) return;
  gathering_ = true;
  changed_.wait_until(lock, until, [&] { return closed_ || missing_ <= 0; });
  gathering_ = false;
}

std::vector<Job> WorkQueue::Take(std::unique_lock<std::mutex>& lock) {
  std::vector<Job> taken;
  changed_.wait(lock, [&] { return (!jobs_.empty() && !gathering_) || closed_; });
  if (jobs_.empty()) return taken;
  if (jobs_.front().group != nullptr) Gather(lock);
  if (jobs_.empty()) return taken;
  const auto group = jobs_.front().group;
  int64_t bytes = 0;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const bool fits =
        taken.empty() ||
        (group != nullptr && job->group == group && bytes + job->bytes <= limits_.batch_bytes &&
         static_cast<int64_t>(taken.size()) < limits_.batch_requests);
    if (!fits) {
      if (group == nullptr) break;
      ++job;
      continue;
    }
    bytes += job->bytes;
    taken.push_back(std::move(*job));
    job = jobs_.erase(job);
  }
  if (group != nullptr) last_size_[group.get()] = static_cast<int64_t>(taken.size());
  return taken;
}

void WorkQueue::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    std::vector<Job> jobs = Take(lock);
    if (jobs.empty()) {
      if (closed_ && jobs_.empty()) return;
      continue;
    }
    const auto count = static_cast<int64_t>(jobs.size());
    working_ += count;
    const bool alone = working_ == 1 && jobs_.empty();
    lock.unlock();
    changed_.notify_one();  // another thread may have waited for the gathering
    const auto group = jobs.front().group;
    if (group != nullptr) {
      (*group)(std::move(jobs), alone);
    } else {
      jobs.front().run();
    }
    lock.lock();
    working_ -= count;
  }
}

}  // namespace resmem::serve
