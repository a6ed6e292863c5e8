// Code that runs without the GIL, and calls back into Python in between: the engine of autograd.
#pragma once

#include <Python.h>

namespace slotcore::python {

// Gives up the GIL for a scope.
class ReleasedGil {
 public:
  ReleasedGil() noexcept;
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  friend class TakenGil;
  PyThreadState* state_;  // null while a TakenGil has it
  ReleasedGil* outer_;
};

// Takes the GIL for a scope, inside of a ReleasedGil of this thread: with the same thread state, so
// that an exception that is set stays set.
class TakenGil {
 public:
  TakenGil() noexcept;
  ~TakenGil();
  TakenGil(const TakenGil&) = delete;
  TakenGil& operator=(const TakenGil&) = delete;

 private:
  ReleasedGil* released_;
};

}  // namespace slotcore::python
