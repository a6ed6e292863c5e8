// Finds and breaks the cycles that the contract lets live on: cycles through a C++ owner (P5).
#include <algorithm>

#include "harness/engine/check.h"
#include "harness/engine/judge/ledger.h"
#include "harness/engine/judge/tracker.h"

namespace slotfuzz {
namespace {

// Each object's finalizer runs once, and objects that it held may have another.
constexpr int kBreakRounds = 4;

bool has(const std::vector<const void*>& impls, const void* impl) {
  return std::find(impls.begin(), impls.end(), impl) != impls.end();
}

Ref attribute_of(PyObject* object, std::string_view name) {
  return Ref(PyObject_GetAttrString(object, std::string(name).c_str()));
}

// Calls the function FUNCTION of a row with OBJECT; returns null if it raises.
Ref call(const Interpreter& interpreter, std::string_view function, PyObject* object) {
  const Ref callable = interpreter.evaluate(std::string(function));
  Ref result(callable ? PyObject_CallOneArg(callable.get(), object) : nullptr);
  PyErr_Clear();
  return result;
}

// Calls a method without arguments, unless the name is empty or the object has no such method.
void call_method(PyObject* object, std::string_view name) {
  if (name.empty()) return;
  const Ref done(PyObject_CallMethod(object, std::string(name).c_str(), nullptr));
  PyErr_Clear();
}

// Appends all impls that an impl owns, directly or through others.
void add_owned(const Layout& layout, const void* impl, const ImplKind& kind,
               std::vector<const void*>& owned) {
  struct Link {
    const void* impl;
    const ImplKind* kind;
  };
  std::vector<Link> links = {{impl, &kind}};
  // Impls without a wrapper own others too.
  for (std::size_t at = 0; at < links.size() && links.size() < kLinksMax; ++at) {
    const Link link = links[at];
    for (std::size_t edge = 0; edge < link.kind->edge_count; ++edge) {
      const void* next = layout.owned(link.impl, *link.kind, edge);
      owned.push_back(next);
      const bool is_met = std::any_of(links.begin(), links.end(),
                                      [&](const Link& one) { return one.impl == next; });
      if (next && !is_met && link.kind->targets[edge]->edge_count > 0) {
        links.push_back({next, link.kind->targets[edge]});
      }
    }
  }
}

// Whether one of the impls has another owner already; appends them to what is owned. What two
// wrappers own together, neither reports to the collector.
bool shares(const Layout::Owned& owned, std::vector<const void*>& known) {
  const bool is_shared = std::any_of(owned.impls.begin(), owned.impls.end(),
                                     [&](const void* one) { return has(known, one); });
  known.insert(known.end(), owned.impls.begin(), owned.impls.end());
  return is_shared;
}

}  // namespace

// The tracked objects of a kind. This frees CPython's own list of objects before it returns: the
// list would be one more owner.
std::vector<Ref> Ledger::tracked(const std::function<bool(PyObject*)>& is_meant) const {
  const Ref all(PyObject_CallNoArgs(tracked_objects_.get()));
  CHECK(all && PyList_Check(all.get()), "gc.get_objects: " << take_error());
  std::vector<Ref> found;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all.get()); ++i) {
    PyObject* object = PyList_GET_ITEM(all.get(), i);
    if (is_meant(object)) found.push_back(Ref::borrow(object));
  }
  return found;
}

std::vector<Ref> Ledger::tracked_wrappers() const {
  return tracked([this](PyObject* object) { return layout_.kind_of(object) != nullptr; });
}

// Hooks that C++ owns: autograd keeps them in dictionaries of this type, and the collector does not
// see all owners of a dictionary.
std::vector<Ref> Ledger::hooks_of_cpp() const {
  std::vector<Ref> hooks = tracked([](PyObject* object) { return PyODict_CheckExact(object); });
  std::erase_if(hooks, [this](const Ref& object) {
    const Ref referrers(PyObject_CallOneArg(referrers_.get(), object.get()));
    CHECK(referrers && PyList_Check(referrers.get()), "gc.get_referrers: " << take_error());
    return Py_REFCNT(object.get()) - 1 <= PyList_GET_SIZE(referrers.get());
  });
  return hooks;
}

std::vector<Ref> Ledger::other_owners() const {
  return tracked([this](PyObject* object) { return layout_.is_other_owner(object); });
}

bool Ledger::is_shared(const std::vector<Ref>& left) const {
  std::vector<const void*> impls, owned;
  for (const Ref& object : left) {
    const ImplKind& kind = *layout_.kind_of(object.get());
    const void* impl = layout_.impl_of(object.get(), kind);
    // An autograd graph owns tensors as well, and a slice owns its storage; the judge sees neither.
    // If the extra count is a lost reference and not an owner, the cycle is not broken below, and
    // the ledger reports what it keeps.
    if (!capabilities_.counts_objects && (layout_.use_count_of(impl, kind).value_or(0) > 1 ||
                                          layout_.is_borrowing(object.get(), kind))) {
      return true;
    }
    // Of two wrappers one is hermetic, and owns the impl as another interpreter would.
    if (has(impls, impl)) owned.push_back(impl);
    impls.push_back(impl);
    if (const auto all = Layout::owned_by_cpp(object.get(), kind)) {
      if (shares(*all, owned)) return true;
    } else {
      add_owned(layout_, impl, kind, owned);
    }
  }
  for (const Ref& other : other_owners()) {
    const auto all = layout_.owned_by_other(other.get());
    if (all && shares(*all, owned)) return true;
  }
  return std::any_of(impls.begin(), impls.end(),
                     [&](const void* impl) { return impl && has(owned, impl); });
}

bool Ledger::break_shared_cycles(Result& result) const {
  std::vector<Ref> left = tracked_wrappers();
  std::vector<Ref> hooks = hooks_of_cpp();
  // A subject that can say what it owns must say that it owns this.
  const bool is_hook_enough = !hooks.empty() && !capabilities_.counts_objects;
  if (!is_hook_enough && !is_shared(left)) return false;
  for (const Ref& object : left) take_apart(object.get());
  for (const Ref& object : other_owners()) clear_other(object.get());
  for (const Ref& object : hooks) {
    const Ref cleared(PyObject_CallMethod(object.get(), "clear", nullptr));
    CHECK(cleared, "clear: " << take_error());
  }
  left.clear();
  hooks.clear();
  // A finalizer may append to the prelude's lists, as in a reset.
  for (int round = 0; round < kBreakRounds; ++round) {
    for (const auto& [name, list] : interpreter_.prelude_lists()) {
      CHECK(PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, nullptr) == 0, name);
    }
    collect(result);
  }
  return true;
}

// Whether an impl that lives on owns itself in C++, or one that does. Of a subject that cannot say,
// whether a C++ graph may own the impl, or what that impl owns: the graph owns what a line used,
// and a tensor used in place may own itself. A damaged graph raises when asked for. So does a
// wrapper that the collector has cleared, which has no graph.
bool Ledger::is_graph_left() const {
  const auto has_graph = [this](PyObject* object) {
    const ImplKind* kind = layout_.kind_of(object);
    if (!kind || kind->row->graph.empty() || !layout_.impl_of(object, *kind)) return false;
    if (const auto owned = Layout::owned_by_cpp(object, *kind)) return owned->has_cycle;
    const Ref node = attribute_of(object, kind->row->graph);
    const bool is_damaged = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError);
    PyErr_Clear();
    return is_damaged || (node && node.get() != Py_None);
  };
  for (const Ref& left : tracked_wrappers()) {
    if (has_graph(left.get())) return true;
    const ImplKind& kind = *layout_.kind_of(left.get());
    for (const ImplEdge& edge : kind.row->edges) {
      if (edge.attribute.empty()) continue;
      const Ref owned = attribute_of(left.get(), edge.attribute);
      PyErr_Clear();
      if (owned && has_graph(owned.get())) return true;
    }
  }
  for (const Ref& other : other_owners()) {
    const auto owned = layout_.owned_by_other(other.get());
    if (owned && owned->has_cycle) return true;
  }
  return false;
}

void Ledger::clear_attributes(PyObject* object) {
  const Ref attributes(PyObject_GetAttrString(object, "__dict__"));
  if (attributes && PyDict_Check(attributes.get())) PyDict_Clear(attributes.get());
  PyErr_Clear();
}

void Ledger::clear_other(PyObject* object) const {
  clear_attributes(object);
  for (const ImplKind& kind : layout_.kinds()) {
    for (const OtherOwner& owner : kind.row->other_owners) {
      // An object of another type has no such names.
      call_method(object, owner.clear);
      release(object, owner.released);
    }
  }
}

// Sets attributes to None that the object has.
void Ledger::release(PyObject* object, const std::vector<std::string_view>& names) {
  for (const std::string_view one : names) {
    const std::string name(one);
    if (!PyObject_HasAttrString(object, name.c_str())) continue;
    PyObject_SetAttrString(object, name.c_str(), Py_None);
    PyErr_Clear();
  }
}

// Releases what a wrapper holds in Python, and the owning edges of its impl; in PyTorch also the
// memory, which may own the tensor that lent it.
void Ledger::take_apart(PyObject* object) const {
  clear_attributes(object);
  for (const std::string& name : attribute_names_) {
    PyObject_SetAttrString(object, name.c_str(), nullptr);
    PyErr_Clear();
  }
  const ImplKind& kind = *layout_.kind_of(object);
  call_method(object, kind.row->clear);
  release(object, kind.row->released);
  if (!kind.row->empty.empty() && !capabilities_.counts_objects) empty(object, kind);
}

// An impl that its wrapper only borrows could be freed while it is emptied. Calling the function
// that returns it wraps it again, and the wrapper then owns it.
void Ledger::empty(PyObject* object, const ImplKind& kind) const {
  const Ref itself = call(interpreter_, kind.row->wrap_again, object);
  if (itself.get() == object && !layout_.is_borrowing(object, kind)) {
    call(interpreter_, kind.row->empty, object);
  }
}

}  // namespace slotfuzz
