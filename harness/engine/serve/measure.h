// Where the time of programs goes: the bare lines, the reset, the judge, the ledger, the text.
//
// The programs are what this target's generator draws, cut to kMeasuredLines lines, without those
// that end the process or break the contract, where a hunt stops, those that leave a cycle through
// C++ behind, and those that run lines on other lanes, whose time is the kernel's. Each part of
// each program is measured again and again, in turns, and the median counts, so that a slow moment
// of the machine changes no ratio.
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
// `lines` is a run that nobody watches, up to its last line. `reset` is what follows there. `judge`
// is what the same takes longer when the judge watches, without `ledger`, which is what it does
// after the reset. `text`: to parse and print it as it is run, and to parse, mutate and print it.
// `ops` are the shares of rows of the op table in `lines`: the lines that raised are a row of their
// own.
nlohmann::json measure(Session& session, std::size_t rounds = kMeasuredRounds);

}  // namespace slotfuzz
