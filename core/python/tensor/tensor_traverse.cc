// What the collector learns from the wrapper of a tensor.

#include <unordered_map>
#include <vector>

#include "core/python/runtime/collector.h"
#include "core/python/storage/storage.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

// Note [Owned by this wrapper alone]
// A wrapper that alone owns its impl reports what Python alone owns through that impl: storages,
// grads and bases, and what these own (P5). An impl may be owned twice on the way, as the storage
// of a view is: by the view and by its base. So owners are counted, and an impl is gone through
// when all its owners have been; in the first pass of the collector, that is. Later ones go through
// each impl once, whoever shares it by then: Note [Two passes of the collector]. A wrapper on the
// way that only its impl refers to does not end the walk, any other does (visit_sole_owned).
// Impls that own each other in a circle are not gone through: nobody outside owns all of them.
class Walk {
 public:
  Walk(const Interpreter* interpreter, visitproc visit, void* arg)
      : interpreter_(interpreter), visit_(visit), arg_(arg) {}

  int run(TensorImpl* tensor) {
    for (;;) {
      StorageImpl* storage = tensor->storage().get();
      if (uint32_t owners = meet(storage); owners != 0) {
        int stop = visit_storage(interpreter_, storage, owners, visit_, arg_);
        if (stop != 0) return stop;
      }
      for (TensorImpl* owned : {tensor->grad().get(), tensor->base().get()}) {
        uint32_t owners = owned == nullptr ? 0 : meet(owned);
        if (owners == 0) continue;
        int stop;
        bool goes_on = preserve::visit_sole_owned(interpreter_, owned, owners, visit_, arg_, &stop);
        if (stop != 0) return stop;
        if (goes_on) pending_.push_back(owned);
      }
      if (pending_.empty()) return 0;
      tensor = pending_.back();
      pending_.pop_back();
    }
  }

 private:
  // How many owners of `target` have been gone through by now, or 0 if that does not matter any
  // more.
  uint32_t meet(intrusive_ptr_target* target) {
    uint32_t owners = ++owners_[target];
    return owners > 1 && !collector::is_subtracting(visit_) ? 0 : owners;
  }

  const Interpreter* interpreter_;
  visitproc visit_;
  void* arg_;
  std::vector<TensorImpl*> pending_;
  std::unordered_map<intrusive_ptr_target*, uint32_t> owners_;
};

}  // namespace

// Memory that is not to be had ends the process: a collection cannot fail.
int tensor_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  if (int stop = preserve::traverse(self, &tensor_traverse, visit, arg); stop != 0) return stop;
  Wrapper* wrapper = as_wrapper(self);
  if (!preserve::owns_for(wrapper, visit)) return 0;
  auto* tensor = static_cast<TensorImpl*>(wrapper->impl);
  // Most tensors own nothing but their storage, and need no bookkeeping.
  if (!tensor->grad() && !tensor->base())
    return visit_storage(wrapper->interpreter, tensor->storage().get(), 1, visit, arg);
  return Walk(wrapper->interpreter, visit, arg).run(tensor);
}

}  // namespace slotcore::python
