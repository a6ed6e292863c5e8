// The ledger: when every name of a program is gone and the collector has run, the counts of what
// lives are back at their start values (P5).
//
// P5 wants cycles collected only when Python owns every part of them. A cycle that passes through a
// C++ owner, as in s0.owner = t0 where t0 owns s0, lives on by the contract; the ledger recognises
// it by the owner, takes it apart, and only reports what is left then.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/engine/run/capabilities.h"

namespace slotfuzz {

class Ledger {
 public:
  // ATTRIBUTE_NAMES are those that programs set, and through which a wrapper may hold another.
  Ledger(const Interpreter& interpreter, const Layout& layout, const Capabilities& capabilities,
         const std::vector<std::string>& attribute_names);

  struct Count {
    std::string noun;
    // Python that gives the number now.
    std::string call;
    // Null: what the collector tracks.
    Ref function;
  };
  // Of the subject: what its rows name, each function once.
  const std::vector<Count>& counts() const { return counts_; }

  enum class Balance { kEven, kExcused, kUneven, kUnknown };
  struct Result {
    Balance balance = Balance::kEven;
    // Which count is not back, and by how much; which gives no number, and why.
    std::size_t count = 0;
    long left = 0;
    std::string error = "";
    // What the first collection that failed has raised.
    std::optional<std::string> collect_error = std::nullopt;
  };
  // Compares with the start. MADE_CPP_CYCLE: links of C++ alone have closed a circle. kEven: all is
  // back. kExcused: something lives on that the contract allows to; then nothing more can be said.
  Result settle(bool made_cpp_cycle);

  // What differs from the start now, by count.
  void remember(std::vector<std::uintptr_t>& words) const;

  // Further collections for a subject that counts nothing.
  static constexpr int kMoreCollections = 5;

 private:
  static constexpr std::size_t kCountsMax = kImplKindsMax;
  static constexpr long kNoNumber = -1;
  using Numbers = std::array<long, kCountsMax>;

  Numbers live() const;
  bool is_known(const Numbers& numbers) const;
  bool left_references_behind();
  void hide_what_is_left();
  void collect(Result& result) const;
  Result without_number(Result result) const;

  // ledger_cycles.cc: what the contract lets live on, and how it is taken apart.
  std::vector<Ref> tracked(const std::function<bool(PyObject*)>& is_meant) const;
  std::vector<Ref> tracked_wrappers() const;
  std::vector<Ref> hooks_of_cpp() const;
  // Whether C++ owns a part of what LEFT consists of.
  bool is_shared(const std::vector<Ref>& left) const;
  // Takes apart what lives on, if C++ owns a part of it. False when Python owns every part, and the
  // collector should have found it.
  bool break_shared_cycles(Result& result) const;
  bool is_graph_left() const;
  void take_apart(PyObject* object) const;
  void empty(PyObject* object, const ImplKind& kind) const;

  const Interpreter& interpreter_;
  const Layout& layout_;
  const Capabilities& capabilities_;
  const std::vector<std::string>& attribute_names_;
  std::vector<Count> counts_;
  Ref collect_;
  Ref tracked_objects_;
  Ref referrers_;
  // When no program has run.
  Numbers baseline_{};
  long left_behind_before_ = 0;
  // Programs that left nothing.
  unsigned clean_programs_ = 0;
};

}  // namespace slotfuzz
