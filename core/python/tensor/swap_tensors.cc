// swap_tensors(): two tensors exchange everything but their identity: class, attributes, and impl.

#include "core/autograd/history.h"
#include "core/c10/impl/operation_tracer_tls.h"
#include "core/c10/trace.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

// Note [Slots go with impls]
// After a swap each impl has the other wrapper in its slot. With the former wrapper there, wrapping
// the impl again would return the object that does not own it (P1; PyTorch #116955). Nothing else
// may refer to either impl, not even weakly: another owner relies on the wrapper that it knows, and
// another thread may be about to use that wrapper. An AccumulateGrad uses no wrapper (struct
// Swapped).
void check_alone(const Wrapper* wrapper, const char* name, unsigned owners = 1) {
  if (wrapper->hermetic || !wrapper->owned) {
    throw_python(PyExc_RuntimeError, "%s does not own its tensor for good", name);
  }
  if (raw::use_count(wrapper->impl) != owners) {
    throw_python(PyExc_RuntimeError, "expected a use_count of %u of %s, got %u", owners, name,
                 raw::use_count(wrapper->impl));
  }
  // Describing forbids nothing (M10). What locks an entry of a table asks for the wrapper under the
  // GIL, which this thread has.
  if (raw::weak_count(wrapper->impl) != static_cast<TensorImpl*>(wrapper->impl)->table_entries())
    throw_python(PyExc_RuntimeError, "expected no weak references to the tensor of %s", name);
}

// Takes the reference to a wrapper that the other owners of its impl share; null without others.
PyRef held_by_impl(PyObject* object) {
  intrusive_ptr_target* impl = as_wrapper(object)->impl;
  if (!preserve::holds_wrapper(impl)) return {};
  trace("wrapper released", {"impl", impl}, {"wrapper", object});
  return PyRef::steal(object);
}

void hold_by_impl(PyObject* object) {
  trace("wrapper held", {"impl", as_wrapper(object)->impl}, {"wrapper", object});
  Py_INCREF(object);
}

// The dict that register_hook() extends: it belongs to the impl of a leaf (Note [Hooks of a leaf]).
PyObject*& hooks_on(PyObject* object) {
  return reinterpret_cast<TensorWrapper*>(object)->backward_hooks;
}

void exchange(PyObject* first, PyObject* second) {
  if (first == second) return;
  trace("impls swapped", {"wrapper", first}, {"with", second});
  PyRef former[] = {held_by_impl(first), held_by_impl(second)};
  std::swap(as_wrapper(first)->impl, as_wrapper(second)->impl);
  std::swap(hooks_on(first), hooks_on(second));
  for (PyObject* one : {first, second}) as_wrapper(one)->impl->pyobj_slot()->set_pyobj(one);
  // What owns an impl in C++ keeps the wrapper of that impl.
  if (former[0]) hold_by_impl(second);
  if (former[1]) hold_by_impl(first);
}

PyObject* swap_tensor_impl(PyObject* module, PyObject* args) {
  return guarded([&]() -> PyObject* {
    ModuleState* state = state_of_module(module);
    PyObject *first, *second;
    if (!PyArg_ParseTuple(args, "OO:_swap_tensor_impl", &first, &second)) throw PythonErrorSet{};
    checked_tensor(state, first, "_swap_tensor_impl");
    checked_tensor(state, second, "_swap_tensor_impl");
    impl::check_untraced("an exchange of tensors");
    check_alone(as_wrapper(first), "a");
    check_alone(as_wrapper(second), "b");
    exchange(first, second);
    Py_RETURN_NONE;
  });
}

// The one other owner that swap_tensors() allows, as torch does: the node that adds to the `.grad`
// of a leaf. A graph that was made before the swap must not add to what the leaf has become.
struct Swapped {
  Wrapper* wrapper;
  const char* name;
  intrusive_ptr<autograd::Node> accumulator;

  Swapped(PyObject* object, const char* name)
      : wrapper(as_wrapper(object)),
        name(name),
        accumulator(
            autograd::existing_accumulator(static_cast<const TensorImpl&>(*wrapper->impl))) {}
  void check() const { check_alone(wrapper, name, accumulator ? 2 : 1); }
};

class FailsAfterSwap final : public autograd::FunctionPreHook {
 public:
  autograd::Gradients operator()(autograd::Gradients) override {
    throw std::runtime_error(
        "trying to run the AccumulateGrad of a leaf that swap_tensors() has exchanged since; swap"
        " before forward, or after both forward and backward");
  }
};

// What a subclass overrides may raise, or take a reference, when half is exchanged. So attributes
// are read and set as `object` does it.
PyRef attribute(PyObject* object, PyObject* name) {
  return PyRef::steal(checked(PyObject_GenericGetAttr(object, name)));
}

void swap_attributes(PyObject* a, PyObject* b, const char* text) {
  PyRef name = PyRef::steal(checked(PyUnicode_FromString(text)));
  PyRef of_a = attribute(a, name.get()), of_b = attribute(b, name.get());
  checked(PyObject_GenericSetAttr(a, name.get(), of_b.get()));
  checked(PyObject_GenericSetAttr(b, name.get(), of_a.get()));
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
  PyRef value = PyRef::steal(PyObject_GenericGetAttr(object, name));
  if (value) return value;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonErrorSet{};
  PyErr_Clear();
  return value;
}

void set_slot(PyObject* object, PyObject* name, const PyRef& value, bool had_value) {
  // Without a value, PyObject_GenericSetAttr deletes.
  if (value || had_value) checked(PyObject_GenericSetAttr(object, name, value.get()));
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
    impl::check_untraced("an exchange of tensors");
    const Swapped both[] = {{a, "t1"}, {b, "t2"}};
    for (const Swapped& one : both) one.check();
    swap_attributes(a, b, "__class__");
    swap_attributes(a, b, "__dict__");
    swap_slots(a, b, names.get());
    for (const Swapped& one : both) {
      if (one.accumulator) one.accumulator->add_hook_before(std::make_shared<FailsAfterSwap>());
    }
    exchange(a, b);
    Py_RETURN_NONE;
  });
}

PyMethodDef swap_tensors_method = {
    "swap_tensors", &swap_tensors, METH_VARARGS,
    "swap_tensors(t1, t2): exchanges class, `__dict__`, `__slots__`, hooks and impl, so that each\n"
    "object is what the other was. RuntimeError as for _swap_tensor_impl, also for Python's weak\n"
    "references, and for classes with different slots. A leaf may have an AccumulateGrad, whose\n"
    "next backward raises RuntimeError."};

}  // namespace

PyMethodDef swap_methods[] = {
    {"_swap_tensor_impl", &swap_tensor_impl, METH_VARARGS,
     "_swap_tensor_impl(a, b): exchanges the impls of two wrappers, and the hooks on them.\n"
     "RuntimeError if either has another reference, even a weak one."},
    {nullptr, nullptr, 0, nullptr},
};

PyRef make_utils(PyObject* module) {
  PyRef utils = PyRef::steal(checked(PyModule_New("slotcore.utils")));
  PyRef swap = PyRef::steal(checked(PyCFunction_NewEx(&swap_tensors_method, module, nullptr)));
  checked(PyModule_AddObjectRef(utils.get(), "swap_tensors", swap.get()));
  return utils;
}

}  // namespace slotcore::python
