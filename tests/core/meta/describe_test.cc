// Descriptions of tensors, and their text (M1, M3, M4, M10, M12, M14, M17).

#include "tests/core/meta/tensors.h"

namespace slotcore::meta {
namespace {

TEST(Describe, the_text_has_what_differs_from_a_plain_tensor) {
  EXPECT_EQ(text_of({make({2})}),
            R"({"format":"slotfuzz-meta","version":2,"storages":[{"id":0,"nbytes":8}],)"
            R"("tensors":[{"id":0,"dtype":"float32","size":[2],"stride":[1],"storage":0,)"
            R"("version_group":0}],"roots":[0]})");
}

TEST(Describe, a_view_comes_with_its_base_and_the_whole_storage) {
  TensorPtr base = make({2, 3});
  autograd::set_requires_grad(*base, true);
  TensorPtr part = autograd::record_view(
      *base, "SliceBackward0", [](TensorImpl& one) { return views::narrow(one, 1, 1, 2); });
  MetaTensorDescriber describer;
  auto document = described(describer, {part});
  ASSERT_EQ(document->tensors.size(), 2u);
  const MetaTensorDesc& row = document->tensors[0];
  EXPECT_EQ(row.base.place, 1);
  EXPECT_FALSE(row.is_leaf);
  EXPECT_TRUE(row.requires_grad);
  EXPECT_EQ(row.storage_offset.value, 1);
  EXPECT_EQ(document->storages.at(0).nbytes.value, 24);
  EXPECT_EQ(row.version_group, document->tensors[1].version_group);
}

TEST(Describe, what_is_equal_but_for_addresses_has_one_text) {
  auto graph = [] {
    TensorPtr base = make({4}), other = make({4});
    set_grad(base, other);
    set_grad(other, base);
    return std::vector{view(base, {2, 2}), other->detach()};
  };
  auto first = graph();
  auto noise = make({100});
  auto second = graph();
  EXPECT_EQ(text_of(first), text_of(second));
  EXPECT_NE(text_of(first), text_of({first[1], first[0]}));
  for (auto& tensors : {first, second}) set_grad(tensors[0]->base(), nullptr);
}

TEST(Describe, an_id_is_given_once_and_stays) {
  MetaTensorDescriber describer;
  TensorPtr tensor = make({1});
  int64_t id = described(describer, {tensor})->tensors[0].id.value;
  EXPECT_EQ(described(describer, {make({1}), tensor})->tensors[1].id.value, id);
  for (int i = 0; i < 100; i++)
    EXPECT_NE(described(describer, {make({1})})->tensors[0].id.value, id);
}

TEST(Describe, tables_shrink_when_tensors_die) {
  int64_t before = live_table_entries.value();
  MetaTensorDescriber describer;
  TensorPtr kept = make({1});
  (void)described(describer, {kept});
  for (int i = 0; i < 1000; i++) {
    (void)described(describer, {make({1})});
    EXPECT_LE(describer.sizes().tensors, 2u * 2 + 16);
  }
  describer.sweep();
  EXPECT_EQ(describer.sizes().tensors, 1u);
  EXPECT_EQ(describer.sizes().storages, 1u);
  EXPECT_EQ(live_table_entries.value(), before + 3);  // with the version counter
}

TEST(Describe, a_tensor_is_unchanged) {
  TensorPtr base = make({4});
  autograd::set_requires_grad(*base, true);
  TensorPtr stale;
  {
    autograd::AutoGradMode off(false);
    stale = view(base, {2, 2});
    arithmetic::fill(*base, int64_t{1});
  }
  int64_t nodes = live_nodes.value();
  uint32_t owners = base.use_count(), version = base->version().value();
  MetaTensorDescriber describer;
  auto document = described(describer, {stale});
  EXPECT_FALSE(document->tensors[0].is_leaf);  // a view of what requires a gradient and was written
  EXPECT_EQ(live_nodes.value(), nodes);
  EXPECT_EQ(base.use_count(), owners);
  EXPECT_EQ(base->version().value(), version);
  EXPECT_EQ(raw::weak_count(base.get()), base->table_entries());
}

TEST(Describe, an_error_changes_no_table) {
  MetaTensorDescriber describer;
  TensorPtr known = make({1}), base = make({4});
  int64_t id = described(describer, {known})->tensors[0].id.value;
  MetaTensorDescriber::Options options;
  options.is_parameter = [&](TensorImpl& tensor) -> bool {
    if (&tensor == base.get()) throw std::runtime_error("the second of two tensors");
    return false;
  };
  std::vector roots{view(base, {2, 2})};
  EXPECT_THROW((void)describer.describe(roots, options), std::runtime_error);
  EXPECT_EQ(describer.sizes().tensors, 1u);
  EXPECT_EQ(describer.sizes().storages, 1u);
  EXPECT_EQ(described(describer, {known})->tensors[0].id.value, id);
  EXPECT_EQ(described(describer, {base})->tensors[0].id.value, id + 1) << "no id is lost (M3)";
}

TEST(Describe, data_is_copied_only_if_asked_for) {
  auto storage = make_intrusive<StorageImpl>(4, DataPtr(), /*resizable=*/false);  // null bytes
  auto tensor =
      make_intrusive<TensorImpl>(storage, contiguous_layout(Dims{1}), ScalarType::float32);
  EXPECT_EQ(text_of({tensor}).find("data"), std::string::npos);
  tensor = make({2}, ScalarType::uint8);
  arithmetic::fill(*tensor, int64_t{0xAB});
  MetaTensorDescriber describer;
  MetaTensorDescriber::Options options;
  options.copy_data = true;
  auto document = describer.describe(std::vector{tensor}, options);
  EXPECT_EQ(document->storages[0].data, "abab");
  EXPECT_EQ(dumps(*loads(dumps(*document))), dumps(*document));
}

TEST(Describe, a_long_chain_needs_no_stack) {
  TensorPtr first = make({1}), last = first;
  constexpr int kLinks = 100'000;
  for (int i = 0; i < kLinks; i++) {
    TensorPtr next = make({1});
    set_grad(last, next);
    last = std::move(next);
  }
  std::string text = text_of({first});
  auto read = loads(text);
  EXPECT_EQ(read->tensors.size(), kLinks + 1u);
  EXPECT_EQ(dumps(*read), text);
  MetaConverter converter;
  auto fake = converter.convert(*read).roots[0];
  for (int i = 0; i < kLinks; i++) fake = fake->grad();
  EXPECT_FALSE(fake->grad());
}

}  // namespace
}  // namespace slotcore::meta
