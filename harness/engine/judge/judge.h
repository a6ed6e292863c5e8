// The judge: watches a run, line by line, and compares what it sees with the contract
// (contract.md).
//
// It is passive: it reads the namespace and, through Layout, the subject's memory, and changes
// nothing, so that a program does the same with and without it. It keeps one Life per impl that is
// known to be alive, from variables that hold its wrapper or own it in C++; a Life ends when the
// last such witness goes, because from then on the impl's address may name another one. So the
// judge can miss a violation, but what it reports holds, and it can say it in Python: a verdict has
// `assert` lines.
//
// The first verdict stands and the program goes on: where a broken promise becomes a crash, the
// crash is what a user wants to see.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/engine/run/execute.h"
#include "harness/engine/run/layout.h"

namespace slotfuzz {

struct Verdict {
  // "assert": the contract is broken and `asserts` shows it. "exception": a line raised what must
  // not be raised. Empty: nothing found.
  std::string kind;
  std::string contract;
  std::string check;
  std::string message;
  // The kind of impl that it is about, by name, or empty.
  std::string object;
  // The line after which it was seen; the number of lines when it was seen after the reset.
  std::size_t line = 0;
  std::vector<std::string> asserts;

  bool found() const { return !kind.empty(); }
  // As text for people: one line, then the asserts, indented.
  std::string describe() const;
};

// Links of .grad and base that are followed to see what they own, and whether they close a circle.
inline constexpr std::size_t kLinksMax = 64;

// The search's map of life-cycle states, one byte each; libFuzzer reads it as extra counters.
inline constexpr std::size_t kStateCounters = 8192;

class Judge final : public Watcher {
 public:
  Judge(Interpreter& interpreter, const Executor& executor, const OpTable& table,
        const Layout& layout, std::span<std::uint8_t, kStateCounters> states);

  const Verdict& verdict() const { return verdict_; }
  // One line for each impl that is known to live: its wrapper, the Python references to that, the
  // use count, the variables that hold the impl in C++, those that name the wrapper and those that
  // refer to it weakly, and its number if its finalizer is noted. A trace of the core does not tell
  // this. Empty for a subject that keeps no ledger.
  std::string in_sight() const;

  // What it remembers of the run so far, and what its later verdicts depend on: words, some of them
  // addresses, and the impls that variables lead to.
  struct Memory {
    std::vector<std::uintptr_t> words;
    std::vector<const void*> tensors, storages;
  };
  Memory memory() const;

  void start(const Program& program) override;
  void before_line(std::size_t index, const Line& line) override;
  void after_line(std::size_t index, const Line& line, PyObject* raised) override;
  void after_drop() override;

 private:
  enum class Mode : std::uint8_t { kUnknown, kNormal, kHermetic };

  // After a reset whose counts are not back, of a subject that is not slotcore.
  static constexpr int kMoreCollections = 5;
  static constexpr long kNoCount = -1;

  // What a variable is bound to.
  struct Binding {
    PyObject* object = nullptr;
    const void* impl = nullptr;
    const void* storage = nullptr;
    const void* grad = nullptr;
    const void* base = nullptr;
    Layout::Shape shape = Layout::Shape::kOther;
    // Of what an owner in C++ owns.
    Layout::Shape owned = Layout::Shape::kOther;
    Mode mode = Mode::kUnknown;
    int serial = -1;
    // Of the line that bound it.
    std::uint8_t lane = 0;
  };

  // What is known of an impl while it is known to live.
  struct Life {
    const void* impl;
    // Its normal wrapper, and what that wrapper must keep (P2).
    PyObject* wrapper;
    PyTypeObject* type;
    std::uint32_t attributes;
    int serial;
    Layout::Shape shape;
  };

  // A weak reference that the program made to a normal wrapper.
  struct Weak {
    int variable;
    // Borrowed: valid while the variable is bound to it.
    PyObject* reference;
    // Owned, to see what becomes of it after the end; null when it has a callback, since holding
    // the reference would hold what the callback holds.
    Ref kept;
    const void* impl;
    PyObject* wrapper;
    Layout::Shape shape;
    bool excused;
  };

  void unbind_all();
  void observe(const Line& line, bool raised);
  void bind(const Operand& operand, int variable);
  void bind_owner(int variable, int source);
  void refresh(Binding& binding) const;
  void refresh();
  void know(int variable, const Operand& operand);
  void note_attribute(const Op& op, const Line& line);
  void note_born(Binding& binding);
  void note_weakref(const Line& line, const Op& op);
  void note_swap(int first, int second);
  void note_cpp_cycle(const void* first);
  void forget_unwitnessed();
  void forget(const void* impl);
  bool is_witnessed(const void* impl) const;
  std::uint32_t owners_in_sight(const void* impl) const;
  bool is_bound(const PyObject* object) const;
  Life* life_of(const void* impl);
  void mark_states(const Line& line);

  // The checks; each reports at most one verdict.
  void check_exception(const Line& line, PyObject* raised);
  void check_hermetic_wrap(int variable);
  void check_identity(int variable, const Life& life);
  void check_kept(int variable, const Life& life);
  void check_finalizers();
  void check_weakrefs();
  void check_use_counts(const Line& line);
  void check_unraisable();
  void check_never_finalized();
  void check_after_drop_weakrefs();
  void check_reset();
  void check_hermetic_left();
  // False when something lives on that the contract allows to; then nothing more can be said.
  bool check_ledger();
  // What the subject raises when it is asked what lives.
  void report_no_count();
  bool left_references_behind();
  bool break_shared_cycles();
  bool is_graph_left() const;
  void collect();
  void hide_what_is_left();
  void take_apart(PyObject* object);
  void empty(PyObject* object) const;
  // Live impls and wrappers; kNoCount where the subject does not say.
  std::pair<long, long> live() const;
  // What the subject answers with an exception where it has to answer; `shown` raises it.
  void report_error(const char* contract, const std::string& check, std::string error,
                    std::vector<std::string> shown);
  std::vector<Ref> tracked(const std::function<bool(PyObject*)>& is_meant) const;
  std::vector<Ref> tracked_wrappers() const;
  std::vector<Ref> hooks_of_cpp() const;
  // Whether the object is a Finalized of tensors, as far as a line made it.
  Layout::Shape shape_of_serial(long serial) const;

  void report(const char* contract, const char* check, std::string message,
              std::vector<std::string> asserts);
  // The same of a tensor or a storage: two bugs, and so two checks.
  void report(Layout::Shape shape, const char* contract, const std::string& check,
              std::string message, std::vector<std::string> asserts);
  const std::string& name(int variable) const { return table_.variable_name(variable); }
  // `last`, behind the reset as lines if the reset has been.
  std::vector<std::string> after_reset(std::string last) const;

  Interpreter& interpreter_;
  const Executor& executor_;
  const OpTable& table_;
  const Layout& layout_;
  // Whether the contract's one exemption holds: a subject that says that it preserves by
  // resurrection may finalize a wrapper and clear its weakrefs when the collector meets it in a
  // dead cycle.
  const bool has_exemption_;
  // Whether the contract's promises about wrappers hold for storages. PyTorch before 2.0, which has
  // no untyped_storage(), makes a storage's wrapper anew for each access, and says so.
  const bool keeps_storages_;
  const std::span<std::uint8_t, kStateCounters> states_;

  // Lists of the prelude, and the ledger's functions; null where the subject has none.
  PyObject* born_;
  PyObject* finalized_;
  PyObject* unraisable_;
  Ref live_impls_;
  Ref live_wrappers_;
  Ref left_behind_;
  Ref is_hermetic_;
  Ref collect_;
  Ref tracked_objects_;
  Ref referrers_;
  // Programs that left nothing.
  unsigned clean_programs_ = 0;
  // Live impls and wrappers when no program has run.
  std::pair<long, long> baseline_;
  long left_behind_before_ = 0;

  // Distinct attribute names of the table; a Life's `attributes` has one bit for each.
  std::vector<std::string_view> attribute_names_;
  std::vector<int> attribute_of_op_;

  // The run.
  Verdict verdict_;
  std::size_t index_ = 0;
  std::size_t line_count_ = 0;
  LaneSet hermetic_ = 0;
  // In hermetic mode while the line runs, which may be for its own span only.
  bool hermetic_now_ = false;
  bool collects_now_ = false;
  std::uint8_t lane_now_ = 0;
  // Links of .grad and base that close a circle in C++ alone: nobody can collect them.
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
  // By serial; what a check of the prelude made is kOther.
  std::vector<Layout::Shape> born_shapes_;
  Py_ssize_t finalized_seen_ = 0;
  Py_ssize_t born_before_ = 0;
};

}  // namespace slotfuzz
