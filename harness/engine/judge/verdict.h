// What the judge says of a program: the contract's sentence that is broken, and Python that shows
// it.
#pragma once

#include <string>
#include <vector>

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

}  // namespace slotfuzz
