// Formats a trace line and writes it with one system call, so that lines of several threads or
// processes do not mix. Nothing here allocates, so a trace point may be anywhere.

#include "core/c10/trace.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "core/c10/check.h"

namespace slotcore {
namespace {

constexpr int kLineCharsMax = 512;  // place, event and three fields need less than 300

bool enabled_by_environment() noexcept {
  const char* value = std::getenv("SLOTCORE_TRACE");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

// The path from the root of the checkout on. -ffile-prefix-map removes the root for __FILE__, but
// not for __builtin_FILE in older compilers, and not in the patched copy of a mutant.
const char* root_relative(const char* file) noexcept {
  for (const char* next = file; (next = std::strstr(next, "/core/")) != nullptr; next++)
    file = next + 1;
  return file;
}

// Appends to a line of fixed capacity; what does not fit is cut.
class Line {
 public:
  template <class... Values>
  void add(const char* format, Values... values) noexcept {
    int written = std::snprintf(chars_ + used_, kLineCharsMax - used_, format, values...);
    if (written > 0) used_ += written;
    if (used_ > kLineCharsMax - 2) used_ = kLineCharsMax - 2;
  }

  void add(const TraceField& field) noexcept {
    switch (field.kind) {
      case TraceField::Kind::kNone:
        return;
      case TraceField::Kind::kPointer:
        // Not %p, which prints null as "(nil)".
        return add("  %s 0x%llx%s", field.name,
                   static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(field.pointer)),
                   field.text);
      case TraceField::Kind::kText:
        if (*field.name == '\0') return add("  %s", field.text);
        return add("  %s %s", field.name, field.text);
      case TraceField::Kind::kNumber:
        return add("  %s %llu", field.name, field.number);
    }
  }

  void write_out() noexcept {
    while (used_ > 0 && chars_[used_ - 1] == ' ') used_--;
    chars_[used_] = '\n';
    // A full or closed stderr must not change what the program does.
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, chars_, used_ + 1);
  }

 private:
  char chars_[kLineCharsMax];
  int used_ = 0;
};

}  // namespace

namespace detail {

std::atomic<bool> trace_enabled{enabled_by_environment()};

void trace_print(const TraceEvent& event, const TraceField& a, const TraceField& b,
                 const TraceField& c) noexcept {
  char place[128];
  std::snprintf(place, sizeof place, "%s:%d", root_relative(event.file), event.line);
  Line line;
  line.add("    %-36s %-20s", place, event.name);
  for (const TraceField* field : {&a, &b, &c}) line.add(*field);
  line.write_out();
}

}  // namespace detail

void set_trace(bool on) noexcept {
  detail::trace_enabled.store(on, std::memory_order_relaxed);  // pairs with nothing: a flag
}

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "slotcore: %s:%d: this must hold and does not: %s\n", root_relative(file),
               line, condition);
  std::abort();
}

}  // namespace slotcore
