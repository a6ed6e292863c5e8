// CHECK asserts what must hold; it is always on. A failed CHECK means that the harness itself is
// wrong: it prints the values and aborts, and the driver reports that as exit code 3.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace slotfuzz {

[[noreturn]] inline void check_failed(const char* file, int line, const char* condition,
                                      const std::string& message) {
  std::fprintf(stderr, "slotfuzz: CHECK failed: %s:%d: %s: %s\n", file, line, condition,
               message.c_str());
  std::fflush(stderr);
  std::_Exit(3);
}

}  // namespace slotfuzz

#define CHECK(condition, message)                                                   \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::ostringstream check_stream;                                              \
      check_stream << message;                                                      \
      ::slotfuzz::check_failed(__FILE__, __LINE__, #condition, check_stream.str()); \
    }                                                                               \
  } while (false)
