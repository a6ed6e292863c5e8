// Addresses as ints.

#include "core/python/autograd/owned_rows.h"

namespace slotcore::python {
namespace {

PyRef address_of(const intrusive_ptr_target* impl) {
  return PyRef::steal(checked(PyLong_FromVoidPtr(const_cast<intrusive_ptr_target*>(impl))));
}

}  // namespace

PyRef rows_of(const std::vector<autograd::OwnedImpl>& owned) {
  PyRef list = PyRef::steal(checked(PyList_New(static_cast<Py_ssize_t>(owned.size()))));
  for (size_t i = 0; i < owned.size(); i++) {
    PyRef address = address_of(owned[i].impl), owner = address_of(owned[i].owner);
    PyObject* row = Py_BuildValue("(OsOO)", address.get(), owned[i].name.c_str(), owner.get(),
                                  owned[i].is_in_cycle ? Py_True : Py_False);
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(row));
  }
  return list;
}

}  // namespace slotcore::python
