// A7: gradients are exactly those of the program. All numbers are small integers.
#include <gtest/gtest.h>

#include "core/c10/live_counts.h"
#include "tests/core/autograd/graph.h"

namespace slotcore::autograd {
namespace {

using Values = std::vector<double>;

TEST(Gradient, product_and_sum) {
  TensorPtr x = leaf_of({2, 3}), y = leaf_of({5, 7});
  backward(x * y + x);
  EXPECT_EQ(values_of(x->grad()), (Values{6, 8}));
  EXPECT_EQ(values_of(y->grad()), (Values{2, 3}));
}

TEST(Gradient, second_backward_adds) {
  TensorPtr x = leaf_of({2, 3});
  backward(x * x);
  TensorPtr first = x->grad();
  backward(x * 1);
  EXPECT_EQ(values_of(x->grad()), (Values{5, 7}));
  EXPECT_EQ(x->grad(), first);  // added in place
}

TEST(Gradient, repeated_use_of_one_tensor) {
  TensorPtr x = leaf_of({2});
  TensorPtr square = x * x;
  backward(square * square);
  EXPECT_EQ(values_of(x->grad()), (Values{32}));
}

TEST(Gradient, broadcast_sums) {
  TensorPtr x = leaf_of({2}), y = leaf_of({1, 2, 3});
  backward(x * y);
  EXPECT_EQ(values_of(x->grad()), (Values{6}));
  EXPECT_EQ(x->grad()->sizes(), Dims{1});
}

TEST(Gradient, has_the_type_of_the_tensor) {
  TensorPtr x = leaf_of({2}), y = leaf_of({3}, ScalarType::float64);
  backward(x * y);
  EXPECT_EQ(x->grad()->type(), ScalarType::float32);
  EXPECT_EQ(values_of(x->grad()), Values{3});
  EXPECT_EQ(values_of(y->grad()), Values{2});
}

TEST(Gradient, relu_and_its_second_derivative) {
  TensorPtr x = leaf_of({-1, 2});
  TensorPtr y = relu(*x);
  backward(y * y);
  EXPECT_EQ(values_of(x->grad()), (Values{0, 4}));
  TensorPtr first =
      gradients(relu(*x) * relu(*x), {x}, {.keep_graph = true, .create_graph = true})[0];
  EXPECT_EQ(values_of(gradients(first, {x})[0]), (Values{0, 2}));
}

TEST(Gradient, higher_orders) {
  TensorPtr x = leaf_of({2});
  TensorPtr cube = x * x * x;
  TensorPtr first = gradients(cube, {x}, {.keep_graph = true, .create_graph = true})[0];
  TensorPtr second = gradients(first, {x}, {.keep_graph = true, .create_graph = true})[0];
  TensorPtr third = gradients(second, {x})[0];
  EXPECT_EQ(values_of(first), Values{12});
  EXPECT_EQ(values_of(second), Values{12});
  EXPECT_EQ(values_of(third), Values{6});
}

TEST(Gradient, of_views) {
  TensorPtr x = leaf_of({1, 2, 3, 4});
  TensorPtr square = record_view(*x, "ViewBackward0", [](TensorImpl& one) {
    return views::view(one, Dims{2, 2});
  });
  TensorPtr turned = record_view(*square, "TBackward0", &views::t);
  backward(part(turned, 0, 1) * 3);
  EXPECT_EQ(values_of(x->grad()), (Values{3, 0, 3, 0}));
}

TEST(Gradient, of_repeated_elements) {
  TensorPtr x = leaf_of({2});
  TensorPtr wide = expand(*x, {3});
  // The gradient of one index, although all share one element.
  TensorPtr grad = gradients(part(wide, 1, 1) * 5, {wide})[0];
  EXPECT_EQ(values_of(grad), (Values{0, 5, 0}));
  backward(wide * tensor_of({1, 2, 3}));
  EXPECT_EQ(values_of(x->grad()), Values{6});
}

TEST(Gradient, of_overlapping_strides) {
  TensorPtr x = leaf_of({1, 2, 3});
  TensorPtr windows = as_strided(*x, {{2, 2}, {1, 1}, 0});
  backward(windows);
  EXPECT_EQ(values_of(x->grad()), (Values{1, 2, 1}));
}

TEST(Gradient, through_complex_views) {
  TensorPtr x = leaf_of({1, 2}, ScalarType::complex64);
  TensorPtr pairs = record_view(*x, "ViewAsRealBackward0", &views::view_as_real);
  backward(pairs * 3);
  EXPECT_EQ(Elements(*x->grad()).read<std::complex<float>>(0), std::complex<float>(3, 3));
}

TEST(Gradient, of_a_tensor_written_in_place) {
  TensorPtr x = leaf_of({2, 3}), y = leaf_of({5, 7});
  TensorPtr z = x * 1;
  multiply_in_place(*z, Operand(*y));
  add_in_place(*z, number(4));
  backward(z);
  EXPECT_EQ(values_of(x->grad()), (Values{5, 7}));
  EXPECT_EQ(values_of(y->grad()), (Values{2, 3}));
}

TEST(Gradient, of_a_base_whose_view_was_written) {
  TensorPtr x = leaf_of({1, 2, 3}), y = leaf_of({5});
  TensorPtr z = x * 1;
  TensorPtr middle = part(z, 1, 1), all = part(z, 0, 3);
  multiply_in_place(*middle, Operand(*y));
  EXPECT_EQ(grad_fn(*z)->name(), "CopySlices");
  EXPECT_EQ(grad_fn(*middle)->name(), "AsStridedBackward0");
  backward(all * 2);
  EXPECT_EQ(values_of(x->grad()), (Values{2, 10, 2}));
  EXPECT_EQ(values_of(y->grad()), Values{4});
}

TEST(Gradient, of_a_source_that_was_copied_into_a_view) {
  TensorPtr base = tensor_of({1, 2, 3}), y = leaf_of({5});
  copy_in_place(*part(base, 2, 1), Operand(*y));
  EXPECT_TRUE(base->requires_grad());
  EXPECT_FALSE(is_leaf(*base));
  backward(base * 7);
  EXPECT_EQ(values_of(y->grad()), Values{7});
}

TEST(Gradient, of_relu_in_place_on_a_view) {
  TensorPtr x = leaf_of({-1, 2, -3});
  TensorPtr z = x * 1;
  relu_in_place(*part(z, 0, 2));
  EXPECT_EQ(values_of(z), (Values{0, 2, -3}));
  backward(z);
  EXPECT_EQ(values_of(x->grad()), (Values{0, 1, 1}));
}

TEST(Gradient, of_what_is_overwritten_is_zero) {
  TensorPtr x = leaf_of({2, 3});
  TensorPtr z = x * 1;
  fill_in_place(*part(z, 0, 1), int64_t{9});
  backward(z);
  EXPECT_EQ(values_of(x->grad()), (Values{0, 1}));
}

TEST(Gradient, is_captured_without_being_accumulated) {
  TensorPtr x = leaf_of({2}), y = leaf_of({3}), unused = leaf_of({4});
  TensorPtr z = x * y;
  Gradients found = gradients(z * z, {x, z, unused});
  EXPECT_EQ(values_of(found[0]), Values{36});
  EXPECT_EQ(values_of(found[1]), Values{12});
  EXPECT_FALSE(found[2]);
  EXPECT_FALSE(x->grad() || y->grad());
}

TEST(Gradient, a_gradient_of_another_size_is_refused) {
  TensorPtr x = leaf_of({2, 3});
  EXPECT_THROW(run_backward({gradient_edge(*(x * 1))}, {tensor_of({1, 2, 3})}, {}),
               std::runtime_error);
  EXPECT_THROW(run_backward({gradient_edge(*tensor_of({1}))}, {tensor_of({1})}, {}),
               std::runtime_error);
}

}  // namespace
}  // namespace slotcore::autograd
