// Who owns whom in a graph (A1), what a backward frees (A2), and that nothing is left (A9, P6).
#include <gtest/gtest.h>

#include <thread>

#include "core/autograd/accumulate_grad.h"
#include "core/autograd/grad_mode.h"
#include "core/autograd/saved/saved_variable.h"
#include "core/c10/live_counts.h"
#include "tests/core/autograd/graph.h"
#include "tests/core/c10/long_chain.h"

namespace slotcore::autograd {
namespace {

class Ownership : public testing::Test {
 protected:
  ~Ownership() override {
    EXPECT_EQ(live_nodes.value(), 0);
    EXPECT_EQ(live_tensors.value(), tensors_before_);
    EXPECT_EQ(live_saved_variables.value(), 0);
    EXPECT_EQ(live_graph_tasks.value(), 0);
  }

 private:
  int64_t tensors_before_ = live_tensors.value();
};

TEST_F(Ownership, a_leaf_has_one_accumulator_while_a_graph_lives) {
  TensorPtr x = leaf_of({2});
  TensorPtr y = x * 2, z = x * 3;
  intrusive_ptr<Node> first = grad_fn(*y)->next_edges()[0].node;
  EXPECT_EQ(first, grad_fn(*z)->next_edges()[0].node);
  EXPECT_EQ(first, grad_accumulator(*x));
  weak_intrusive_ptr<Node> gone(first);
  first.reset();
  y.reset();
  EXPECT_FALSE(gone.expired());
  z.reset();
  EXPECT_TRUE(gone.expired());
}

TEST_F(Ownership, an_accumulator_keeps_its_leaf) {
  TensorPtr x = leaf_of({2});
  TensorPtr y = x + x;
  weak_intrusive_ptr<TensorImpl> leaf(x);
  x.reset();
  EXPECT_FALSE(leaf.expired());
  backward(y);
  EXPECT_EQ(values_of(leaf.lock()->grad()), std::vector<double>{2});
  y.reset();
  EXPECT_TRUE(leaf.expired());
}

TEST_F(Ownership, a_node_does_not_own_its_result) {
  TensorPtr x = leaf_of({-2, 2});
  TensorPtr y = relu(*x);
  weak_intrusive_ptr<TensorImpl> result(y);
  y.reset();
  EXPECT_TRUE(result.expired());
}

TEST_F(Ownership, a_second_backward_says_that_the_graph_was_freed) {
  TensorPtr x = leaf_of({2});
  TensorPtr y = x * x;
  backward(y, {.keep_graph = true});
  backward(y);
  EXPECT_THROW(backward(y), std::runtime_error);
  EXPECT_EQ(values_of(x->grad()), std::vector<double>{8});
  TensorPtr z = x + x;  // saves nothing, so it can run again
  backward(z);
  backward(z);
}

TEST_F(Ownership, a_backward_frees_what_nodes_have_saved) {
  TensorPtr x = leaf_of({2});
  TensorPtr other = tensor_of({3});
  weak_intrusive_ptr<TensorImpl> saved(other);
  TensorPtr y = x * other;
  other.reset();
  EXPECT_FALSE(saved.expired());
  backward(y);
  EXPECT_TRUE(saved.expired());
}

TEST_F(Ownership, a_write_after_the_save_is_an_error) {
  TensorPtr x = leaf_of({2}), other = tensor_of({3});
  TensorPtr y = x * other;
  add_in_place(*other, number(1));
  EXPECT_THROW(backward(y), std::runtime_error);
  TensorPtr z = relu(*(x * 1));
  add_in_place(*z, number(1));
  EXPECT_THROW(backward(z), std::runtime_error);
}

TEST_F(Ownership, a_tensor_that_was_detached_after_the_save_is_an_error) {
  TensorPtr x = leaf_of({2});
  TensorPtr middle = x * 1;
  TensorPtr y = middle * middle;
  detach_in_place(*middle);
  EXPECT_THROW(backward(y), std::runtime_error);
}

TEST_F(Ownership, leaves_and_their_views_are_not_written) {
  TensorPtr x = leaf_of({2, 3});
  EXPECT_THROW(fill_in_place(*x, 1.0), std::runtime_error);
  EXPECT_THROW(fill_in_place(*part(x, 0, 1), 1.0), std::runtime_error);
  fill_in_place(*x->detach(), 1.0);
  EXPECT_THROW(set_requires_grad(*tensor_of({1}, ScalarType::int64), true), std::runtime_error);
  TensorPtr y = x * 1;
  TensorPtr unrecorded;
  {
    AutoGradMode off(false);
    fill_in_place(*x, 4.0);
    unrecorded = part(y, 0, 1);
  }
  EXPECT_THROW(fill_in_place(*unrecorded, 1.0), std::runtime_error);
  EXPECT_THROW(fill_in_place(*part(unrecorded, 0, 1), 1.0), std::runtime_error);
}

TEST_F(Ownership, nothing_is_recorded_in_no_grad_mode) {
  TensorPtr x = leaf_of({2});
  AutoGradMode off(false);
  TensorPtr y = x * x;
  EXPECT_FALSE(y->requires_grad());
  EXPECT_TRUE(is_leaf(*y));
}

TEST_F(Ownership, a_deep_graph_is_freed_and_run_without_recursion) {
  TensorPtr x = leaf_of({1});
  TensorPtr y = x;
  for (int i = 0; i < kLongChain; i++) y = y + x;
  backward(y);
  EXPECT_EQ(values_of(x->grad()), std::vector<double>{kLongChain + 1});
}

struct Failure {};

class ThrowingHook final : public FunctionPreHook {
 public:
  Gradients operator()(Gradients) override { throw Failure(); }
};

TEST_F(Ownership, an_error_leaves_no_task) {
  TensorPtr x = leaf_of({2});
  TensorPtr y = x * x;
  grad_fn(*y)->add_hook_before(std::make_shared<ThrowingHook>());
  EXPECT_THROW(backward(y), Failure);
  EXPECT_TRUE(GradMode::is_enabled());
  EXPECT_EQ(live_graph_tasks.value(), 0);
  EXPECT_FALSE(x->grad());
}

// Backwards at once add up, also if some are recorded and make a new gradient (A5b).
// ThreadSanitizer runs this too.
TEST_F(Ownership, recorded_and_plain_backwards_add_up) {
  constexpr int kThreads = 4, kBackwards = 50;
  TensorPtr leaf = leaf_of({2});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; thread++) {
    threads.emplace_back([&, thread] {
      bool is_recorded = thread % 2 == 0;
      for (int i = 0; i < kBackwards; i++)
        backward(leaf * 3, {.keep_graph = is_recorded, .create_graph = is_recorded});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values_of(leaf->grad()), std::vector<double>{3 * kThreads * kBackwards});
  (void)exchange_grad(*leaf, nullptr);
}

// Many threads build over one leaf and drop their graphs. ThreadSanitizer runs this too.
TEST_F(Ownership, threads_share_a_leaf) {
  TensorPtr x = leaf_of({2});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; round++) {
        TensorPtr y = x * tensor_of({3});
        EXPECT_EQ(grad_fn(*y)->next_edges()[0].node, grad_accumulator(*x));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace slotcore::autograd
