// Something that each thread has one of.
#ifndef RESMEM_SUPPORT_THREAD_OWN_H_
#define RESMEM_SUPPORT_THREAD_OWN_H_

#include <pthread.h>

#include <memory>
#include <new>

namespace resmem {

// A T for each thread, made at its first use and freed as the thread ends; for static variables.
// As a thread_local T, but that ends the process if there is no memory to note its destructor.
template <class T>
class ThreadOwn {
 public:
  ThreadOwn() {
    if (::pthread_key_create(&key_, [](void* own) { delete static_cast<T*>(own); }) != 0) {
      throw std::bad_alloc();
    }
  }
  ThreadOwn(const ThreadOwn&) = delete;
  ThreadOwn& operator=(const ThreadOwn&) = delete;

  T& Get() const {
    if (void* own = ::pthread_getspecific(key_)) return *static_cast<T*>(own);
    auto made = std::make_unique<T>();
    if (::pthread_setspecific(key_, made.get()) != 0) throw std::bad_alloc();
    return *made.release();
  }

 private:
  pthread_key_t key_;  // stays for the life of the process: threads may end after static variables
};

}  // namespace resmem

#endif  // RESMEM_SUPPORT_THREAD_OWN_H_
