// The judge: follows a run and compares what it sees with the contract (contract.md). It only wires
// its parts: the tracker knows what lives, the ledger counts it at the end, the checks compare.
#pragma once

#include "harness/engine/judge/checks.h"
#include "harness/engine/judge/state_map.h"

namespace slotfuzz {

class Judge final : public Watcher {
 public:
  Judge(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
        const Layout& layout, std::span<std::uint8_t, kStateCounters> states);

  const Verdict& verdict() const { return checks_.verdict(); }
  // What is known of each impl that lives, a line each, which a trace of the core does not tell.
  // Empty for a subject that does not count its objects.
  std::string in_sight() const;

  // What it remembers of the run so far, and what its later verdicts depend on: words, some of them
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
};

}  // namespace slotfuzz
