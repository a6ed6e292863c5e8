// For coverage builds: how often each piece of code runs, by the op of the line that ran it.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/session.h"

namespace slotfuzz {

//   {"profile": [TEXT, ..], "folder": DIR}  ->  {"programs": N, "died": N}
//
// Runs each program in a child. DIR then has a file `OP-*.profraw` for each op that ran, and one
// named kEndOfProgram for the code that runs when the names are deleted. A line that ends its
// process is not counted. The reply is {"error": ..} in a build without coverage.
nlohmann::json run_profile(Session& session, const nlohmann::json& request);

// Replaces the name of an op; no op has this name.
inline constexpr const char* kEndOfProgram = "end";

}  // namespace slotfuzz
