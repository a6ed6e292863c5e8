// Tensors on meta: they have layouts, and what needs a number is an error.

#include <gtest/gtest.h>

#include "core/c10/live_counts.h"
#include "core/c10/tensor/elements.h"
#include "core/c10/tensor/memory_overlap.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/c10/tensor/tensor_impl.h"
#include "core/c10/tensor/tensor_views.h"

namespace slotcore {
namespace {

using arithmetic::Operand;
using views::TensorPtr;

TensorPtr meta(const Dims& sizes, ScalarType type = ScalarType::float32) {
  return make_intrusive<TensorImpl>(sizes, type, Device::kMeta);
}

TensorPtr cpu(const Dims& sizes, ScalarType type = ScalarType::float32) {
  return make_intrusive<TensorImpl>(sizes, type);
}

TEST(Meta, a_storage_has_a_size_and_no_byte) {
  int64_t before = live_storages.value();
  size_t large = size_t{1} << 40;  // more than any allocator gives
  auto storage = make_storage(large, Device::kMeta);
  EXPECT_EQ(storage->nbytes(), large);
  EXPECT_EQ(storage->data(), nullptr);
  storage->resize(2 * large);
  EXPECT_EQ(storage->nbytes(), 2 * large);
  auto share = storage->share(1, 4);
  EXPECT_EQ(share->nbytes(), 4u);
  EXPECT_EQ(share->device(), Device::kMeta);
  EXPECT_FALSE(share->resizable());
  EXPECT_THROW(storage->share(2 * large, 1), std::out_of_range);
  EXPECT_EQ(live_storages.value(), before + 2);
}

TEST(Meta, no_element_is_read) {
  auto tensor = meta({2});
  EXPECT_EQ(tensor->data(), nullptr);
  EXPECT_THROW(tensor->checked_data(), NoDataError);
  EXPECT_THROW((Elements(*tensor)), NoDataError);
  EXPECT_THROW((Elements(*meta({0}))), NoDataError);
  EXPECT_THROW(arithmetic::copy(*cpu({2}), Operand(*tensor)), NoDataError);
}

TEST(Meta, an_element_outside_is_the_same_error_on_every_device) {
  for (const TensorPtr& tensor : {cpu({4}), meta({4})}) {
    tensor->storage()->resize(8);
    EXPECT_THROW(arithmetic::fill(*tensor, int64_t{1}), std::runtime_error);
    EXPECT_THROW(arithmetic::clone(*tensor), std::runtime_error);
    EXPECT_THROW(views::narrow(*tensor, 0, 0, 4), std::runtime_error);
    arithmetic::fill(*views::narrow(*tensor, 0, 0, 2), int64_t{1});
    EXPECT_EQ(tensor->version().value(), 1u);
  }
}

TEST(Meta, storages_of_one_tensor_stay_on_its_device) {
  auto on_meta = meta({2}), on_cpu = cpu({2});
  Layout layout = contiguous_layout(Dims{2});
  EXPECT_THROW((void)on_meta->exchange_storage(on_cpu->storage(), layout), std::runtime_error);
  EXPECT_THROW((void)on_cpu->exchange_storage(on_meta->storage(), layout), std::runtime_error);
  EXPECT_THROW((void)on_cpu->exchange_data(*on_meta), std::runtime_error);
  on_meta->resize({100});
  EXPECT_EQ(on_meta->storage()->nbytes(), 400u);
}

TEST(Meta, only_numbers_go_with_every_device) {
  auto sum = arithmetic::compute(Op::kAdd, Operand(*meta({2})), Operand(int64_t{1}));
  EXPECT_EQ(sum->device(), Device::kMeta);
  sum = arithmetic::compute(Op::kMultiply, Operand(*cpu({})), Operand(*meta({2})));
  EXPECT_EQ(sum->device(), Device::kMeta);
  EXPECT_THROW(arithmetic::compute(Op::kAdd, Operand(*meta({})), Operand(*cpu({2}))),
               std::runtime_error);
  EXPECT_THROW(arithmetic::compute(Op::kAdd, Operand(*meta({2})), Operand(*cpu({2}))),
               std::runtime_error);
  EXPECT_THROW(arithmetic::compute_in_place(Op::kAddInPlace, *cpu({}), Operand(*meta({}))),
               std::runtime_error);
}

TEST(Meta, overlap_is_seen_by_storage_and_offset) {
  auto base = meta({4});
  auto first = views::narrow(*base, 0, 0, 3), last = views::narrow(*base, 0, 1, 3);
  EXPECT_THROW(check_no_partial_overlap(*first, *last), std::runtime_error);
  check_no_partial_overlap(*first, *views::narrow(*base, 0, 3, 1));
  check_no_partial_overlap(*first, *views::narrow(*base, 0, 0, 3));
  check_no_partial_overlap(*first, *meta({4}));  // both addresses are null
}

}  // namespace
}  // namespace slotcore
