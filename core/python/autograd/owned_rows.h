// What an impl owns, for `_owned_by_cpp()`.
#pragma once

#include "core/autograd/owned_impls.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// A list of (address, name, address of an owner, is in a cycle). Throws PythonErrorSet.
PyRef rows_of(const std::vector<autograd::OwnedImpl>& owned);

}  // namespace slotcore::python
