// Forks fuzzing processes without a start-up for each. A finding ends its process, and importing
// torch takes longer than the run until the next finding.
#pragma once

#include <string>
#include <vector>

#include "harness/engine/run/late_imports.h"

namespace slotfuzz {

// Forks a child for each request on stdin, one at a time, after learning IMPORTS, and ends this
// process at the end of stdin. Returns in the children only, with the command line words of the
// request.
//   {"words": [..], "errors": PATH}   PATH, such as a named pipe, becomes the child's stderr
// The answers are {"pid": N} when the child runs, and {"exit": N} when it has ended: its exit code,
// or the negated number of a signal.
// Throws StartError for a malformed request.
std::vector<std::string> spawn(LateImports& imports);

}  // namespace slotfuzz
