// The files of the op table: those that are compiled into the binary, or those of a folder, which a
// person can change without a compiler.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace slotfuzz {

// An error in the table, as `file:line: sentence`.
struct TableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TableFile {
  std::string name;
  std::string text;
};

// The files of ops/ at build time, by name.
std::vector<TableFile> embedded_table();
// The *.ops files of a folder, by name. Throws TableError if it has no such file.
std::vector<TableFile> read_table(const std::string& folder);

}  // namespace slotfuzz
