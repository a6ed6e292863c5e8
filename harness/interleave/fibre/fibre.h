// A fibre: a body with its own stack that runs until it hands over, for schedulers that decide
// after each operation which thread runs next. A switch costs a dozen nanoseconds. Fibres report
// each switch to AddressSanitizer and ThreadSanitizer.
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
  // How ThreadSanitizer treats a switch. kOrders: everything before it happens before everything
  // after it, as in one thread. kSilent: it orders nothing, so two fibres race as two threads
  // would.
  enum class Switching { kOrders, kSilent };

  // The body returns the fibre that runs next, or null for the caller of resume(). A fibre whose
  // body has returned starts again on the same stack when it is resumed.
  using Body = std::function<Fibre*()>;

  Fibre(size_t stack_bytes, Switching switching, Body body);
  // The body must have returned, or been abandoned, or never have begun.
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // Outside of fibres: runs this fibre, and those that it hands over to, until one suspends.
  void resume();
  // Inside the body: returns to the caller of resume().
  void suspend();
  // Inside the body: the other fibre continues in the place of this one.
  void hand_over(Fibre& next);
  // Outside: a suspended body never continues, and the next resume() starts it again. Its locals
  // are not destroyed, so it must be noexcept code, as the protocols are; a body that owns memory
  // should end by an exception instead. This frees what the sanitizers keep about the stack:
  // otherwise AddressSanitizer's record of frames would leak gigabytes.
  void abandon();
  // The body has begun and has not returned.
  bool is_running() const { return running_; }

 private:
  // The stack pointer at which control left a stack, and what the sanitizers keep about that stack.
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
  Context outside_;           // of the caller of resume(), stored in the fibre that it resumed
  Fibre* resumed_ = nullptr;  // the fibre that keeps the caller's context
  Context* left_ = nullptr;   // the context that control left to come here
  bool running_ = false;
  bool abandoned_ = false;
};

}  // namespace slotfuzz::interleave
