// One element at a time; speed does not matter here.

#include "core/c10/tensor/tensor_loops.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/c10/tensor/announce.h"
#include "core/c10/tensor/elements.h"
#include "core/c10/tensor/memory_overlap.h"

namespace slotcore::arithmetic {
namespace {

// The type of a result. Tensors with dimensions precede tensors without, and those precede numbers.
// An operand that comes later changes the type only if its kind is higher.
std::optional<ScalarType> combine(std::optional<ScalarType> more, std::optional<ScalarType> less) {
  if (!more || !less) return more ? more : less;
  return kind_of(*less) <= kind_of(*more) ? *more : promote_types(*more, *less);
}

ScalarType result_type(const Operand& a, const Operand& b) {
  std::array<std::optional<ScalarType>, 3> ranks;
  for (const Operand* operand : {&a, &b}) {
    ScalarType type = operand->tensor->type();
    if (operand->is_number && type == ScalarType::float64) type = ScalarType::float32;
    auto& rank = ranks[operand->is_number ? 2 : operand->tensor->dim() == 0 ? 1 : 0];
    rank = rank ? promote_types(*rank, type) : type;
  }
  return *combine(ranks[0], combine(ranks[1], ranks[2]));
}

template <class T>
T apply(Op op, T a, T b) {
  bool adds = op == Op::kAdd || op == Op::kAddInPlace;
  if constexpr (std::is_same_v<T, bool>) {
    return adds ? a || b : a && b;
  } else if constexpr (std::is_integral_v<T>) {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(adds ? x + y : x * y);  // wraps
  } else if constexpr (std::is_floating_point_v<T>) {
    return adds ? a + b : a * b;
  } else {
    return adds ? a + T{1} * b : a * b;  // torch's alpha: a complex product may turn -0 into 0
  }
}

// Numbers are at no place.
void announce_operands(const Operand& a, const Operand& b) {
  for (const Operand* operand : {&a, &b}) {
    if (!operand->is_number) announce({operand->tensor.get()});
  }
  if (!a.is_number && !b.is_number) check_same_mode(*a.tensor, *b.tensor);
}

const Place& result_place(const Operand& a, const Operand& b) {
  const Place &first = a.tensor->place(), &second = b.tensor->place();
  if (a.is_number || first == second) return second;
  if (b.is_number) return first;
  const Operand& on_cpu = first.device == Device::kCpu ? a : b;
  if (on_cpu.tensor->dim() != 0)
    throw std::runtime_error("the operands are on different devices: cpu and meta");
  return first.device == Device::kMeta ? first : second;
}

bool is_comparison(Op op) { return op == Op::kEqual || op == Op::kNotEqual; }

// out = a OPERATION b, computed as `type`.
void run(Op op, const TensorImpl& out, const TensorImpl& a, const TensorImpl& b, ScalarType type) {
  if (is_without_elements(out, a, b)) return;
  Elements written(out), left(a), right(b);
  const Dims& sizes = out.sizes();
  std::array<Dims, 3> strides{out.strides(), broadcast_strides(a.sizes(), a.strides(), sizes),
                              broadcast_strides(b.sizes(), b.strides(), sizes)};
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for_each_element(sizes, strides, [&](const std::array<int64_t, 3>& at) {
      T x = left.read<T>(at[1]), y = right.read<T>(at[2]);
      if (is_comparison(op)) {
        written.write(at[0], (x == y) == (op == Op::kEqual));
      } else {
        written.write(at[0], apply(op, x, y));
      }
    });
  });
}

template <class Int>
TensorPtr new_dense(const BasicLayout<Int>& layout, ScalarType type, const Place& place) {
  auto item = static_cast<int64_t>(item_size(type));
  SymInt nbytes = checked_multiply(element_count(layout.sizes), item);
  return make_intrusive<TensorImpl>(make_storage(nbytes, place), layout, type);
}

void write_all(const TensorImpl& self, const Scalar& value) {
  with_type(self.type(), [&](auto zero) {
    auto converted = checked_convert<decltype(zero)>(value);
    if (is_without_elements(self)) return;
    Elements written(self);
    for_each_element(self.sizes(), std::array{self.strides()},
                     [&](const std::array<int64_t, 1>& at) { written.write(at[0], converted); });
  });
}

void check_overlap(const TensorImpl& self, const TensorImpl& read) {
  check_no_internal_overlap(self);
  check_no_partial_overlap(self, read);
}

// Whether the storages of both have a byte in common: storages may share bytes.
bool share_bytes(const TensorImpl& a, const TensorImpl& b) {
  if (a.storage() == b.storage()) return true;
  if (!a.place().has_bytes() || !b.place().has_bytes()) return false;
  auto begin_of = [](const TensorImpl& tensor) {
    return reinterpret_cast<uintptr_t>(tensor.storage()->data());
  };
  auto end_of = [&](const TensorImpl& tensor) {
    return begin_of(tensor) + tensor.storage()->nbytes();
  };
  // Without a branch, which code is covered does not depend on where the allocator puts bytes.
  return std::max(begin_of(a), begin_of(b)) < std::min(end_of(a), end_of(b));
}

// Whether each element of one is in the place of that of the other.
bool are_in_one_place(const TensorImpl& a, const TensorImpl& b) {
  if (item_size(a.type()) != item_size(b.type())) return false;
  if (a.storage() != b.storage())
    return a.data() == b.data() && a.sizes() == b.sizes() && a.strides() == b.strides();
  auto is_equal = [](const auto& one, const auto& other) { return one == other; };
  return with_layouts(is_equal, a, b);
}

// The tensor to read while `self` is written: a copy if a write might change what is read later.
TensorPtr to_read(const TensorImpl& self, const TensorPtr& source) {
  bool apart = !share_bytes(*source, self) || are_in_one_place(*source, self);
  return apart ? source : clone(*source);
}

}  // namespace

Operand::Operand(const Scalar& number)
    : tensor(make_intrusive<TensorImpl>(Dims{}, type_of(number))), is_number(true), number(number) {
  write_all(*tensor, number);
}

Operand Operand::beside(const TensorImpl& other) const {
  Operand operand = *this;
  if (is_number && other.is_fake())
    operand.tensor = make_intrusive<TensorImpl>(Dims{}, tensor->type(), other.place());
  return operand;
}

namespace loops {

TensorPtr new_result(Op op, const Operand& a, const Operand& b) {
  announce_operands(a, b);
  ScalarType type = result_type(a, b);
  TensorPtr result = with_layouts(
      [&](const auto& x, const auto& y) {
        return new_dense(result_layout(x, y), is_comparison(op) ? ScalarType::bool_ : type,
                         result_place(a, b));
      },
      *a.tensor, *b.tensor);
  run(op, *result, *a.tensor, *b.tensor, type);
  return result;
}

void write_result(Op op, TensorImpl& self, const Operand& other) {
  announce_operands(Operand(self), other);
  ScalarType type = result_type(Operand(self), other);
  if (!can_cast(type, self.type())) {
    throw std::runtime_error(std::string("a result of ") + name_of(type) +
                             " cannot be stored in a tensor of " + name_of(self.type()));
  }
  auto check_sizes = [](const auto& written, const auto& read) {
    auto sizes = broadcast_sizes(written.sizes, read.sizes);
    if (sizes != written.sizes) {
      throw std::runtime_error("a result of size " + text(sizes) +
                               " cannot be stored in a tensor of " + text(written.sizes));
    }
  };
  with_layouts(check_sizes, self, *other.tensor);
  if (result_place(Operand(self), other) != self.place())
    throw std::runtime_error("a result on meta cannot be stored in a tensor on cpu");
  check_overlap(self, *other.tensor);
  run(op, self, self, *to_read(self, other.tensor), type);
  self.note_write();
}

void write_number(TensorImpl& self, const Scalar& value) {
  announce({&self});
  write_all(self, value);
  self.note_write();
}

void write_copy(TensorImpl& self, const Operand& source) {
  announce_operands(Operand(self), source);
  with_layouts(
      [](const auto& to, const auto& from) {
        (void)broadcast_strides(from.sizes, from.strides, to.sizes);
      },
      self, *source.tensor);
  check_overlap(self, *source.tensor);
  if (source.tensor.get() == &self) {
    // Nothing is read or written, but the call counts as a write.
    self.note_write();
    return;
  }
  TensorPtr kept = to_read(self, source.tensor);
  if (is_without_elements(self, *kept)) {
    // A fake of a tensor on cpu refuses what that tensor does (M15): on meta there are no numbers.
    if (self.place().device == Device::kCpu && kept->place().device == Device::kMeta) {
      (void)kept->checked_data();
    }
  } else {
    Dims strides = broadcast_strides(kept->sizes(), kept->strides(), self.sizes());
    Elements written(self), read(*kept);
    with_type(kept->type(), [&](auto zero) {
      using T = decltype(zero);
      for_each_element(
          self.sizes(), std::array{self.strides(), strides},
          [&](const std::array<int64_t, 2>& at) { written.write(at[0], read.read<T>(at[1])); });
    });
  }
  self.note_write();
}

TensorPtr new_like(const TensorImpl& a, const TensorImpl& b) {
  return with_layouts(
      [&](const auto& x, const auto& y) {
        return new_dense(result_layout(x, y), a.type(), a.place());
      },
      a, b);
}

TensorPtr new_copy(const TensorImpl& self) {
  announce({&self});
  check_elements(self);
  TensorPtr result = with_layouts(
      [&](const auto& layout) { return new_dense(copy_layout(layout), self.type(), self.place()); },
      self);
  if (is_without_elements(*result)) return result;
  Elements written(*result), read(self);
  with_type(self.type(), [&](auto zero) {
    using T = decltype(zero);
    for_each_element(
        self.sizes(), std::array{result->strides(), self.strides()},
        [&](const std::array<int64_t, 2>& at) { written.write(at[0], read.read<T>(at[1])); });
  });
  return result;
}

TensorPtr new_sum(const TensorImpl& self) {
  announce({&self});
  bool counts = kind_of(self.type()) < kind_of(ScalarType::float32);
  auto result =
      make_intrusive<TensorImpl>(Dims{}, counts ? ScalarType::int64 : self.type(), self.place());
  if (is_without_elements(*result, self)) return result;
  Elements read(self);
  with_type(result->type(), [&](auto zero) {
    for_each_element(self.sizes(), std::array{self.strides()},
                     [&](const std::array<int64_t, 1>& at) {
                       zero = apply(Op::kAdd, zero, read.read<decltype(zero)>(at[0]));
                     });
    Elements(*result).write(0, zero);
  });
  return result;
}

TensorPtr new_filled(const Dims& sizes, ScalarType type, Device device, bool value) {
  auto tensor = make_intrusive<TensorImpl>(sizes, type, place_of_new(device));
  if (!value || !tensor->place().has_bytes()) return tensor;  // new memory is zero
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(static_cast<T*>(tensor->checked_data()), tensor->numel(), T{1});
  });
  return tensor;
}

}  // namespace loops
}  // namespace slotcore::arithmetic
