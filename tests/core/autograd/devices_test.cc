// A5b, A5c, A5d: backwards that several threads run.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <stdexcept>
#include <thread>

#include "core/autograd/current_device.h"
#include "core/autograd/grad_mode.h"
#include "core/c10/live_counts.h"
#include "tests/core/autograd/graph.h"

namespace slotcore::autograd {
namespace {

// Passes the gradient on, and calls a function before.
class Calling final : public Node {
 public:
  explicit Calling(std::function<void()> function) : function_(std::move(function)) {}
  std::string name() const override { return "Calling"; }
  Gradients apply(Gradients gradients) override {
    function_();
    return gradients;
  }

 private:
  std::function<void()> function_;
};

// The same numbers as `x`, by such a node of a device.
TensorPtr calling(int device, const TensorPtr& x, std::function<void()> function) {
  DeviceGuard guard(device);
  TensorPtr result = arithmetic::clone(*x);
  auto node = make_intrusive<Calling>(std::move(function));
  node->set_next_edges({gradient_edge(*x)});
  set_history(*result, std::move(node));
  return result;
}

TensorPtr squared_on(int device, const TensorPtr& x) {
  DeviceGuard guard(device);
  return x * x;
}

class Devices : public testing::Test {
 protected:
  ~Devices() override {
    EXPECT_EQ(live_nodes.value(), 0);
    EXPECT_EQ(live_saved_variables.value(), 0);
  }
};

void expect_nothing_runs() {
  EXPECT_EQ(live_graph_tasks.value(), 0);
  EXPECT_EQ(queued_node_tasks.value(), 0);
}

TEST_F(Devices, a_node_runs_on_the_thread_of_its_device) {
  TensorPtr x = leaf_of({3});
  std::thread::id ids[3];
  auto noting = [&](int place) { return [&, place] { ids[place] = std::this_thread::get_id(); }; };
  TensorPtr first = calling(0, x, noting(0)), second = calling(1, first, noting(1));
  backward(calling(kNoDevice, second, noting(2)) + calling(0, x, [&] {
             EXPECT_EQ(CurrentDevice::get(), 0);
             EXPECT_FALSE(GradMode::is_enabled());
           }));
  EXPECT_EQ(ids[2], std::this_thread::get_id());
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[0], ids[2]);
  EXPECT_NE(ids[1], ids[2]);
  EXPECT_EQ(values_of(x->grad()), std::vector<double>{2});
  EXPECT_EQ(CurrentDevice::get(), kNoDevice);
  expect_nothing_runs();
}

TEST_F(Devices, gradients_that_devices_compute_at_once_add_up) {
  TensorPtr x = leaf_of({3});
  std::latch both(2);
  auto meet = [&] { both.arrive_and_wait(); };
  backward(squared_on(0, calling(0, x, meet)) + squared_on(1, calling(1, x, meet)) + x);
  EXPECT_EQ(values_of(x->grad()), std::vector<double>{13});
}

TEST_F(Devices, the_gradient_of_a_gradient_runs_there_too) {
  TensorPtr x = leaf_of({3});
  TensorPtr first =
      gradients(squared_on(1, x) * x, {x}, {.keep_graph = true, .create_graph = true})[0];
  EXPECT_EQ(values_of(first), std::vector<double>{27});
  EXPECT_EQ(values_of(gradients(first, {x})[0]), std::vector<double>{18});
}

// Runs `function(number)` on several threads at once.
constexpr int kThreads = 4;
void at_once(const std::function<void(int)>& function) {
  std::latch begin(kThreads);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; number++) {
    threads.emplace_back([&, number] {
      begin.arrive_and_wait();
      function(number);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Devices, backwards_at_once_of_a_kept_graph_add_up) {
  for (int device : {kNoDevice, 0}) {
    TensorPtr x = leaf_of({1, 2});
    TensorPtr y = squared_on(device, squared_on(1, x));
    at_once([&](int) {
      for (int i = 0; i < 50; i++) backward(y, {.keep_graph = true});
    });
    EXPECT_EQ(values_of(x->grad()), (std::vector<double>{kThreads * 50 * 4, kThreads * 50 * 32}));
  }
  expect_nothing_runs();
}

TEST_F(Devices, of_backwards_at_once_that_free_a_graph_one_succeeds) {
  for (int round = 0; round < 100; round++) {
    TensorPtr x = leaf_of({3});
    TensorPtr y = squared_on(round % 3 - 1, x);
    std::atomic<int> freed{0};
    at_once([&](int) {
      try {
        backward(y);
      } catch (const std::runtime_error&) {
        freed++;
      }
    });
    EXPECT_EQ(freed, kThreads - 1);
    EXPECT_EQ(values_of(x->grad()), std::vector<double>{6});
  }
  expect_nothing_runs();
}

TEST_F(Devices, an_error_leaves_nothing_behind) {
  for (int round = 0; round < 100; round++) {
    TensorPtr x = leaf_of({3}), total = x * 1;
    weak_intrusive_ptr<TensorImpl> leaf(x);
    std::atomic<int> ran{0};
    for (int i = 0; i < 6; i++) {
      total = total + calling(i % 2, x, [&, i] {
                ran++;
                if (i == 3 || i == 2) throw std::out_of_range("mine");
              });
    }
    EXPECT_THROW(backward(total), std::out_of_range);
    // No thread runs a node of it any more.
    int ran_until_then = ran;
    expect_nothing_runs();
    EXPECT_TRUE(GradMode::is_enabled());
    EXPECT_EQ(CurrentDevice::get(), kNoDevice);
    total.reset();
    x.reset();
    EXPECT_TRUE(leaf.expired());
    EXPECT_EQ(ran, ran_until_then);
  }
  TensorPtr x = leaf_of({3});
  backward(squared_on(0, squared_on(1, x)));
  EXPECT_EQ(values_of(x->grad()), std::vector<double>{108});
}

// A backward whose node on `device` runs another one, to a depth.
void nest(int depth, const std::function<int(int)>& device_at) {
  AutoGradMode mode(true);
  TensorPtr x = leaf_of({1});
  TensorPtr y = calling(device_at(depth), x, [&] {
    if (depth > 0) nest(depth - 1, device_at);
  });
  backward(y);
  EXPECT_EQ(values_of(x->grad()), std::vector<double>{1});
}

TEST_F(Devices, nested_backwards_return) {
  for (int depth : {1, 2, 7, 59, 60, 61, 200}) {
    nest(depth, [](int) { return kNoDevice; });
    nest(depth, [](int) { return 0; });
    nest(depth, [](int level) { return level % 2; });
    nest(depth, [](int level) { return level % 3 - 1; });
  }
  expect_nothing_runs();
}

TEST_F(Devices, nested_backwards_of_several_threads_return) {
  at_once([](int number) {
    for (int i = 0; i < 10; i++) {
      nest(5 + 20 * i, [number](int level) { return (level + number) % 2; });
    }
  });
  expect_nothing_runs();
}

TEST_F(Devices, an_error_in_a_nested_backward_ends_all) {
  TensorPtr x = leaf_of({1});
  TensorPtr y = calling(0, x, [] {
    AutoGradMode mode(true);
    TensorPtr inner = leaf_of({1});
    backward(calling(1, inner, [] { throw std::out_of_range("mine"); }));
  });
  EXPECT_THROW(backward(y), std::out_of_range);
  expect_nothing_runs();
}

TEST_F(Devices, a_graph_may_be_dropped_while_it_runs) {
  TensorPtr x = leaf_of({1});
  TensorPtr y, z;
  y = calling(0, x, [&] { z.reset(); });
  z = squared_on(1, y);
  Edge root = gradient_edge(*z);
  run_backward({root}, {tensor_of({1})}, {});
  EXPECT_FALSE(z);
  EXPECT_EQ(values_of(x->grad()), std::vector<double>{2});
}

}  // namespace
}  // namespace slotcore::autograd
