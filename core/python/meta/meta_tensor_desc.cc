// MetaTensorDesc: an immutable object whose attributes are the rows of fields.def. A size that is
// an expression has its number for the example there.

#include "core/meta/text/desc_write.h"
#include "core/python/meta/meta.h"
#include "core/python/runtime/device.h"
#include "core/python/sizes/sym_int.h"
#include "core/python/tensor/dtype.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

using meta::Document, meta::MetaStorageDesc, meta::MetaTensorDesc, meta::TensorRef;

struct Desc {
  PyObject_HEAD DocumentPtr document;
  meta::EnvPtr env;  // made when it is asked for; null if all sizes are numbers
};

const Document& document_of_self(PyObject* self) {
  return *reinterpret_cast<Desc*>(self)->document;
}

const MetaTensorDesc& row_of(PyObject* self) {
  const Document& document = document_of_self(self);
  return document.tensors[static_cast<size_t>(document.roots[0].place)];
}

const MetaStorageDesc& storage_row_of(PyObject* self) {
  return document_of_self(self).storages[static_cast<size_t>(row_of(self).storage.place)];
}

// The same document from another root.
PyObject* desc_of(PyObject* self, TensorRef root) {
  if (!root) Py_RETURN_NONE;
  auto document = std::make_shared<Document>(document_of_self(self));
  document->roots = {root};
  return desc_object(state_of_type(Py_TYPE(self)), std::move(document));
}

// The Python value of a field, by its type.
PyObject* object_of(PyObject*, meta::Natural value) { return PyLong_FromLongLong(value.value); }
PyObject* object_of(PyObject*, meta::Size value) { return PyLong_FromLongLong(value.value); }
PyObject* object_of(PyObject*, uint32_t value) { return PyLong_FromUnsignedLong(value); }
PyObject* object_of(PyObject*, bool value) { return PyBool_FromLong(value); }
PyObject* object_of(PyObject*, const Dims& value) { return tuple_of(value); }
PyObject* object_of(PyObject*, meta::CreationMeta value) {
  return PyUnicode_FromString(meta::name_of(value));
}
PyObject* object_of(PyObject* self, ScalarType value) {
  return dtype_object(state_of_type(Py_TYPE(self)), value);
}
PyObject* object_of(PyObject* self, Device value) {
  return device_object(state_of_type(Py_TYPE(self)), value);
}
PyObject* object_of(PyObject* self, TensorRef value) { return desc_of(self, value); }
PyObject* object_of(PyObject*, const meta::Bytes& value) {
  if (!value) Py_RETURN_NONE;
  return PyUnicode_FromStringAndSize(value->data(), static_cast<Py_ssize_t>(value->size()));
}
// A storage is known by its id.
PyObject* object_of(PyObject* self, meta::StorageRef) {
  return object_of(self, storage_row_of(self).id);
}

PyObject* get_shape_env(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const meta::EnvPtr& env = env_of_desc(self);
    if (!env) Py_RETURN_NONE;
    return env_object(state_of_type(Py_TYPE(self)), env);
  });
}

PyGetSetDef desc_properties[] = {
    {"shape_env", &get_shape_env, nullptr,
     "A ShapeEnv of its own with the symbols of the sizes; None if all sizes are numbers.",
     nullptr},
#define STORAGE_FIELD(...)
#define TENSOR_FIELD(type, name, presence, initial, sentence)                     \
  {#name,                                                                         \
   [](PyObject* self, void*) {                                                    \
     return guarded([&] { return checked(object_of(self, row_of(self).name)); }); \
   },                                                                             \
   nullptr, sentence, nullptr},
#include "core/meta/fields.def"
#define STORAGE_FIELD(type, name, presence, initial, sentence)                            \
  {"storage_" #name,                                                                      \
   [](PyObject* self, void*) {                                                            \
     return guarded([&] { return checked(object_of(self, storage_row_of(self).name)); }); \
   },                                                                                     \
   nullptr, "Of the storage: " sentence, nullptr},
#define TENSOR_FIELD(...)
#include "core/meta/fields.def"
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyObject* as_json(PyObject* self, PyObject*) {
  return guarded([&] {
    std::string text = meta::dumps(document_of_self(self));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

void desc_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::destroy_at(&reinterpret_cast<Desc*>(self)->env);
  std::destroy_at(&reinterpret_cast<Desc*>(self)->document);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef desc_methods[] = {
    {"as_json", &as_json, METH_NOARGS,
     "as_json() -> str: the canonical text, which equal graphs of tensors share (M12)."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyRef make_desc_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("A tensor, and all that it leads to, as data.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(&desc_dealloc)},
      {Py_tp_methods, desc_methods},
      {Py_tp_getset, desc_properties},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.MetaTensorDesc", sizeof(Desc), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

PyObject* desc_object(ModuleState* state, DocumentPtr document) {
  PyTypeObject* type = state->desc_type;
  PyObject* self = checked(type->tp_alloc(type, 0));
  std::construct_at(&reinterpret_cast<Desc*>(self)->document, std::move(document));
  std::construct_at(&reinterpret_cast<Desc*>(self)->env);
  return self;
}

const meta::EnvPtr& env_of_desc(PyObject* desc) {
  auto* self = reinterpret_cast<Desc*>(desc);
  if (self->document->symbols && !self->env) {
    self->env = std::make_shared<meta::SharedEnv>();
    self->env->env = self->document->symbols->env;
  }
  return self->env;
}

const DocumentPtr& document_of(ModuleState* state, PyObject* desc) {
  if (!Py_IS_TYPE(desc, state->desc_type)) {
    throw_python(PyExc_TypeError, "expected a MetaTensorDesc, got %s", Py_TYPE(desc)->tp_name);
  }
  return reinterpret_cast<Desc*>(desc)->document;
}

}  // namespace slotcore::python
