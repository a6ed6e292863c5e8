// Whether operations of this thread are recorded in a graph.
#pragma once

namespace slotcore::autograd {

struct GradMode {
  static bool is_enabled() noexcept;
  static void set_enabled(bool enabled) noexcept;
};

// Sets the mode, and restores the former one at the end of a scope, also when an exception passes.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) noexcept : former_(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(former_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool former_;
};

}  // namespace slotcore::autograd
