// A trace is a sequence of texts, two for each observation, each after its size.
#include "harness/engine/session/kept_traces.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

using Size = std::uint32_t;

void append(std::string& bytes, const std::string& text) {
  const Size size = static_cast<Size>(text.size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes += text;
}

// Removes the first text of `bytes`.
std::string take(std::string_view& bytes) {
  Size size;
  std::memcpy(&size, bytes.data(), sizeof(size));
  const std::string text(bytes.substr(sizeof(size), size));
  bytes.remove_prefix(sizeof(size) + size);
  return text;
}

}  // namespace

KeptTraces::KeptTraces() : file_(memfd_create("traces", MFD_CLOEXEC)) {
  CHECK(file_ >= 0, "memfd_create: " << std::strerror(errno));
}

KeptTraces::~KeptTraces() { close(file_); }

void KeptTraces::clear() {
  places_.clear();
  CHECK(ftruncate(file_, 0) == 0 && lseek(file_, 0, SEEK_SET) == 0,
        "ftruncate: " << std::strerror(errno));
}

TracePlace KeptTraces::write(const std::vector<Observation>& trace) {
  std::string bytes;
  for (const Observation& one : trace) {
    append(bytes, one.raised);
    append(bytes, one.seen);
  }
  // Parent and child share the position.
  const auto begin = static_cast<std::size_t>(lseek(file_, 0, SEEK_CUR));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(file_, bytes.data() + at, bytes.size() - at);
    CHECK(written > 0, "write: " << std::strerror(errno));
    at += static_cast<std::size_t>(written);
  }
  return {begin, begin + bytes.size()};
}

nlohmann::json KeptTraces::read(const std::string& text) const {
  const auto [begin, end] = places_.at(text);
  std::string bytes(end - begin, '\0');
  const ssize_t size = pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(begin));
  CHECK(size == static_cast<ssize_t>(bytes.size()), "pread: " << std::strerror(errno));
  nlohmann::json trace = nlohmann::json::array();
  for (std::string_view left = bytes; !left.empty();) {
    std::string raised = take(left);
    trace.push_back({{"raised", std::move(raised)}, {"seen", take(left)}});
  }
  return trace;
}

}  // namespace slotfuzz
