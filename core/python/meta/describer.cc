// MetaTensorDescriber: torch's class, which reads tensors into descriptions.

#include <vector>

#include "core/c10/impl/hermetic_py_object_tls.h"
#include "core/python/meta/meta.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using meta::MetaTensorDescriber;

struct Describer {
  PyObject_HEAD std::shared_ptr<MetaTensorDescriber> describer;  // a mode's belongs to the mode
  bool copies_data;
};

Describer* as_describer(ModuleState* state, PyObject* object) {
  if (!Py_IS_TYPE(object, state->describer_type)) {
    throw_python(PyExc_TypeError, "expected a MetaTensorDescriber, got %s",
                 Py_TYPE(object)->tp_name);
  }
  return reinterpret_cast<Describer*>(object);
}

PyRef made(PyTypeObject* type, std::shared_ptr<MetaTensorDescriber> describer, bool copies_data) {
  PyRef self = PyRef::steal(checked(type->tp_alloc(type, 0)));
  auto* object = reinterpret_cast<Describer*>(self.get());
  std::construct_at(&object->describer, std::move(describer));
  object->copies_data = copies_data;
  return self;
}

PyObject* describer_create(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static const char* names[] = {"copy_data", nullptr};
    int copies_data = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$p:MetaTensorDescriber",
                                     const_cast<char**>(names), &copies_data)) {
      throw PythonErrorSet{};
    }
    return made(type, std::make_shared<MetaTensorDescriber>(), copies_data != 0).release();
  });
}

void describer_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::destroy_at(&reinterpret_cast<Describer*>(self)->describer);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* describe_tensor(PyObject* self, PyObject* tensor) {
  return guarded([&] {
    ModuleState* state = state_of_type(Py_TYPE(self));
    bool copies_data = reinterpret_cast<Describer*>(self)->copies_data;
    auto use = [&](const DocumentPtr& document) {
      return PyRef::steal(desc_object(state, document));
    };
    return describe(state, self, &tensor, 1, {.copy_data = copies_data, .keep_symbols = true}, use)
        .release();
  });
}

PyObject* describer_sweep(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    sweep_describer(self);
    Py_RETURN_NONE;
  });
}

// Looks at the wrapper that exists, and changes no count. Hermetic mode has no wrappers (H1), and a
// wrapper in another interpreter is not ours to ask.
bool is_parameter(const ModuleState* state, TensorImpl& tensor) {
  const impl::PyObjectSlot* slot = tensor.pyobj_slot();
  bool is_ours = slot->pyobj_interpreter() == state->interpreter->tag();
  if (!is_ours || impl::HermeticPyObjectTLS::get_state()) return false;
  const PyObject* wrapper = slot->unchecked_pyobj();
  return wrapper != nullptr && Py_IS_TYPE(wrapper, state->parameter);
}

PyMethodDef describer_methods[] = {
    {"describe_tensor", &describe_tensor, METH_O,
     "describe_tensor(tensor) -> MetaTensorDesc of the tensor and all that it leads to. Of a fake\n"
     "with symbolic sizes, it has their expressions, and decides nothing."},
    {"sweep", &describer_sweep, METH_NOARGS, "sweep(): forgets the tensors that have died."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyRef make_describer_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("MetaTensorDescriber(*, copy_data=False): gives ids.")},
      {Py_tp_new, reinterpret_cast<void*>(&describer_create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&describer_dealloc)},
      {Py_tp_methods, describer_methods},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.MetaTensorDescriber", sizeof(Describer), 0, Py_TPFLAGS_DEFAULT,
                      slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyRef describer_of(ModuleState* state, const intrusive_ptr<meta::FakeMode>& mode) {
  std::shared_ptr<MetaTensorDescriber> of_mode(&mode->describer, [mode](auto*) {});
  return made(state->describer_type, std::move(of_mode), /*copies_data=*/false);
}

PyRef describe(ModuleState* state, PyObject* describer, PyObject* const* tensors, Py_ssize_t count,
               MetaTensorDescriber::Options options,
               const std::function<PyRef(const DocumentPtr&)>& use) {
  Describer* self = as_describer(state, describer);
  std::vector<autograd::TensorPtr> roots;
  for (Py_ssize_t i = 0; i < count; i++) {
    roots.push_back(
        autograd::TensorPtr::retain(&checked_tensor(state, tensors[i], "describe_tensor")));
  }
  options.is_parameter = [&](TensorImpl& tensor) { return is_parameter(state, tensor); };
  PyRef made;
  (void)self->describer->describe(roots, options,
                                  [&](const DocumentPtr& document) { made = use(document); });
  return made;
}

meta::MetaTensorDescriber::Sizes sizes_of_describer(ModuleState* state, PyObject* describer) {
  return as_describer(state, describer)->describer->sizes();
}

void sweep_describer(PyObject* describer) {
  as_describer(state_of_type(Py_TYPE(describer)), describer)->describer->sweep();
}

}  // namespace slotcore::python
