// Properties of the refcount-bit protocol, without Python: "wrappers" are plain structs, and a
// mutex is the GIL.

#include "core/c10/impl/refcount_bit.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "core/autograd/history.h"
#include "core/c10/live_counts.h"
#include "core/c10/tensor/tensor_impl.h"
#include "tests/core/c10/long_chain.h"

namespace slotcore {
namespace {

struct FakeWrapper {
  intrusive_ptr_target* impl = nullptr;
  int references = 1;
  uint32_t owners_at_death = 0;
};

class FakeVTable final : public impl::PyInterpreterVTable {
 public:
  const char* name() const noexcept override { return "fake"; }
  void incref(PyObject* object) const noexcept override {
    std::lock_guard gil(gil_);
    as_fake(object)->references++;
  }
  bool decref(PyObject* object) const noexcept override {
    std::lock_guard gil(gil_);
    FakeWrapper* wrapper = as_fake(object);
    if (--wrapper->references > 0) return true;
    wrapper->owners_at_death = raw::use_count(wrapper->impl);
    wrapper->impl->pyobj_slot()->clear_pyobj();
    raw::decref(wrapper->impl);
    return true;
  }
  bool try_incref(const impl::PyObjectSlot* slot) const noexcept override {
    std::lock_guard gil(gil_);
    FakeWrapper* wrapper = as_fake(slot->unchecked_pyobj());
    if (wrapper == nullptr || wrapper->references == 0) return false;
    wrapper->references++;
    return true;
  }
  impl::HandOver hand_over(intrusive_ptr_target*, impl::PyObjectSlot*) const noexcept override {
    ADD_FAILURE() << "the other protocol";
    return impl::HandOver::kNotOwned;
  }

 private:
  static FakeWrapper* as_fake(PyObject* object) { return reinterpret_cast<FakeWrapper*>(object); }

  mutable std::recursive_mutex gil_;
};

class RefcountBit : public testing::Test {
 protected:
  // The reference that the caller passes becomes the wrapper's; `wrapper` has one Python reference.
  template <class T>
  T* wrap(intrusive_ptr<T> target, FakeWrapper* wrapper) {
    wrapper->impl = target.get();
    target->pyobj_slot()->init_pyobj(&tag_, reinterpret_cast<PyObject*>(wrapper),
                                     impl::PyInterpreterStatus::DEFINITELY_UNINITIALIZED);
    impl::preservation::adopt_wrapper(target.get());
    return target.release();
  }
  void drop(FakeWrapper* wrapper) { vtable_.decref(reinterpret_cast<PyObject*>(wrapper)); }

  static intrusive_ptr<StorageImpl> new_storage() {
    return make_intrusive<StorageImpl>(4, default_allocator(), true);
  }

  FakeVTable vtable_;
  impl::PyInterpreter tag_{&vtable_};
};

TEST_F(RefcountBit, owners_hold_one_reference_of_the_wrapper) {
  FakeWrapper wrapper;
  auto owner = intrusive_ptr<StorageImpl>::retain(wrap(new_storage(), &wrapper));
  EXPECT_EQ(wrapper.references, 2);
  auto second = owner;
  EXPECT_EQ(wrapper.references, 2);
  owner.reset();
  EXPECT_EQ(wrapper.references, 2);
  second.reset();
  EXPECT_EQ(wrapper.references, 1);
  drop(&wrapper);
  EXPECT_EQ(wrapper.owners_at_death, 1u);
  EXPECT_EQ(live_storages.value(), 0);
}

TEST_F(RefcountBit, wrapping_a_shared_target_takes_the_reference) {
  FakeWrapper wrapper;
  auto owner = new_storage();
  wrap(owner, &wrapper);
  EXPECT_EQ(wrapper.references, 2);
  drop(&wrapper);
  EXPECT_EQ(wrapper.references, 1);
  EXPECT_EQ(owner.use_count(), 2u);
  owner.reset();
  EXPECT_EQ(wrapper.references, 0);
  EXPECT_EQ(live_storages.value(), 0);
}

TEST_F(RefcountBit, a_lock_takes_and_returns_the_reference) {
  FakeWrapper wrapper;
  auto* storage = wrap(new_storage(), &wrapper);
  weak_intrusive_ptr<StorageImpl> weak(intrusive_ptr<StorageImpl>::retain(storage));
  EXPECT_EQ(wrapper.references, 1);
  {
    auto locked = weak.lock();
    EXPECT_EQ(locked.get(), storage);
    EXPECT_EQ(wrapper.references, 2);
    EXPECT_TRUE(weak.lock());
    EXPECT_EQ(wrapper.references, 2);
  }
  EXPECT_EQ(wrapper.references, 1);
  drop(&wrapper);
  EXPECT_TRUE(weak.expired());
  EXPECT_FALSE(weak.lock());
}

TEST_F(RefcountBit, a_dying_wrapper_cannot_be_locked) {
  FakeWrapper wrapper;
  auto* storage = wrap(new_storage(), &wrapper);
  weak_intrusive_ptr<StorageImpl> weak(intrusive_ptr<StorageImpl>::retain(storage));
  wrapper.references = 0;
  EXPECT_FALSE(weak.lock());
  storage->pyobj_slot()->clear_pyobj();
  EXPECT_FALSE(weak.lock());
  raw::decref(storage);
  EXPECT_TRUE(weak.expired());
}

TEST_F(RefcountBit, an_ended_interpreter_leaks_the_wrapper_and_frees_the_impl) {  // T6
  FakeWrapper wrapper;
  auto* storage = wrap(new_storage(), &wrapper);
  auto owner = intrusive_ptr<StorageImpl>::retain(storage);
  drop(&wrapper);
  tag_.disarm();
  owner.reset();
  EXPECT_EQ(wrapper.references, 1);
  EXPECT_EQ(live_storages.value(), 0);
}

TEST_F(RefcountBit, threads_that_lock_and_drop_keep_the_balance) {
  for (int round = 0; round < 500; round++) {
    FakeWrapper wrapper;
    auto* storage = wrap(new_storage(), &wrapper);
    weak_intrusive_ptr<StorageImpl> weak(intrusive_ptr<StorageImpl>::retain(storage));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) {
      threads.emplace_back([weak] {
        for (int step = 0; step < 5; step++) {
          if (auto locked = weak.lock()) EXPECT_EQ(locked->nbytes(), 4u);
        }
      });
    }
    drop(&wrapper);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrapper.references, 0);
    EXPECT_TRUE(weak.expired());
  }
  EXPECT_EQ(live_storages.value(), 0);
}

TEST_F(RefcountBit, a_long_chain_of_grads_is_freed_without_recursion) {  // P6
  std::vector<FakeWrapper> wrappers(kLongChain);
  auto head = make_intrusive<TensorImpl>(Dims{0}, ScalarType::uint8);
  auto storage = head->storage();
  for (int i = 0; i < kLongChain; i++) {
    auto next = make_intrusive<TensorImpl>(storage, contiguous_layout(Dims{0}), ScalarType::uint8);
    if (i % 2 == 0) {
      wrap(head, &wrappers[i]);
      drop(&wrappers[i]);
    }
    EXPECT_FALSE(autograd::exchange_grad(*next, std::move(head)));
    head = std::move(next);
  }
  head.reset();
  EXPECT_EQ(live_tensors.value(), 0);
  for (int i = 0; i < kLongChain; i += 2) ASSERT_EQ(wrappers[i].owners_at_death, 1u);
}

}  // namespace
}  // namespace slotcore
