// saved_tensors_hooks(): a context manager whose two callables pack and unpack what nodes save.

#include "core/autograd/saved/saved_tensor_hooks.h"
#include "core/python/autograd/gradients.h"
#include "core/python/autograd/graph.h"
#include "core/python/preserve/owned_object.h"
#include "core/python/preserve/released_gil.h"

namespace slotcore::python {
namespace {

using autograd::PackedTensor, autograd::SavedTensorHooks, autograd::TensorPtr;

ModuleState* state_of(const Interpreter& interpreter) {
  if (interpreter.module == nullptr) throw_python(PyExc_RuntimeError, "slotcore has been unloaded");
  return interpreter.module;
}

class PackedByPython final : public PackedTensor {
 public:
  PackedByPython(Interpreter* interpreter, PyObject* packed, PyObject* unpack) noexcept
      : packed_(interpreter, packed), unpack_(interpreter, unpack) {}

  TensorPtr unpack() const override {
    const Interpreter& interpreter = *packed_.interpreter();
    return with_gil(interpreter, [&] {
      PyRef result = called(PyObject_CallOneArg, unpack_.get(), packed_.get());
      return TensorPtr::retain(
          &checked_tensor(state_of(interpreter), result.get(), "an unpack hook"));
    });
  }
  void visit_owned(autograd::OwnedVisitor& visitor) const override {
    visitor.object("packed", packed_.get());
    visitor.object("unpack hook", unpack_.get());
  }

 private:
  OwnedObject packed_, unpack_;
};

class PythonHooks final : public SavedTensorHooks {
 public:
  PythonHooks(Interpreter* interpreter, PyObject* pack, PyObject* unpack) noexcept
      : pack_(interpreter, pack), unpack_(interpreter, unpack) {}

  // Null in another interpreter than that which has entered the pair.
  std::shared_ptr<const PackedTensor> pack(const TensorPtr& tensor) const override {
    Interpreter* interpreter = pack_.interpreter();
    if (!is_inside(*interpreter)) return nullptr;
    return with_gil(*interpreter, [&] {
      PyRef wrapper = gradient_object(state_of(*interpreter), tensor);
      PyRef packed = called(PyObject_CallOneArg, pack_.get(), wrapper.get());
      return std::make_shared<PackedByPython>(interpreter, packed.get(), unpack_.get());
    });
  }

 private:
  OwnedObject pack_, unpack_;
};

struct Pair {
  PyObject_HEAD PyObject* pack;
  PyObject* unpack;
};

Pair* as_pair(PyObject* self) { return reinterpret_cast<Pair*>(self); }

PyObject* pair_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"pack_hook", "unpack_hook", nullptr};
  PyObject *pack, *unpack;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:saved_tensors_hooks",
                                   const_cast<char**>(names), &pack, &unpack)) {
    return nullptr;
  }
  if (!PyCallable_Check(pack) || !PyCallable_Check(unpack)) {
    PyErr_SetString(PyExc_TypeError, "the hooks of saved tensors must be callable");
    return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  as_pair(self)->pack = Py_NewRef(pack);
  as_pair(self)->unpack = Py_NewRef(unpack);
  return self;
}

PyObject* pair_enter(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Interpreter* interpreter = state_of_type(Py_TYPE(self))->interpreter;
    SavedTensorHooks::enter(
        std::make_shared<PythonHooks>(interpreter, as_pair(self)->pack, as_pair(self)->unpack));
    Py_RETURN_NONE;
  });
}

// As in torch, this ends the pair that the thread entered last, whichever that is.
PyObject* pair_exit(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (!SavedTensorHooks::leave())
      throw_python(PyExc_RuntimeError, "no hooks for saved tensors are on in this thread");
    Py_RETURN_NONE;
  });
}

int pair_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_pair(self)->pack);
  Py_VISIT(as_pair(self)->unpack);
  return 0;
}

// The pair needs no tp_clear: it cannot be changed, so a cycle has another object that can.
void pair_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(as_pair(self)->pack);
  Py_XDECREF(as_pair(self)->unpack);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef pair_methods[] = {
    {"__enter__", &pair_enter, METH_NOARGS, "Operations of this thread use the hooks from now on."},
    {"__exit__", &pair_exit, METH_VARARGS,
     "Ends the last pair of this thread. RuntimeError without any."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyRef make_saved_hooks(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc,
       const_cast<char*>(
           "saved_tensors_hooks(pack_hook, unpack_hook): context manager. Inside, each tensor "
           "that\n"
           "a node saves is replaced by pack_hook(tensor), and unpack_hook turns that into a "
           "tensor\n"
           "whenever it is needed. pack_hook must not write its tensor (RuntimeError). Of nested\n"
           "pairs the inner one is used.")},
      {Py_tp_new, reinterpret_cast<void*>(&pair_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&pair_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&pair_traverse)},
      {Py_tp_methods, pair_methods},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore.saved_tensors_hooks", sizeof(Pair), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  PyRef type = PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
  PyRef made = PyRef::steal(checked(PyModule_New("slotcore.autograd.graph")));
  checked(PyModule_AddType(made.get(), reinterpret_cast<PyTypeObject*>(type.get())));
  return made;
}

}  // namespace slotcore::python
