// One flag per thread. It lives in one translation unit so that every user sees the same one.

#include "core/c10/impl/hermetic_py_object_tls.h"

#include "core/c10/trace.h"

namespace slotcore::impl {
namespace {
constinit thread_local bool hermetic_state = false;
}  // namespace

bool HermeticPyObjectTLS::get_state() noexcept { return hermetic_state; }

void HermeticPyObjectTLS::set_state(bool hermetic) noexcept {
  if (hermetic != hermetic_state) trace(hermetic ? "hermetic entered" : "hermetic left");
  hermetic_state = hermetic;
}

}  // namespace slotcore::impl
