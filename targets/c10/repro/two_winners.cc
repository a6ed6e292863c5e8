// Two interpreters both get the tag of one tensor. The status DEFINITELY_UNINITIALIZED permits a
// plain store because no other thread can reach the tensor, and THPVariable_Wrap of libtorch 1.13.1
// and 2.6.0 uses it when use_count() is 1. A weak reference breaks that assumption: another thread
// may lock it at any time. The steps below are those of two threads, in a possible order.
//   clang++ -std=c++20 two_winners.cc -lc10 -o two_winners && ./two_winners
// Exit code 1: interpreter B claimed the tensor without an error, and now it is A's.
// Shows: weak-claim: T1:, T2:, a data race

#include <c10/core/TensorImpl.h>

#include <cstdio>

using Status = c10::impl::PyInterpreterStatus;

#if __has_include(<c10/core/impl/PyObjectSlot.h>)
static auto& slot_of(c10::TensorImpl& tensor) { return *tensor.pyobj_slot(); }
#else
static auto& slot_of(c10::TensorImpl& tensor) { return tensor; }
#endif

// The status that the wrapping code uses for an untagged tensor.
static Status status_of(const c10::intrusive_ptr<c10::TensorImpl>& tensor) {
  return tensor.use_count() <= 1 ? Status::DEFINITELY_UNINITIALIZED : Status::MAYBE_UNINITIALIZED;
}

int main() {
  c10::impl::PyInterpreter a(nullptr);
  c10::impl::PyInterpreter b(nullptr);
  char wrapper_of_a alignas(8) = 0;
  char wrapper_of_b alignas(8) = 0;
  auto owner = c10::make_intrusive<c10::TensorImpl>(c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                    caffe2::TypeMeta::Make<float>(),
                                                    c10::optional<c10::Device>(c10::kCPU));
  c10::weak_intrusive_ptr<c10::TensorImpl> weak(owner);

  auto of_a = std::move(owner);             // thread A has the only strong reference,
  const Status status_a = status_of(of_a);  // and so assumes that no other thread can claim

  auto of_b = weak.lock();  // thread B locks a weak reference, and wraps
  slot_of(*of_b).init_pyobj(&b, reinterpret_cast<PyObject*>(&wrapper_of_b), status_of(of_b));
  const bool b_won = slot_of(*of_b).pyobj_interpreter() == &b;

  slot_of(*of_a).init_pyobj(&a, reinterpret_cast<PyObject*>(&wrapper_of_a), status_a);
  const bool a_won = slot_of(*of_a).pyobj_interpreter() == &a;

  std::printf("B won: %d; then A won: %d\n", b_won, a_won);
  return a_won && b_won ? 1 : 0;
}
