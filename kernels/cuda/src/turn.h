// A lock that is given in the order in which it was asked for. A generator asks for its
// device again as soon as it has let go of it; with a lock that anyone may snatch the learner
// would wait for as long as rollouts last.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace millrace {

class Turn {
 public:
  void lock() {
    std::unique_lock<std::mutex> held(mutex_);
    const uint64_t mine = asked_++;
    changed_.wait(held, [&] { return serving_ == mine; });
  }
  void unlock() {
    {
      std::lock_guard<std::mutex> held(mutex_);
      serving_++;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t asked_ = 0, serving_ = 0;
};

}  // namespace millrace
