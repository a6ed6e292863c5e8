// Names of values, and the counter of sources.

#include "core/meta/meta_tensor_desc.h"

#include <atomic>

namespace slotcore::meta {

uint64_t next_source() noexcept {
  // Relaxed: only the value matters.
  static constinit std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

const char* name_of(CreationMeta meta) noexcept {
  switch (meta) {
    case CreationMeta::kDefault: return "default";
    case CreationMeta::kNoGradMode: return "no_grad_mode";
    case CreationMeta::kInCustomFunction: return "in_custom_function";
    case CreationMeta::kMultiOutputNode: return "multi_output_node";
  }
  __builtin_unreachable();
}

}  // namespace slotcore::meta
