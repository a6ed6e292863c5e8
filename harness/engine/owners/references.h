// References: who owns what when a program is over, as a graph. Its nodes are the objects that the
// collector tracks and the impls that the subject lists; its edges are strong references, those of
// Python and those of C++.
//
// A snapshot by addresses: it holds no reference, and is valid until Python runs again.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/engine/run/interpreter.h"
#include "harness/engine/run/layout.h"

namespace slotfuzz {

class References {
 public:
  struct Thing {
    const void* address;
    // Null for an impl.
    PyObject* object;
    // Of its type, or what the subject calls the impl.
    std::string name;
    // All strong references of it.
    std::uint32_t count;
    // An object that owns in C++: a wrapper, or another owner.
    bool owns_in_cpp = false;
    // An impl of which the subject says that it owns itself in C++.
    bool is_in_cycle = false;
  };

  enum class By : std::uint8_t {
    kPython,
    // An impl owns another one, or an object other than its wrapper.
    kCpp,
    // A wrapper owns its impl. A hermetic one owns it as the wrapper of another interpreter would.
    kWrapper,
    kHermeticWrapper,
    // An impl owns its wrapper.
    kImpl,
  };
  struct Edge {
    std::size_t to;
    By by;
    // What the subject calls it, or empty.
    std::string link = "";
  };

  // TRACKED is gc.get_objects. The subject must list what its objects own (Capabilities).
  References(PyObject* tracked, const Layout& layout);

  const std::vector<Thing>& things() const { return things_; }
  const std::vector<Edge>& edges(std::size_t from) const { return edges_[from]; }
  // The wrapper in the slot of an impl, if an object is that.
  std::optional<std::size_t> wrapper_of(std::size_t impl) const;
  // The impl that a wrapper owns, if it owns one.
  std::optional<std::size_t> impl_of(std::size_t wrapper) const;
  // The impl in whose slot a wrapper is.
  std::optional<std::size_t> slot_of(std::size_t wrapper) const;
  std::size_t impl_count() const { return impl_count_; }

 private:
  std::size_t met(const void* address);
  void pair(std::size_t impl, std::size_t wrapper);
  void add_objects(PyObject* tracked, const Layout& layout);
  void add_listed(std::size_t from, const Layout& layout);
  void add_reported(std::size_t from);

  std::vector<Thing> things_;
  std::vector<std::vector<Edge>> edges_;
  std::unordered_map<const void*, std::size_t> at_;
  std::unordered_map<std::size_t, std::size_t> wrapper_of_, impl_of_, slot_of_;
  std::size_t impl_count_ = 0;
};

}  // namespace slotfuzz
