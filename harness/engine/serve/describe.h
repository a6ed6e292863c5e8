// What --describe prints: the tables of a binary, from which the driver knows all that it knows of
// ops, kinds, the prelude, checks and planted bugs.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/engine/session/session.h"

namespace slotfuzz {

nlohmann::json describe(const Session& session, std::string_view target, std::string_view module);

}  // namespace slotfuzz
