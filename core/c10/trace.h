// Trace points: a feature for users of the core. With SLOTCORE_TRACE=1 in the environment every
// event in the life of an impl or a wrapper is printed to stderr, one line per event:
//
//     core/python/preserve/wrapper.cc:68   wrapper created       impl 0x55fd8da3c340
//
// (after four spaces, the place is padded to 36 columns and the event to 22). Switched off, a
// trace point costs one predictable branch.
#pragma once

#include <atomic>

namespace slotcore {

// One "name value" pair of a line. An empty name prints the text alone.
struct TraceField {
  enum class Kind { kNone, kPointer, kText, kNumber };

  constexpr TraceField() = default;
  constexpr TraceField(const char* name, const void* pointer, const char* remark = "")
      : kind(Kind::kPointer), name(name), pointer(pointer), text(remark) {}
  constexpr TraceField(const char* name, const char* text)
      : kind(Kind::kText), name(name), text(text) {}
  constexpr TraceField(const char* name, unsigned long long number)
      : kind(Kind::kNumber), name(name), number(number) {}

  Kind kind = Kind::kNone;
  const char* name = "";
  const void* pointer = nullptr;
  const char* text = "";
  unsigned long long number = 0;
};

// An event with the place of the trace point. The builtins are used because clang 14 has no
// std::source_location.
struct TraceEvent {
  constexpr TraceEvent(const char* name, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE())
      : name(name), file(file), line(line) {}

  const char* name;
  const char* file;
  int line;
};

namespace detail {
// Read from the environment once, before main. Relaxed everywhere: the flag orders nothing.
extern std::atomic<bool> trace_enabled;
void trace_print(const TraceEvent& event, const TraceField& a, const TraceField& b,
                 const TraceField& c) noexcept;
}  // namespace detail

inline bool trace_is_on() noexcept {
  return detail::trace_enabled.load(std::memory_order_relaxed);  // pairs with nothing: a flag
}

void set_trace(bool on) noexcept;

inline void trace(TraceEvent event, TraceField a = {}, TraceField b = {},
                  TraceField c = {}) noexcept {
  if (trace_is_on()) [[unlikely]] detail::trace_print(event, a, b, c);
}

}  // namespace slotcore
