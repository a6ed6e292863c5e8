// The tracker observes a run, line by line, and records which impls live and who owns them. It
// reports no verdict.
//
// It is passive: it reads the namespace and, through Layout, the subject's memory, and changes
// nothing, so a program does the same with and without it. It keeps one Life per impl that is
// certain to be alive: a variable holds its wrapper or owns it in C++. A Life ends with the last
// such witness, because from then on another impl may get the address.
#pragma once

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "harness/engine/judge/tracked.h"
#include "harness/engine/run/execute.h"

namespace slotfuzz {

// Limits the links of one kind that the tracker follows to find owned impls and cycles.
inline constexpr std::size_t kLinksMax = 64;

class Tracker {
 public:
  Tracker(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
          const Layout& layout);

  // Called like the functions of a Watcher.
  void start(const Program& program);
  void before_line(std::size_t index, const Line& line);
  void after_line(const Line& line, bool raised);
  // After this no variable is bound, and nothing may live.
  void drop_all();
  // Records the finalizers that ran since the last call; after_line calls this too.
  void note_finalizers();

  const Seen& seen() const { return seen_; }
  std::size_t line_count() const { return line_count_; }
  bool is_hermetic(std::uint8_t lane) const { return hermetic_ >> lane & 1; }
  // Whether the lane is in a fake mode, which refuses real tensors.
  bool is_in_mode(std::uint8_t lane) const { return entered_ >> lane & 1; }
  const Binding& binding(int variable) const { return bindings_[variable]; }
  const std::vector<Binding>& bindings() const { return bindings_; }
  const std::vector<Life>& lives() const { return lives_; }
  const std::vector<Weak>& weaks() const { return weaks_; }
  const std::vector<std::string>& attribute_names() const { return attribute_names_; }
  // The number of objects with a finalizer that the program made.
  long born_count() const { return born_ ? PyList_GET_SIZE(born_) : 0; }
  int finalized_count(long serial) const;
  // The kind of the object with this serial if a line made it; otherwise null.
  const ImplKind* kind_of_serial(long serial) const;
  bool swapped_finalized() const { return swapped_finalized_; }
  const CppCycles& cpp_cycles() const { return cpp_cycles_; }
  // The variable that held an object or an impl last, or an empty string.
  std::string last_name_of(const void* address) const;
  bool is_bound(const PyObject* object) const;
  // Whether an operand is one that usually holds a wrapper of a kind of impls.
  bool is_of(const Operand& operand, const ImplKind& kind) const {
    return operand_kinds_[kind.number] == operand.kind;
  }
  // Whether a variable holds what its operand asks for: a wrapper of the kind of impls, or, where
  // no impls belong to the operand, an object other than None.
  bool holds_its_kind(const Operand& operand, int variable) const;
  // The number of impls and C++ owners that own an impl, each counted once, whatever its names.
  std::uint32_t owners_of(const void* impl) const;
  // The position of a variable among the operands of a line, if the line has it.
  template <typename Function>
  void for_each_variable(const Line& line, Function function) const {
    const Op& op = table_.ops()[line.op];
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (table_.is_variable(op.operands[i])) function(line.operands[i]);
    }
  }

  // Appends the state that later lines depend on, as words, some of them addresses.
  void remember(std::vector<std::uintptr_t>& words) const;
  // One line for each Life: its wrapper, the wrapper's refcount, the use count; the variables that
  // own the impl in C++, that name the wrapper, and that refer to it weakly; and its serial if its
  // finalizer is recorded.
  std::string describe() const;

 private:
  void unbind_all();
  void unbind(int variable);
  void observe(const Line& line, bool raised);
  bool is_bound_anew(int variable) const;
  // The operand that a line binds, with its kind from the values and not from the names.
  Operand as_met(const Op& op, const Line& line, Operand operand) const;
  void bind(const Operand& operand, int variable);
  void bind_owner(int variable, int source);
  void refresh(Binding& binding) const;
  void refresh();
  void know(int variable, const Operand& operand);
  void note_attribute(const Op& op, const Line& line);
  void note_born(Binding& binding);
  void note_weakref(const Line& line, const Op& op);
  void note_swap(int first, int second);
  void note_cpp_cycle(const Binding& binding, std::size_t edge);
  void note_cpp_cycle_of(int variable);
  void note_owned_by_cycle(PyObject* object);
  void note_dead_weakrefs();
  void forget_unwitnessed();
  void forget(const void* impl);
  bool is_witnessed(const void* impl) const;
  Life* life_of(const void* impl);
  // Calls FUNCTION with each variable that is bound to a wrapper or an owner.
  template <typename Function>
  void for_each_witness(Function function) const {
    for (VariableSet left = wrappers_ | owners_; left; left &= left - 1) {
      function(std::countr_zero(left));
    }
  }

  const Executor& executor_;
  const OpTable& table_;
  const Layout& layout_;
  // Lists of the prelude; null if the prelude lacks them.
  PyObject* const born_;
  PyObject* const finalized_;
  // Indices of kinds of operands: C++ owners, weak references, and the kind for each kind of impls.
  const std::optional<int> owner_kind_, weakref_kind_;
  std::vector<std::optional<int>> operand_kinds_;
  // Distinct attribute names of the table; a Life's `attributes` has one bit for each.
  std::vector<std::string> attribute_names_;
  std::vector<int> attribute_of_op_;

  // The state of the run.
  Seen seen_;
  std::size_t line_count_ = 0;
  LaneSet hermetic_ = 0;
  LaneSet entered_ = 0;
  bool was_hermetic_ = false;  // in a line so far
  CppCycles cpp_cycles_;
  std::vector<Binding> bindings_;
  // What lines have bound, in their order, by the addresses of object and impl.
  struct Named {
    const void *object, *impl;
    int variable;
  };
  std::vector<Named> named_;
  // The variables whose binding is not empty.
  VariableSet bound_ = 0;
  // The bound variables that hold a wrapper.
  VariableSet wrappers_ = 0;
  // The bound variables that hold a C++ owner, which is a witness while it owns.
  VariableSet owners_ = 0;
  std::vector<Life> lives_;
  std::vector<Weak> weaks_;
  std::vector<int> finalized_counts_;
  // CPython finalizes an object once. After a swap with a finalized (resurrected) object, one
  // serial may be seen twice and the other never.
  bool swapped_finalized_ = false;
  // By serial; null for an object that a check of the prelude made.
  std::vector<const ImplKind*> born_kinds_;
  Py_ssize_t finalized_seen_ = 0;
  Py_ssize_t born_before_ = 0;
};

}  // namespace slotfuzz
