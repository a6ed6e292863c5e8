// swap_tensors(): two tensors exchange everything but their identity: class, attributes, and impl.

#include "core/c10/impl/operation_tracer_tls.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

// Note [Slots go with impls]
// After a swap each impl has the other wrapper in its slot. With the former wrapper there, wrapping
// the impl again would return the object that does not own it (P1; PyTorch #116955). Nothing else
// may refer to either impl, not even weakly: another owner relies on the wrapper that it knows, and
// another thread may be about to use that wrapper.
void check_alone(const Wrapper* wrapper, const char* name) {
  if (wrapper->hermetic || !wrapper->owned) {
    throw_python(PyExc_RuntimeError, "%s does not own its tensor for good", name);
  }
  if (raw::use_count(wrapper->impl) != 1) {
    throw_python(PyExc_RuntimeError, "expected a use_count of 1 of %s, got %u", name,
                 raw::use_count(wrapper->impl));
  }
  // Describing forbids nothing (M10). What locks an entry of a table asks for the wrapper under the
  // GIL, which this thread has.
  if (raw::weak_count(wrapper->impl) != static_cast<TensorImpl*>(wrapper->impl)->table_entries())
    throw_python(PyExc_RuntimeError, "expected no weak references to the tensor of %s", name);
}

PyObject* swap_tensor_impl(PyObject* module, PyObject* args) {
  return guarded([&]() -> PyObject* {
    ModuleState* state = state_of_module(module);
    PyObject *first, *second;
    if (!PyArg_ParseTuple(args, "OO:_swap_tensor_impl", &first, &second)) throw PythonErrorSet{};
    TensorImpl& a = checked_tensor(state, first, "_swap_tensor_impl");
    TensorImpl& b = checked_tensor(state, second, "_swap_tensor_impl");
    impl::check_untraced("an exchange of tensors");
    check_alone(as_wrapper(first), "a");
    check_alone(as_wrapper(second), "b");
    if (first == second) Py_RETURN_NONE;
    as_wrapper(first)->impl = &b;
    as_wrapper(second)->impl = &a;
    b.pyobj_slot()->set_pyobj(first);
    a.pyobj_slot()->set_pyobj(second);
    Py_RETURN_NONE;
  });
}

PyRef attribute(PyObject* object, const char* name) {
  return PyRef::steal(checked(PyObject_GetAttrString(object, name)));
}

void swap_attributes(PyObject* a, PyObject* b, const char* name) {
  PyRef of_a = attribute(a, name), of_b = attribute(b, name);
  checked(PyObject_SetAttrString(a, name, of_b.get()));
  checked(PyObject_SetAttrString(b, name, of_a.get()));
}

// The names of `__slots__` in a class and its bases, as a set.
PyRef slot_names(PyObject* object) {
  PyRef copyreg = PyRef::steal(checked(PyImport_ImportModule("copyreg")));
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  PyRef names = PyRef::steal(checked(PyObject_CallMethod(copyreg.get(), "_slotnames", "O", type)));
  return PyRef::steal(checked(PySet_New(names.get())));
}

// The value of a slot, or null when it is empty.
PyRef slot_value(PyObject* object, PyObject* name) {
  PyRef value = PyRef::steal(PyObject_GetAttr(object, name));
  if (value) return value;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonErrorSet{};
  PyErr_Clear();
  return value;
}

void set_slot(PyObject* object, PyObject* name, const PyRef& value, bool had_value) {
  // Without a value, PyObject_SetAttr deletes.
  if (value || had_value) checked(PyObject_SetAttr(object, name, value.get()));
}

void swap_slots(PyObject* a, PyObject* b, PyObject* names) {
  PyRef iterator = PyRef::steal(checked(PyObject_GetIter(names)));
  while (PyRef name = PyRef::steal(PyIter_Next(iterator.get()))) {
    PyRef of_a = slot_value(a, name.get()), of_b = slot_value(b, name.get());
    set_slot(a, name.get(), of_b, static_cast<bool>(of_a));
    set_slot(b, name.get(), of_a, static_cast<bool>(of_b));
  }
  if (PyErr_Occurred()) throw PythonErrorSet{};
}

void check_no_weakrefs(PyObject* object, const char* name) {
  PyRef weakref = PyRef::steal(checked(PyImport_ImportModule("weakref")));
  PyRef count =
      PyRef::steal(checked(PyObject_CallMethod(weakref.get(), "getweakrefcount", "O", object)));
  if (PyObject_IsTrue(count.get()))
    throw_python(PyExc_RuntimeError, "cannot swap %s because it has weak references", name);
}

PyObject* swap_tensors(PyObject* module, PyObject* args) {
  return guarded([&]() -> PyObject* {
    ModuleState* state = state_of_module(module);
    PyObject *a, *b;
    if (!PyArg_ParseTuple(args, "OO:swap_tensors", &a, &b)) throw PythonErrorSet{};
    check_no_weakrefs(a, "t1");
    check_no_weakrefs(b, "t2");
    PyRef names = slot_names(a), others = slot_names(b);
    int equal = PyObject_RichCompareBool(names.get(), others.get(), Py_EQ);
    checked(equal);
    if (equal == 0)
      throw_python(PyExc_RuntimeError, "cannot swap t1 and t2 if they have different slots");
    // Check before any change what the last step would refuse.
    for (PyObject* one : {a, b}) {
      // torch raises the same error, because it reads the use count.
      if (as_tensor(state, one) == nullptr)
        throw_python(PyExc_AttributeError, "%s is no Tensor", Py_TYPE(one)->tp_name);
    }
    check_alone(as_wrapper(a), "t1");
    check_alone(as_wrapper(b), "t2");
    swap_attributes(a, b, "__class__");
    swap_attributes(a, b, "__dict__");
    swap_slots(a, b, names.get());
    return swap_tensor_impl(module, args);
  });
}

PyMethodDef swap_tensors_method = {
    "swap_tensors", &swap_tensors, METH_VARARGS,
    "swap_tensors(t1, t2): exchanges class, `__dict__`, `__slots__` and impl, so that each object\n"
    "is what the other was. RuntimeError as for _swap_tensor_impl, also for Python's weak\n"
    "references, and for classes with different slots."};

}  // namespace

PyMethodDef swap_methods[] = {
    {"_swap_tensor_impl", &swap_tensor_impl, METH_VARARGS,
     "_swap_tensor_impl(a, b): exchanges the impls of two wrappers. RuntimeError if either has\n"
     "another reference, even a weak one."},
    {nullptr, nullptr, 0, nullptr},
};

PyRef make_utils(PyObject* module) {
  PyRef utils = PyRef::steal(checked(PyModule_New("slotcore.utils")));
  PyRef swap = PyRef::steal(checked(PyCFunction_NewEx(&swap_tensors_method, module, nullptr)));
  checked(PyModule_AddObjectRef(utils.get(), "swap_tensors", swap.get()));
  return utils;
}

}  // namespace slotcore::python
