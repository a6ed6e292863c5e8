// Looks attributes up only in objects that are named in a report.
#include "harness/engine/owners/naming.h"

#include <algorithm>

namespace slotfuzz {
namespace {

using By = References::By;

// A longer cycle is shown by its beginning and its end.
constexpr std::size_t kStepsMax = 24, kLastSteps = 8;

// A type's name without its module.
std::string short_name(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

}  // namespace

std::string Naming::name(std::size_t thing) const {
  const References::Thing& one = references_.things()[thing];
  if (PyObject* object = object_of(thing)) {
    const std::string variable = names_.variable(object);
    if (!variable.empty()) return variable;
  }
  auto impl = one.object ? references_.slot_of(thing) : std::optional(thing);
  if (one.object && !impl) impl = references_.impl_of(thing);
  const std::string variable = impl ? names_.variable(references_.things()[*impl].address) : "";
  return variable.empty() ? short_name(one.name) : variable;
}

std::string Naming::with_owned(std::size_t thing, const std::vector<std::size_t>& owned) const {
  const References::Thing& one = references_.things()[thing];
  if (!one.object || one.owns_in_cpp || owned.empty()) return name(thing);
  const std::string by = link(thing, owned[0]);
  return name(thing) + " -> " + (by.empty() ? "" : by + " -> ") + name(owned[0]);
}

std::string Naming::owner(std::size_t owner, std::size_t of) const {
  if (references_.wrapper_of(of) == owner) return "its wrapper";
  if (references_.wrapper_of(owner) == of) return "its impl";
  const std::string by = link(owner, of);
  if (by.starts_with('.') || by.starts_with('[')) return name(owner) + by;
  return by.empty() ? name(owner) : by + " of " + name(owner);
}

std::vector<KeptCycle::Step> Naming::steps(const std::vector<std::size_t>& cycle) const {
  std::vector<KeptCycle::Step> steps;
  const std::size_t size = cycle.size();
  const auto at = [&](std::size_t i) { return cycle[i % size]; };
  // A cycle may begin with the `__dict__` of its last owner.
  const std::size_t begin = size > 1 && is_dict_of(at(size - 1), at(0)) ? 1 : 0;
  for (std::size_t i = begin; i < begin + size; ++i) {
    if (i + 1 < begin + size && is_dict_of(at(i), at(i + 1))) {
      const std::string key = key_of(object_of(at(i + 1)), object_of(at(i + 2)));
      steps.push_back({name(at(i)), "." + key});
      ++i;
    } else {
      steps.push_back({name(at(i)), link(at(i), at(i + 1))});
    }
  }
  if (steps.size() > kStepsMax) {
    const auto left_out = steps.begin() + static_cast<std::ptrdiff_t>(kStepsMax - kLastSteps);
    steps.erase(left_out, steps.end() - static_cast<std::ptrdiff_t>(kLastSteps));
    steps.insert(left_out, {"..", ""});
  }
  return steps;
}

PyObject* Naming::object_of(std::size_t thing) const {
  if (PyObject* object = references_.things()[thing].object) return object;
  const auto wrapper = references_.wrapper_of(thing);
  return wrapper ? references_.things()[*wrapper].object : nullptr;
}

bool Naming::is_dict_of(std::size_t owner, std::size_t dict) const {
  PyObject* object = object_of(owner);
  if (!object || !references_.things()[dict].object) return false;
  const Ref attributes(PyObject_GetAttrString(object, "__dict__"));
  PyErr_Clear();
  return attributes && attributes.get() == references_.things()[dict].object;
}

std::string Naming::link(std::size_t from, std::size_t to) const {
  const auto wrapper = references_.wrapper_of(to);
  for (const References::Edge& edge : references_.edges(from)) {
    const bool is_meant = edge.to == to || (wrapper && edge.to == *wrapper);
    if (is_meant && edge.by == By::kHermeticWrapper) return "hermetic wrapper";
    if (is_meant && !edge.link.empty()) return edge.link;
  }
  PyObject *owner = object_of(from), *owned = object_of(to);
  if (!owner || !owned) return "";
  if (!PyDict_Check(owner)) return attribute_of(owner, owned);
  const std::string key = key_of(owner, owned);
  return key.empty() ? "" : "['" + key + "']";
}

// The key of a value, or an empty string if that is no text.
std::string Naming::key_of(PyObject* dict, PyObject* value) {
  PyObject *key = nullptr, *one = nullptr;
  Py_ssize_t at = 0;
  while (dict && PyDict_Next(dict, &at, &key, &one)) {
    if (one != value || !PyUnicode_Check(key)) continue;
    const char* text = PyUnicode_AsUTF8(key);
    return text ? text : "";
  }
  return "";
}

std::string Naming::attribute_of(PyObject* object, PyObject* value) const {
  for (const std::string& name : names_.attributes) {
    const Ref one(PyObject_GetAttrString(object, name.c_str()));
    PyErr_Clear();
    if (one && one.get() == value) return "." + name;
  }
  return "";
}

}  // namespace slotfuzz
