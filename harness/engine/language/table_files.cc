// Reads the files of table_files.h.
#include "harness/engine/language/table_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace slotfuzz {

std::vector<TableFile> embedded_table() {
  return {
#include "ops.inc"
  };
}

std::vector<TableFile> read_table(const std::string& folder) {
  std::error_code error;
  std::vector<TableFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".ops") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files.push_back({entry.path().string(), text.str()});
  }
  if (files.empty()) throw TableError(folder + ": no *.ops file of an op table can be read there");
  std::sort(files.begin(), files.end(),
            [](const TableFile& one, const TableFile& other) { return one.name < other.name; });
  return files;
}

}  // namespace slotfuzz
