// The one session of the test process: CPython can be started only once.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/engine/session/session.h"

namespace slotfuzz {

Session& test_session();

// Of these ops, those that are not slow.
inline std::vector<bool> without_slow(const Session& session, std::vector<bool> ops) {
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (session.table.ops()[op].slow) ops[op] = false;
  }
  return ops;
}

// The session's ops except those that start threads or interpreters, for tests of many programs.
inline std::vector<bool> quick_ops(const Session& session) {
  return without_slow(session, session.available);
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace slotfuzz
