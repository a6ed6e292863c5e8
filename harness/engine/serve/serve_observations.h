// The fork server's requests for comparing two subjects (serve.h says how they are asked):
//
//   {"generate": N, "seed": S, "ops": [NAME, ..]}  ->  {"programs": [TEXT, ..]}, random ones of
//                                                      lines of these ops
//   {"facts": [TEXT, ..], "whole": false, "question": "observe",
//    "program_seconds": 10}
//                                  ->  {"programs": [{"crashed", "line", "hash"}, ..]}
//
// `facts` runs programs in one child, and after one that ended it in another. `hash` is of the
// trace of facts.h, as text, when `question` is asked; with "whole", `trace` is the trace itself.
// `line` is the line that was begun last; the number of lines, when all were done. A program that
// takes longer than program_seconds has crashed.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/session.h"

namespace slotfuzz {

nlohmann::json generate(const Session& session, const nlohmann::json& request);
nlohmann::json run_facts(Session& session, const nlohmann::json& request);

}  // namespace slotfuzz
