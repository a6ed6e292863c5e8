// One planted bug for each oracle; `doctor` runs them, because a switched-off oracle is silent.
//
// A planted bug for the judge is a program with tampering between its lines, hidden from the judge.
// A planted bug for a sanitizer is C++.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/engine/judge/judge.h"

namespace slotfuzz {

struct Planted {
  std::string_view name;
  // The reporting oracle: judge, watchdog, differential, address, undefined, thread or debugpy.
  std::string_view oracle;
  // A word of the report.
  std::string expect;
  // Program lines; a line that begins with '!' is Python that the judge does not observe.
  std::string_view text;
};

std::span<const Planted> planted_bugs();

// Runs a planted bug. Returns when no sanitizer stopped the process; for a bug of the judge, with
// the judge's verdict set.
void run_planted(const Planted& bug, Interpreter& interpreter, Executor& executor, Printer& printer,
                 Judge& judge, const Layout& layout);

}  // namespace slotfuzz
