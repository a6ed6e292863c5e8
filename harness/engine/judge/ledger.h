// The ledger: when all names of a program are deleted and the collector has run, the counts of live
// objects must equal their values at the start (P5).
//
// P5 and A4a let some cycles stay: what two wrappers own together, and what owns itself in C++. If
// the subject lists what it owns, the ledger names the cycle that keeps the objects, and excuses
// nothing else (owners/kept.h). Of another subject it excuses what C++ owns a part of and what is
// gone once attributes and hooks are cleared.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/engine/judge/tracker.h"
#include "harness/engine/owners/kept.h"
#include "harness/engine/run/capabilities.h"

namespace slotfuzz {

class Ledger {
 public:
  // ATTRIBUTE_NAMES are the attributes that programs set; a wrapper may hold another by them.
  Ledger(const Interpreter& interpreter, const Layout& layout, const Capabilities& capabilities,
         const std::vector<std::string>& attribute_names);

  struct Count {
    std::string noun;
    // Python that returns the current number.
    std::string call;
    // Null: the count is of the objects that the collector tracks.
    Ref function;
    // It counts all impls.
    bool is_of_impls = false;
  };
  // The subject's counts, which its rows name; each function once.
  const std::vector<Count>& counts() const { return counts_; }

  enum class Balance { kEven, kExcused, kUneven, kUnknown };
  struct Result {
    Balance balance = Balance::kEven;
    // The count that differs and by how much, or the count that is not a number and why.
    std::size_t count = 0;
    long left = 0;
    std::string error = "";
    // Further collections that the program got.
    int collections = 0;
    // The exception of the first collection that failed.
    std::optional<std::string> collect_error = std::nullopt;
    // The cycles that keep what lives on, if the subject lists what it owns. All are excused if the
    // result is.
    std::vector<KeptCycle> kept = {};
  };
  // Compares with the start. MADE: the cycles of C++ links alone that lines have closed. kEven: the
  // counts are equal. kExcused: the contract allows what lives on, and then the ledger decides
  // nothing more.
  Result settle(const CppCycles& made, const KeptNames& names);

  // The current differences from the start, by count.
  void remember(std::vector<std::uintptr_t>& words) const;

  // A subject that does not count objects gets further collections until so many in a row have
  // freed nothing.
  static constexpr int kIdleCollections = 5;

 private:
  static constexpr std::size_t kCountsMax = 12;
  static constexpr long kNoNumber = -1;
  using Numbers = std::array<long, kCountsMax>;

  Numbers live() const;
  static long total(const Numbers& numbers);
  bool is_known(const Numbers& numbers) const;
  bool left_references_behind();
  void hide_what_is_left();
  void collect(Result& result) const;
  // Empties the prelude's lists, then collects. Whether the lists were empty.
  bool drop_held(Result& result) const;
  void end_failed_backwards() const;
  Result without_number(Result result) const;

  // Whether the contract lets all live on that does; breaks that.
  bool excuse_listed(Result& result, const CppCycles& made, const KeptNames& names);
  bool excuse_unlisted(Result& result, bool made_cpp_cycle);
  // Whether no more impls live on than are known.
  bool knows_impls(const Numbers& now, std::size_t known) const;

  // ledger_cycles.cc: finds what lives on, and breaks its cycles.
  std::vector<Ref> tracked(const std::function<bool(PyObject*)>& is_meant) const;
  std::vector<Ref> tracked_wrappers() const;
  std::vector<Ref> hooks_of_cpp() const;
  // Objects that own impls in C++ and are no wrappers of a kind: of the types `other_owners`.
  std::vector<Ref> other_owners() const;
  void break_cycles(Result& result) const;
  static void clear_attributes(PyObject* object);
  void clear_other(PyObject* object) const;
  static void release(PyObject* object, const std::vector<std::string_view>& names);
  void take_apart(PyObject* object) const;
  bool make_own(PyObject* object, const ImplKind& kind) const;

  // ledger_unlisted.cc: whether C++ owns a part of what lives on, as far as the judge can see.
  bool has_cpp_owner() const;
  bool is_shared(const std::vector<Ref>& left) const;
  bool is_graph_left() const;

  const Interpreter& interpreter_;
  const Layout& layout_;
  const Capabilities& capabilities_;
  const std::vector<std::string>& attribute_names_;
  std::vector<Count> counts_;
  Ref collect_;
  Ref tracked_objects_;
  Ref referrers_;
  // The counts when no program has run.
  Numbers baseline_{};
  long left_behind_before_ = 0;
  // The number of programs that left nothing.
  unsigned clean_programs_ = 0;
};

}  // namespace slotfuzz
