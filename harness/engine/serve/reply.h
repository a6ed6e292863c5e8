// The fork server's JSON for programs and verdicts: only this file writes the fields of a reply.
// harness/slotfuzz/schema/answers.py is their schema; tests validate answers against it.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/engine/session/session.h"

namespace slotfuzz {

// For each line: `text`, and `bare` without its lane, `op`, `operands` as words, `lane`, and the
// variables that it `binds`.
nlohmann::json lines_as_json(const OpTable& table, const Program& program);

// The fields of a verdict; they are empty if there is no verdict.
nlohmann::json verdict_as_json(const Verdict& verdict);
nlohmann::json kept_as_json(const std::vector<KeptCycle>& kept);

// The reply to `run` of a program that ran clean up to LINE; the caller adds any other outcome.
nlohmann::json clean_reply(std::size_t line);

// The most dropped lines that a reply names; a text may have a million.
inline constexpr std::size_t kDroppedLinesMax = 20;

// Adds to the reply to a request with this text, {.., "frame": [[first, last], ..]}:
//
//   "dropped_lines": [{"line": 1-based, "text": .., "why": ..}, ..], the first kDroppedLinesMax
//   "dropped_count": how many there are
//
// Blank lines and comments are not listed. Lines without an op are not listed either if their
// numbers, from 1, are in the frame: the stretches of a script around its program, in ascending
// order. `why` is "no op" (the line matches no template), "masked" (the subject or the target lacks
// the op; only for a text to RUN), or "too many" (the program has kLineMax lines before it).
void report_dropped(Session& session, std::string_view text, const nlohmann::json& request,
                    bool run, nlohmann::json& reply);

}  // namespace slotfuzz
