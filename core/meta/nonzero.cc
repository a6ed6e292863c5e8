// Rows of indices, and how long the symbol of their number holds.

#include "core/meta/nonzero.h"

#include "core/c10/tensor/announce.h"
#include "core/c10/tensor/elements.h"
#include "core/c10/tensor/operation.h"
#include "core/meta/sizes/env_savepoint.h"

namespace slotcore::meta {
namespace {

using autograd::TensorPtr;

// torch's order: the indices of one dimension follow each other.
TensorPtr new_rows(const TensorImpl& self, const SymInt& count) {
  SymInt rank = static_cast<int64_t>(self.dim());
  SymInt nbytes = count * rank * static_cast<int64_t>(sizeof(int64_t));
  SymLayout layout{{count, rank}, {1, count}};
  auto storage = make_storage(nbytes, self.place());
  auto rows = make_intrusive<TensorImpl>(std::move(storage), layout, ScalarType::int64);
  (void)is_without_elements(*rows, self);
  return rows;
}

TensorPtr nonzero_of_numbers(const TensorImpl& self) {
  announce({&self});
  Elements read(self);
  std::vector<int64_t> places;  // in row-major order
  with_type(self.type(), [&](auto zero) {
    using T = decltype(zero);
    int64_t place = 0;
    auto look = [&](const std::array<int64_t, 1>& at) {
      if (read.read<T>(at[0]) != T{}) places.push_back(place);
      place++;
    };
    for_each_element(self.sizes(), std::array{self.strides()}, look);
  });
  auto count = static_cast<int64_t>(places.size());
  TensorPtr rows = new_rows(self, count);
  Elements written(*rows);
  int64_t inner = 1;
  for (size_t dim = self.dim(); dim-- > 0; inner *= self.sizes()[dim]) {
    for (int64_t row = 0; row < count; row++) {
      int64_t index = places[static_cast<size_t>(row)] / inner % self.sizes()[dim];
      written.write(static_cast<int64_t>(dim) * count + row, index);
    }
  }
  return rows;
}

std::optional<SymInt> remembered(TensorImpl& fake, const EnvPtr& env) {
  std::lock_guard lock(env->mutex);
  const auto& known = fake.nonzero_count();
  if (known == nullptr || known->version != fake.version().value() ||
      known->writes != fake.storage()->writes()) {
    return std::nullopt;
  }
  return sym_int_of(env, env->env.simplify(expr_of(env, known->count)));
}

void remember(TensorImpl& fake, const EnvPtr& env, const SymInt& count) {
  std::lock_guard lock(env->mutex);
  fake.nonzero_count() = std::make_unique<NonzeroCount>(
      NonzeroCount{count, fake.version().value(), fake.storage()->writes()});
}

TensorPtr nonzero_of_fake(TensorImpl& fake, const EnvPtr& env,
                          const std::function<void(const TensorPtr&)>& use) {
  announce({&fake});
  if (auto count = remembered(fake, env)) return new_rows(fake, *count);
  // What raises takes its symbol with it (M14).
  EnvSavepoint savepoint(env);
  SymInt count;
  {
    EnvSavepoint::Adding adding(savepoint);
    SizeExpr symbol = env->env.add_unbacked();
    env->env.assert_later({symbol, Relation::Kind::kNotNegative});
    count = sym_int_of(env, symbol);
  }
  TensorPtr rows = new_rows(fake, count);
  if (use) use(rows);
  remember(fake, env, count);
  savepoint.keep();
  return rows;
}

}  // namespace

TensorPtr nonzero(TensorImpl& self, const std::function<void(const TensorPtr&)>& use) {
  return tensor_operation(Op::kNonzero, self, [&] {
    auto mode = mode_of(self);
    return mode && mode->env ? nonzero_of_fake(self, mode->env, use) : nonzero_of_numbers(self);
  });
}

TensorPtr nonzero(TensorImpl& fake, const EnvPtr& env, uint32_t symbol) {
  return tensor_operation(Op::kNonzero, fake, [&] {
    announce({&fake});
    SymInt count = sym_int_of(env, SizeExpr::unbacked(symbol));
    TensorPtr rows = new_rows(fake, count);
    remember(fake, env, count);
    return rows;
  });
}

}  // namespace slotcore::meta
