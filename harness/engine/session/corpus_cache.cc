// Records of equal size, appended by one write each.
#include "harness/engine/session/corpus_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/engine/run/interpreter.h"

namespace slotfuzz {
namespace {

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

}  // namespace

CorpusCache::CorpusCache(const std::string& path)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (file_ < 0) throw StartError(path + ": " + std::strerror(errno));
  static_assert(std::is_trivially_copyable_v<Entry>);
  // After a record that a full disk has cut off the others are displaced, and name no program.
  for (Entry entry; ::read(file_, &entry, sizeof entry) == sizeof entry;) {
    entries_.insert_or_assign(entry.program, entry);
  }
}

CorpusCache::~CorpusCache() { close(file_); }

const CorpusCache::Entry* CorpusCache::find(std::string_view text) const {
  const auto found = entries_.find(hash_of(text));
  return found == entries_.end() ? nullptr : &found->second;
}

void CorpusCache::add(std::string_view text, const LineSet& raised,
                      std::span<const std::uint8_t, kStateCounters> states) {
  Entry entry{hash_of(text), raised, {}};
  for (std::size_t i = 0; i < states.size(); ++i) entry.states[i] = states[i] != 0;
  entries_.insert_or_assign(entry.program, entry);
  if (is_full_) return;
  if (::write(file_, &entry, sizeof entry) != sizeof entry) is_full_ = true;
}

void mark(const CorpusCache::Entry& entry, std::span<std::uint8_t, kStateCounters> states) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (entry.states[i]) states[i] = 1;
  }
}

}  // namespace slotfuzz
