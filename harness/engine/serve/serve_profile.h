// Of a build for coverage: how often each piece of code runs, by the op whose line it ran for.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/session.h"

namespace slotfuzz {

//   {"profile": [TEXT, ..], "folder": DIR}  ->  {"programs": N, "died": N}
//
// Runs each program in a child. DIR then has a file `OP-*.profraw` for each op of which a line ran,
// and one named kEndOfProgram for what runs when the names are dropped. Of a line that ends its
// process nothing is counted. {"error": ..} where the build does not count.
nlohmann::json run_profile(Session& session, const nlohmann::json& request);

// In the place of an op's name; no op is named so.
inline constexpr const char* kEndOfProgram = "end";

}  // namespace slotfuzz
