// What the programs of a corpus did when they ran last: the life-cycle states that they reached,
// and the lines that raised. A hunt on PyTorch starts a process after each crash, a few seconds
// after the one before, and each first loads the whole corpus. With this file a process runs only
// the programs that none has loaded before.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "harness/engine/judge/state_map.h"
#include "harness/engine/language/raises.h"

namespace slotfuzz {

class CorpusCache {
 public:
  struct Entry {
    std::uint64_t program;
    LineSet raised;
    std::bitset<kStateCounters> states;
  };

  // Reads the records that processes with the same file have written, whichever began first.
  // Throws StartError when the file cannot be opened.
  explicit CorpusCache(const std::string& path);
  CorpusCache(const CorpusCache&) = delete;
  CorpusCache& operator=(const CorpusCache&) = delete;
  ~CorpusCache();

  // What the program with this text did, or null if no process has loaded it.
  const Entry* find(std::string_view text) const;
  // Adds what it did. When a record cannot be written, this process writes no more of them.
  void add(std::string_view text, const LineSet& raised,
           std::span<const std::uint8_t, kStateCounters> states);

 private:
  std::unordered_map<std::uint64_t, Entry> entries_;
  int file_;
  bool is_full_ = false;
};

// Marks the states of the entry as reached.
void mark(const CorpusCache::Entry& entry, std::span<std::uint8_t, kStateCounters> states);

}  // namespace slotfuzz
