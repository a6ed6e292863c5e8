// The state that a program has led to, as one number: programs with the same number go on alike, so
// an enumeration extends only one of them.
//
// A state is a graph. Its nodes are the Python objects that came since set-up and the impls that
// they lead to; a node has its type, its references and its own memory, in which an address counts
// only as the node that it leads to. What the judge remembers belongs to it, since what it says of
// the next line depends on that. States of other threads and interpreters cannot be read.
#pragma once

#include <cstdint>

#include "harness/engine/judge/judge.h"

namespace slotfuzz {

class StateReader {
 public:
  // Leaves behind what the first reset clears.
  StateReader(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
              const Layout& layout, const Judge& judge);

  // Of now, between two lines. No error may be set: a traceback would be part of the state.
  std::uint64_t read() const;

 private:
  const Interpreter& interpreter_;
  const Executor& executor_;
  const OpTable& table_;
  const Layout& layout_;
  const Judge& judge_;
  Ref tracked_objects_;
  // Null where the subject has none.
  Ref is_hermetic_;
};

}  // namespace slotfuzz
