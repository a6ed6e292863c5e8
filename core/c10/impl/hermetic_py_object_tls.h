// HermeticPyObjectTLS: while the flag of a thread is set, wrapping an impl on that thread gives a
// fresh wrapper of the base class and does not touch the slot (H1). The flag says nothing about
// wrappers that already exist: each wrapper records whether it is hermetic (H2, H3).
#pragma once

namespace slotcore::impl {

class HermeticPyObjectTLS {
 public:
  static bool get_state() noexcept;
  static void set_state(bool hermetic) noexcept;
};

// Sets the flag and restores the former state, also when an exception passes (H4).
class HermeticGuard {
 public:
  explicit HermeticGuard(bool hermetic = true) noexcept
      : former_(HermeticPyObjectTLS::get_state()) {
    HermeticPyObjectTLS::set_state(hermetic);
  }
  ~HermeticGuard() { HermeticPyObjectTLS::set_state(former_); }
  HermeticGuard(const HermeticGuard&) = delete;
  HermeticGuard& operator=(const HermeticGuard&) = delete;

 private:
  bool former_;
};

}  // namespace slotcore::impl
