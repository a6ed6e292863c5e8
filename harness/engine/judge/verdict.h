// The judge's verdict on a program: the contract sentence that is broken, and Python that shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/engine/language/effects.h"

namespace slotfuzz {

struct Verdict {
  // "assert": the contract is broken and `asserts` shows it. "exception": a line raised an
  // exception that it must not raise. Empty: nothing found.
  std::string kind;
  std::string contract;
  std::string check;
  std::string message;
  // The name of the kind of impl that the verdict is about, or empty.
  std::string object;
  // Effects that each program with this verdict has, because the check needs them.
  EffectSet implies;
  // Whether the contract sentence promises that something is kept.
  bool keeps = false;
  // The line after which the judge found it, or the number of lines if after the reset.
  std::size_t line = 0;
  std::vector<std::string> asserts;
  // The number of the object whose finalizer it is about, if it is about one.
  std::optional<long> serial = std::nullopt;

  bool found() const { return !kind.empty(); }
  // The text for people: one line, then the asserts, indented.
  std::string describe() const;
};

}  // namespace slotfuzz
