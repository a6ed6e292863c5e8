// The mode belongs to the thread; each thread starts with it on.

#include "core/autograd/grad_mode.h"

namespace slotcore::autograd {
namespace {
constinit thread_local bool enabled_here = true;
}

bool GradMode::is_enabled() noexcept { return enabled_here; }
void GradMode::set_enabled(bool enabled) noexcept { enabled_here = enabled; }

}  // namespace slotcore::autograd
