// The fork server: runs programs for the driver, each in a fork of this warm process, and reports
// the outcome. One JSON document per line, on standard input and output:
//
//   {"run": TEXT, "timeout": SECONDS}  ->  {"outcome": "clean" | "finding", "kind": .., ..}
//   {"states": [TEXT, ..]}  ->  {"programs": [{"outcome", "crashed", "ran", "state"}, ..]}, of all
//                               programs up to the first finding; see below
//   {"describe": true}  ->  what --describe prints
//   {"parse": TEXT}                    ->  {"lines": [{"text", "op", "operands", "lane"}],
//                                         "dropped": N, "dropped_lines": ..}
//   {"extend": TEXT, "count": N, "seed": S}  ->  {"programs": [TEXT, ..]}, the program with lines
//                                                behind it that mostly ask for wrappers
//   {"generate": ..} and {"observations": ..}: see serve_observations.h
//   {"profile": ..}: see serve_profile.h
//
// If something outside kills the child that handles a request, the answer to any request is
// {"killed": true}.
//
// A `run` with "allocation_frames": N keeps N frames of each allocation of the program, for the
// report; a process that keeps them from its start takes half a second longer to start. With
// "python_stacks": true a crash prints the Python stacks to stderr. `states`
// runs many short programs in one child, at most kStatesMax. `crashed`: the process ended; without
// it, a finding is the judge's. `ran`: all lines ran, whatever the reset did. `state` is a number
// of state.h, as text. It is null if a line ended the process, or if the target has threads or
// interpreters, whose states cannot be read. An earlier program in the child may have caused a
// finding: `run` decides.
// Replies to `run` and `parse` name the dropped lines: see reply.h.
// `reset`, for a crash in the reset: the steps that the reset was about to do, as lines of Python.
// `object`: the kind of impl that the judge's verdict is about, or empty.
// `kind` of a finding: "assert" or "exception" (the judge's), "signal", "exit" (a sanitizer or
// CPython ended the process), "timeout". `stderr` is the child's output there: each line as
// `> line` before it runs, and the report. When SLOTCORE_TRACE is set it also has the core's trace,
// the judge's observations after each line, and a mark before the judge's final checks.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/session.h"

namespace slotfuzz {

// Serves until the end of standard input.
void serve(Session& session, std::string_view target, std::string_view module);

}  // namespace slotfuzz
