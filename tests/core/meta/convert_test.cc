// Fakes from descriptions: their fields, their relations, and which call makes a new one (M1 to M4,
// M7 to M9, M14, M17, M18).

#include <thread>

#include "tests/core/meta/tensors.h"

namespace slotcore::meta {
namespace {

// A describer and a converter that go together.
class Fakes {
 public:
  std::vector<TensorPtr> of(const std::vector<TensorPtr>& tensors) {
    return converter.convert(*described(describer, tensors)).roots;
  }
  TensorPtr of(const TensorPtr& tensor) { return of(std::vector{tensor})[0]; }

  MetaTensorDescriber describer;
  MetaConverter converter;
};

// The description of a fake is that of its tensor, but for devices and bytes.
std::string on_meta(const std::vector<TensorPtr>& tensors) {
  MetaTensorDescriber describer;
  Document document = *described(describer, tensors);
  for (MetaStorageDesc& row : document.storages) row.device = Device::kMeta;
  return dumps(document);
}

std::vector<TensorPtr> exotic_tensors() {
  TensorPtr leaf = make({2, 3});
  autograd::set_requires_grad(*leaf, true);
  TensorPtr computed = autograd::multiply(autograd::Operand(*leaf), autograd::Operand(int64_t{2}));
  TensorPtr column = autograd::record_view(
      *computed, "SelectBackward0", [](TensorImpl& one) { return views::select(one, 1, 2); });
  TensorPtr unrecorded;
  {
    autograd::AutoGradMode off(false);
    unrecorded = view(leaf, {6});
  }
  TensorPtr left = view(make({4}), {2, 2});  // a view that leaves the storage of its base
  auto former = left->exchange_storage(make({9})->storage(), {{1}, {3}, 2});
  TensorPtr freed = make({8});
  freed->storage()->resize(0);
  TensorPtr marked = view(make({2}), {2, 1});
  autograd::set_requires_grad(*marked, true);
  TensorPtr conjugated = views::conj(*make({2}, ScalarType::complex64));
  TensorPtr written = make({3}, ScalarType::bool_);
  arithmetic::fill(*written, int64_t{1});
  set_grad(leaf, make({2, 3}));
  return {leaf,
          column,
          unrecorded,
          left,
          freed,
          marked,
          conjugated,
          views::neg_view(*written),
          written->detach(),
          views::expand(*make({1}), Dims{3}),
          make({0, 4}),
          make({})};
}

TEST(Convert, fakes_are_exact_and_have_no_byte) {
  auto tensors = exotic_tensors();
  Fakes fakes;
  auto converted = fakes.of(tensors);
  EXPECT_EQ(text_of(converted), on_meta(tensors));
  for (size_t i = 0; i < tensors.size(); i++) {
    EXPECT_EQ(converted[i]->storage()->data(), nullptr);
    EXPECT_EQ(converted[i]->requires_grad(), tensors[i]->requires_grad());
  }
  auto from_text = MetaConverter().convert(*loads(text_of(tensors))).roots;
  EXPECT_EQ(text_of(from_text), on_meta(tensors));
}

TEST(Convert, a_fake_stays_the_fake_of_its_tensor) {
  auto tensors = exotic_tensors();
  Fakes fakes;
  auto first = fakes.of(tensors), second = fakes.of(tensors);
  for (size_t i = 0; i < first.size(); i++) {
    EXPECT_EQ(first[i], second[i]) << i;
    EXPECT_EQ(first[i], fakes.of(tensors[i])) << i;
  }
}

TEST(Convert, what_is_described_apart_is_related_all_the_same) {
  TensorPtr base = make({4}), other = view(base, {2, 2}), detached = base->detach();
  Fakes fakes;
  TensorPtr a = fakes.of(other), b = fakes.of(detached), c = fakes.of(base);
  EXPECT_EQ(a->base(), c);
  EXPECT_EQ(b->storage(), c->storage());
  EXPECT_EQ(&b->version(), &c->version());
  EXPECT_NE(fakes.of(make({4}))->storage(), c->storage());
}

TEST(Convert, a_changed_tensor_gets_a_new_fake) {
  void (*const changes[])(const TensorPtr&) = {
      [](const TensorPtr& one) { one->resize({1}); },
      [](const TensorPtr& one) { autograd::set_requires_grad(*one, true); },
      [](const TensorPtr& one) { set_grad(one, make({4})); },
      [](const TensorPtr& one) { auto former = one->exchange_data(*make({5})); },
      [](const TensorPtr& one) { arithmetic::fill(*one, int64_t{1}); },
      [](const TensorPtr& one) { one->storage()->resize(100); },
  };
  for (auto change : changes) {
    TensorPtr tensor = make({4}), part = view(tensor, {2, 2});
    Fakes fakes;
    TensorPtr fake = fakes.of(tensor), fake_part = fakes.of(part);
    std::string before = text_of({fake, fake_part});
    change(tensor);
    TensorPtr changed = fakes.of(tensor);
    EXPECT_NE(changed, fake);
    EXPECT_EQ(text_of({changed}), on_meta({tensor}));
    EXPECT_EQ(fakes.of(part)->base(), changed);  // and so do its views
    EXPECT_EQ(text_of({fake, fake_part}), before);
  }
}

TEST(Convert, a_fake_that_was_changed_stays) {
  TensorPtr tensor = make({4});
  Fakes fakes;
  TensorPtr fake = fakes.of(tensor);
  fake->resize({9});
  EXPECT_EQ(fakes.of(tensor), fake);
}

TEST(Convert, tables_keep_nothing_alive) {
  int64_t tensors = live_tensors.value(), entries = live_table_entries.value();
  {
    Fakes fakes;
    TensorPtr tensor = make({4});
    TensorPtr fake = fakes.of(tensor);
    weak_intrusive_ptr<TensorImpl> weak(fake);
    fake.reset();
    EXPECT_TRUE(weak.expired());
    fake = fakes.of(tensor);
    fakes.converter.sweep();
    EXPECT_EQ(fakes.of(tensor), fake);  // the new entry stands
    tensor.reset();
    fakes.describer.sweep();
    EXPECT_EQ(fakes.describer.sizes().tensors, 0u);
    EXPECT_EQ(fakes.converter.sizes().tensors, 1u);
    fake.reset();
    for (int i = 0; i < 1000; i++) {
      (void)fakes.of(make({1}));
      EXPECT_LE(fakes.converter.sizes().tensors, 2u * 2 + 16);
    }
  }
  EXPECT_EQ(live_tensors.value(), tensors);
  EXPECT_EQ(live_table_entries.value(), entries);
}

TEST(Convert, grads_in_a_circle) {
  TensorPtr a = make({1}), b = make({1});
  set_grad(a, b);
  set_grad(b, a);
  Fakes fakes;
  TensorPtr fake = fakes.of(a);
  EXPECT_EQ(fake->grad()->grad(), fake);
  EXPECT_EQ(fakes.of(b), fake->grad());
  EXPECT_EQ(fakes.of(a), fake);
  set_grad(fake, nullptr);
  set_grad(a, nullptr);
}

TEST(Convert, a_chain_whose_end_changes_is_made_anew) {
  std::vector<TensorPtr> chain{make({1})};
  for (int i = 0; i < 100; i++) {
    chain.push_back(make({1}));
    set_grad(chain[chain.size() - 2], chain.back());
  }
  Fakes fakes;
  TensorPtr first = fakes.of(chain[0]), last = fakes.of(chain.back());
  arithmetic::fill(*chain.back(), int64_t{1});
  EXPECT_NE(fakes.of(chain.back()), last);
  EXPECT_NE(fakes.of(chain[0]), first);
}

TEST(Convert, threads_get_one_fake) {
  TensorPtr tensor = make({4}), part = view(tensor, {2, 2});
  for (int round = 0; round < 50; round++) {
    Fakes fakes;
    auto document = described(fakes.describer, {part});
    std::array<TensorPtr, 3> found;
    {
      std::vector<std::jthread> threads;
      for (TensorPtr& one : found)
        threads.emplace_back([&] { one = fakes.converter.convert(*document).roots[0]; });
    }
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(found[0], found[2]);
  }
}

TEST(Convert, threads_describe_with_one_id) {
  for (int round = 0; round < 50; round++) {
    TensorPtr tensor = make({4});
    MetaTensorDescriber describer;
    std::array<int64_t, 3> ids{};
    {
      std::vector<std::jthread> threads;
      for (int64_t& id : ids)
        threads.emplace_back([&] { id = described(describer, {tensor})->tensors[0].id.value; });
    }
    EXPECT_EQ(ids[0], ids[1]);
    EXPECT_EQ(ids[0], ids[2]);
  }
}

// The environment knows that s0 is not negative, and has an expression in its place that it knows
// nothing of. To make the fake again is no question.
TEST(Convert, a_size_that_replaced_a_symbol_adds_no_guard) {
  auto shared = std::make_shared<SharedEnv>();
  shared->env.add_input(2, "t0.size(0)", SizeKind::kDynamic);
  shared->env.add_input(33, "t0.untyped_storage().nbytes()", SizeKind::kDynamic);
  SizeExpr half = shared->env.symbol(1).floor_div(SizeExpr(2));
  ASSERT_TRUE(shared->env.decide({shared->env.symbol(0) - half + SizeExpr(14)}));
  SizeExpr size = shared->env.simplify(shared->env.symbol(0));
  Document document;
  document.storages.push_back({.nbytes = {33}});
  document.tensors.push_back({.size = {2}, .stride = {1}, .storage = {0}});
  document.roots.push_back({0});
  std::map<SizePlace, SizeExpr> exprs{{{SizePlace::Table::kTensors, 0, "size", 0}, size}};
  document.symbols = std::make_shared<SymbolicSizes>(SymbolicSizes{shared->env, exprs});
  MetaConverter converter;
  Symbols symbols{.env = shared, .kind = SizeKind::kDynamic, .is_documents = true};
  auto fake = converter.convert(document, symbols).roots[0];
  EXPECT_EQ(text(fake->sym_layout().sizes), "[" + size.text() + "]");
  EXPECT_TRUE(shared->env == document.symbols->env);
}

}  // namespace
}  // namespace slotcore::meta
