// Fuzzing processes without a start-up each: a finding ends its process, and to import torch takes
// longer than what is run until the next finding.
#pragma once

#include <string>
#include <vector>

namespace slotfuzz {

// Forks a child for each request on stdin, one after the other, and ends this process with stdin.
// Returns in the children only, with the words of the command line that the request gives them.
//   {"words": [..], "errors": PATH}   PATH, such as a named pipe, becomes the child's stderr
// answers {"pid": N} when the child runs, and {"exit": N} when it has ended: its exit code, or
// minus the number of a signal.
// Throws StartError for what is no request.
std::vector<std::string> spawn();

}  // namespace slotfuzz
