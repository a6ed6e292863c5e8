// What the judge can ask of the subject, and what it may expect; found out once, at start-up.
#pragma once

#include "harness/engine/run/layout.h"

namespace slotfuzz {

struct Capabilities {
  Capabilities(const Interpreter& interpreter, const Layout& layout);

  // Whether the contract's one exemption holds: a subject that says that it preserves by
  // resurrection may finalize a wrapper and clear its weakrefs when the collector meets it in a
  // dead cycle.
  const bool resurrects;
  // Whether it counts what lives, by the functions of the rows of all kinds. Where it does not,
  // live wrappers are what the collector tracks.
  const bool counts_objects;
  // Functions; null where the subject has none.
  const Ref is_hermetic;
  const Ref left_behind;
};

}  // namespace slotfuzz
