// Known findings: programs that contain one are not run, and errors that are one end nothing, so
// that a hunt goes on to the next bug.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/program.h"

namespace slotfuzz {

class Known {
 public:
  explicit Known(const OpTable& table) : table_(table) {}

  // Adds a minimal program. One without lines would match everything and is left out.
  void add(const Program& minimal);
  // Adds every *.py file of a folder, a minimal program each, and every *.txt file, an error that
  // is told by its words alone, as normalised() gives them. Throws StartError when the folder
  // cannot be read.
  void add_folder(const std::string& folder, Printer& printer);

  // Whether the program has a known one as a subsequence, up to the names of variables, to the
  // numbers of lanes, to literal values, and to how an object came to be that the known program
  // makes in the plainest way: one bug found with many sizes and classes would otherwise stop a
  // hunt once for each. A known program that needs one thread only is found on any lanes.
  bool contains(const Program& program) const;
  // Whether an exception with this message is known, whichever program raised it.
  bool contains_error(std::string_view message) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Program minimal;
    std::vector<std::uint64_t> ops;
    bool has_lanes;
  };
  const OpTable& table_;
  std::vector<Entry> entries_;
  std::set<std::string, std::less<>> errors_;
};

// The first line of a message without what differs from run to run, addresses and numbers. The
// driver's signatures have the same words.
std::string normalised(std::string_view message);

}  // namespace slotfuzz
