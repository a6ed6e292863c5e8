// Each thread has a stack of pairs. A pair that a thread never leaves is released at its end.

#include "core/autograd/saved/saved_tensor_hooks.h"

#include <utility>
#include <vector>

namespace slotcore::autograd {
namespace {
thread_local std::vector<std::shared_ptr<const SavedTensorHooks>> entered_here;
}

std::shared_ptr<const SavedTensorHooks> SavedTensorHooks::innermost() {
  return entered_here.empty() ? nullptr : entered_here.back();
}

void SavedTensorHooks::enter(std::shared_ptr<const SavedTensorHooks> hooks) {
  entered_here.push_back(std::move(hooks));
}

std::shared_ptr<const SavedTensorHooks> SavedTensorHooks::leave() noexcept {
  if (entered_here.empty()) return nullptr;
  auto last = std::move(entered_here.back());
  entered_here.pop_back();
  return last;
}

}  // namespace slotcore::autograd
