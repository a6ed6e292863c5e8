// Properties of tensors without Python: layouts, views, ownership, and elements.

#include <gtest/gtest.h>

#include "core/autograd/history.h"
#include "core/c10/live_counts.h"
#include "core/c10/tensor/elements.h"
#include "core/c10/tensor/memory_overlap.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/c10/tensor/tensor_impl.h"
#include "core/c10/tensor/tensor_views.h"
#include "tests/core/c10/long_chain.h"

namespace slotcore {
namespace {

using views::TensorPtr;

TensorPtr make(const Dims& sizes, ScalarType type = ScalarType::float32) {
  return make_intrusive<TensorImpl>(sizes, type);
}

// A tensor of the numbers 0, 1, 2, ..
TensorPtr counting(const Dims& sizes, ScalarType type = ScalarType::float32) {
  TensorPtr tensor = make(sizes, type);
  Elements elements(*tensor);
  for (int64_t i = 0; i < tensor->numel(); i++) elements.write(i, i);
  return tensor;
}

double at(const TensorPtr& tensor, int64_t offset) {
  return Elements(*tensor).read<double>(offset);
}

TEST(Tensor, sizes_never_overflow) {
  int64_t huge = int64_t{1} << 40;
  EXPECT_THROW(make({huge, huge}), std::runtime_error);
  EXPECT_THROW(make({-1}), std::runtime_error);
  auto tensor = make({2, 3});
  EXPECT_THROW(views::as_strided(*tensor, {{huge}, {huge}}), std::runtime_error);
  EXPECT_THROW(views::as_strided(*tensor, {{0}, {1}, INT64_MAX}), std::runtime_error);
  tensor->storage()->resize(0);
  EXPECT_THROW(tensor->checked_data(), std::runtime_error);
}

TEST(Tensor, a_layout_that_is_refused_leaks_nothing) {
  int64_t before = live_tensors.value();
  auto tensor = make({2});
  EXPECT_THROW(
      make_intrusive<TensorImpl>(tensor->storage(), Layout{{2}, {-1}, 0}, ScalarType::float32),
      std::runtime_error);
  EXPECT_EQ(live_tensors.value(), before + 1);
}

TEST(Tensor, views_have_the_strides_of_torch) {
  auto tensor = make({2, 3});
  EXPECT_EQ(views::view(*tensor, Dims{-1, 2})->layout(), (Layout{{3, 2}, {2, 1}}));
  EXPECT_EQ(views::view(*tensor, Dims{1, 6, 1})->strides(), (Dims{6, 1, 1}));
  EXPECT_THROW(views::view(*tensor, Dims{4}), std::runtime_error);
  EXPECT_THROW(views::view(*tensor, Dims{-1, -1}), std::runtime_error);
  EXPECT_THROW(views::view(*make({0}), Dims{-1, 0}), std::runtime_error);
  auto turned = views::transpose(*tensor, 0, -1);
  EXPECT_EQ(turned->layout(), (Layout{{3, 2}, {1, 3}}));
  EXPECT_THROW(views::view(*turned, Dims{6}), std::runtime_error);
  EXPECT_EQ(views::view(*turned, Dims{3, 1, 2})->strides(), (Dims{1, 6, 3}));
  EXPECT_EQ(views::view(*make({}), Dims{1, 1})->strides(), (Dims{1, 1}));
  EXPECT_EQ(views::expand(*make({2, 1}), Dims{4, -1, 3})->layout(), (Layout{{4, 2, 3}, {0, 1, 0}}));
  EXPECT_THROW(views::expand(*tensor, Dims{-1, 2, 3}), std::runtime_error);
  EXPECT_THROW(views::expand(*tensor, Dims{3}), std::runtime_error);
  EXPECT_EQ(views::select(*tensor, -1, 1)->layout(), (Layout{{2}, {3}, 1}));
  EXPECT_EQ(views::narrow(*tensor, 1, -2, 1)->layout(), (Layout{{2, 1}, {3, 1}, 1}));
  EXPECT_EQ(views::narrow(*tensor, 1, 3, 0)->numel(), 0);
  EXPECT_THROW(views::narrow(*tensor, 1, 2, 2), std::runtime_error);
  EXPECT_THROW(views::narrow(*tensor, 1, 4, 0), std::out_of_range);
  EXPECT_THROW(views::select(*tensor, 2, 0), std::out_of_range);
  EXPECT_THROW(views::t(*make({1, 1, 1})), std::runtime_error);
}

TEST(Tensor, a_view_owns_the_base_and_shares_its_version) {  // P7
  auto tensor = make({4});
  auto first = views::view(*tensor, Dims{2, 2});
  auto second = views::select(*first, 0, 1);
  EXPECT_EQ(second->base(), tensor);
  EXPECT_EQ(tensor.use_count(), 3u);
  EXPECT_EQ(first.use_count(), 1u);
  arithmetic::fill(*second, 3.0);
  EXPECT_EQ(tensor->version().value(), 1u);
  auto detached = second->detach();
  EXPECT_FALSE(detached->base());
  arithmetic::fill(*detached, 4.0);
  EXPECT_EQ(second->version().value(), 2u);
  auto data = second->alias_data();
  arithmetic::fill(*data, 5.0);
  EXPECT_EQ(second->version().value(), 2u);
  EXPECT_EQ(at(tensor, 3), 5.0);
}

TEST(Tensor, a_long_chain_of_bases_is_freed_without_recursion) {  // P6
  int64_t before = live_tensors.value();
  auto head = views::alias(*make({0}));
  for (int i = 0; i < kLongChain; i++) {
    auto next = make({0});
    EXPECT_FALSE(autograd::exchange_grad(*next, std::move(head)));
    head = views::alias(*next);
  }
  EXPECT_EQ(live_tensors.value(), before + 2 * kLongChain + 2);
  head.reset();
  EXPECT_EQ(live_tensors.value(), before);
}

TEST(Elements, bits_are_seen_and_kept_by_reads_and_writes) {
  auto tensor = make({1}, ScalarType::complex64);
  std::complex<float> value(1, 2);
  Elements(*tensor).write(0, value);
  auto conj = views::conj(*tensor), neg = views::neg_view(*conj);
  EXPECT_EQ(Elements(*conj).read<std::complex<float>>(0), std::conj(value));
  EXPECT_EQ(Elements(*neg).read<std::complex<float>>(0), -std::conj(value));
  Elements(*neg).write(0, value);
  EXPECT_EQ(Elements(*tensor).read<std::complex<float>>(0), -std::conj(value));
  EXPECT_THROW(Elements{*views::neg_view(*make({1}, ScalarType::bool_))}, std::runtime_error);
}

TEST(Elements, conversions_are_defined_for_every_value) {
  EXPECT_EQ(convert<uint8_t>(-1.5f), 255);
  EXPECT_EQ(convert<uint8_t>(int64_t{300}), 44);
  EXPECT_EQ(convert<int64_t>(1e300), INT64_MIN);
  EXPECT_EQ(convert<int64_t>(std::nan("")), INT64_MIN);
  EXPECT_TRUE(convert<bool>(std::complex<float>(0, 1)));
  EXPECT_EQ(convert<int64_t>(std::complex<float>(2, 1)), 2);
  EXPECT_EQ(negate(INT64_MIN), INT64_MIN);
}

TEST(Arithmetic, operands_promote_as_in_torch) {
  using arithmetic::compute, arithmetic::Operand;
  struct Case {
    ScalarType type;
    arithmetic::Scalar number;
    ScalarType result;
  };
  for (const Case& c :
       {Case{ScalarType::uint8, int64_t{300}, ScalarType::uint8},
        Case{ScalarType::bool_, int64_t{1}, ScalarType::int64},
        Case{ScalarType::int64, 1.5, ScalarType::float32},
        Case{ScalarType::float64, 1.5, ScalarType::float64},
        Case{ScalarType::float32, std::complex<double>(0, 1), ScalarType::complex64}}) {
    auto result = compute(Op::kAdd, Operand(*make({2}, c.type)), Operand(c.number));
    EXPECT_EQ(result->type(), c.result) << name_of(c.type);
  }
  auto dimless = Operand(*make({}, ScalarType::float64));
  auto add = [&](ScalarType type) {
    return compute(Op::kAdd, Operand(*make({2}, type)), dimless)->type();
  };
  EXPECT_EQ(add(ScalarType::float32), ScalarType::float32);
  EXPECT_EQ(add(ScalarType::int64), ScalarType::float64);
  EXPECT_THROW(promote_types(ScalarType::float64, ScalarType::complex64), std::runtime_error);
}

TEST(Arithmetic, writes_that_depend_on_the_order_are_refused) {
  using arithmetic::copy, arithmetic::Operand;
  auto tensor = counting({4});
  auto low = views::narrow(*tensor, 0, 0, 3), high = views::narrow(*tensor, 0, 1, 3);
  EXPECT_THROW(copy(*high, Operand(*low)), std::runtime_error);
  EXPECT_THROW(copy(*views::expand(*tensor, Dims{2, 4}), Operand(*make({2, 4}))),
               std::runtime_error);
  EXPECT_EQ(tensor->version().value(), 0u);
  copy(*tensor, Operand(*tensor));
  // Every other element: the layout is not dense, so the elements are read first.
  auto even = views::slice(*tensor, 0, 2, 2);
  copy(*views::narrow(*tensor, 0, 2, 2), Operand(*even));
  EXPECT_EQ(at(tensor, 2), 0.0);
  EXPECT_EQ(at(tensor, 3), 2.0);
  EXPECT_TRUE(is_dense(Layout{{2, 3}, {1, 2}}));
  EXPECT_FALSE(is_dense(Layout{{2}, {2}}));
  EXPECT_FALSE(may_overlap(Layout{{2, 2}, {1, 2}}));
  EXPECT_FALSE(may_overlap(Layout{{3, 2}, {4, 2}}));
  EXPECT_TRUE(may_overlap(Layout{{2, 2}, {1, 1}}));
  EXPECT_TRUE(may_overlap(Layout{{3, 2}, {1, 2}}));
  EXPECT_FALSE(may_overlap(Layout{{1, 2}, {0, 1}}));
  EXPECT_FALSE(may_overlap(Layout{{2, 0}, {0, 1}}));
}

TEST(Arithmetic, a_value_that_does_not_fit_changes_nothing) {
  auto tensor = counting({2}, ScalarType::uint8);
  EXPECT_THROW(arithmetic::fill(*tensor, int64_t{256}), std::runtime_error);
  EXPECT_THROW(arithmetic::fill(*tensor, std::complex<double>(0, 1)), std::runtime_error);
  EXPECT_THROW(arithmetic::fill(*make({1}), 1e300), std::runtime_error);
  EXPECT_EQ(at(tensor, 1), 1.0);
  arithmetic::fill(*tensor, int64_t{-1});
  EXPECT_EQ(at(tensor, 1), 255.0);
  auto wide = make({1}, ScalarType::int64);
  arithmetic::fill(*wide, INT64_MAX);
  EXPECT_EQ(Elements(*wide).read<int64_t>(0), INT64_MAX);
}

}  // namespace
}  // namespace slotcore
