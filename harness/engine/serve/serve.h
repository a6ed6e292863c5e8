// The fork server: runs programs for the driver, each in a child of this warm process, and tells
// what became of them. One JSON document per line, on standard input and output:
//
//   {"run": TEXT, "timeout": SECONDS}  ->  {"outcome": "clean" | "finding", "kind": .., ..}
//   {"states": [TEXT, ..]}  ->  {"programs": [{"outcome", "crashed", "ran", "state"}, ..]}, of all
//                               programs up to the first finding; see below
//   {"describe": true}  ->  what --describe prints
//   {"parse": TEXT}                    ->  {"lines": [{"text", "op", "operands", "lane"}],
//                                         "dropped": N, "dropped_lines": ..}
//   {"extend": TEXT, "count": N, "seed": S}  ->  {"programs": [TEXT, ..]}, the program with lines
//                                                behind it that mostly ask for wrappers
//   {"generate": ..} and {"facts": ..}: see serve_facts.h
//   {"profile": ..}: see serve_profile.h
//
// Where something outside kills the child that a request was given to, the answer is
// {"killed": true}, whatever was asked.
//
// A `run` with "allocation_frames": N keeps so many frames of each allocation of the program, for
// the report; a process that keeps them from its start on takes half a second longer to start.
// `states` runs many short programs in one child, at most kStatesMax. `crashed`: the process ended;
// else a finding is the judge's. `ran`: all lines did, whatever the reset did then. `state` is a
// number of state.h, as text; null if a line ended the process, or when the target has threads or
// interpreters of its own, whose states cannot be read. A finding may owe to a program before it in
// the child: `run` tells.
// Replies to `run` and `parse` name the lines that were left out: see reply.h.
// `reset`, for a crash in the reset: what the reset was about to do, as lines of Python.
// `object` is the name of the kind of impl that a verdict of the judge is about, or empty.
// `kind` of a finding: "assert" or "exception" (the judge's), "signal", "exit" (a sanitizer or
// CPython ended the process), "timeout". `stderr` is all that the child wrote there: each line as
// `> line` before it runs, the report, and when SLOTCORE_TRACE is set the core's trace and, after
// each line, what the judge has in sight; then when it looks at the end.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/session.h"

namespace slotfuzz {

// Serves until the end of standard input.
void serve(Session& session, std::string_view target, std::string_view module);

// What the driver asks of a binary: the op table, the kinds, the prelude, the planted bugs.
nlohmann::json describe(const Session& session, std::string_view target, std::string_view module);

}  // namespace slotfuzz
