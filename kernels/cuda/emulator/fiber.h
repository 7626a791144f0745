// Fibers: stacks of their own that one operating-system thread switches between.
// A fiber runs only on the thread that made it.
#pragma once

#include <cstddef>

namespace emulator {

class Fiber {
 public:
  // entry(argument) must never return.
  Fiber(void (*entry)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();   // from the thread's own stack: runs the fiber until it suspends
  void suspend();  // from the fiber: goes back to resume's caller

 private:
  static void start(Fiber* self);

  void (*entry_)(void*);
  void* argument_;
  char* memory_;          // a page no access is allowed to, then the stack
  void* own_ = nullptr;   // stack pointer while suspended
  void* caller_ = nullptr;
#ifdef __SANITIZE_ADDRESS__
  const void* caller_stack_ = nullptr;
  size_t caller_size_ = 0;
  void* own_fake_ = nullptr;
#endif
};

}  // namespace emulator
