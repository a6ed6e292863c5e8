// What an object owns in C++, for `_owned_by_cpp()`.
#pragma once

#include "core/autograd/owned_links.h"
#include "core/python/storage/reference_rows.h"

namespace slotcore::python {

// Adds the links, and for each impl the reference to its wrapper. `self` owns what has no other
// owner. Throws PythonErrorSet.
void add_links(ReferenceRows& rows, PyObject* self, const std::vector<autograd::OwnedLink>& links);

}  // namespace slotcore::python
