// Breaks the cycles that the contract lets live on (P5), so that a hunt does not fill its memory.
#include <algorithm>

#include "harness/engine/check.h"
#include "harness/engine/judge/ledger.h"

namespace slotfuzz {
namespace {

// An object may be freed only in the collection after the one that cleared what held it.
constexpr std::size_t kBreakRounds = 4;

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

void Ledger::break_cycles(Result& result) const {
  std::vector<Ref> left = tracked_wrappers();
  std::vector<Ref> hooks = hooks_of_cpp();
  for (const Ref& object : left) take_apart(object.get());
  for (const Ref& object : other_owners()) clear_other(object.get());
  for (const Ref& object : hooks) {
    const Ref cleared(PyObject_CallMethod(object.get(), "clear", nullptr));
    CHECK(cleared, "clear: " << take_error());
  }
  left.clear();
  hooks.clear();
  // A finalizer may append to the prelude's lists, as in a reset. Each does so once, but a chain of
  // slices that resurrect themselves is freed one by one.
  bool is_empty = false;
  for (std::size_t round = 0; round < kBreakRounds || (!is_empty && round < kLineMax); ++round) {
    is_empty = drop_held(result);
  }
}

bool Ledger::drop_held(Result& result) const {
  bool is_empty = true;
  for (const auto& [name, list] : interpreter_.prelude_lists()) {
    if (Interpreter::has_notes(name)) continue;
    is_empty = is_empty && PyList_GET_SIZE(list) == 0;
    CHECK(PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, nullptr) == 0, name);
  }
  collect(result);
  return is_empty;
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
  const ImplKind& kind = *layout_.kind_of(object);
  const bool owns_impl = capabilities_.counts_objects || make_own(object, kind);
  clear_attributes(object);
  for (const std::string& name : attribute_names_) {
    PyObject_SetAttrString(object, name.c_str(), nullptr);
    PyErr_Clear();
  }
  call_method(object, kind.row->clear);
  release(object, kind.row->released);
  const bool has_empty = !kind.row->empty.empty() && !capabilities_.counts_objects;
  if (has_empty && owns_impl) call(interpreter_, kind.row->empty, object);
}

// An impl that its wrapper only borrows could be freed while it is taken apart. The function that
// returns it wraps it again, and the wrapper then owns it. Returns whether it does.
bool Ledger::make_own(PyObject* object, const ImplKind& kind) const {
  if (kind.row->wrap_again.empty()) return !layout_.is_borrowing(object, kind);
  const Ref itself = call(interpreter_, kind.row->wrap_again, object);
  return itself.get() == object && !layout_.is_borrowing(object, kind);
}

}  // namespace slotfuzz
