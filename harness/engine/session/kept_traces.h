// The traces of the programs of one request. A child writes them to a file in memory, and its
// parent reads those that somebody asks for, since as JSON they take as long as the programs.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/engine/session/observations.h"

namespace slotfuzz {

// The place of a trace in the file, in bytes.
struct TracePlace {
  std::size_t begin, end;
};

class KeptTraces {
 public:
  KeptTraces();
  ~KeptTraces();
  KeptTraces(const KeptTraces&) = delete;
  KeptTraces& operator=(const KeptTraces&) = delete;

  // Forgets all.
  void clear();
  // Writes a trace at the end of the file. For the child.
  TracePlace write(const std::vector<Observation>& trace);
  // Says where a child has written the trace of the program `text`.
  void add(const std::string& text, TracePlace place) { places_.insert_or_assign(text, place); }
  bool contains(const std::string& text) const { return places_.contains(text); }
  // [{"raised", "seen"}, ..]
  nlohmann::json read(const std::string& text) const;

 private:
  const int file_;
  std::unordered_map<std::string, TracePlace> places_;
};

}  // namespace slotfuzz
