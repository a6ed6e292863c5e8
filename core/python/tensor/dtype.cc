// The element types as Python objects, and the conversion of single elements.

#include "core/python/tensor/dtype.h"

#include <cstring>

namespace slotcore::python {
namespace {

struct DType {
  PyObject_HEAD
  ScalarType type;
};

ScalarType type_of(PyObject* self) { return reinterpret_cast<DType*>(self)->type; }

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("slotcore.%s", name_of(type_of(self)));
}

PyObject* get_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(item_size(type_of(self)));
}

// The module refers to its dtypes, a dtype to its class, and the class to the module.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* to_number(float value) { return PyFloat_FromDouble(value); }
PyObject* to_number(double value) { return PyFloat_FromDouble(value); }
PyObject* to_number(int64_t value) { return PyLong_FromLongLong(value); }
PyObject* to_number(uint8_t value) { return PyLong_FromLong(value); }
PyObject* to_number(bool value) { return PyBool_FromLong(value); }
PyObject* to_number(std::complex<float> value) {
  return PyComplex_FromDoubles(value.real(), value.imag());
}

template <class T>
T from_number(PyObject* value) {
  if constexpr (std::is_same_v<T, bool>) {
    int truth = PyObject_IsTrue(value);
    checked(truth);
    return truth != 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) throw PythonErrorSet{};
    return static_cast<T>(number);
  } else if constexpr (is_complex_v<T>) {
    Py_complex number = PyComplex_AsCComplex(value);
    if (number.real == -1.0 && PyErr_Occurred()) throw PythonErrorSet{};
    return T(static_cast<float>(number.real), static_cast<float>(number.imag));
  } else {
    // Through int(), which takes a float as torch does.
    if (!PyNumber_Check(value))
      throw_python(PyExc_TypeError, "expected a number, got %s", Py_TYPE(value)->tp_name);
    PyRef integer = PyRef::steal(checked(PyNumber_Long(value)));
    int overflow = 0;
    int64_t number = PyLong_AsLongLongAndOverflow(integer.get(), &overflow);
    // A negative number wraps in an unsigned type, as in torch.
    bool fits = sizeof(T) == sizeof number || (number > -256 && number < 256);
    if (overflow != 0 || !fits)
      throw_python(PyExc_RuntimeError, "%R does not fit into the dtype", value);
    return static_cast<T>(number);
  }
}

template <class T>
void store(void* element, PyObject* number) {
  T value = from_number<T>(number);
  std::memcpy(element, &value, sizeof value);
}

PyGetSetDef properties[] = {
    {"itemsize", &get_itemsize, nullptr, "Bytes of one element.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void add_dtypes(PyObject* module, ModuleState* state) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("An element type.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(&dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
      {Py_tp_repr, reinterpret_cast<void*>(&repr)},
      {Py_tp_getset, properties},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.dtype", sizeof(DType), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  PyObject* type = checked(PyType_FromModuleAndSpec(module, &spec, nullptr));
  state->dtype_type = reinterpret_cast<PyTypeObject*>(type);
  checked(PyModule_AddObjectRef(module, "dtype", type));
  for (size_t i = 0; i < kScalarTypes; i++) {
    PyObject* object = checked(state->dtype_type->tp_alloc(state->dtype_type, 0));
    reinterpret_cast<DType*>(object)->type = static_cast<ScalarType>(i);
    state->dtypes[i] = object;
    checked(PyModule_AddObjectRef(module, name_of(static_cast<ScalarType>(i)), object));
  }
}

PyObject* dtype_object(ModuleState* state, ScalarType type) {
  return Py_NewRef(state->dtypes[static_cast<size_t>(type)]);
}

ScalarType scalar_type_of(ModuleState* state, PyObject* dtype) {
  if (!PyObject_TypeCheck(dtype, state->dtype_type))
    throw_python(PyExc_TypeError, "dtype must be a dtype, not %s", Py_TYPE(dtype)->tp_name);
  return type_of(dtype);
}

PyObject* number_of(const Elements& elements, ScalarType type, int64_t offset) {
  return with_type(type, [&](auto zero) {
    return checked(to_number(elements.read<decltype(zero)>(offset)));
  });
}

void store_element(void* element, ScalarType type, PyObject* value) {
  with_type(type, [&](auto zero) { store<decltype(zero)>(element, value); });
}

std::optional<arithmetic::Scalar> scalar_of(PyObject* object) {
  if (PyBool_Check(object)) return object == Py_True;
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (PyComplex_Check(object)) {
    return std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
  }
  if (!PyLong_Check(object)) return std::nullopt;
  int overflow = 0;
  int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) throw_python(PyExc_RuntimeError, "%R does not fit into an int64", object);
  return value;
}

}  // namespace slotcore::python
