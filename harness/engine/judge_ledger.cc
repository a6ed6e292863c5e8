// The ledger: when every name of a program is gone and the collector has run, live impls and live
// wrappers are back at their start values (P5).
//
// P5 wants cycles collected only when Python owns every part of them. A cycle that passes through a
// C++ owner, as in s0.owner = t0 where t0 owns s0, lives on by the contract; the ledger recognises
// it by the owner, takes it apart, and only reports what is left then.
#include <algorithm>

#include "harness/engine/check.h"
#include "harness/engine/judge.h"

namespace slotfuzz {
namespace {

long call_for_number(PyObject* function) {
  const Ref number(PyObject_CallNoArgs(function));
  CHECK(number && PyLong_Check(number.get()), "the subject's live counts: " << take_error());
  return PyLong_AsLong(number.get());
}

}  // namespace

std::pair<long, long> Judge::live() const {
  if (!live_impls_ || !live_wrappers_) return {0, 0};
  return {call_for_number(live_impls_.get()), call_for_number(live_wrappers_.get())};
}

bool Judge::check_ledger() {
  const auto now = live();
  if (now == baseline_) return true;
  if (break_shared_cycles() || made_cpp_cycle_) {
    const auto after = live();
    const bool back = after.first <= baseline_.first && after.second <= baseline_.second;
    // What a circle of .grad links holds cannot be had back: out of the collector's sight with it,
    // or every later reset would visit it.
    if (back || made_cpp_cycle_) {
      if (after != baseline_) interpreter_.freeze();
      baseline_ = after;
      return false;
    }
  }
  const bool impls = now.first != baseline_.first;
  const long count = impls ? now.first - baseline_.first : now.second - baseline_.second;
  report("P5", impls ? "live impls" : "live wrappers",
         std::to_string(count) + (impls ? " impls" : " wrappers") + " live on",
         after_reset(impls ? "assert T._live_impls() == 0" : "assert T._live_wrappers() == 0"));
  return false;
}

// Takes apart what lives on, if C++ owns a part of it. False when Python owns every part, and the
// collector should have found it.
bool Judge::break_shared_cycles() {
  const Ref tracked(PyObject_CallNoArgs(tracked_objects_.get()));
  CHECK(tracked && PyList_Check(tracked.get()), "gc.get_objects: " << take_error());
  std::vector<Ref> left;
  std::vector<const void*> impls, owned;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tracked.get()); ++i) {
    PyObject* object = PyList_GET_ITEM(tracked.get(), i);
    const auto shape = layout_.shape_of(object);
    if (shape == Layout::Shape::kOther) continue;
    left.push_back(Ref::borrow(object));
    const void* impl = layout_.impl_of(object, shape);
    // Of two wrappers one is hermetic, and owns the impl as another interpreter would.
    if (std::find(impls.begin(), impls.end(), impl) != impls.end()) owned.push_back(impl);
    impls.push_back(impl);
    if (shape != Layout::Shape::kTensor) continue;
    // Tensors that only C++ knows pass ownership on: follow the chain of .grad.
    for (int links = 0; impl && links < kGradChainMax; ++links) {
      owned.push_back(layout_.storage_of(impl));
      impl = layout_.grad_of(impl);
      owned.push_back(impl);
    }
  }
  const bool shared = std::any_of(impls.begin(), impls.end(), [&](const void* impl) {
    return impl && std::find(owned.begin(), owned.end(), impl) != owned.end();
  });
  if (!shared) return false;
  for (const Ref& object : left) {
    const Ref attributes(PyObject_GetAttrString(object.get(), "__dict__"));
    if (attributes && PyDict_Check(attributes.get())) PyDict_Clear(attributes.get());
    for (const std::string_view name : attribute_names_) {
      PyObject_SetAttrString(object.get(), std::string(name).c_str(), nullptr);
      PyErr_Clear();
    }
    if (layout_.shape_of(object.get()) == Layout::Shape::kTensor) {
      PyObject_SetAttrString(object.get(), "grad", Py_None);
    }
    PyErr_Clear();
  }
  left.clear();
  CHECK(PyList_SetSlice(tracked.get(), 0, PY_SSIZE_T_MAX, nullptr) == 0, "list");
  const Ref found(PyObject_CallNoArgs(collect_.get()));
  CHECK(found, "gc.collect: " << take_error());
  return true;
}

}  // namespace slotfuzz
