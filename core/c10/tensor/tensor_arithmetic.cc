// Arithmetic as operations, which a tracer may record.

#include "core/c10/tensor/tensor_arithmetic.h"

#include "core/c10/tensor/elements.h"
#include "core/c10/tensor/tensor_loops.h"

namespace slotcore::arithmetic {
namespace {

OpCall call_of(Op op, const Operand& a, const Operand& b) {
  OpCall call{op};
  for (const Operand* operand : {&a, &b}) {
    if (operand->is_number) {
      call.operands.emplace_back(operand->number);
    } else {
      call.operands.emplace_back(operand->tensor);
    }
  }
  return call;
}

// A graph makes tensors on cpu only; on meta, place_of_new() refuses to be traced.
TensorPtr made(Op op, const Dims& sizes, ScalarType type, Device device, bool value) {
  auto run = [&] { return loops::new_filled(sizes, type, device, value); };
  if (device != Device::kCpu) return run();
  return operation([&] { return OpCall{op, {}, {sizes.begin(), sizes.end()}, type}; }, run);
}

}  // namespace

TensorPtr compute(Op op, const Operand& a, const Operand& b) {
  return operation([&] { return call_of(op, a, b); }, [&] { return loops::new_result(op, a, b); });
}

void compute_in_place(Op op, TensorImpl& self, const Operand& other) {
  operation([&] { return call_of(op, Operand(self), other); },
            [&] { loops::write_result(op, self, other); });
}

void check_fits(ScalarType type, const Scalar& value) {
  with_type(type, [&](auto zero) { (void)checked_convert<decltype(zero)>(value); });
}

void fill(TensorImpl& self, const Scalar& value) {
  operation(
      [&] {
        return OpCall{Op::kFill, {TensorPtr::retain(&self), value}};
      },
      [&] { loops::write_number(self, value); });
}

void copy(TensorImpl& self, const Operand& source) {
  operation([&] { return call_of(Op::kCopy, Operand(self), source); },
            [&] { loops::write_copy(self, source); });
}

TensorPtr clone(const TensorImpl& self) {
  return tensor_operation(Op::kClone, self, [&] { return loops::new_copy(self); });
}

TensorPtr sum(const TensorImpl& self) {
  return tensor_operation(Op::kSum, self, [&] { return loops::new_sum(self); });
}

TensorPtr ones(const Dims& sizes, ScalarType type, Device device) {
  return made(Op::kOnes, sizes, type, device, true);
}

TensorPtr zeros(const Dims& sizes, ScalarType type, Device device) {
  return made(Op::kZeros, sizes, type, device, false);
}

}  // namespace slotcore::arithmetic
