// Hooks of a node, as C++ sees them. A hook may run Python code, which may do anything: drop the
// graph, remove hooks, or start another backward. The caller therefore owns the hook and its
// arguments, and holds no lock (A3).
#pragma once

#include <memory>
#include <vector>

#include "core/c10/impl/py_interpreter.h"
#include "core/c10/tensor/tensor_impl.h"

namespace slotcore::autograd {

using TensorPtr = intrusive_ptr<TensorImpl>;
// One for each input or each edge of a node. Null stands for zeros.
using Gradients = std::vector<TensorPtr>;

class FunctionPreHook {
 public:
  virtual ~FunctionPreHook() = default;
  // Receives the gradients of the node's inputs, also those that are null (A3b), and returns those
  // that the node gets. The number is the same.
  virtual Gradients operator()(Gradients gradients) = 0;
  // What a run that begins now calls, also if it removes or adds callables (A3c); null for this
  // hook itself.
  virtual std::shared_ptr<FunctionPreHook> of_run() const { return nullptr; }
  // The Python object that the hook owns, for the collector; or null.
  virtual PyObject* python_object() const noexcept { return nullptr; }
};

class FunctionPostHook {
 public:
  virtual ~FunctionPostHook() = default;
  // Receives what the node returned and what it was given; returns what replaces `outputs`.
  virtual Gradients operator()(Gradients outputs, const Gradients& inputs) = 0;
  virtual std::shared_ptr<FunctionPostHook> of_run() const { return nullptr; }
  virtual PyObject* python_object() const noexcept { return nullptr; }
};

}  // namespace slotcore::autograd
