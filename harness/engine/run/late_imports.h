// Modules that the lines of programs import late. On PyTorch 2.14.1 the first fake mode imports 830
// modules, which takes 0.5 s, and each collection then visits their objects, until the ledger hides
// them: 50 ms instead of some microseconds. A process that a crash ends soon would do little else.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/engine/run/interpreter.h"

namespace slotfuzz {

class LateImports {
 public:
  // Processes with the same FILE tell each other what they have imported, and this one begins with
  // what others have; an empty path tells nobody.
  LateImports(const Interpreter& interpreter, std::string file);

  // Writes the names of modules that have come; call this after a program.
  void note();
  // Imports what other processes have written, and exempts its objects from collection: a process
  // that forks does so first.
  void learn();

 private:
  // The modules that have come since the last call.
  std::vector<std::string> take_new();

  const Interpreter& interpreter_;
  const std::string file_;
  std::set<std::string> known_;
  Py_ssize_t size_ = 0;
  // How much of the file has been read.
  long read_ = 0;
};

}  // namespace slotfuzz
