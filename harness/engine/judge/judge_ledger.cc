// The ledger: when every name of a program is gone and the collector has run, live impls and live
// wrappers are back at their start values (P5).
//
// P5 wants cycles collected only when Python owns every part of them. A cycle that passes through a
// C++ owner, as in s0.owner = t0 where t0 owns s0, lives on by the contract; the ledger recognises
// it by the owner, takes it apart, and only reports what is left then.
#include <algorithm>
#include <utility>

#include "harness/engine/check.h"
#include "harness/engine/judge/judge.h"

namespace slotfuzz {
namespace {

// Each object's finalizer runs once, and what it held may have another.
constexpr int kBreakRounds = 4;
// How often it is looked whether caches and imports have left much, and what is much.
constexpr int kProgramsPerLook = 16;
constexpr Py_ssize_t kTrackedMax = 2000;

// -1, as PyLong_AsLong has it, when the subject gives no number.
long call_for_number(PyObject* function) {
  const Ref number(PyObject_CallNoArgs(function));
  const long count = number ? PyLong_AsLong(number.get()) : -1;
  PyErr_Clear();
  return count;
}

}  // namespace

std::pair<long, long> Judge::live() const {
  if (!live_impls_ || !live_wrappers_) return {0, static_cast<long>(tracked_wrappers().size())};
  return {call_for_number(live_impls_.get()), call_for_number(live_wrappers_.get())};
}

// Whether C++ let go of something of this program while its interpreter ended: it stays (T6).
bool Judge::left_references_behind() {
  if (!left_behind_) return false;
  const long before = std::exchange(left_behind_before_, call_for_number(left_behind_.get()));
  return left_behind_before_ != before;
}

// The objects of a kind that the collector knows of. CPython's own list of its objects goes before
// they are returned: it would be one more owner.
std::vector<Ref> Judge::tracked(const std::function<bool(PyObject*)>& is_meant) const {
  const Ref all(PyObject_CallNoArgs(tracked_objects_.get()));
  CHECK(all && PyList_Check(all.get()), "gc.get_objects: " << take_error());
  std::vector<Ref> found;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all.get()); ++i) {
    PyObject* object = PyList_GET_ITEM(all.get(), i);
    if (is_meant(object)) found.push_back(Ref::borrow(object));
  }
  return found;
}

std::vector<Ref> Judge::tracked_wrappers() const {
  return tracked(
      [this](PyObject* object) { return layout_.shape_of(object) != Layout::Shape::kOther; });
}

// Hooks that C++ owns: autograd keeps them in dictionaries of this type, and the collector does not
// see all that own one.
std::vector<Ref> Judge::hooks_of_cpp() const {
  std::vector<Ref> hooks = tracked([](PyObject* object) { return PyODict_CheckExact(object); });
  std::erase_if(hooks, [this](const Ref& object) {
    const Ref referrers(PyObject_CallOneArg(referrers_.get(), object.get()));
    CHECK(referrers && PyList_Check(referrers.get()), "gc.get_referrers: " << take_error());
    return Py_REFCNT(object.get()) - 1 <= PyList_GET_SIZE(referrers.get());
  });
  return hooks;
}

bool Judge::check_ledger() {
  auto now = live();
  const bool excused = left_references_behind();
  // CPython 3.14 takes an object for resurrected whose finalizer has read its __dict__, and frees
  // it, and what it owned in C++, in the next collection.
  for (int round = 0; now != baseline_ && !live_wrappers_ && round < kMoreCollections; ++round) {
    collect();
    now = live();
  }
  if (now == baseline_) {
    hide_what_is_left();
    return true;
  }
  if (now.first == kNoCount || now.second == kNoCount) {
    report_no_count();
    return false;
  }
  if (excused) {
    baseline_ = now;
    return false;
  }
  const bool made_cycle = made_cpp_cycle_ || is_graph_left();
  if (break_shared_cycles() || made_cycle) {
    const auto after = live();
    const bool back = after.first <= baseline_.first && after.second <= baseline_.second;
    // What a circle of .grad links or of a graph holds cannot be had back: out of the collector's
    // sight with it, or every later reset would visit it.
    if (back || made_cycle) {
      if (after != baseline_) interpreter_.freeze();
      baseline_ = live();  // what the collector counts, it counts no more when it is frozen
      return false;
    }
  }
  const bool impls = now.first != baseline_.first;
  const long count = impls ? now.first - baseline_.first : now.second - baseline_.second;
  report("P5", impls ? "live impls" : "live wrappers",
         std::to_string(count) + (impls ? " impls" : " wrappers") + " live on",
         after_reset(impls            ? "assert T._live_impls() == 0"
                     : live_wrappers_ ? "assert T._live_wrappers() == 0"
                                      : "assert live_wrappers() == 0"));
  return false;
}

void Judge::report_no_count() {
  for (const auto& [function, call] : {std::pair{live_impls_.get(), "T._live_impls()"},
                                       {live_wrappers_.get(), "T._live_wrappers()"}}) {
    const Ref number(function ? PyObject_CallNoArgs(function) : nullptr);
    if (number && PyLong_Check(number.get())) continue;
    const std::string error = number ? "TypeError: no number" : take_error();
    report_error("P5", "live counts", error, after_reset(std::string("0 + ") + call));
  }
}

// A collection fails when the subject's part in it leaves an exception.
void Judge::collect() {
  if (Ref(PyObject_CallNoArgs(collect_.get()))) return;
  report_error("", "gc.collect", take_error(), after_reset("gc.collect()"));
}

// Caches and warnings of a library grow by some objects with each program, and every collection to
// come would visit them.
void Judge::hide_what_is_left() {
  if (live_wrappers_ || ++clean_programs_ % kProgramsPerLook != 0) return;
  const Ref all(PyObject_CallNoArgs(tracked_objects_.get()));
  CHECK(all && PyList_Check(all.get()), "gc.get_objects: " << take_error());
  if (PyList_GET_SIZE(all.get()) <= kTrackedMax) return;
  interpreter_.freeze();
  baseline_ = live();
}

// Takes apart what lives on, if C++ owns a part of it. False when Python owns every part, and the
// collector should have found it.
bool Judge::break_shared_cycles() {
  std::vector<Ref> left = tracked_wrappers();
  std::vector<const void*> impls, owned;
  bool has_owner = false;
  for (const Ref& object : left) {
    const auto shape = layout_.shape_of(object.get());
    const void* impl = layout_.impl_of(object.get(), shape);
    // Of two wrappers one is hermetic, and owns the impl as another interpreter would.
    if (std::find(impls.begin(), impls.end(), impl) != impls.end()) owned.push_back(impl);
    impls.push_back(impl);
    // A graph of autograd owns tensors as well, and a slice its storage, where nobody can see it.
    // An owner that is none, but a lost reference, is not taken apart below: what it keeps is
    // reported.
    has_owner |= !live_impls_ && (layout_.use_count_of(impl).value_or(0) > 1 ||
                                  layout_.is_borrowing(object.get(), shape));
    if (shape != Layout::Shape::kTensor) continue;
    // Tensors that only C++ knows pass ownership on: follow the links of .grad and base.
    std::vector<const void*> links = {impl};
    for (std::size_t at = 0; at < links.size() && links.size() < kLinksMax; ++at) {
      owned.push_back(layout_.storage_of(links[at]));
      for (const void* next : {layout_.grad_of(links[at]), layout_.base_of(links[at])}) {
        owned.push_back(next);
        if (next && std::find(links.begin(), links.end(), next) == links.end()) {
          links.push_back(next);
        }
      }
    }
  }
  const bool shared = std::any_of(impls.begin(), impls.end(), [&](const void* impl) {
    return impl && std::find(owned.begin(), owned.end(), impl) != owned.end();
  });
  std::vector<Ref> hooks = hooks_of_cpp();
  if (!shared && !has_owner && hooks.empty()) return false;
  for (const Ref& object : left) take_apart(object.get());
  for (const Ref& object : hooks) {
    const Ref cleared(PyObject_CallMethod(object.get(), "clear", nullptr));
    CHECK(cleared, "clear: " << take_error());
  }
  left.clear();
  hooks.clear();
  // A finalizer of what goes may put things into the prelude's lists, as in a reset.
  for (int round = 0; round < kBreakRounds; ++round) {
    for (const auto& [name, list] : interpreter_.prelude_lists()) {
      CHECK(PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, nullptr) == 0, name);
    }
    collect();
  }
  return true;
}

// Whether autograd's graph has a tensor that lives on, what it is a view of, or its gradient. The
// graph owns what a line used, in C++, and a tensor that was used in place may own itself. Where it
// was damaged, asking for it raises; so does a wrapper that the collector has cleared, which has no
// graph.
bool Judge::is_graph_left() const {
  for (const Ref& left : tracked_wrappers()) {
    const Ref base(PyObject_GetAttrString(left.get(), "_base"));
    PyErr_Clear();
    const Ref grad(PyObject_GetAttrString(left.get(), "grad"));
    PyErr_Clear();
    for (PyObject* object : {left.get(), base.get(), grad.get()}) {
      if (!object || layout_.shape_of(object) != Layout::Shape::kTensor) continue;
      if (!layout_.impl_of(object, Layout::Shape::kTensor)) continue;
      const Ref node(PyObject_GetAttrString(object, "grad_fn"));
      const bool is_damaged = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError);
      PyErr_Clear();
      if (is_damaged || (node && node.get() != Py_None)) return true;
    }
  }
  return false;
}

// Drops what a wrapper holds in Python, and what its tensor owns that owns others: of PyTorch the
// memory as well, which may own a tensor that lent it.
void Judge::take_apart(PyObject* object) {
  const Ref attributes(PyObject_GetAttrString(object, "__dict__"));
  if (attributes && PyDict_Check(attributes.get())) PyDict_Clear(attributes.get());
  for (const std::string_view name : attribute_names_) {
    PyObject_SetAttrString(object, std::string(name).c_str(), nullptr);
    PyErr_Clear();
  }
  if (layout_.shape_of(object) == Layout::Shape::kTensor) {
    for (const char* owner : {"grad", "_backward_hooks"}) {
      if (!PyObject_HasAttrString(object, owner)) continue;
      PyObject_SetAttrString(object, owner, Py_None);
      PyErr_Clear();
    }
    if (!live_impls_) empty(object);
  }
  PyErr_Clear();
}

// A tensor that its wrapper only borrows could go while it is emptied. What returns it, wraps it
// again: the wrapper owns it then.
void Judge::empty(PyObject* object) const {
  const Ref itself(PyObject_CallMethod(object, "type_as", "O", object));
  PyErr_Clear();
  if (itself.get() != object || layout_.is_borrowing(object, Layout::Shape::kTensor)) return;
  const Ref emptied(PyObject_CallMethod(object, "set_", nullptr));
  PyErr_Clear();
}

}  // namespace slotfuzz
