// A fibre: a body with a stack of its own that runs until it hands over, for schedulers that decide
// after each operation who runs next. A switch costs a dozen nanoseconds, and both AddressSanitizer
// and ThreadSanitizer are told of it.
//
// All fibres of one scheduler live on one OS thread, so they share thread_local variables, guards
// of function-local statics and the C++ runtime's stack of caught exceptions: a body must not
// switch inside a catch block, nor while a static is being initialised.
#pragma once

#include <cstddef>
#include <functional>

namespace slotfuzz::interleave {

class Fibre {
 public:
  // What ThreadSanitizer makes of a switch. kOrders: all before it happens before all after it, as
  // in one thread. kSilent: it orders nothing, so two fibres race as two threads would.
  enum class Switching { kOrders, kSilent };

  // The body returns who runs next: another fibre, or null for the one that resumed. A fibre whose
  // body has returned begins anew when it is resumed again, on the same stack.
  using Body = std::function<Fibre*()>;

  Fibre(size_t stack_bytes, Switching switching, Body body);
  // The body must have returned, or been abandoned, or never have begun.
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // Outside of fibres: runs this one, and those that it hands over to, until one suspends.
  void resume();
  // Inside the body: back to whoever resumed.
  void suspend();
  // Inside the body: the other one goes on in this one's place.
  void hand_over(Fibre& next);
  // Outside: a suspended body never goes on, and the next resume() begins anew. Its locals are not
  // destroyed. That is for code that is noexcept, as the protocols are; a body that owns memory
  // should be left by an exception instead. What the sanitizers keep about the stack is freed:
  // AddressSanitizer's record of frames would otherwise leak gigabytes.
  void abandon();
  // The body has begun and has not returned.
  bool is_running() const { return running_; }

 private:
  // Where control was when it left a stack, and what the sanitizers keep about that stack.
  struct Context {
    void* stack_pointer = nullptr;
    void* thread_fibre = nullptr;  // ThreadSanitizer's
    void* fake_stack = nullptr;    // AddressSanitizer's
    const void* bottom = nullptr;
    size_t size = 0;
  };

  static void enter(Fibre* self);
  void prepare();
  void switch_between(Context& from, Context& to, bool from_is_done);
  void arrived(Context& here);
  void came_back();
  void leave_for_good();

  Body body_;
  Switching switching_;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  Context own_;
  Context outside_;           // of the caller of resume(), kept in the fibre that it resumed
  Fibre* resumed_ = nullptr;  // the fibre that keeps the caller's context
  Context* left_ = nullptr;   // the context that was left to come here
  bool running_ = false;
  bool abandoned_ = false;
};

}  // namespace slotfuzz::interleave
