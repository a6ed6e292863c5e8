// IdealCollector: what CPython's collector would free if each wrapper and each ctx reported what
// the contract lets it report (P5, A4a), and no more.
//
// A wrapper that alone owns its impl reports what that impl owns, as far as nobody else owns a part
// of it. A ctx reports what it has saved in the same way. The core computes that in its own way
// (core/python/tensor/walk.cc); this class computes it from the list of references, so an edge that
// the core forgets is a difference between the two.
#pragma once

#include <vector>

#include "harness/engine/owners/references.h"

namespace slotfuzz {

class IdealCollector {
 public:
  // HIDES: under resurrection a wrapper whose impl C++ owns reports nothing (P2).
  IdealCollector(const References& references, bool hides);

  // Whether it would free the object.
  bool frees(std::size_t object) const { return !lives_[object]; }
  // Whether the wrapper reports nothing.
  bool is_hidden(std::size_t object) const { return hidden_[object]; }
  // Whether one wrapper or ctx alone owns the impl, and reports what the impl owns.
  bool is_reported(std::size_t impl) const { return reported_[impl]; }
  // References of a thing that no owner of the list explains.
  std::uint32_t unexplained(std::size_t thing) const { return unexplained_[thing]; }
  // What an object refers to in Python.
  const std::vector<std::size_t>& in_python(std::size_t object) const { return python_[object]; }

 private:
  // What a wrapper or a ctx reports for C++: objects, each once for each reference.
  std::vector<std::size_t> reported_by(std::size_t owner);
  void enter(std::size_t impl, std::vector<std::size_t>& objects,
             std::vector<std::size_t>& next, std::unordered_map<std::size_t, std::uint32_t>& met);
  bool meet(std::size_t impl, std::uint32_t owners, std::vector<std::size_t>& objects) const;
  void note_explained();
  void mark_living(const std::vector<std::vector<std::size_t>>& reports);

  const References& references_;
  std::vector<bool> lives_, hidden_, reported_;
  std::vector<std::uint32_t> unexplained_;
  std::vector<std::vector<std::size_t>> python_;
};

}  // namespace slotfuzz
