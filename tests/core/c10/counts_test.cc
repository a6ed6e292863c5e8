// Properties of the counts of targets without a wrapper, under either protocol.

#include <gtest/gtest.h>

#include <thread>

#include "core/c10/live_counts.h"
#include "core/c10/tensor/tensor_impl.h"

namespace slotcore {
namespace {

intrusive_ptr<StorageImpl> new_storage(size_t nbytes = 4) {
  return make_intrusive<StorageImpl>(nbytes, default_allocator(), true);
}

TEST(Counts, use_count_is_what_references_add_up_to) {
  auto a = new_storage();
  EXPECT_EQ(a.use_count(), 1u);
  auto b = a;
  EXPECT_EQ(a.use_count(), 2u);
  b.reset();
  EXPECT_EQ(a.use_count(), 1u);
  StorageImpl* bare = a.release();
  EXPECT_EQ(raw::use_count(bare), 1u);
  a = intrusive_ptr<StorageImpl>::reclaim(bare);
  EXPECT_TRUE(a.release_if_unique());
  EXPECT_EQ(live_storages.value(), 0);
}

TEST(Counts, a_target_has_escaped_while_anyone_can_reach_it) {  // T3
  auto a = new_storage();
  EXPECT_TRUE(raw::is_unescaped(a.get()));
  {
    weak_intrusive_ptr<StorageImpl> weak(a);
    EXPECT_FALSE(raw::is_unescaped(a.get()));
  }
  EXPECT_TRUE(raw::is_unescaped(a.get()));
  auto b = a;
  EXPECT_FALSE(raw::is_unescaped(a.get()));
}

TEST(Counts, a_shared_target_is_not_released_as_unique) {
  auto a = new_storage();
  auto b = a;
  EXPECT_FALSE(a.release_if_unique());
  EXPECT_EQ(b.use_count(), 2u);
}

TEST(Counts, expired_never_goes_back) {
  auto strong = new_storage();
  weak_intrusive_ptr<StorageImpl> weak(strong);
  EXPECT_EQ(weak.lock().get(), strong.get());
  strong.reset();
  EXPECT_TRUE(weak.expired());
  EXPECT_FALSE(weak.lock());
  EXPECT_TRUE(weak.expired());
}

TEST(Counts, a_weak_lock_never_meets_freed_memory) {
  for (int round = 0; round < 2000; round++) {
    auto strong = new_storage();
    weak_intrusive_ptr<StorageImpl> weak(strong);
    std::thread locker([weak] {
      if (auto locked = weak.lock()) EXPECT_EQ(locked->nbytes(), 4u);
    });
    strong.reset();
    locker.join();
    EXPECT_TRUE(weak.expired());
  }
  EXPECT_EQ(live_storages.value(), 0);
}

}  // namespace
}  // namespace slotcore
