// Creation and end of a ctx, and what it reports to the collector.

#include "core/c10/check.h"
#include "core/c10/trace.h"
#include "core/python/function/context.h"
#include "core/python/runtime/collector.h"
#include "core/python/runtime/module_state.h"
#include "core/python/tensor/walk.h"

namespace slotcore::python {
namespace {

PyObject* context_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&] {
    ModuleState* state = state_of_type(type);
    PyRef self = PyRef::steal(checked(type->tp_alloc(type, 0)));
    FunctionContext* context = as_context(self.get());
    context->interpreter = state->interpreter;
    context->materialize_grads = true;
    context->parts = new ContextParts;
    context->interpreter->live_contexts++;
    trace("ctx created", {"ctx", context}, {"type", type->tp_name});
    return self.release();
  });
}

// Calls `each(PyObject**)` for what forward leaves.
template <class Each>
int for_each_object(FunctionContext* context, Each each) {
  for (PyObject** object :
       {&context->to_save, &context->dirty_tensors, &context->non_differentiable,
        &context->saved_for_forward, &context->needs_input_grad}) {
    if (int stop = each(object); stop != 0) return stop;
  }
  return 0;
}

// Whether C++ has gained an owner of the node since the collector found ctx in a dead cycle: then
// ctx is not garbage.
bool refuses_clear(const FunctionContext* context) noexcept {
  return context->parts->node.use_count() > context->parts->owners_traversed;
}

// ctx never reports its node, which it does not own, nor the node's hooks, which are the node's.
int context_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  FunctionContext* context = as_context(self);
  Py_VISIT(Py_TYPE(self));
  int stop = for_each_object(context, [&](PyObject** object) {
    Py_VISIT(*object);
    return 0;
  });
  if (stop != 0 || context->parts == nullptr) return stop;
  ContextParts& parts = *context->parts;
  if (collector::is_subtracting(visit)) parts.owners_traversed = parts.node.use_count();
  // Note [After the end]
  if (parts.saved.empty() || !context->interpreter->tag()->is_armed()) return 0;
  Walk walk(context->interpreter, &parts.walk, visit, arg);
  for (const autograd::SavedVariable& one : parts.saved) walk.from(context, one);
  return walk.run();
}

int context_clear(PyObject* self) noexcept {
  FunctionContext* context = as_context(self);
  bool refuses = context->parts == nullptr || refuses_clear(context);
  trace(refuses ? "clear refused" : "cleared", {"ctx", self});
  if (refuses) return 0;
  for_each_object(context, [](PyObject** object) {
    clear(*object);
    return 0;
  });
  release_saved(context);
  return 0;
}

// CPython has run the finalizer, and cleared weak references and `__dict__`, before it calls this
// one for the class that a Function gets.
void context_dealloc(PyObject* self) noexcept {
  FunctionContext* context = as_context(self);
  PyTypeObject* type = Py_TYPE(self);
  PendingException pending;
  PyObject_GC_UnTrack(self);
  // A ctx is deallocated after its node, which owned it.
  SLOTCORE_CHECK(context->parts == nullptr || context->parts->node.expired());
  for_each_object(context, [](PyObject** object) {
    clear(*object);
    return 0;
  });
  if (context->parts != nullptr) {
    release_saved(context);
    delete context->parts;
    context->interpreter->live_contexts--;
    trace("ctx freed", {"ctx", context});
  }
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

intrusive_ptr<autograd::Node> lock_node(FunctionContext* context) {
  auto node = context->parts->node.lock();
  trace("handle locked", {"handle", context}, {"impl", node.get()});
  return node;
}

intrusive_ptr<autograd::Node> node_of(FunctionContext* context, const char* what) {
  auto node = lock_node(context);
  if (!node) {
    throw_python(PyExc_RuntimeError,
                 "%s of this %s needs its graph node, which does not exist: apply() has not run, or"
                 " the graph is gone",
                 what, Py_TYPE(context)->tp_name);
  }
  return node;
}

void release_saved(FunctionContext* context) noexcept {
  // Moved out first, because the releases run user code, which may look at this ctx.
  std::vector<autograd::SavedVariable::Owned> released;
  for (autograd::SavedVariable& one : context->parts->saved) released.push_back(one.release());
  if (!released.empty()) autograd::trace_released(context);
}

PyRef make_context_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("What forward and backward of a Function share: ctx.")},
      {Py_tp_new, reinterpret_cast<void*>(&context_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&context_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(&context_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(&context_clear)},
      {Py_tp_methods, context_methods},
      {Py_tp_getset, context_properties},
      {0, nullptr},
  };
  PyType_Spec spec = {"slotcore._FunctionBase", sizeof(FunctionContext), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  return PyRef::steal(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
}

}  // namespace slotcore::python
