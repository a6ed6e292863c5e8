// Which pass of CPython's collector a traversal belongs to.
//
// Note [Two passes of the collector]
// The collector traverses its candidates twice: first it subtracts the references that they have to
// each other, then it follows the references of those that are reachable from outside. A wrapper
// reports references that C++ holds only if nobody else shares them, and C++ threads change that
// between the passes, without the GIL. A reference that was subtracted and is not followed later
// makes garbage of what is alive (P2, P4). So counts are asked in the first pass only; whatever a
// reachable owner owns is reachable, and the second pass follows it in any case.
#pragma once

#include <Python.h>

namespace slotcore::python::collector {

// Finds out how CPython subtracts; once in a process, with a collection of the youngest
// generation. Throws PythonErrorSet.
void learn();

// Whether `visit` subtracts references. True for any visitor before learn().
bool is_subtracting(visitproc visit) noexcept;

}  // namespace slotcore::python::collector
