// The context switch, by hand for x86-64: ucontext's makes two system calls a switch,
// and a block of a kernel with barriers switches thousands of times.
#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef __x86_64__
#error "the emulator's context switch is written for x86-64"
#endif

// emulator_switch saves the callee-saved registers and the stack pointer to *from, and
// goes on where `to` was saved.
extern "C" void emulator_switch(void** from, void* to);
asm(R"(
.text
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch, @function
emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulator_switch, .-emulator_switch

# emulator_enter is where a new fiber's first switch returns to: the fiber is in rbx.
.globl emulator_enter
.hidden emulator_enter
.type emulator_enter, @function
emulator_enter:
  movq %rbx, %rdi
  call *%rbp
  ud2
.size emulator_enter, .-emulator_enter
)");
extern "C" void emulator_enter();

namespace emulator {

namespace {

// A kernel thread's stack holds its locals and, in tests, what a sanitizer adds.
constexpr size_t stack_bytes = 128 << 10;
constexpr size_t guard_bytes = 4096;

}  // namespace

Fiber::Fiber(void (*entry)(void*), void* argument) : entry_(entry), argument_(argument) {
  void* memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
  mprotect(memory_, guard_bytes, PROT_NONE);

  // What emulator_switch pops: r15 r14 r13 r12 rbx rbp, then the return address. The
  // stack is aligned to 16 where emulator_enter calls.
  void** top = reinterpret_cast<void**>(memory_ + guard_bytes + stack_bytes) - 2;
  *--top = reinterpret_cast<void*>(&emulator_enter);
  *--top = reinterpret_cast<void*>(&Fiber::start);  // rbp
  *--top = this;                                    // rbx
  for (int i = 0; i < 4; i++) *--top = nullptr;
  own_ = top;
}

Fiber::~Fiber() { munmap(memory_, guard_bytes + stack_bytes); }

void Fiber::start(Fiber* self) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, &self->caller_stack_, &self->caller_size_);
#endif
  self->entry_(self->argument_);
}

void Fiber::resume() {
#ifdef __SANITIZE_ADDRESS__
  void* fake;
  __sanitizer_start_switch_fiber(&fake, memory_ + guard_bytes, stack_bytes);
  emulator_switch(&caller_, own_);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
  emulator_switch(&caller_, own_);
#endif
}

void Fiber::suspend() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&own_fake_, caller_stack_, caller_size_);
  emulator_switch(&own_, caller_);
  __sanitizer_finish_switch_fiber(own_fake_, &caller_stack_, &caller_size_);
#else
  emulator_switch(&own_, caller_);
#endif
}

}  // namespace emulator
