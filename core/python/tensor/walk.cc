// The walk keeps its own stack, because a graph may be a million nodes deep (P6).

#include "core/python/tensor/walk.h"

#include <atomic>

#include "core/autograd/autograd_meta.h"
#include "core/c10/trace.h"
#include "core/python/runtime/collector.h"
#include "core/python/storage/storage.h"

namespace slotcore::python {
namespace {

// Numbers are unique in the process, because interpreters share impls. Relaxed: nothing else is
// published.
uint64_t next_number() noexcept {
  static constinit std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Walk::Walk(const Interpreter* interpreter, uint64_t* number, visitproc visit, void* arg)
    : interpreter_(interpreter), visit_(visit), arg_(arg), asks_(collector::is_subtracting(visit)) {
  if (asks_) *number = next_number();
  number_ = *number;
}

int Walk::run() {
  while (stop_ == 0) {
    if (!tensors_.empty()) {
      TensorImpl* next = tensors_.back();
      tensors_.pop_back();
      owner_ = next;
      enter(next);
    } else if (!nodes_.empty()) {
      autograd::Node* next = nodes_.back();
      nodes_.pop_back();
      owner_ = next;
      next->visit_owned(*this);
    } else {
      break;
    }
  }
  return stop_;
}

void Walk::enter(TensorImpl* owner) {
  StorageImpl* storage = owner->storage().get();
  uint32_t owners = ++owners_[storage];
  if (owners == 1 || asks_) stop_ = visit_storage(interpreter_, storage, owners, visit_, arg_);
  if (owner->base()) tensor("._base", owner->base().get());
  autograd::AutogradMeta* meta = autograd::meta_of(*owner);
  if (meta == nullptr) return;
  if (TensorImpl* grad = meta->grad_for_collector()) tensor(".grad", grad);
  // The field: grad_fn() would make a node for a stale view.
  if (meta->grad_fn) node(".grad_fn", meta->grad_fn.get());
  // A wrapper that owns the impl reports them itself: Note [Hooks of a leaf].
  PyObject* wrapper = owner->pyobj_slot()->unchecked_pyobj();
  if (wrapper != nullptr && as_wrapper(wrapper)->owned) return;
  for (const auto& hook : meta->leaf_hooks) {
    if (PyObject* one = hook->python_object()) object("._backward_hooks", one);
  }
}

void Walk::note(const char* link, const void* owned) const noexcept {
  if (asks_) trace("visited", {"owner", owner_}, {"owned", owned}, {"link", link});
}

void Walk::tensor(const char* link, TensorImpl* tensor) {
  note(link, tensor);
  if (follows(tensor)) tensors_.push_back(tensor);
}

void Walk::node(const char* link, autograd::Node* node) {
  note(link, node);
  // Such an object belongs to one interpreter, whose collector alone may see it.
  bool is_foreign = node->python_object() != nullptr &&
                    node->pyobj_slot()->pyobj_interpreter() != interpreter_->tag();
  if (!is_foreign && follows(node)) nodes_.push_back(node);
}

void Walk::object(const char* link, PyObject* object) {
  note(link, object);
  if (stop_ == 0) stop_ = visit_(object, arg_);
}

bool Walk::follows(intrusive_ptr_target* target) {
  if (stop_ != 0) return false;
  uint32_t owners = ++owners_[target];
  if (asks_) {
    if (!preserve::is_sole_owned(target, owners)) return false;
    target->set_walk_number(number_);
  } else if (owners > 1 || target->walk_number() != number_) {
    return false;
  }
  return preserve::visit_sole_owned(interpreter_, target, owners, visit_, arg_, &stop_);
}

}  // namespace slotcore::python
