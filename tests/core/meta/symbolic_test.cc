// The rules of shapes over symbols, without tensors and without Python.

#include <gtest/gtest.h>

#include "core/c10/shapes/view_layouts.h"
#include "core/meta/sizes/input_symbols.h"

namespace slotcore::meta {
namespace {

struct Traced {
  explicit Traced(const Dims& sizes) {
    InputSymbols inputs(env, SizeKind::kDynamic);
    layout = inputs.layout(contiguous_layout(sizes), {"t0"});
    inputs.keep();
  }

  size_t guards() const { return env->env.constraints().size(); }

  EnvPtr env = std::make_shared<SharedEnv>();
  SymLayout layout;
};

TEST(SymIntTest, plain_numbers_divide_as_in_python) {
  EXPECT_EQ((SymInt(-7) / SymInt(2)).value(), -4);
  EXPECT_EQ((SymInt(-7) % SymInt(2)).value(), 1);
  EXPECT_EQ((SymInt(INT64_MIN) % SymInt(-1)).value(), 0);
  EXPECT_THROW(SymInt(INT64_MIN) / SymInt(-1), std::runtime_error);
  EXPECT_THROW(SymInt(1) / SymInt(0), std::domain_error);
}

TEST(SymIntTest, an_expression_decides_only_when_it_is_compared) {
  Traced traced({4, 3});
  size_t before = traced.guards();
  SymInt product = traced.layout.sizes[0] * traced.layout.sizes[1] + 1;
  EXPECT_EQ(text(product), "s0*s1 + 1");
  EXPECT_EQ(traced.guards(), before);
  EXPECT_TRUE(product > 12);
  EXPECT_EQ(traced.guards(), before + 1);
  EXPECT_EQ(product.specialize(), 13);
}

TEST(SymIntTest, symbols_of_two_environments_do_not_mix) {
  Traced one({4}), other({4});
  EXPECT_THROW((void)(one.layout.sizes[0] + other.layout.sizes[0]), std::invalid_argument);
  EXPECT_THROW((void)(one.layout.sizes[0] == other.layout.sizes[0]), std::invalid_argument);
}

TEST(SymbolicShapesTest, rules_give_the_layouts_of_the_example) {
  Traced traced({4, 3});
  Layout plain = contiguous_layout(Dims{4, 3});
  auto expect_equal = [](const SymLayout& symbols, const Layout& ints) {
    EXPECT_TRUE(specialized(symbols) == ints);
  };
  expect_equal(views::transposed(traced.layout, 0, 1), views::transposed(plain, 0, 1));
  expect_equal(views::viewed(traced.layout, SymDims{-1}), views::viewed(plain, Dims{-1}));
  expect_equal(views::selected<SymInt>(traced.layout, 0, 2), views::selected<int64_t>(plain, 0, 2));
  expect_equal(result_layout(traced.layout, traced.layout), result_layout(plain, plain));
}

TEST(SymbolicShapesTest, a_flat_view_of_contiguous_rows_is_general) {
  Traced traced({4, 3});
  SymLayout flat = views::viewed(traced.layout, SymDims{-1});
  EXPECT_EQ(text(flat.sizes), "[s0*s1]");
  EXPECT_TRUE(traced.env->env.check(std::vector<int64_t>{5, 7, 7, 1, 0}));
}

TEST(InputSymbolsTest, inputs_go_unless_they_are_kept) {
  auto env = std::make_shared<SharedEnv>();
  { (void)InputSymbols(env, SizeKind::kDuck).layout(contiguous_layout(Dims{4, 3}), {"t0"}); }
  EXPECT_TRUE(env->env == ShapeEnv());
}

}  // namespace
}  // namespace slotcore::meta
