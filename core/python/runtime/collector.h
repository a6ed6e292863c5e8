// Which pass of CPython's collector a traversal belongs to.
//
// Note [Two passes of the collector]
// The collector traverses its candidates twice: first it subtracts the references that they have to
// each other, then it follows the references of those that are reachable from outside. A wrapper
// reports references that C++ holds only if nobody else shares them, and C++ threads change that
// between the passes, without the GIL. If a reference is subtracted and not followed later, the
// collector treats a live object as garbage (P2, P4). So a wrapper reads counts in the first pass
// only, and stores the result for the second (Wrapper::sole_owner), which follows all that the
// first may have subtracted. References of Python objects change only under the GIL, so they stay
// as they are.
#pragma once

#include <Python.h>

namespace slotcore::python::collector {

// Finds out which function CPython subtracts with, by a collection of the youngest generation; once
// in a process. Throws PythonErrorSet.
void learn();

// Whether `visit` subtracts references. True for any visitor before learn().
bool is_subtracting(visitproc visit) noexcept;

}  // namespace slotcore::python::collector
