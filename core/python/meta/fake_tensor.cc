// What a fake says of itself, and the submodule fake_tensor. A fake is a Tensor; torch has a
// subclass for it.

#include "core/c10/impl/operation_tracer_tls.h"
#include "core/python/meta/meta.h"
#include "core/python/runtime/device.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

const TensorImpl& checked_fake(PyObject* self, const char* attribute) {
  const TensorImpl& tensor = self_tensor(self);
  if (!tensor.is_fake()) throw_python(PyExc_AttributeError, "a real tensor has no %s", attribute);
  return tensor;
}

PyObject* get_mode(PyObject* self, void*) {
  return guarded([&] {
    auto mode = meta::mode_of(checked_fake(self, "fake_mode"));
    return mode_object(state_of_wrapper(self), std::move(mode));
  });
}

PyObject* get_fake_device(PyObject* self, void*) {
  return guarded([&] {
    Device device = checked_fake(self, "fake_device").device();
    return device_object(state_of_wrapper(self), device);
  });
}

PyObject* is_fake(PyObject* module, PyObject* object) {
  return guarded([&] {
    const TensorImpl* tensor = as_tensor(state_of_module(module), object);
    return PyBool_FromLong(tensor != nullptr && tensor->is_fake());
  });
}

PyObject* leave_modes(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    impl::check_untraced("leave_modes()");
    if (impl::TorchDispatchModeTLS::size() == 0)
      throw_python(PyExc_RuntimeError, "this thread is in no mode");
    // A mode that dies here has no fakes, so no user code runs.
    while (auto mode = impl::TorchDispatchModeTLS::pop()) continue;
    Py_RETURN_NONE;
  });
}

PyObject* mode_count(PyObject*, PyObject*) {
  return PyLong_FromSize_t(impl::TorchDispatchModeTLS::size());
}

}  // namespace

PyMethodDef mode_stack_functions[] = {
    {"leave_modes", &leave_modes, METH_NOARGS,
     "leave_modes(): leaves all modes that this thread is in. RuntimeError if it is in none."},
    {"mode_count", &mode_count, METH_NOARGS,
     "mode_count() -> int: how often this thread has entered a mode that it has not left."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef tensor_fake_properties[] = {
    {"fake_mode", &get_mode, nullptr,
     "The FakeTensorMode of a fake. AttributeError for a real tensor.", nullptr},
    {"fake_device", &get_fake_device, nullptr,
     "The device of a fake. AttributeError for a real tensor.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef fake_tensor_functions[] = {
    {"is_fake", &is_fake, METH_O, "is_fake(object) -> bool: whether it is a fake of a mode."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace slotcore::python
