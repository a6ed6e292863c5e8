// The fork server's request `run` (serve.h describes the protocol): one program in a child, which
// says everything that it does and how it ended.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/session.h"

namespace slotfuzz {

nlohmann::json run_program(Session& session, const nlohmann::json& request);

}  // namespace slotfuzz
