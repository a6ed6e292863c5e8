// Parses the text of the op table (TOML) into rows, and validates them. ops/storage.ops defines the
// columns.
#pragma once

#include <vector>

#include "harness/engine/language/op.h"
#include "harness/engine/language/table_files.h"

namespace slotfuzz {

struct TableRows {
  std::vector<Kind> kinds;
  std::vector<Op> ops;
};

// The rows of all files: kinds in the order of files and lines, ops by theme first. Throws
// TableError at the first mistake.
TableRows rows_of(const std::vector<TableFile>& files);

}  // namespace slotfuzz
