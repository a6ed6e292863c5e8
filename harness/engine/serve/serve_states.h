// The fork server's request `states` (serve.h describes the protocol): many short programs in one
// child, and for each the state that it reached.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/engine/session/session.h"

namespace slotfuzz {

// The most programs per child: running them takes several times as long as forking.
inline constexpr std::size_t kStatesMax = 512;

nlohmann::json run_states(Session& session, const nlohmann::json& request);

}  // namespace slotfuzz
