// The judge observes a run and compares it with the contract (contract.md). This class only
// connects its parts: the tracker follows live objects, the ledger counts them at the end, the
// checks compare.
#pragma once

#include "harness/engine/judge/checks.h"
#include "harness/engine/judge/state_map.h"

namespace slotfuzz {

class Judge final : public Watcher {
 public:
  Judge(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
        const Layout& layout, std::span<std::uint8_t, kStateCounters> states);

  const Verdict& verdict() const { return checks_.verdict(); }
  // The cycles that keep what lives on when the program is over, each excused or a leak.
  const std::vector<KeptCycle>& kept() const { return kept_; }
  // One line on each live impl with what the tracker knows of it, which the core's trace does not
  // show. Empty for a subject that does not count its objects.
  std::string observed() const;

  // The judge's memory of the run so far, on which later verdicts depend: words, some of them
  // addresses, and the impls that variables lead to.
  struct Memory {
    struct Impl {
      const void* impl;
      const ImplKind* kind;
    };
    std::vector<std::uintptr_t> words;
    std::vector<Impl> impls;
  };
  Memory memory() const;

  void start(const Program& program) override;
  void before_line(std::size_t index, const Line& line) override;
  void after_line(std::size_t index, const Line& line, PyObject* raised) override;
  void after_drop() override;

 private:
  const Capabilities capabilities_;
  Tracker tracker_;
  Ledger ledger_;
  Checks checks_;
  StateMap states_;
  std::vector<KeptCycle> kept_;
};

}  // namespace slotfuzz
