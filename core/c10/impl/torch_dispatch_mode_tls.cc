// One stack for each thread, in one translation unit, so that every user sees the same one.

#include "core/c10/impl/torch_dispatch_mode_tls.h"

#include <vector>

namespace slotcore::impl {
namespace {

std::vector<ModePtr>& stack() noexcept {
  static thread_local std::vector<ModePtr> modes;
  return modes;
}

// The last one of the stack. Every operation asks for it, and so it needs no initialization.
constinit thread_local TorchDispatchMode* innermost_mode = nullptr;

}  // namespace

void TorchDispatchModeTLS::push(ModePtr mode) {
  stack().push_back(std::move(mode));
  innermost_mode = stack().back().get();
}

ModePtr TorchDispatchModeTLS::pop() noexcept {
  if (stack().empty()) return nullptr;
  ModePtr mode = std::move(stack().back());
  stack().pop_back();
  innermost_mode = stack().empty() ? nullptr : stack().back().get();
  return mode;
}

TorchDispatchMode* TorchDispatchModeTLS::innermost() noexcept { return innermost_mode; }

size_t TorchDispatchModeTLS::size() noexcept { return stack().size(); }

}  // namespace slotcore::impl
