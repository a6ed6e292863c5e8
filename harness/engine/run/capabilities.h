// What the judge can ask of the subject and may expect of it; probed once, at start-up.
#pragma once

#include "harness/engine/run/layout.h"

namespace slotfuzz {

struct Capabilities {
  Capabilities(const Interpreter& interpreter, const Layout& layout);

  // Whether the contract's one exemption applies. If a subject declares that it preserves by
  // resurrection, the collector may finalize a wrapper in a dead cycle and clear its weakrefs.
  const bool resurrects;
  // Whether the subject counts live objects, by the functions in the rows of all kinds. Otherwise
  // the judge counts the wrappers that the collector tracks.
  const bool counts_objects;
  // Whether wrappers of all kinds list what they own in C++.
  const bool lists_owners;
  // Functions of the subject, and of the prelude; null where it lacks them.
  const Ref is_hermetic;
  const Ref left_behind;
  const Ref recording;
  // What `recording` gives when no program has run.
  const Ref recording_at_start;
};

}  // namespace slotfuzz
