// Suppressions: a hunt does not run programs that contain a suppressed program, and a suppressed
// error does not end the hunt. The hunt so goes on to the next bug.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/program.h"

namespace slotfuzz {

class Suppressions {
 public:
  explicit Suppressions(const OpTable& table) : table_(table) {}

  // Adds a minimal program. A program without lines would match everything and is left out.
  void add(const Program& minimal);
  // Adds every *.py file of a folder as a minimal program, and every *.txt file as an error
  // message, normalised by normalised(). Adds no file twice, so it may be called again when the
  // folder has changed. Throws StartError when the folder cannot be read.
  void add_folder(const std::string& folder, Printer& printer);

  // Whether the program contains a suppressed program as a subsequence. Names of variables, numbers
  // of lanes and literal values may differ. An object that the suppressed program makes in the
  // plainest form may be made otherwise: one bug found with many sizes and classes would otherwise
  // stop a hunt once for each. A suppressed program that needs one thread only matches on any
  // lanes.
  bool contains(const Program& program) const;
  // Whether an exception with this message is suppressed, whichever program raised it.
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
  std::set<std::filesystem::path> files_;
};

// The first line of a message without addresses and numbers, which differ between runs. The
// driver's signatures use the same text.
std::string normalised(std::string_view message);

}  // namespace slotfuzz
