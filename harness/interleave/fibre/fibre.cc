// Stacks, the switch between them, and the calls that report it to the sanitizers. This file is
// compiled without ThreadSanitizer: its record of entered functions belongs to a fibre, and a
// function that is left on another fibre than it entered would corrupt the record. So this file
// finds the sanitizers' functions at link time (weak), not through the compiler's macros.

#include "harness/interleave/fibre/fibre.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "harness/engine/check.h"

extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom,
                                                   size_t* size);
void __asan_unpoison_memory_region(const volatile void* begin, size_t size);
[[gnu::weak]] void* __tsan_get_current_fiber(void);
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fibre);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fibre, unsigned flags);

// Saves the registers that the ABI requires a callee to preserve, and swaps stacks.
void slotfuzz_fibre_switch(void** from, void* to);
// The start of a fresh stack: calls the function with its argument; the function never returns.
void slotfuzz_fibre_begin(void);
}

#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .globl slotfuzz_fibre_switch
  .hidden slotfuzz_fibre_switch
  .type slotfuzz_fibre_switch, @function
slotfuzz_fibre_switch:
  .cfi_startproc
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
  popq %rcx
  jmpq *%rcx
  .cfi_endproc
  .size slotfuzz_fibre_switch, .-slotfuzz_fibre_switch

  .globl slotfuzz_fibre_begin
  .hidden slotfuzz_fibre_begin
  .type slotfuzz_fibre_begin, @function
slotfuzz_fibre_begin:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
  .size slotfuzz_fibre_begin, .-slotfuzz_fibre_begin
)");
namespace {
// The order in which the switch pops them; two more words keep the stack aligned to 16.
enum Saved { kR15, kR14, kFunction, kArgument, kRbx, kFramePointer, kBegin, kSavedMax = 9 };
}  // namespace
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .globl slotfuzz_fibre_switch
  .hidden slotfuzz_fibre_switch
  .type slotfuzz_fibre_switch, %function
slotfuzz_fibre_switch:
  .cfi_startproc
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .cfi_endproc
  .size slotfuzz_fibre_switch, .-slotfuzz_fibre_switch

  .globl slotfuzz_fibre_begin
  .hidden slotfuzz_fibre_begin
  .type slotfuzz_fibre_begin, %function
slotfuzz_fibre_begin:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x19
  blr x20
  brk #1
  .cfi_endproc
  .size slotfuzz_fibre_begin, .-slotfuzz_fibre_begin
)");
namespace {
enum Saved { kArgument = 0, kFunction = 1, kFramePointer = 10, kBegin = 11, kSavedMax = 20 };
}  // namespace
#else
#error "a switch between stacks is written for x86-64 and aarch64"
#endif

namespace slotfuzz::interleave {

namespace {

// The next user of these pages must not find AddressSanitizer's marks of the frames that were here.
void unmark([[maybe_unused]] const void* begin, [[maybe_unused]] size_t size) {
  if constexpr (__has_feature(address_sanitizer)) __asan_unpoison_memory_region(begin, size);
}

}  // namespace

Fibre::Fibre(size_t stack_bytes, Switching switching, Body body)
    : body_(std::move(body)), switching_(switching) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // The page below the stack is never mapped, so that an overflow crashes where it happens.
  mapping_bytes_ = (stack_bytes + page - 1) / page * page + page;
  mapping_ = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED || mprotect(static_cast<char*>(mapping_) + page, mapping_bytes_ - page,
                                         PROT_READ | PROT_WRITE) != 0) {
    std::fprintf(stderr, "slotfuzz: no memory for a stack of %zu bytes\n", stack_bytes);
    std::_Exit(2);
  }
  own_.bottom = static_cast<char*>(mapping_) + page;
  own_.size = mapping_bytes_ - page;
  if (__tsan_create_fiber) own_.thread_fibre = __tsan_create_fiber(0);
}

Fibre::~Fibre() {
  CHECK(!running_, "a fibre was destroyed inside its body");
  if (own_.fake_stack != nullptr) leave_for_good();
  if (own_.thread_fibre) __tsan_destroy_fiber(own_.thread_fibre);
  unmark(own_.bottom, own_.size);
  munmap(mapping_, mapping_bytes_);
}

void Fibre::prepare() {
  const auto top = reinterpret_cast<uintptr_t>(own_.bottom) + own_.size;
  void** frame = reinterpret_cast<void**>(top - kSavedMax * sizeof(void*));
  for (size_t i = 0; i < kSavedMax; ++i) frame[i] = nullptr;
  frame[kFunction] = reinterpret_cast<void*>(&Fibre::enter);
  frame[kArgument] = this;
  frame[kBegin] = reinterpret_cast<void*>(&slotfuzz_fibre_begin);
  own_.stack_pointer = frame;
}

// No exception may leave the body: noexcept ends the process with a message.
//
// AddressSanitizer's fake stack stays with the fibre from one body to the next: a new one each time
// would cost more than most bodies. So this function, which never returns, must have no frame
// there.
[[clang::no_sanitize("address")]] void Fibre::enter(Fibre* self) {
  self->came_back();
  self->running_ = true;
  Fibre* next = [self]() noexcept { return self->body_(); }();
  self->running_ = false;
  Fibre* keeper = self->resumed_;
  Context* target = &keeper->outside_;
  if (next != nullptr) {
    CHECK(next != self, "a fibre handed over to itself");
    if (!next->running_) next->prepare();
    next->resumed_ = keeper;
    next->left_ = &self->own_;
    target = &next->own_;
  } else {
    keeper->left_ = &self->own_;
  }
  self->switch_between(self->own_, *target, false);
  CHECK(false, "a finished fibre went on");
}

void Fibre::arrived(Context& here) {
  if (!__sanitizer_finish_switch_fiber) return;
  const void* bottom = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &size);
  // The stack of an OS thread is known only once it has been left.
  if (left_ != nullptr && left_->bottom == nullptr) {
    left_->bottom = bottom;
    left_->size = size;
  }
}

void Fibre::switch_between(Context& from, Context& to, bool from_is_done) {
  if (__sanitizer_start_switch_fiber) {
    __sanitizer_start_switch_fiber(from_is_done ? nullptr : &from.fake_stack, to.bottom, to.size);
  }
  if (__tsan_switch_to_fiber) {
    // What an abandoned fibre did comes before all that follows, or the next run, in the same
    // memory, would race with it.
    const bool silent = switching_ == Switching::kSilent && !abandoned_;
    __tsan_switch_to_fiber(to.thread_fibre, silent ? 1 : 0);
  }
  slotfuzz_fibre_switch(&from.stack_pointer, to.stack_pointer);
}

void Fibre::resume() {
  if (__tsan_get_current_fiber) outside_.thread_fibre = __tsan_get_current_fiber();
  outside_.bottom = nullptr;
  resumed_ = this;
  if (!running_) prepare();
  left_ = &outside_;
  switch_between(outside_, own_, false);
  arrived(outside_);
}

void Fibre::suspend() {
  Fibre* keeper = resumed_;
  keeper->left_ = &own_;
  switch_between(own_, keeper->outside_, false);
  came_back();
}

void Fibre::hand_over(Fibre& next) {
  if (!next.running_) next.prepare();
  next.resumed_ = resumed_;
  next.left_ = &own_;
  switch_between(own_, next.own_, false);
  came_back();
}

void Fibre::came_back() {
  arrived(own_);
  if (!abandoned_) return;
  // AddressSanitizer accepts the end of a stack only from within that stack.
  resumed_->left_ = &own_;
  switch_between(own_, resumed_->outside_, true);
}

void Fibre::leave_for_good() {
  abandoned_ = true;
  resume();
  abandoned_ = false;
  own_.fake_stack = nullptr;
}

void Fibre::abandon() {
  CHECK(running_, "a fibre that is not suspended was abandoned");
  leave_for_good();
  running_ = false;
  unmark(own_.bottom, own_.size);
  // ThreadSanitizer keeps the functions that were entered: they will not be left.
  if (__tsan_destroy_fiber) {
    __tsan_destroy_fiber(own_.thread_fibre);
    own_.thread_fibre = __tsan_create_fiber(0);
  }
}

}  // namespace slotfuzz::interleave
