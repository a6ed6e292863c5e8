// Measures the time of programs by part: the bare lines, the reset, the judge, the ledger, the
// text.
//
// This target's generator draws the programs, cut to kMeasuredLines lines. Left out are programs
// that end the process or break the contract, where a hunt stops; that leave a cycle through C++
// behind; and that run lines on other lanes, whose time is the kernel's. Each part of each program
// is measured repeatedly, in turns, and the median counts: a slow moment of the machine then
// changes no ratio.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/session.h"

namespace slotfuzz {

inline constexpr std::size_t kMeasuredLines = 20;
inline constexpr std::size_t kMeasuredRounds = 31;

// {"programs": N, "lines": kMeasuredLines,
//  "parts": {"lines", "reset", "judge", "ledger", "text": nanoseconds of a program, on average},
//  "ops": [{"op", "raised", "collects", "lines": N, "nanoseconds": of all these}, ..]}
//
// `lines` is a run without a watcher, up to its last line. `reset` is the rest of that run. `judge`
// is the extra time of a run with the judge, without `ledger`, its work after the reset. `text` is
// the time to parse and print the program as it is run, and to parse, mutate and print it. `ops`
// splits `lines` by rows of the op table; lines that raised have a separate row.
nlohmann::json measure(Session& session, std::size_t rounds = kMeasuredRounds);

}  // namespace slotfuzz
