// The fork server's requests for comparing two subjects (serve.h describes the protocol):
//
//   {"generate": N, "seed": S, "ops": [NAME, ..]}  ->  {"programs": [TEXT, ..]}, random ones of
//                                                      lines of these ops
//   {"observations": [TEXT, ..], "question": "observe", "program_seconds": 10}
//                                  ->  {"programs": [{"crashed", "line", "hash"}, ..]}
//   {"traces": [TEXT, ..]}         ->  {"traces": [{"after": [{"raised", "seen"}, ..]}, ..]}
//
// `observations` runs all programs in one child, and continues in a new child after a program that
// ended it. `hash` is the hash of the trace (observations.h), as text, where the trace asks
// `question`. `line` is the last line that began, or the number of lines if all finished. A program
// that takes longer than program_seconds counts as crashed. `traces` then has the trace itself of
// each program of the last `observations`, which is empty for one that crashed.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/kept_traces.h"
#include "harness/engine/session/session.h"

namespace slotfuzz {

nlohmann::json generate(const Session& session, const nlohmann::json& request);
nlohmann::json run_observations(Session& session, KeptTraces& traces,
                                const nlohmann::json& request);
nlohmann::json read_traces(const KeptTraces& traces, const nlohmann::json& request);

}  // namespace slotfuzz
