// SLOTCORE_CHECK: an invariant of the core itself. A failure is our bug, never the user's, so it
// is always on, says what was expected where, and aborts.
#pragma once

namespace slotcore {

[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace slotcore

#define SLOTCORE_CHECK(condition)                                    \
  do {                                                               \
    if (!(condition)) [[unlikely]]                                   \
      ::slotcore::check_failed(#condition, __FILE__, __LINE__);      \
  } while (false)
