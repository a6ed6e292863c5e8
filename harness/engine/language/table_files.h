// The files of the op table: those that are compiled into the binary, or those of a folder, which a
// person can change without a compiler.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace slotfuzz {

// What is wrong with the table, as `file:line: sentence`.
struct TableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TableFile {
  std::string name;
  std::string text;
};

// Those of ops/ when the binary was built, by name.
std::vector<TableFile> embedded_table();
// The *.ops files of a folder, by name. Throws TableError where there is none.
std::vector<TableFile> read_table(const std::string& folder);

}  // namespace slotfuzz
