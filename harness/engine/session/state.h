// The state after a program, hashed to one number. Programs with equal states behave alike when
// they are extended, so an enumeration extends only one of them.
//
// A state is a graph. Its nodes are the Python objects created since set-up and the impls that they
// reach. A node has its type, its references and its raw memory; an address in that memory counts
// only as the node that it points to. The judge's memory is part of the state, since its verdict on
// the next line depends on it. States of other threads and interpreters cannot be read.
#pragma once

#include <cstdint>

#include "harness/engine/judge/judge.h"

namespace slotfuzz {

class StateReader {
 public:
  // Creates objects that only the first reset clears.
  StateReader(const Interpreter& interpreter, const Executor& executor, const OpTable& table,
              const Layout& layout, const Judge& judge);

  // The state now, between two lines. No error may be set: its traceback would be part of the
  // state.
  std::uint64_t read() const;

 private:
  const Interpreter& interpreter_;
  const Executor& executor_;
  const OpTable& table_;
  const Layout& layout_;
  const Judge& judge_;
  Ref tracked_objects_;
  // Null if the subject lacks it.
  Ref is_hermetic_;
};

}  // namespace slotfuzz
