// Graphs without Python: what a tracer appends and refuses, the text, and runs (M5, M11).

#include "core/c10/tensor/announce.h"
#include "core/meta/graph/tracer.h"
#include "tests/core/meta/tensors.h"

namespace slotcore::meta {
namespace {

using Function = std::function<TensorPtr(TensorImpl&)>;

Graph traced(const TensorPtr& example, const Function& function,
             SizeKind kind = SizeKind::kDynamic) {
  MetaTensorDescriber describer;
  Tracing tracing(described(describer, {example}), kind);
  auto fakes =
      tracing.mode()->converter.convert(*described(describer, {example}), tracing.symbols());
  TensorPtr result;
  tracing.run(fakes.roots, [&] { result = function(*fakes.roots[0]); });
  return tracing.finished({result}, true);
}

TensorPtr run_on(const Graph& graph, const TensorPtr& tensor) {
  MetaTensorDescriber describer;
  return run(graph, *described(describer, {tensor}), {tensor})[0];
}

// The lines of nodes.
std::string body_of(const Graph& graph) {
  std::string all = text(graph), result;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = all.find('\n', begin) + 1;
    std::string line = all.substr(begin, end - begin);
    if (line.find("t1") != std::string::npos || line.find("return") != std::string::npos)
      result += line;
    begin = end;
  }
  return result;
}

TEST(GraphTest, operations_stay_in_order_and_writes_are_nodes) {
  Graph graph = traced(make({3, 2}), [](TensorImpl& one) {
    TensorPtr flat = views::view(one, Dims{-1});
    arithmetic::fill(*flat, int64_t{4});
    return arithmetic::clone(*flat);
  });
  EXPECT_EQ(body_of(graph),
            "    t1 = t0.view(-1)\n    t1.fill_(4)\n    t2 = t1.clone()\n    return t2\n");
  TensorPtr other = make({5, 1});
  EXPECT_TRUE(run_on(graph, other)->sizes() == Dims{5});
  EXPECT_EQ(static_cast<float*>(other->data())[4], 4);
}

TEST(GraphTest, attributes_are_expressions_of_sizes) {
  Graph graph = traced(make({6, 2}), [](TensorImpl& one) {
    SymInt half = one.sym_layout().sizes[0] / SymInt(2);
    return views::narrow(one, 0, SymInt(0), half);
  });
  EXPECT_EQ(body_of(graph), "    t1 = t0.narrow(0, 0, ((s0) // (2)))\n    return t1\n");
  EXPECT_TRUE(run_on(graph, make({9, 3}))->sizes() == (Dims{4, 3}));
}

TEST(GraphTest, tensors_that_do_not_pass_are_refused) {
  Graph graph = traced(make({3}), [](TensorImpl& one) { return views::view(one, Dims{3, 1}); });
  EXPECT_NO_THROW(run_on(graph, make({3})));
  EXPECT_THROW(run_on(graph, make({4})), std::runtime_error);
  EXPECT_THROW(run_on(graph, make({3, 1})), std::runtime_error);
  EXPECT_THROW(run_on(graph, make({3}, ScalarType::int64)), std::runtime_error);
}

TEST(GraphTest, what_has_no_node_is_an_error) {
  TensorPtr outside = make({3});
  std::vector<Function> functions = {
      [](TensorImpl& one) { return one.make_view(one.sym_layout()); },
      [](TensorImpl& one) {
        one.resize({4});
        return TensorPtr::retain(&one);
      },
      [](TensorImpl& one) {
        one.version().bump();
        return views::alias(one);
      },
      [](TensorImpl& one) {
        autograd::set_requires_grad(one, true);
        return views::alias(one);
      },
      [](TensorImpl& one) {
        return make_intrusive<TensorImpl>(Dims{1}, one.type(), place_of_new(Device::kCpu));
      },
  };
  for (const Function& function : functions)
    EXPECT_THROW(traced(outside, function), UntraceableError);
  EXPECT_EQ(impl::TorchDispatchModeTLS::size(), 0u);
  EXPECT_EQ(impl::OperationTracerTLS::current(), nullptr);
  EXPECT_TRUE(autograd::GradMode::is_enabled());
  EXPECT_THROW(traced(outside, [&](TensorImpl&) { return views::alias(*outside); }),
               std::runtime_error);
}

TEST(GraphTest, a_retrace_binds_each_symbol_again) {
  Graph graph = traced(make({3}, ScalarType::int64), [](TensorImpl& one) {
    TensorPtr sum = arithmetic::sum(one);
    EnvPtr env = mode_of(one)->env;
    (void)tensor_operation(Op::kItem, *sum, [&] {
      std::lock_guard lock(env->mutex);
      SizeExpr number = env->env.add_unbacked();
      env->env.assert_later({number, Relation::Kind::kNotNegative});
      return sym_int_of(env, number);
    });
    return sum;
  });
  EXPECT_EQ(graph.nodes.size(), 2u);
  Graph again = retraced(graph, [&](const Tracing& tracing) {
    return tracing.mode()->converter.convert(*graph.inputs, tracing.symbols()).roots;
  });
  EXPECT_EQ(text(again), text(graph));
  EXPECT_TRUE(again.env == graph.env);
  TensorPtr negative = make({1}, ScalarType::int64);
  arithmetic::fill(*negative, int64_t{-1});
  EXPECT_THROW(run_on(graph, negative), AssertionFailed);
  EXPECT_NO_THROW(run_on(graph, make({1}, ScalarType::int64)));
}

TEST(GraphTest, numbers_are_those_of_python) {
  std::string lines = text(traced(make({1}, ScalarType::complex64), [](TensorImpl& one) {
    arithmetic::fill(one, 1e300 * 1e10);
    arithmetic::fill(one, 0.5);
    arithmetic::fill(one, 3.0);
    arithmetic::fill(one, std::complex<double>(0, -1));
    arithmetic::fill(one, true);
    return autograd::multiply(autograd::Operand(int64_t{-2}), autograd::Operand(one));
  }));
  for (const char* line : {"fill_(float('inf'))", "fill_(0.5)", "fill_(3.0)",
                           "fill_(complex(0.0, -1.0))", "fill_(True)", "t1 = -2 * t0"})
    EXPECT_NE(lines.find(line), std::string::npos) << line << " in " << lines;
}

}  // namespace
}  // namespace slotcore::meta
