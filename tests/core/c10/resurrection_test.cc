// Properties of handing over, without Python: the vtable is a fake whose "wrappers" are plain
// structs.

#include <gtest/gtest.h>

#include <vector>

#include "core/autograd/history.h"
#include "core/c10/live_counts.h"
#include "core/c10/tensor/tensor_impl.h"
#include "tests/core/c10/long_chain.h"

namespace slotcore {
namespace {

struct FakeWrapper {
  intrusive_ptr_target* impl = nullptr;
  bool owned = false;
  int references = 0;
  bool impl_was_alive_at_death = false;
};

// A wrapper whose last reference is released clears the slot and releases the impl.
class FakeVTable final : public impl::PyInterpreterVTable {
 public:
  const char* name() const noexcept override { return "fake"; }
  void incref(PyObject*) const noexcept override {}
  bool decref(PyObject*) const noexcept override { return true; }
  bool try_incref(const impl::PyObjectSlot*) const noexcept override { return false; }
  impl::HandOver hand_over(intrusive_ptr_target* target,
                           impl::PyObjectSlot* slot) const noexcept override {
    if (!slot->owns_pyobj()) return impl::HandOver::kNotOwned;
    auto* wrapper = reinterpret_cast<FakeWrapper*>(slot->unchecked_pyobj());
    slot->set_owns_pyobj(false);
    wrapper->owned = true;
    if (--wrapper->references > 0) return impl::HandOver::kDone;
    wrapper->impl_was_alive_at_death = raw::use_count(target) == 1;
    if (!raw::release_if_unique(target)) return impl::HandOver::kDone;
    slot->clear_pyobj();
    raw::destroy_expired(target);
    return impl::HandOver::kDone;
  }
};

FakeVTable fake_vtable;

void give_wrapper(impl::PyInterpreter* tag, intrusive_ptr_target* target, FakeWrapper* wrapper) {
  target->pyobj_slot()->init_pyobj(tag, reinterpret_cast<PyObject*>(wrapper),
                                   impl::PyInterpreterStatus::DEFINITELY_UNINITIALIZED);
  target->pyobj_slot()->set_owns_pyobj(true);
  wrapper->impl = target;
  wrapper->references = 1;
}

intrusive_ptr<StorageImpl> new_storage(size_t nbytes = 4) {
  return make_intrusive<StorageImpl>(nbytes, default_allocator(), true);
}

TEST(HandOver, last_owner_hands_a_living_impl_over) {
  impl::PyInterpreter own_tag(&fake_vtable);
  impl::PyInterpreter* tag = &own_tag;
  FakeWrapper wrapper;
  auto storage = new_storage();
  weak_intrusive_ptr<StorageImpl> weak(storage);
  give_wrapper(tag, storage.get(), &wrapper);
  storage.reset();
  EXPECT_TRUE(wrapper.impl_was_alive_at_death);
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(live_storages.value(), 1);  // the weak reference keeps the memory
}

TEST(HandOver, a_wrapper_in_use_keeps_the_impl) {
  impl::PyInterpreter own_tag(&fake_vtable);
  impl::PyInterpreter* tag = &own_tag;
  FakeWrapper wrapper;
  auto storage = new_storage();
  weak_intrusive_ptr<StorageImpl> weak(storage);
  give_wrapper(tag, storage.get(), &wrapper);
  wrapper.references = 2;
  StorageImpl* bare = storage.get();
  storage.reset();
  EXPECT_TRUE(wrapper.owned);
  EXPECT_FALSE(weak.expired());
  EXPECT_FALSE(bare->pyobj_slot()->owns_pyobj());
  bare->pyobj_slot()->clear_pyobj();
  raw::decref(bare);
  EXPECT_TRUE(weak.expired());
}

TEST(HandOver, a_disarmed_interpreter_leaks_the_wrapper_and_frees_the_impl) {
  impl::PyInterpreter own_tag(&fake_vtable);
  impl::PyInterpreter* tag = &own_tag;
  FakeWrapper wrapper;
  auto storage = new_storage();
  give_wrapper(tag, storage.get(), &wrapper);
  tag->disarm();
  EXPECT_FALSE(tag->is_armed());
  storage.reset();
  EXPECT_EQ(wrapper.references, 1);
  EXPECT_EQ(live_storages.value(), 0);
}

TEST(Chains, a_long_chain_of_grads_is_freed_without_recursion) {
  impl::PyInterpreter own_tag(&fake_vtable);
  impl::PyInterpreter* tag = &own_tag;
  std::vector<FakeWrapper> wrappers(kLongChain);
  auto head = make_intrusive<TensorImpl>(Dims{0}, ScalarType::uint8);
  auto storage = head->storage();
  for (int i = 0; i < kLongChain; i++) {
    auto next = make_intrusive<TensorImpl>(storage, contiguous_layout(Dims{0}), ScalarType::uint8);
    if (i % 2 == 0) give_wrapper(tag, head.get(), &wrappers[i]);
    EXPECT_FALSE(autograd::exchange_grad(*next, std::move(head)));
    head = std::move(next);
  }
  head.reset();
  EXPECT_EQ(live_tensors.value(), 0);
  for (int i = 0; i < kLongChain; i += 2) ASSERT_TRUE(wrappers[i].impl_was_alive_at_death);
}

}  // namespace
}  // namespace slotcore
