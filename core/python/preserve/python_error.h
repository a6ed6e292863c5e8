// A Python exception on its way through the engine, which runs without the GIL and carries it from
// one thread to another.
#pragma once

#include <memory>

#include "core/python/preserve/interpreter.h"

namespace slotcore::python {

class PythonError {
 public:
  // Takes the exception that is set on this thread. Needs the GIL.
  explicit PythonError(const Interpreter& interpreter);

  // Sets it on this thread. Once, since a copy shares the exception. Needs the GIL.
  void restore() const noexcept;

 private:
  struct Exception;
  std::shared_ptr<Exception> exception_;
};

}  // namespace slotcore::python
