// FakeTensorMode: torch's class. An object of it is a handle of a C++ mode: while there is one, a
// fake gives the same one.

#include "core/c10/impl/operation_tracer_tls.h"
#include "core/python/meta/meta.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using impl::TorchDispatchModeTLS;
using meta::FakeMode;
using FakeModePtr = intrusive_ptr<FakeMode>;

struct Mode {
  PyObject_HEAD FakeModePtr mode;
  PyObject* converter;  // refers to nothing else, so there is no cycle
};

Mode* as_mode(PyObject* self) { return reinterpret_cast<Mode*>(self); }

// A new handle. Throws PythonErrorSet.
PyObject* made(ModuleState* state, FakeModePtr mode) {
  PyTypeObject* type = state->fake_mode_type;
  PyRef converter = converter_of(state, mode);
  PyObject* self = checked(type->tp_alloc(type, 0));
  FakeMode::Handle& handle = mode->handle;
  std::construct_at(&as_mode(self)->mode, std::move(mode));
  as_mode(self)->converter = converter.release();
  std::lock_guard lock(handle.mutex);
  if (handle.object == nullptr) {
    handle.interpreter = state->interpreter;
    handle.object = self;
  }
  return self;
}

PyObject* fake_mode_create(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"shape_env", nullptr};
    PyObject* env = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$O:FakeTensorMode", const_cast<char**>(names),
                                     &env)) {
      throw PythonErrorSet{};
    }
    ModuleState* state = state_of_type(type);
    return made(state,
                make_intrusive<FakeMode>(env == Py_None ? nullptr : checked_env(state, env)));
  });
}

void fake_mode_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  {
    FakeMode::Handle& handle = as_mode(self)->mode->handle;
    std::lock_guard lock(handle.mutex);
    if (handle.object == self) handle.object = nullptr;
  }
  Py_DECREF(as_mode(self)->converter);
  std::destroy_at(&as_mode(self)->mode);
  type->tp_free(self);
  Py_DECREF(type);
}

// What the sizes of a fake become, by the arguments of from_tensor().
meta::Symbols symbols_of(const meta::EnvPtr& env, bool is_static, const char* kind_name) {
  for (meta::SizeKind kind : {meta::SizeKind::kDuck, meta::SizeKind::kDynamic}) {
    if (std::string_view(name_of(kind)) != kind_name) continue;
    return is_static || env == nullptr ? meta::Symbols{} : meta::Symbols{env, kind};
  }
  throw_python(PyExc_ValueError, "the kind is duck or dynamic, and not %s", kind_name);
}

PyObject* from_tensor(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"tensor", "static_shapes", "kind", nullptr};
    PyObject* tensor;
    int is_static = 0;
    const char* kind = "duck";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$ps:from_tensor", const_cast<char**>(names),
                                     &tensor, &is_static, &kind)) {
      throw PythonErrorSet{};
    }
    meta::Symbols symbols = symbols_of(as_mode(self)->mode->env, is_static != 0, kind);
    ModuleState* state = state_of_type(Py_TYPE(self));
    PyRef converter = PyRef::borrow(as_mode(self)->converter);
    PyRef describer = PyRef::steal(checked(PyObject_GetAttrString(converter.get(), "describer")));
    auto use = [&](const DocumentPtr& document) {
      PyRef fakes = convert(state, converter.get(), *document, symbols);
      return PyRef::borrow(PyTuple_GET_ITEM(fakes.get(), 0));
    };
    return describe(state, describer.get(), &tensor, 1, {}, use).release();
  });
}

PyObject* enter(PyObject* self, PyObject*) {
  return guarded([&] {
    TorchDispatchModeTLS::push(as_mode(self)->mode);
    return Py_NewRef(self);
  });
}

PyObject* exit(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (TorchDispatchModeTLS::innermost() != as_mode(self)->mode.get())
      throw_python(PyExc_RuntimeError, "this mode is not the innermost one of this thread");
    const impl::OperationTracer* tracer = impl::OperationTracerTLS::current();
    if (tracer != nullptr && TorchDispatchModeTLS::size() <= tracer->mode_count)
      impl::check_untraced("an exit of the mode of the trace");
    auto left = TorchDispatchModeTLS::pop();
    Py_RETURN_FALSE;  // an exception propagates
  });
}

PyObject* cache_info(PyObject* self, PyObject*) {
  return guarded([&] {
    meta::OpCache::Info info = as_mode(self)->mode->cache.info();
    return checked(Py_BuildValue("KKn", static_cast<unsigned long long>(info.hits),
                                 static_cast<unsigned long long>(info.misses),
                                 static_cast<Py_ssize_t>(info.size)));
  });
}

PyObject* cache_clear(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    as_mode(self)->mode->cache.clear();
    Py_RETURN_NONE;
  });
}

PyObject* fake_mode_get_env(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const meta::EnvPtr& env = as_mode(self)->mode->env;
    if (env == nullptr) Py_RETURN_NONE;
    return env_object(state_of_type(Py_TYPE(self)), env);
  });
}

PyObject* get_converter(PyObject* self, void*) { return Py_NewRef(as_mode(self)->converter); }

PyMethodDef fake_mode_methods[] = {
    {"from_tensor", method(&from_tensor), METH_VARARGS | METH_KEYWORDS,
     "from_tensor(tensor, *, static_shapes=False, kind='duck') -> its fake in this mode: the same\n"
     "one while its description and the kind are equal. In a mode with an environment, its sizes\n"
     "are symbols: 'duck' and 'dynamic' are those of ShapeEnv.create_symint()."},
    {"cache_info", &cache_info, METH_NOARGS,
     "cache_info() -> (hits, misses, size) of the cache of results that operations in the mode "
     "gave."},
    {"cache_clear", &cache_clear, METH_NOARGS, "Forgets these results."},
    {"__enter__", &enter, METH_NOARGS, "Enters the mode on this thread."},
    {"__exit__", &exit, METH_VARARGS,
     "Leaves it. RuntimeError unless it is the innermost mode of this thread."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef fake_mode_properties[] = {
    {"shape_env", &fake_mode_get_env, nullptr, "Its ShapeEnv, or None.", nullptr},
    {"fake_tensor_converter", &get_converter, nullptr, "Its MetaConverter.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyRef make_fake_mode_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc,
       const_cast<char*>(
           "FakeTensorMode(*, shape_env=None): inside `with mode:`, operations take fakes of the\n"
           "mode only, and give such fakes. RuntimeError for other tensors.")},
      {Py_tp_new, reinterpret_cast<void*>(&fake_mode_create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&fake_mode_dealloc)},
      {Py_tp_methods, fake_mode_methods},
      {Py_tp_getset, fake_mode_properties},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.FakeTensorMode", sizeof(Mode), 0, Py_TPFLAGS_DEFAULT, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyObject* mode_object(ModuleState* state, FakeModePtr mode) {
  {
    // An object whose count is 0 removes itself before another thread gets the GIL.
    FakeMode::Handle& handle = mode->handle;
    std::lock_guard lock(handle.mutex);
    if (handle.object != nullptr && handle.interpreter == state->interpreter)
      return Py_NewRef(static_cast<PyObject*>(handle.object));
  }
  return made(state, std::move(mode));
}

}  // namespace slotcore::python
