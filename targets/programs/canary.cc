// A target that must fail: if a hunt on it finds nothing, then generating, running, reporting or
// minimizing is broken, whatever the other targets report.
#include <cstdlib>
#include <iostream>

#include "harness/engine/serve/entry.h"

namespace {

// Fails for any program that wraps, drops and wraps again; no generator makes one at once.
void never_wrap_again(const slotfuzz::OpTable& table, const slotfuzz::Program& program) {
  constexpr std::string_view kForbidden[] = {"wrap", "del", "wrap"};
  std::size_t next = 0;
  for (const slotfuzz::Line& line : program.lines) {
    if (table.ops()[line.op].name == kForbidden[next]) ++next;
    if (next == std::size(kForbidden)) {
      std::cerr << "slotfuzz: canary: wrapped again\n";
      std::abort();
    }
  }
}

}  // namespace

SLOTFUZZ_TARGET("canary", never_wrap_again)
