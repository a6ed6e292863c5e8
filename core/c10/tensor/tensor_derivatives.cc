// Loops over elements, one at a time, as in tensor_arithmetic.cc.

#include "core/c10/tensor/tensor_derivatives.h"

#include <stdexcept>
#include <vector>

#include "core/c10/check.h"
#include "core/c10/tensor/announce.h"
#include "core/c10/tensor/elements.h"
#include "core/c10/tensor/memory_overlap.h"
#include "core/c10/tensor/operation.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/c10/tensor/tensor_loops.h"

namespace slotcore::derivatives {
namespace {

using Share = Restriding::Share;

// Writes relu(self) into `out`, which has the same sizes.
void write_relu(const TensorImpl& out, const TensorImpl& self) {
  if (is_complex(self.type()))
    throw std::runtime_error("relu is not supported for complex numbers");
  if (self.type() == ScalarType::bool_) throw std::runtime_error("relu is not supported for bool");
  if (is_without_elements(out, self)) return;
  Elements written(out), read(self);
  with_type(self.type(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!is_complex_v<T>) {
      for_each_element(self.sizes(), std::array{out.strides(), self.strides()},
                       [&](const std::array<int64_t, 2>& at) {
                         T value = read.read<T>(at[1]);
                         written.write(at[0], value < T{} ? T{} : value);
                       });
    }
  });
}

// How often each element of the buffer is in `layout`.
std::vector<int64_t> repetitions(const Layout& layout, int64_t length) {
  std::vector<int64_t> counts(static_cast<size_t>(length), 0);
  for_each_element(layout.sizes, std::array{layout.strides}, [&](const std::array<int64_t, 1>& at) {
    counts[static_cast<size_t>(layout.offset + at[0])]++;
  });
  return counts;
}

}  // namespace

TensorPtr relu(const TensorImpl& self) {
  return tensor_operation(Op::kRelu, self, [&] {
    announce({&self});
    TensorPtr result = arithmetic::loops::new_like(self, self);
    write_relu(*result, self);
    return result;
  });
}

void relu_in_place(TensorImpl& self) {
  tensor_operation(Op::kReluInPlace, self, [&] {
    announce({&self});
    check_no_internal_overlap(self);
    write_relu(self, self);
    self.note_write();
  });
}

TensorPtr where_positive(const TensorImpl& gradient, const TensorImpl& result) {
  announce({&gradient, &result});
  SLOTCORE_CHECK(gradient.sizes() == result.sizes());
  TensorPtr out = arithmetic::loops::new_like(gradient, result);
  if (is_without_elements(*out, gradient, result)) return out;
  Elements written(*out), read(gradient), condition(result);
  with_type(gradient.type(), [&](auto zero) {
    using T = decltype(zero);
    for_each_element(gradient.sizes(),
                     std::array{out->strides(), gradient.strides(), result.strides()},
                     [&](const std::array<int64_t, 3>& at) {
                       bool positive = condition.read<double>(at[2]) > 0;
                       written.write(at[0], positive ? read.read<T>(at[1]) : T{});
                     });
  });
  return out;
}

TensorPtr to_type(const TensorImpl& self, ScalarType type) {
  auto result = make_intrusive<TensorImpl>(self.sizes(), type, self.place());
  arithmetic::copy(*result, arithmetic::Operand(const_cast<TensorImpl&>(self)));
  return result;
}

TensorPtr complex_of_pairs(const TensorImpl& pairs) {
  announce({&pairs});
  Dims sizes = pairs.sizes();
  SLOTCORE_CHECK(sizes.size() > 0 && sizes[sizes.size() - 1] == 2);
  Dims strides = pairs.strides();
  int64_t step = strides[sizes.size() - 1];
  sizes.erase(sizes.size() - 1);
  strides.erase(strides.size() - 1);
  auto result = make_intrusive<TensorImpl>(sizes, ScalarType::complex64, pairs.place());
  if (is_without_elements(*result, pairs)) return result;
  Elements written(*result), read(pairs);
  for_each_element(
      sizes, std::array{result->strides(), strides}, [&](const std::array<int64_t, 2>& at) {
        written.write(at[0],
                      std::complex<float>(read.read<float>(at[1]), read.read<float>(at[1] + step)));
      });
  return result;
}

Restriding Restriding::transposed() const {
  Share other = share == Share::kNone   ? Share::kNone
                : share == Share::kFrom ? Share::kTo
                                        : Share::kFrom;
  return {to, from, length, other};
}

TensorPtr restride(const TensorImpl& self, const Restriding& map) {
  announce({&self});
  SLOTCORE_CHECK(self.sizes() == map.from.sizes);
  auto result = make_intrusive<TensorImpl>(map.to.sizes, self.type(), self.place());
  if (is_without_elements(*result, self)) return result;
  std::vector<int64_t> counts;
  if (map.share != Share::kNone)
    counts = repetitions(map.share == Share::kFrom ? map.from : map.to, map.length);
  Elements read(self), written(*result);
  with_type(self.type(), [&](auto zero) {
    using T = decltype(zero);
    // Not a vector<bool>, whose elements have no addresses: only numbers have gradients.
    if constexpr (std::is_same_v<T, bool>) {
      SLOTCORE_CHECK(false);
    } else {
      std::vector<T> buffer(static_cast<size_t>(map.length));
      auto share = [&](T value, size_t place, Share when) {
        return map.share == when ? value / convert<T>(counts[place]) : value;
      };
      for_each_element(map.from.sizes, std::array{map.from.strides, self.strides()},
                       [&](const std::array<int64_t, 2>& at) {
                         auto place = static_cast<size_t>(map.from.offset + at[0]);
                         buffer[place] += share(read.read<T>(at[1]), place, Share::kFrom);
                       });
      for_each_element(map.to.sizes, std::array{result->strides(), map.to.strides},
                       [&](const std::array<int64_t, 2>& at) {
                         auto place = static_cast<size_t>(map.to.offset + at[1]);
                         written.write(at[0], share(buffer[place], place, Share::kTo));
                       });
    }
  });
  return result;
}

}  // namespace slotcore::derivatives
