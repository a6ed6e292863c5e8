// Properties of the tag, the slot, hermetic mode, storages and the trace, without Python.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "core/c10/impl/hermetic_py_object_tls.h"
#include "core/c10/storage_impl.h"
#include "core/c10/trace.h"

namespace slotcore {
namespace {

using impl::HermeticGuard;
using impl::HermeticPyObjectTLS;
using impl::PyInterpreterStatus;

class NamedVTable final : public impl::PyInterpreterVTable {
 public:
  explicit NamedVTable(const char* name) : name_(name) {}
  const char* name() const noexcept override { return name_; }
  void incref(PyObject*) const noexcept override {}
  bool decref(PyObject*) const noexcept override { return false; }
  bool try_incref(const impl::PyObjectSlot*) const noexcept override { return false; }
  impl::HandOver hand_over(intrusive_ptr_target*, impl::PyObjectSlot*) const noexcept override {
    return impl::HandOver::kDisarmed;
  }

 private:
  const char* name_;
};

NamedVTable first_vtable("first"), second_vtable("second");
impl::PyInterpreter first(&first_vtable), second(&second_vtable);

PyObject* fake_object() {
  static std::array<void*, 2> memory;
  return reinterpret_cast<PyObject*>(&memory);
}

TEST(Slot, a_tag_never_changes) {
  impl::PyObjectSlot slot;
  EXPECT_FALSE(slot.check_pyobj(&first).has_value());
  EXPECT_EQ(slot.status(&first, true), PyInterpreterStatus::DEFINITELY_UNINITIALIZED);
  EXPECT_EQ(slot.status(&first, false), PyInterpreterStatus::MAYBE_UNINITIALIZED);
  slot.init_pyobj(&first, fake_object(), PyInterpreterStatus::MAYBE_UNINITIALIZED);
  EXPECT_EQ(slot.status(&first, false), PyInterpreterStatus::TAGGED_BY_US);
  EXPECT_EQ(slot.status(&second, true), PyInterpreterStatus::TAGGED_BY_OTHER);
  slot.clear_pyobj();
  EXPECT_EQ(slot.check_pyobj(&first), std::optional<PyObject*>(nullptr));
  EXPECT_EQ(slot.pyobj_interpreter(), &first);
}

TEST(Slot, a_foreign_tag_is_an_error_that_names_both) {
  impl::PyObjectSlot slot;
  slot.init_pyobj(&first, fake_object(), PyInterpreterStatus::DEFINITELY_UNINITIALIZED);
  try {
    slot.init_pyobj(&second, fake_object(), PyInterpreterStatus::MAYBE_UNINITIALIZED);
    FAIL() << "the second claim succeeded";
  } catch (const impl::ForeignInterpreterError& error) {
    EXPECT_NE(std::strstr(error.what(), "first"), nullptr);
    EXPECT_NE(std::strstr(error.what(), "second"), nullptr);
  }
  EXPECT_THROW(slot.check_pyobj(&second), impl::ForeignInterpreterError);
}

TEST(Slot, the_owns_bit_leaves_the_pointer_alone) {
  impl::PyObjectSlot slot;
  slot.init_pyobj(&first, fake_object(), PyInterpreterStatus::DEFINITELY_UNINITIALIZED);
  slot.set_owns_pyobj(true);
  EXPECT_TRUE(slot.owns_pyobj());
  EXPECT_EQ(slot.unchecked_pyobj(), fake_object());
  slot.set_owns_pyobj(false);
  EXPECT_FALSE(slot.owns_pyobj());
}

TEST(Slot, one_of_many_claims_wins) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 500; round++) {
    impl::PyObjectSlot slot;
    std::vector<impl::PyInterpreter*> tags;
    for (int i = 0; i < kThreads; i++) tags.push_back(new impl::PyInterpreter(&first_vtable));
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (impl::PyInterpreter* tag : tags) {
      threads.emplace_back([&slot, &winners, tag] {
        try {
          slot.claim(tag, PyInterpreterStatus::MAYBE_UNINITIALIZED);
          winners.fetch_add(1, std::memory_order_relaxed);  // joined before it is read
        } catch (const impl::ForeignInterpreterError&) {
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners.load(std::memory_order_relaxed), 1);
    for (impl::PyInterpreter* tag : tags) delete tag;
  }
}

TEST(Hermetic, a_guard_restores_the_former_state) {
  EXPECT_FALSE(HermeticPyObjectTLS::get_state());
  try {
    HermeticGuard outer;
    { HermeticGuard inner; }
    EXPECT_TRUE(HermeticPyObjectTLS::get_state());
    std::thread([] { EXPECT_FALSE(HermeticPyObjectTLS::get_state()); }).join();
    throw 1;
  } catch (int) {
  }
  EXPECT_FALSE(HermeticPyObjectTLS::get_state());
}

TEST(Storage, a_deleter_runs_once) {
  int deletions = 0;
  char bytes[4] = {1, 2, 3, 4};
  auto deleter = [](void* context) noexcept { ++*static_cast<int*>(context); };
  auto storage = make_intrusive<StorageImpl>(4, DataPtr(bytes, &deletions, deleter), false);
  auto part = storage->share(1, 2);
  EXPECT_EQ(static_cast<char*>(part->data())[0], 2);
  EXPECT_THROW(storage->share(3, 2), std::out_of_range);
  EXPECT_THROW(storage->resize(8), std::runtime_error);
  storage.reset();
  EXPECT_EQ(deletions, 0);
  part.reset();
  EXPECT_EQ(deletions, 1);
}

// As the collector of one interpreter does while another interpreter takes a share.
TEST(Storage, the_context_may_be_read_while_the_bytes_become_shared) {
  auto deleter = [](void*) noexcept {};
  for (int round = 0; round < 200; round++) {
    char bytes[4] = {};
    auto storage = make_intrusive<StorageImpl>(4, DataPtr(bytes, bytes, deleter), false);
    intrusive_ptr<StorageImpl> share;
    std::thread other([&] { share = storage->share(0, 4); });
    void* seen = storage->context_of(deleter, false);
    EXPECT_TRUE(seen == bytes || seen == nullptr);
    EXPECT_EQ(storage->context_of(deleter, true), bytes);
    other.join();
    EXPECT_EQ(storage->context_of(deleter, false), nullptr);
    share.reset();
    EXPECT_EQ(storage->context_of(deleter, false), bytes);
  }
}

TEST(Storage, resize_keeps_content_and_zeroes_the_rest) {
  auto storage = make_intrusive<StorageImpl>(2, default_allocator(), true);
  static_cast<char*>(storage->data())[1] = 7;
  storage->resize(4);
  EXPECT_EQ(static_cast<char*>(storage->data())[1], 7);
  EXPECT_EQ(static_cast<char*>(storage->data())[3], 0);
  storage->pin();
  EXPECT_THROW(storage->resize(1), PinnedError);
  storage->unpin();
  storage->resize(0);
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_THROW(storage->resize(size_t{1} << 60), AllocationError);
  EXPECT_EQ(storage->nbytes(), 0u);
}

TEST(Trace, off_prints_nothing) {
  set_trace(false);
  testing::internal::CaptureStderr();
  make_intrusive<StorageImpl>(1, default_allocator(), true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Trace, a_line_names_place_event_and_object) {
  testing::internal::CaptureStderr();
  set_trace(true);
  make_intrusive<StorageImpl>(1, default_allocator(), true);
  set_trace(false);
  std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines.rfind("    core/c10/storage_impl.cc:", 0), 0u) << lines;
  EXPECT_NE(lines.find("impl created          impl 0x"), std::string::npos) << lines;
}

}  // namespace
}  // namespace slotcore
