// The tracker: follows a run, line by line, and knows what lives and who holds it. It judges
// nothing.
//
// It is passive: it reads the namespace and, through Layout, the subject's memory, and changes
// nothing, so that a program does the same with and without it. It keeps one Life per impl that is
// known to be alive, from variables that hold its wrapper or own it in C++; a Life ends when the
// last such witness goes, because from then on the impl's address may name another one.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "harness/engine/judge/tracked.h"
#include "harness/engine/run/execute.h"

namespace slotfuzz {

// Links of one kind that are followed to see what they own, and whether they close a circle.
inline constexpr std::size_t kLinksMax = 64;

class Tracker {
 public:
  Tracker(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
          const Layout& layout);

  // These are called as those of a Watcher.
  void start(const Program& program);
  void before_line(std::size_t index, const Line& line);
  void after_line(const Line& line, bool raised);
  // From here on nothing is bound, and nothing may live.
  void drop_all();
  // Notes the finalizers that have run since it was last called; after_line does as well.
  void note_finalizers();

  const Seen& seen() const { return seen_; }
  std::size_t line_count() const { return line_count_; }
  bool is_hermetic(std::uint8_t lane) const { return hermetic_ >> lane & 1; }
  const Binding& binding(int variable) const { return bindings_[variable]; }
  const std::vector<Binding>& bindings() const { return bindings_; }
  const std::vector<Life>& lives() const { return lives_; }
  const std::vector<Weak>& weaks() const { return weaks_; }
  const std::vector<std::string>& attribute_names() const { return attribute_names_; }
  // Objects with a finalizer that the program has made.
  long born_count() const { return born_ ? PyList_GET_SIZE(born_) : 0; }
  int finalized_count(long serial) const;
  // The kind of object that got a serial, as far as a line made it; else null.
  const ImplKind* kind_of_serial(long serial) const;
  bool swapped_finalized() const { return swapped_finalized_; }
  // Whether links of C++ alone have closed a circle: nobody can collect it.
  bool made_cpp_cycle() const { return made_cpp_cycle_; }
  bool is_bound(const PyObject* object) const;
  // The impls and the owners in C++ that own an impl, each once, under however many names.
  std::uint32_t owners_of(const void* impl) const;
  // The position of a variable among the operands of a line, as far as it is one.
  template <typename Function>
  void for_each_variable(const Line& line, Function function) const {
    const Op& op = table_.ops()[line.op];
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (table_.is_variable(op.operands[i])) function(line.operands[i]);
    }
  }

  // Appends what later lines depend on, as words, some of them addresses.
  void remember(std::vector<std::uintptr_t>& words) const;
  // One line for each Life: its wrapper, the Python references to that, the use count, the
  // variables that hold the impl in C++, those that name the wrapper and those that refer to it
  // weakly, and its number if its finalizer is noted.
  std::string describe() const;

 private:
  void unbind_all();
  void unbind(int variable);
  void observe(const Line& line, bool raised);
  // The operand that a line binds, as its values have it and not their names.
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
  // Lists of the prelude; null where it has none.
  PyObject* const born_;
  PyObject* const finalized_;
  // Distinct attribute names of the table; a Life's `attributes` has one bit for each.
  std::vector<std::string> attribute_names_;
  std::vector<int> attribute_of_op_;

  // The run.
  Seen seen_;
  std::size_t line_count_ = 0;
  LaneSet hermetic_ = 0;
  bool made_cpp_cycle_ = false;
  std::vector<Binding> bindings_;
  // The variables among them that are bound to a wrapper.
  VariableSet wrappers_ = 0;
  // Those that are bound to an owner in C++: witnesses for as long as they own.
  VariableSet owners_ = 0;
  std::vector<Life> lives_;
  std::vector<Weak> weaks_;
  std::vector<int> finalized_counts_;
  // CPython finalizes an object once. Swapped with one that was finalized before (it resurrected
  // itself), a number may be met twice, and the other never.
  bool swapped_finalized_ = false;
  // By serial; of what a check of the prelude made, null.
  std::vector<const ImplKind*> born_kinds_;
  Py_ssize_t finalized_seen_ = 0;
  Py_ssize_t born_before_ = 0;
};

}  // namespace slotfuzz
