// Naming: what to call owners and references in words: the program's variables and attributes, and
// the subject's words for what C++ owns. A wrapper and its impl have one name.
#pragma once

#include "harness/engine/owners/kept.h"

namespace slotfuzz {

class Naming {
 public:
  Naming(const References& references, const KeptNames& names)
      : references_(references), names_(names) {}

  std::string name(std::size_t thing) const;
  // The same, and for an object of Python itself also the first thing that it owns.
  std::string with_owned(std::size_t thing, const std::vector<std::size_t>& owned) const;
  // An owner of a thing, with its reference: "t1.grad", or "its wrapper".
  std::string owner(std::size_t owner, std::size_t of) const;
  // A cycle in which an impl also stands for its wrapper; without each `__dict__`.
  std::vector<KeptCycle::Step> steps(const std::vector<std::size_t>& cycle) const;

 private:
  // The object that a thing is or that its impl has, or null.
  PyObject* object_of(std::size_t thing) const;
  bool is_dict_of(std::size_t owner, std::size_t dict) const;
  std::string link(std::size_t from, std::size_t to) const;
  static std::string key_of(PyObject* dict, PyObject* value);
  std::string attribute_of(PyObject* object, PyObject* value) const;

  const References& references_;
  const KeptNames& names_;
};

}  // namespace slotfuzz
