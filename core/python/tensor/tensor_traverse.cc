// What the wrapper of a tensor reports to the collector.

#include <unordered_map>
#include <vector>

#include "core/python/runtime/collector.h"
#include "core/python/storage/storage.h"
#include "core/python/tensor/tensor.h"

namespace slotcore::python {
namespace {

// Note [Owned by this wrapper alone]
// A wrapper that alone owns its impl reports what Python alone owns through that impl: storages,
// grads and bases, and what these own (P5). An impl may have two owners on the way: a view and its
// base both own the storage. So the walk counts owners, and enters an impl when it has met all of
// its owners. Only the first pass of the collector counts. Later passes enter each impl once, even
// if it is shared by then: Note [Two passes of the collector]. The walk continues through a wrapper
// that only its impl refers to, and stops at any other (visit_sole_owned). The walk does not enter
// impls that own each other in a cycle: no owner outside owns all of them.
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
  // How many owners of `target` the walk has met so far, or 0 if that does not matter any more.
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

// Running out of memory ends the process, because a collection cannot fail.
int tensor_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  if (int stop = preserve::traverse(self, &tensor_traverse, visit, arg); stop != 0) return stop;
  Wrapper* wrapper = as_wrapper(self);
  if (!preserve::owns_for(wrapper, visit)) return 0;
  auto* tensor = static_cast<TensorImpl*>(wrapper->impl);
  // Most tensors own only their storage, and need no bookkeeping.
  if (!tensor->grad() && !tensor->base())
    return visit_storage(wrapper->interpreter, tensor->storage().get(), 1, visit, arg);
  return Walk(wrapper->interpreter, visit, arg).run(tensor);
}

}  // namespace slotcore::python
