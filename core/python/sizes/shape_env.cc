// ShapeEnv: torch's class, as an object that owns the C++ environment.

#include "core/python/sizes/sym_int.h"

namespace slotcore::python {
namespace {

using meta::EnvPtr, meta::ShapeEnv, meta::SharedEnv, meta::SizeKind;

struct Env {
  PyObject_HEAD EnvPtr env;
};

const EnvPtr& env_of(PyObject* self) { return reinterpret_cast<Env*>(self)->env; }

// What `body` gives for the environment, of which no one else reads meanwhile.
template <class Body>
auto with_env(PyObject* self, Body body) {
  const EnvPtr& env = env_of(self);
  std::lock_guard lock(env->mutex);
  return body(env->env);
}

EnvPtr shared(ShapeEnv env) {
  auto result = std::make_shared<SharedEnv>();
  result->env = std::move(env);
  return result;
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    if (PyTuple_GET_SIZE(args) != 0 || (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0))
      throw_python(PyExc_TypeError, "ShapeEnv() takes no arguments");
    return env_object(state_of_type(type), shared({}));
  });
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  {
    const EnvPtr& env = env_of(self);
    std::lock_guard lock(env->mutex);
    if (env->object == self) env->object = nullptr;
  }
  std::destroy_at(&reinterpret_cast<Env*>(self)->env);
  type->tp_free(self);
  Py_DECREF(type);
}

PyRef text_of(std::string_view text) {
  return PyRef::steal(
      checked(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()))));
}

PyObject* create_symint(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"hint", "source", "kind", nullptr};
    PyObject* number;
    const char *source, *kind_name = "duck";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Os|s:create_symint", const_cast<char**>(names),
                                     &number, &source, &kind_name)) {
      throw PythonErrorSet{};
    }
    int64_t hint = checked_int(number);
    for (SizeKind kind : meta::kInputKinds) {
      if (std::string_view(name_of(kind)) != kind_name) continue;
      PyRef plain = PyRef::steal(checked(PyLong_FromLongLong(hint)));
      PyRef size = reserved_size(state_of_type(Py_TYPE(self)));
      auto expr = with_env(self, [&](ShapeEnv& env) { return env.add_input(hint, source, kind); });
      if (expr.is_constant()) return plain.release();
      return with_number(std::move(size), sym_int_of(env_of(self), std::move(expr)));
    }
    throw_python(PyExc_ValueError, "the kind is static, duck or dynamic, and not %s", kind_name);
  });
}

PyObject* create_unbacked_symint(PyObject* self, PyObject*) {
  return guarded([&] {
    PyRef size = reserved_size(state_of_type(Py_TYPE(self)));
    auto expr = with_env(self, [&](ShapeEnv& env) { return env.add_unbacked(); });
    return with_number(std::move(size), sym_int_of(env_of(self), std::move(expr)));
  });
}

std::vector<int64_t> numbers_of(PyObject* sequence) {
  PyRef items = PyRef::steal(checked(PySequence_Tuple(sequence)));
  std::vector<int64_t> numbers;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); i++)
    numbers.push_back(checked_int(PyTuple_GET_ITEM(items.get(), i)));
  return numbers;
}

PyObject* check(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"sizes", "unbacked", nullptr};
    PyObject *sizes, *unbacked = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:check", const_cast<char**>(names), &sizes,
                                     &unbacked)) {
      throw PythonErrorSet{};
    }
    std::vector<int64_t> inputs = numbers_of(sizes);
    std::optional<std::vector<int64_t>> numbers;
    if (unbacked != Py_None) numbers = numbers_of(unbacked);
    return PyBool_FromLong(
        with_env(self, [&](const ShapeEnv& env) { return env.check(inputs, numbers); }));
  });
}

PyObject* freeze(PyObject* self, PyObject*) {
  with_env(self, [](ShapeEnv& env) { env.freeze(); });
  Py_RETURN_NONE;
}

// Making a Python object may run a finalizer, which may ask the environment.
ShapeEnv copy_of(PyObject* self) {
  return with_env(self, [](const ShapeEnv& env) { return env; });
}

PyObject* texts_of_constraints(PyObject* self, bool is_assertion) {
  return guarded([&] {
    PyRef list = PyRef::steal(checked(PyList_New(0)));
    ShapeEnv env = copy_of(self);
    for (const auto& constraint : env.constraints()) {
      if (constraint.is_assertion == is_assertion)
        checked(PyList_Append(list.get(), text_of(constraint.relation.text()).get()));
    }
    return list.release();
  });
}

PyObject* get_guards(PyObject* self, void*) { return texts_of_constraints(self, false); }
PyObject* get_asserts(PyObject* self, void*) { return texts_of_constraints(self, true); }

PyObject* get_replacements(PyObject* self, void*) {
  return guarded([&] {
    PyRef dict = PyRef::steal(checked(PyDict_New()));
    ShapeEnv env = copy_of(self);
    for (const auto& [symbol, by] : env.replacements()) {
      PyRef name = text_of(env.symbol(symbol).text());
      checked(PyDict_SetItem(dict.get(), name.get(), text_of(by.text()).get()));
    }
    return dict.release();
  });
}

PyObject* get_inputs(PyObject* self, void*) {
  return guarded([&] {
    PyRef list = PyRef::steal(checked(PyList_New(0)));
    ShapeEnv env = copy_of(self);
    for (const auto& [source, expr] : env.inputs()) {
      PyRef pair =
          PyRef::steal(checked(PyTuple_Pack(2, text_of(source).get(), text_of(expr.text()).get())));
      checked(PyList_Append(list.get(), pair.get()));
    }
    return list.release();
  });
}

PyObject* get_frozen(PyObject* self, void*) {
  return PyBool_FromLong(with_env(self, [](const ShapeEnv& env) { return env.is_frozen(); }));
}

PyObject* dumps_env(PyObject* module, PyObject* env) {
  return guarded([&] {
    checked_env(state_of_module(module), env);
    return text_of(copy_of(env).dumps()).release();
  });
}

PyObject* loads_env(PyObject* module, PyObject* text) {
  return guarded([&] {
    Py_ssize_t size;
    const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes == nullptr) throw PythonErrorSet{};
    auto env = ShapeEnv::loads(std::string_view(bytes, static_cast<size_t>(size)));
    return env_object(state_of_module(module), shared(std::move(env)));
  });
}

PyMethodDef methods[] = {
    {"create_symint", method(&create_symint), METH_VARARGS | METH_KEYWORDS,
     "create_symint(hint, source, kind='duck') -> SymInt, or an int: a size of an example, and "
     "the\n"
     "name of where it comes from. 'duck' shares the symbol of an equal size, and 0 and 1 are\n"
     "ints; 'dynamic' has a symbol in any case; 'static' is an int. ValueError for a negative "
     "hint,\n"
     "and for a source that is there already; RuntimeError after freeze()."},
    {"create_unbacked_symint", &create_unbacked_symint, METH_NOARGS,
     "create_unbacked_symint() -> SymInt: a number that is computed from data, so that no example\n"
     "has it. RuntimeError after freeze()."},
    {"check", method(&check), METH_VARARGS | METH_KEYWORDS,
     "check(sizes, unbacked=None) -> bool: whether inputs of these sizes, in order, may use what\n"
     "was decided for the example; with numbers for the unbacked symbols, in order, also whether\n"
     "all that was asserted of them holds. ValueError for another number of sizes or numbers."},
    {"freeze", &freeze, METH_NOARGS, "freeze(): from now on, what needs a new guard raises."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"guards", &get_guards, nullptr, "The guards, as expressions of Python.", nullptr},
    {"deferred_runtime_asserts", &get_asserts, nullptr,
     "What was asserted of unbacked symbols, as expressions of Python.", nullptr},
    {"replacements", &get_replacements, nullptr,
     "A dict: what stands for a symbol, by an equation that was decided or asserted.", nullptr},
    {"inputs", &get_inputs, nullptr, "Pairs: the source of each input, and its size.", nullptr},
    {"frozen", &get_frozen, nullptr, "Whether freeze() was called.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyRef make_shape_env_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("ShapeEnv(): sizes as symbols, and the guards under which\n"
                                    "decisions about them hold. One thread at a time uses it.")},
      {Py_tp_new, reinterpret_cast<void*>(&create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&dealloc)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.ShapeEnv", sizeof(Env), 0, Py_TPFLAGS_DEFAULT, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

const EnvPtr& checked_env(ModuleState* state, PyObject* object) {
  if (!Py_IS_TYPE(object, state->shape_env_type))
    throw_python(PyExc_TypeError, "expected a ShapeEnv, got %s", Py_TYPE(object)->tp_name);
  return env_of(object);
}

PyObject* env_object(ModuleState* state, EnvPtr env) {
  {
    // An object whose count is 0 removes itself before another thread gets the GIL.
    std::lock_guard lock(env->mutex);
    if (env->object != nullptr && env->interpreter == state->interpreter)
      return Py_NewRef(static_cast<PyObject*>(env->object));
  }
  PyObject* self = checked(state->shape_env_type->tp_alloc(state->shape_env_type, 0));
  std::lock_guard lock(env->mutex);
  if (env->object == nullptr) {
    env->interpreter = state->interpreter;
    env->object = self;
  }
  std::construct_at(&reinterpret_cast<Env*>(self)->env, env);
  return self;
}

PyMethodDef shape_env_functions[] = {
    {"dumps_env", &dumps_env, METH_O, "dumps_env(env) -> str: its text."},
    {"loads_env", &loads_env, METH_O,
     "loads_env(text) -> ShapeEnv, equal to the one that was written. ValueError names the line\n"
     "that is wrong."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace slotcore::python
