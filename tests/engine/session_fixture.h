// The one session of the test process: CPython is started once, and never again.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/engine/session.h"

namespace slotfuzz {

Session& test_session();

inline std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace slotfuzz
