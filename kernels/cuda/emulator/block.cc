#include "block.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fiber.h"
#include "kernel_name.h"

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

namespace emulator {

namespace {

constexpr int lanes = 32;

class Block;

// A Worker is a fiber that runs threads of a block one after another, until one must
// wait; it goes on with that one when it is resumed.
struct Worker {
  explicit Worker(Block* block) : block(block), fiber(&Worker::loop, this) {}
  static void loop(void* self);

  Block* block;
  Fiber fiber;
};

struct Thread {
  enum class State : uint8_t { unstarted, running, ready, at_barrier, meeting, exited } state;
  Collective operation;
  unsigned mask;   // of the lanes it meets
  int source;      // of a shuffle
  uint64_t value;  // what it brings, then what it is given
  Worker* worker;  // that it runs on, while it waits
};

// Block is the state of the block that runs on this thread of the machine.
class Block {
 public:
  void run(const Launch& launch, uint3 index, bool reverse);
  void work();  // on a worker's fiber
  Vote barrier(bool predicate);
  uint64_t meet(Collective operation, unsigned mask, uint64_t value, int source);
  int lane() const { return current_ % lanes; }
  void* shared() { return shared_.get(); }

 private:
  using State = Thread::State;

  void exit_thread();
  void release_barrier();
  void settle_warp(int warp);
  void settle(int warp, int first);
  void wake(int thread);
  void enter(int thread);
  int nth(int i) const { return reverse_ ? count_ - 1 - i : i; }
  [[noreturn]] void deadlock() const;

  const Launch* launch_ = nullptr;
  int count_ = 0, started_ = 0, exited_ = 0, waiting_ = 0, yes_ = 0;
  int current_ = 0;
  Vote vote_ = {};
  bool reverse_ = false;
  std::vector<Thread> threads_;
  std::vector<int> ready_;  // a queue: from ready_at_ on
  size_t ready_at_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  Worker* worker_ = nullptr;
  size_t shared_size_ = 0;
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> shared_;
};

thread_local Block block;

void Worker::loop(void* self) {
  Worker* worker = static_cast<Worker*>(self);
  for (;;) {
    worker->block->work();
    worker->fiber.suspend();
  }
}

void Block::run(const Launch& launch, uint3 index, bool reverse) {
  reverse_ = reverse;
  launch_ = &launch;
  count_ = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  started_ = exited_ = waiting_ = yes_ = 0;
  threads_.assign(count_, Thread{});
  ready_.clear();
  ready_at_ = 0;
  blockIdx = index;
  blockDim = launch.block;
  gridDim = launch.grid;
  if (shared_size_ < launch.shared) {
    shared_size_ = (launch.shared + 1023) / 1024 * 1024;
    shared_.reset(std::aligned_alloc(1024, shared_size_));
  }
  if (shared_) std::memset(shared_.get(), 0xff, shared_size_);

  while (exited_ < count_) {
    if (ready_at_ < ready_.size()) {
      int thread = ready_[ready_at_++];
      enter(thread);
      worker_ = threads_[thread].worker;
    } else if (started_ < count_) {
      if (idle_.empty()) {
        workers_.push_back(std::make_unique<Worker>(this));
        idle_.push_back(workers_.back().get());
      }
      worker_ = idle_.back();
      idle_.pop_back();
    } else {
      deadlock();
    }
    worker_->fiber.resume();
  }
}

void Block::work() {
  while (started_ < count_ && ready_at_ == ready_.size()) {
    enter(nth(started_++));
    launch_->thread();
    exit_thread();
  }
  idle_.push_back(worker_);
}

// enter makes thread the one that runs.
void Block::enter(int thread) {
  current_ = thread;
  threads_[thread].state = State::running;
  unsigned x = launch_->block.x, y = launch_->block.y, t = static_cast<unsigned>(thread);
  threadIdx = {t % x, t / x % y, t / (x * y)};
}

void Block::exit_thread() {
  threads_[current_].state = State::exited;
  exited_++;
  release_barrier();
  settle_warp(current_ / lanes);
}

void Block::wake(int thread) {
  threads_[thread].state = State::ready;
  ready_.push_back(thread);
}

Vote Block::barrier(bool predicate) {
  int self = current_;
  waiting_++;
  yes_ += predicate;
  threads_[self].state = State::at_barrier;
  threads_[self].worker = worker_;
  release_barrier();
  worker_->fiber.suspend();  // also the last to arrive: all go on in order
  return vote_;
}

// release_barrier wakes the threads at the barrier once all living ones are there.
// vote_ stays until the next barrier, which none of them reaches before all are awake.
void Block::release_barrier() {
  if (waiting_ == 0 || waiting_ < count_ - exited_) return;
  vote_ = {yes_, waiting_};
  waiting_ = yes_ = 0;
  for (int i = 0; i < count_; i++) {
    if (threads_[nth(i)].state == State::at_barrier) wake(nth(i));
  }
}

uint64_t Block::meet(Collective operation, unsigned mask, uint64_t value, int source) {
  Thread& self = threads_[current_];
  self.operation = operation;
  self.mask = mask;
  self.value = value;
  self.source = source;
  self.state = State::meeting;
  if (!(mask >> lane() & 1)) deadlock();  // a lane must be in its own mask
  settle(current_ / lanes, current_);     // no other operation can be complete by this lane
  self.worker = worker_;
  worker_->fiber.suspend();
  return self.value;
}

// settle_warp completes each operation whose lanes are all there.
void Block::settle_warp(int warp) {
  for (int l = 0; l < lanes; l++) {
    int t = warp * lanes + l;
    if (t < count_ && threads_[t].state == State::meeting) settle(warp, t);
  }
}

// settle completes the operation that thread first waits in, if all living lanes of its
// mask wait in the same.
void Block::settle(int warp, int first) {
  const unsigned mask = threads_[first].mask;
  const Collective operation = threads_[first].operation;
  Thread* at[lanes] = {};
  for (int l = 0; l < lanes; l++) {
    int t = warp * lanes + l;
    if (!(mask >> l & 1) || t >= count_ || threads_[t].state == State::exited) continue;
    if (threads_[t].state != State::meeting || threads_[t].mask != mask || threads_[t].operation != operation) return;
    at[l] = &threads_[t];
  }

  uint64_t in[lanes], all = 0;
  bool some = false;
  for (int l = 0; l < lanes; l++) {
    if (!at[l]) continue;
    in[l] = at[l]->value;
    const int64_t x = static_cast<int64_t>(in[l]), so_far = static_cast<int64_t>(all);
    switch (operation) {
      case Collective::ballot: all |= in[l] << l; break;
      case Collective::sum: all += in[l]; break;
      case Collective::least: all = !some || x < so_far ? in[l] : all; break;
      case Collective::most: all = !some || x > so_far ? in[l] : all; break;
      default: break;
    }
    some = true;
  }
  for (int i = 0; i < lanes; i++) {
    int l = reverse_ ? lanes - 1 - i : i;
    if (!at[l]) continue;
    if (operation == Collective::shuffle) {
      int source = at[l]->source;
      at[l]->value = source >= 0 && source < lanes && at[source] ? in[source] : ~uint64_t{0};
    } else if (operation == Collective::match) {
      at[l]->value = 0;
      for (int o = 0; o < lanes; o++) at[l]->value |= static_cast<uint64_t>(at[o] && in[o] == in[l]) << o;
    } else {
      at[l]->value = all;
    }
    wake(warp * lanes + l);
  }
}

void Block::deadlock() const {
  int meeting = 0;
  for (const Thread& t : threads_) meeting += t.state == State::meeting;
  std::fprintf(
      stderr,
      "%s: block (%u,%u,%u) cannot go on: of its %d threads %d have returned, %d wait at __syncthreads and %d in "
      "warp operations that not all lanes of their mask reach\n",
      kernel_name(launch_->kernel).c_str(), blockIdx.x, blockIdx.y, blockIdx.z, count_, exited_, waiting_, meeting);
  std::abort();
}

}  // namespace

void run(const Launch& launch) {
  const char* order = std::getenv("MILLRACE_EMULATOR_ORDER");
  const bool reverse = order && !std::strcmp(order, "reverse");
  const uint64_t x = launch.grid.x, y = launch.grid.y, blocks = x * y * launch.grid.z;
  for (uint64_t i = 0; i < blocks; i++) {
    const uint64_t b = reverse ? blocks - 1 - i : i;
    const uint3 index = {static_cast<unsigned>(b % x), static_cast<unsigned>(b / x % y),
                         static_cast<unsigned>(b / (x * y))};
    block.run(launch, index, reverse);
  }
}

Vote barrier(bool predicate) { return block.barrier(predicate); }
uint64_t meet(Collective operation, unsigned mask, uint64_t value, int source) {
  return block.meet(operation, mask, value, source);
}
int lane() { return block.lane(); }
void* shared_memory() { return block.shared(); }

}  // namespace emulator
