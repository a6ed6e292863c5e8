// How a line updates the tracker's records: bindings, Lives, serials, weak references.
#include <algorithm>

#include "harness/engine/judge/tracker.h"

namespace slotfuzz {
namespace {

// A program makes at most one object with __del__ per line.
constexpr std::size_t kSerialMax = 4 * kLineMax;
// The edge that `untyped_storage()` follows when an op sets an attribute of the result.
constexpr std::string_view kStorageEdge = "storage";

long serial_at(PyObject* list, Py_ssize_t index) {
  return PyLong_AsLong(PyList_GET_ITEM(list, index));
}

// A deep copy makes more objects than the one that its line binds.
bool has_serial(PyObject* object, Py_ssize_t number) {
  const Ref serial(PyObject_GetAttrString(object, "serial"));
  const bool same = serial && PyLong_Check(serial.get()) && PyLong_AsLong(serial.get()) == number;
  PyErr_Clear();
  return same;
}

}  // namespace

bool is_dead(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* target = nullptr;
  const bool alive = PyWeakref_GetRef(reference, &target) == 1;
  Py_XDECREF(target);
  return !alive;
#else
  return PyWeakref_GET_OBJECT(reference) == Py_None;
#endif
}

// A `with` line that raises at its end has bound its variable.
bool Tracker::is_bound_anew(int variable) const {
  return executor_.value_of(variable) != bindings_[variable].object;
}

bool Tracker::holds_its_kind(const Operand& operand, int variable) const {
  const Binding& binding = bindings_[variable];
  for (const ImplKind& kind : layout_.kinds()) {
    if (is_of(operand, kind)) return binding.kind == &kind;
  }
  return binding.object && binding.object != Py_None;
}

void Tracker::observe(const Line& line, bool raised) {
  const Op& op = table_.ops()[line.op];
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Operand& operand = op.operands[i];
    if (!table_.is_variable(operand)) continue;
    if (operand.use == Use::kUnbind) {
      if (!executor_.value_of(line.operands[i])) unbind(line.operands[i]);
    } else if (operand.binds() && (!raised || is_bound_anew(line.operands[i]))) {
      if (owner_kind_ == operand.kind) {
        bind_owner(line.operands[i], line.operands[1]);
      } else {
        bind(as_met(op, line, operand), line.operands[i]);
      }
    }
  }
  if (raised || op.operands.empty()) return;
  const Binding& first = bindings_[line.operands[0]];
  // The tensor variable of a line may be bound to a storage.
  if (!op.attribute.empty() && first.kind) {
    if (const auto edge = first.kind->edge_named(op.attribute)) note_cpp_cycle(first, *edge);
  }
  // A check of the prelude swaps tensors that it made itself.
  if (op.has(Effect::kSwaps) && !op.has(Effect::kChecks)) {
    note_swap(line.operands[0], line.operands[1]);
  }
  if (attribute_of_op_[line.op] >= 0) note_attribute(op, line);
  if (weakref_kind_ == op.operands[0].kind) note_weakref(line, op);
}

// `t0.grad` and `t0.data` are attributes like any other when t0 names a storage.
Operand Tracker::as_met(const Op& op, const Line& line, Operand operand) const {
  if (op.operands.size() < 2) return operand;
  for (const ImplKind& kind : layout_.kinds()) {
    if (kind.edge_count == 0 || !is_of(op.operands[1], kind)) continue;
    if (bindings_[line.operands[1]].kind != &kind) operand.use = Use::kBind;
  }
  return operand;
}

void Tracker::bind(const Operand& operand, int variable) {
  Binding& binding = bindings_[variable];
  const Binding before = binding;
  binding = Binding();
  bound_ |= VariableSet{1} << variable;
  wrappers_ &= ~(VariableSet{1} << variable);
  binding.object = executor_.value_of(variable);
  binding.lane = seen_.lane;
  if (!binding.object || binding.object == Py_None) return;
  binding.kind = layout_.kind_of(binding.object);
  named_.push_back({binding.object,
                    binding.kind ? layout_.impl_of(binding.object, *binding.kind) : nullptr,
                    variable});
  if (!binding.kind) return;
  wrappers_ |= VariableSet{1} << variable;
  refresh(binding);
  if (operand.use == Use::kBind) {
    // A fetched object: its record comes from another variable or from a Life.
    if (binding.object == before.object) binding = before;
    for (int other = 0; other < table_.variable_count(); ++other) {
      if (other != variable && bindings_[other].object == binding.object) {
        binding = bindings_[other];
      }
    }
    const Life* life = life_of(binding.impl);
    if (life && life->wrapper == binding.object) {
      binding.mode = Mode::kNormal;
      binding.serial = life->serial;
    }
  } else {
    binding.mode = seen_.in_hermetic ? Mode::kHermetic : Mode::kNormal;
  }
  if (operand.use == Use::kMake) note_born(binding);
  if (operand.use == Use::kAsk && seen_.in_hermetic) seen_.asked_in_hermetic = variable;
  if (binding.mode == Mode::kNormal) know(variable, operand);
}

// `x0 = Owner(s0)`. Its `_cdata` shows when it decrefs, on whichever thread.
void Tracker::bind_owner(int variable, int source) {
  Binding& binding = bindings_[variable];
  binding = Binding();
  binding.object = executor_.value_of(variable);
  binding.lane = seen_.lane;
  binding.owned = bindings_[source].kind;
  bound_ |= VariableSet{1} << variable;
  owners_ |= VariableSet{1} << variable;
  refresh(binding);
}

// Records a normal wrapper: it belongs to a Life, or begins one.
void Tracker::know(int variable, const Operand& operand) {
  Binding& binding = bindings_[variable];
  if (!binding.impl || !binding.kind->is_preserved) return;
  Life* life = life_of(binding.impl);
  if (!life || operand.use == Use::kMake) {
    forget(binding.impl);
    lives_.push_back(
        {binding.impl, binding.object, Py_TYPE(binding.object), 0, binding.serial, binding.kind});
    return;
  }
  seen_.met_again = variable;
  seen_.before = *life;
  life->wrapper = binding.object;
  binding.serial = life->serial;
}

void Tracker::note_attribute(const Op& op, const Line& line) {
  const Binding& target = bindings_[line.operands[0]];
  bool hermetic = target.mode != Mode::kNormal;
  const void* impl = target.impl;
  if (op.attribute_of_storage) {
    const auto edge = target.kind ? target.kind->edge_named(kStorageEdge) : std::nullopt;
    hermetic = seen_.in_hermetic;
    impl = edge ? target.owns[*edge] : nullptr;
  }
  Life* life = life_of(impl);
  if (life && !hermetic) life->attributes |= 1u << attribute_of_op_[line.op];
}

// Records that a line made an object with a finalizer.
void Tracker::note_born(Binding& binding) {
  if (born_count() <= born_before_) return;
  if (!has_serial(binding.object, born_before_)) return;
  binding.serial = static_cast<int>(born_before_);
  born_kinds_.resize(born_before_ + 1, nullptr);
  born_kinds_[born_before_] = binding.kind;
}

// Each wrapper has the other's impl and attributes now, so both records start again.
void Tracker::note_swap(int first, int second) {
  PyObject* const objects[] = {bindings_[first].object, bindings_[second].object};
  const int serials[] = {bindings_[first].serial, bindings_[second].serial};
  forget(bindings_[first].impl);
  forget(bindings_[second].impl);
  for (PyObject* object : objects) {
    swapped_finalized_ |= object && PyObject_GC_IsFinalized(object) != 0;
  }
  for (Binding& binding : bindings_) {
    if (!binding.object) continue;
    if (binding.object == objects[0]) binding.serial = serials[1];
    if (binding.object == objects[1]) binding.serial = serials[0];
  }
}

void Tracker::note_weakref(const Line& line, const Op& op) {
  const int variable = line.operands[0];
  std::erase_if(weaks_, [&](const Weak& weak) { return weak.variable == variable; });
  PyObject* reference = executor_.value_of(variable);
  if (op.operands.size() < 2 || !reference || !PyWeakref_CheckRef(reference)) return;
  const Binding& target = bindings_[line.operands[1]];
  if (target.mode != Mode::kNormal || !target.impl) return;
  const Ref callback(PyObject_GetAttrString(reference, "__callback__"));
  const bool is_plain = callback.get() == Py_None;
  weaks_.push_back({variable, reference, Ref::borrow(is_plain ? reference : nullptr), target.impl,
                    target.object, target.kind, false});
}

// Follows the links from the target of EDGE while they lead to a kind with edges.
void Tracker::note_cpp_cycle(const Binding& binding, std::size_t edge) {
  struct Reached {
    const void* impl;
    const ImplKind* kind;
  };
  std::vector<Reached> reached;
  const auto reach = [&](const void* impl, const ImplKind& kind) {
    const bool is_new = std::none_of(reached.begin(), reached.end(),
                                     [&](const Reached& one) { return one.impl == impl; });
    if (impl && kind.edge_count > 0 && is_new && reached.size() < kLinksMax) {
      reached.push_back({impl, &kind});
    }
  };
  reach(layout_.owned(binding.impl, *binding.kind, edge), *binding.kind->targets[edge]);
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const auto [impl, kind] = reached[at];
    for (std::size_t next = 0; next < kind->edge_count; ++next) {
      reach(layout_.owned(impl, *kind, next), *kind->targets[next]);
    }
  }
  cpp_cycles_.any |= std::any_of(reached.begin(), reached.end(),
                                 [&](const Reached& one) { return one.impl == binding.impl; });
}

// Asks the impl of a variable that may be bound anew. A hermetic wrapper does not survive its
// variable, so a cycle may have no wrapper at the end, and then nobody can ask for it. Such a cycle
// may have been closed after its wrappers died, and any tensor may lead to it. C++ keeps all other
// wrappers in a cycle. To ask after each line took a fifth of the instructions of a run whose lines
// are compiled.
void Tracker::note_cpp_cycle_of(int variable) {
  if (!was_hermetic_) return;
  const Binding& binding = bindings_[variable];
  if (!binding.kind || !binding.impl) return note_owned_by_cycle(executor_.value_of(variable));
  const auto owned = layout_.owned_by_cpp(binding.object);
  if (!owned) return;
  const bool has_wrapper = std::any_of(owned->begin(), owned->end(), [&](const auto& one) {
    return one.is_in_cycle && life_of(one.owned);
  });
  if (binding.mode == Mode::kNormal && has_wrapper) return;
  if (!cpp_cycles_.owned.contains(binding.impl)) {
    auto cycle = cycle_in_cpp(*owned, binding.impl, table_.variable_name(variable));
    if (!cycle) return;
    cpp_cycles_.any = true;
    cpp_cycles_.cycles.push_back(std::move(*cycle));
  }
  // A cycle that is known, and what it leads to, may own more by now.
  for (const Layout::CppReference& one : *owned) cpp_cycles_.owned.insert(one.owned);
}

// A node that a cycle owns may own more by now, such as a hook.
void Tracker::note_owned_by_cycle(PyObject* object) {
  if (!object || !cpp_cycles_.owned.contains(object)) return;
  const auto owned = layout_.owned_by_cpp(object);
  if (!owned) return;
  for (const Layout::CppReference& one : *owned) cpp_cycles_.owned.insert(one.owned);
}

void Tracker::note_finalizers() {
  seen_.finalizer_runs.clear();
  if (!finalized_) return;
  for (; finalized_seen_ < PyList_GET_SIZE(finalized_); ++finalized_seen_) {
    const long serial = serial_at(finalized_, finalized_seen_);
    if (serial < 0 || static_cast<std::size_t>(serial) >= kSerialMax) continue;
    finalized_counts_.resize(std::max<std::size_t>(finalized_counts_.size(), serial + 1));
    seen_.finalizer_runs.push_back({serial, ++finalized_counts_[serial]});
  }
}

void Tracker::note_dead_weakrefs() {
  seen_.died_early.clear();
  for (Weak& weak : weaks_) {
    // A weak reference that is not kept is valid only while the variable holds it.
    if (weak.excused || (weak.kept && !is_dead(weak.reference))) continue;
    if (executor_.value_of(weak.variable) != weak.reference || !is_dead(weak.reference)) continue;
    weak.excused = true;
    const Life* life = life_of(weak.impl);
    if (life && life->wrapper == weak.wrapper) seen_.died_early.push_back(&weak);
  }
}

}  // namespace slotfuzz
