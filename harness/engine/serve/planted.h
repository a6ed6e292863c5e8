// One planted bug for each oracle, run by `doctor`: oracles switch off silently.
//
// A planted bug of the judge is a program with tampering between its lines, which the judge is not
// told of; one of a sanitizer is C++.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/engine/judge/judge.h"

namespace slotfuzz {

struct Planted {
  std::string_view name;
  // Who must report it: judge, watchdog, differential, address, undefined, thread or debugpy.
  std::string_view oracle;
  // A word of the report.
  std::string expect;
  // Program lines; a line that begins with '!' is Python that runs behind the judge's back.
  std::string_view text;
};

std::span<const Planted> planted_bugs();

// Runs a planted bug. Returns when no sanitizer stopped the process; for one of the judge's, the
// verdict is the judge's then.
void run_planted(const Planted& bug, Interpreter& interpreter, Executor& executor, Printer& printer,
                 Judge& judge, const Layout& layout);

}  // namespace slotfuzz
