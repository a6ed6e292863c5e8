// What the wrapper of a tensor reports to the collector.

#include "core/autograd/autograd_meta.h"
#include "core/python/preserve/preservation.h"
#include "core/python/runtime/collector.h"
#include "core/python/storage/storage.h"
#include "core/python/tensor/tensor.h"
#include "core/python/tensor/walk.h"

namespace slotcore::python {
namespace {

// Note [Hooks of a leaf]
// The impl of a leaf owns the dict of its hooks, as does the wrapper that they were put on. The
// wrapper reports both references, also if others own the impl: for as long as the impl lives it
// keeps the wrapper (P2), and so the dict. A wrapper that C++ keeps hides all its references, and
// one that does not own the impl may not read it: a thread may free the impl while the interpreter
// ends.
int visit_leaf_hooks(Wrapper* wrapper, visitproc visit, void* arg) noexcept {
  if (!preserve::is_governed(wrapper) || !wrapper->owned) return 0;
  if (collector::is_subtracting(visit) && preserve::is_hidden(wrapper)) return 0;
  const autograd::AutogradMeta* meta = autograd::meta_of(*static_cast<TensorImpl*>(wrapper->impl));
  if (meta == nullptr) return 0;
  for (const auto& hook : meta->leaf_hooks) Py_VISIT(hook->python_object());
  return 0;
}

}  // namespace

// Running out of memory ends the process, because a collection cannot fail.
int tensor_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  if (int stop = preserve::traverse(self, &tensor_traverse, visit, arg); stop != 0) return stop;
  Wrapper* wrapper = as_wrapper(self);
  if (int stop = visit_leaf_hooks(wrapper, visit, arg); stop != 0) return stop;
  if (!preserve::owns_for(wrapper, visit)) return 0;
  auto* tensor = static_cast<TensorImpl*>(wrapper->impl);
  // Most tensors own only their storage, and need no bookkeeping.
  if (tensor->autograd_meta() == nullptr && !tensor->base())
    return visit_storage(wrapper->interpreter, tensor->storage().get(), 1, visit, arg);
  Walk walk(wrapper->interpreter, &wrapper->walk, visit, arg);
  walk.from(tensor);
  return walk.run();
}

}  // namespace slotcore::python
