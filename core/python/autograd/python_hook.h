// Hooks that are Python callables, and the handles that remove them.
#pragma once

#include <Python.h>

#include "core/autograd/function_hook.h"
#include "core/python/preserve/owned_object.h"
#include "core/python/runtime/module_state.h"
#include "core/python/runtime/py_ref.h"

namespace slotcore::python {

// Owns a dict of callables, which handles change.
class HookDict {
 public:
  HookDict(Interpreter* interpreter, PyObject* dict) noexcept : owned_(interpreter, dict) {}

  PyObject* dict() const noexcept { return owned_.get(); }
  Interpreter* interpreter() const noexcept { return owned_.interpreter(); }
  // Its callables now. Needs the GIL. Throws PythonErrorSet, also for what is not a dict: a user
  // may set anything.
  PyRef callables() const;
  // A Hook with a copy of the dict, for a run that has begun (A3c); null if it is not a dict. Takes
  // the GIL. Throws PythonErrorSet.
  template <class Hook>
  std::shared_ptr<Hook> copied_as() const;

 private:
  OwnedObject owned_;
};

// For one gradient: each callable gets the gradient, or None, and may return another one for a
// gradient that is not None.
class TensorHook final : public autograd::FunctionPreHook {
 public:
  TensorHook(Interpreter* interpreter, PyObject* dict) noexcept : hooks_(interpreter, dict) {}
  autograd::Gradients operator()(autograd::Gradients gradients) override;
  std::shared_ptr<autograd::FunctionPreHook> of_run() const override;
  PyObject* python_object() const noexcept override { return hooks_.dict(); }

 private:
  HookDict hooks_;
};

// For a node: each callable gets the tuple of gradients.
class NodePreHook final : public autograd::FunctionPreHook {
 public:
  NodePreHook(Interpreter* interpreter, PyObject* dict) noexcept : hooks_(interpreter, dict) {}
  autograd::Gradients operator()(autograd::Gradients gradients) override;
  std::shared_ptr<autograd::FunctionPreHook> of_run() const override;
  PyObject* python_object() const noexcept override { return hooks_.dict(); }

 private:
  HookDict hooks_;
};

// Each callable gets the tuples of what the node returned and of what it was given.
class NodePostHook final : public autograd::FunctionPostHook {
 public:
  NodePostHook(Interpreter* interpreter, PyObject* dict) noexcept : hooks_(interpreter, dict) {}
  autograd::Gradients operator()(autograd::Gradients outputs,
                                 const autograd::Gradients& inputs) override;
  std::shared_ptr<autograd::FunctionPostHook> of_run() const override;
  PyObject* python_object() const noexcept override { return hooks_.dict(); }

 private:
  HookDict hooks_;
};

// The type of handles: remove(), and a context manager that removes at its end. Throws
// PythonErrorSet.
PyRef make_handle_type(PyObject* module);
// Adds `callable` to `dict` and returns a handle that removes it. Throws PythonErrorSet.
PyRef add_hook(ModuleState* state, PyObject* dict, PyObject* callable);

}  // namespace slotcore::python
