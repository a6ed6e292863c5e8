// MetaConverter: torch's class, which has a describer of its own and gives each tensor its fake.

#include "core/python/meta/meta.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using meta::MetaConverter;

struct Converter {
  PyObject_HEAD std::shared_ptr<MetaConverter> converter;  // a mode's belongs to the mode
  PyObject* describer;  // refers to nothing else, so there is no cycle
};

Converter* as_converter(ModuleState* state, PyObject* object) {
  if (!Py_IS_TYPE(object, state->converter_type)) {
    throw_python(PyExc_TypeError, "expected a MetaConverter, got %s", Py_TYPE(object)->tp_name);
  }
  return reinterpret_cast<Converter*>(object);
}

PyRef made(PyTypeObject* type, std::shared_ptr<MetaConverter> converter, PyRef describer) {
  PyRef self = PyRef::steal(checked(type->tp_alloc(type, 0)));
  std::construct_at(&reinterpret_cast<Converter*>(self.get())->converter, std::move(converter));
  reinterpret_cast<Converter*>(self.get())->describer = describer.release();
  return self;
}

PyObject* converter_create(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    ModuleState* state = state_of_type(type);
    auto* describer_type = reinterpret_cast<PyObject*>(state->describer_type);
    PyRef describer = PyRef::steal(checked(PyObject_Call(describer_type, args, kwargs)));
    return made(type, std::make_shared<MetaConverter>(), std::move(describer)).release();
  });
}

void converter_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(reinterpret_cast<Converter*>(self)->describer);
  std::destroy_at(&reinterpret_cast<Converter*>(self)->converter);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* converter_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    if (PyTuple_GET_SIZE(args) != 1 || (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0))
      throw_python(PyExc_TypeError, "a MetaConverter is called with one tensor");
    ModuleState* state = state_of_type(Py_TYPE(self));
    auto use = [&](const DocumentPtr& document) {
      PyRef fakes = convert(state, self, *document);
      return PyRef::borrow(PyTuple_GET_ITEM(fakes.get(), 0));
    };
    return describe(state, reinterpret_cast<Converter*>(self)->describer,
                    &PyTuple_GET_ITEM(args, 0), 1, {}, use)
        .release();
  });
}

PyObject* converter_sweep(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    reinterpret_cast<Converter*>(self)->converter->sweep();
    sweep_describer(reinterpret_cast<Converter*>(self)->describer);
    Py_RETURN_NONE;
  });
}

PyObject* get_describer(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<Converter*>(self)->describer);
}

PyObject* get_itself(PyObject* self, void*) { return Py_NewRef(self); }

PyMethodDef converter_methods[] = {
    {"sweep", &converter_sweep, METH_NOARGS,
     "sweep(): forgets the tensors and the fakes that have died."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef converter_properties[] = {
    {"describer", &get_describer, nullptr, "Its MetaTensorDescriber.", nullptr},
    {"meta_converter", &get_itself, nullptr,
     "Itself: in torch, a mode has a FakeTensorConverter, which has a MetaConverter.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyRef make_converter_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc,
       const_cast<char*>("MetaConverter(*, copy_data=False)(tensor) -> its fake, a\n"
                         "Tensor on meta: the same one while its description is equal.")},
      {Py_tp_new, reinterpret_cast<void*>(&converter_create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&converter_dealloc)},
      {Py_tp_call, reinterpret_cast<void*>(&converter_call)},
      {Py_tp_methods, converter_methods},
      {Py_tp_getset, converter_properties},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.MetaConverter", sizeof(Converter), 0, Py_TPFLAGS_DEFAULT, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyRef converter_of(ModuleState* state, const intrusive_ptr<meta::FakeMode>& mode) {
  std::shared_ptr<MetaConverter> of_mode(&mode->converter, [mode](auto*) {});
  return made(state->converter_type, std::move(of_mode), describer_of(state, mode));
}

meta::EnvPtr env_of_converter(ModuleState* state, PyObject* converter) {
  // There is no other kind of mode.
  auto* mode = static_cast<meta::FakeMode*>(as_converter(state, converter)->converter->mode());
  return mode == nullptr ? nullptr : mode->env;
}

PyRef convert(ModuleState* state, PyObject* converter, const meta::Document& document,
              const meta::Symbols& symbols) {
  PyRef keep = PyRef::borrow(converter);
  PyRef fakes;
  // The wrappers of these are kept by what owns the fakes; those of roots are found again below.
  std::vector<PyRef> wrapped;
  auto wrap_all = [&](const MetaConverter::Converted& converted) {
    for (auto [fake, is_parameter] : converted.to_wrap) {
      PyTypeObject* type = is_parameter ? state->parameter : state->tensor;
      wrapped.push_back(PyRef::steal(checked(wrap(state->interpreter, type, fake))));
    }
    auto count = static_cast<Py_ssize_t>(converted.roots.size());
    fakes = PyRef::steal(checked(PyTuple_New(count)));
    for (Py_ssize_t i = 0; i < count; i++) {
      PyTuple_SET_ITEM(fakes.get(), i, wrap_tensor(state, converted.roots[static_cast<size_t>(i)]));
    }
  };
  (void)as_converter(state, converter)->converter->convert(document, symbols, wrap_all);
  return fakes;
}

PyRef memo_sizes(ModuleState* state, PyObject* converter) {
  Converter* self = as_converter(state, converter);
  auto fakes = self->converter->sizes();
  auto tensors = sizes_of_describer(state, self->describer);
  return PyRef::steal(checked(Py_BuildValue(
      "(nnnn)", static_cast<Py_ssize_t>(tensors.tensors), static_cast<Py_ssize_t>(tensors.storages),
      static_cast<Py_ssize_t>(fakes.tensors), static_cast<Py_ssize_t>(fakes.storages))));
}

}  // namespace slotcore::python
