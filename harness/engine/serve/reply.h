// What the fork server says of a program and of a verdict, as JSON: the only place that writes the
// fields of a reply. harness/slotfuzz/schema/answers.py is their schema; tests hold answers to it.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/engine/session/session.h"

namespace slotfuzz {

// For each line: `text`, and `bare` without its lane, `op`, `operands` as words, `lane`, and the
// variables that it `binds`.
nlohmann::json lines_as_json(const OpTable& table, const Program& program);

// The fields of a verdict, which are empty where there is none.
nlohmann::json verdict_as_json(const Verdict& verdict);

// The reply to `run` of a program that ran clean up to LINE; how it ended otherwise is put in.
nlohmann::json clean_reply(std::size_t line);

// Lines that are named; a text may have a million.
inline constexpr std::size_t kDroppedLinesMax = 20;

// Adds to the reply to a request with this text, {.., "frame": [[first, last], ..]}:
//
//   "dropped_lines": [{"line": 1-based, "text": .., "why": ..}, ..], the first kDroppedLinesMax
//   "dropped_count": how many there are
//
// Blank lines and comments are not among them, nor those without an op whose numbers, from 1, the
// frame has: what stands around the program of a script, stretches in ascending order. `why` is "no
// op" (it is no instance of a template), "masked" (the subject or the target lacks the op; only
// where the text is RUN), or "too many" (the program has kLineMax lines before it).
void tell_dropped(Session& session, std::string_view text, const nlohmann::json& request, bool run,
                  nlohmann::json& reply);

}  // namespace slotfuzz
