// Which pass of CPython's collector a traversal belongs to.
//
// Note [Two passes of the collector]
// The collector traverses its candidates twice: first it subtracts the references that they have to
// each other, then it follows the references of those that are reachable from outside. A wrapper
// reports references that C++ holds only if nobody else shares them, and C++ threads change that
// between the passes, without the GIL. A reference that was subtracted and is not followed later
// makes garbage of what is alive (P2, P4). So counts are asked in the first pass only, and what it
// found of a wrapper is kept for the second (Wrapper::sole_owner), which follows all that the first
// may have subtracted. References of Python objects need the GIL, and stay as they are.
#pragma once

#include <Python.h>

namespace slotcore::python::collector {

// Finds out how CPython subtracts; once in a process, with a collection of the youngest
// generation. Throws PythonErrorSet.
void learn();

// Whether `visit` subtracts references. True for any visitor before learn().
bool is_subtracting(visitproc visit) noexcept;

}  // namespace slotcore::python::collector
