// Operations as data: the name, the operands and the attributes of a call, for a tracer and for the
// cache of a mode. Each function of c10 that computes, views or writes a tensor runs in
// operation(), which costs a branch where there is neither. core/meta/graph/op_rules.cc has what
// each is in Python, and runs it.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/c10/impl/operation_tracer_tls.h"
#include "core/c10/tensor/tensor_impl.h"

namespace slotcore {

// A number that does not come from a tensor.
using Scalar = std::variant<bool, int64_t, double, std::complex<double>>;

enum class Op : uint8_t {
  kAlias,
  kView,
  kViewAsType,
  kViewAsReal,
  kNarrow,
  kSlice,
  kSelect,
  kAsStrided,
  kTranspose,
  kT,
  kExpand,
  kConj,
  kNegView,
  kDetach,
  kData,
  kAdd,
  kMultiply,
  kEqual,
  kNotEqual,
  kAddInPlace,
  kMultiplyInPlace,
  kFill,
  kCopy,
  kClone,
  kSum,
  kRelu,
  kReluInPlace,
  kOnes,
  kZeros,
  kItem,
  kNonzero,
};

struct OpCall {
  using Operand = std::variant<intrusive_ptr<TensorImpl>, Scalar>;

  Op op;
  std::vector<Operand> operands = {};  // the first is written, if one is
  std::vector<SymInt> numbers = {};    // sizes, strides, dimensions, indices
  std::optional<ScalarType> type = {};
};

// Runs `run`, which returns a tensor, a SymInt, or nothing if it writes the first operand.
// `describe` returns the OpCall, and is called only for a tracer or a mode.
template <class Describe, class Run>
auto operation(Describe describe, Run run) -> decltype(run()) {
  impl::OperationTracer* tracer = impl::OperationTracerTLS::current();
  impl::TorchDispatchMode* mode = impl::TorchDispatchModeTLS::innermost();
  if (tracer == nullptr && mode == nullptr) [[likely]]
    return run();
  OpCall call = describe();
  if (tracer != nullptr) tracer->before(call);
  auto run_untraced = [&] {
    impl::OperationTracerScope inside(nullptr);
    if constexpr (std::is_same_v<decltype(run()), intrusive_ptr<TensorImpl>>) {
      if (mode != nullptr) return mode->result_of(call, run);
    }
    return run();
  };
  if constexpr (std::is_void_v<decltype(run())>) {
    run_untraced();
    if (tracer != nullptr)
      tracer->after(call, std::get<intrusive_ptr<TensorImpl>>(call.operands.at(0)));
  } else {
    auto result = run_untraced();
    if (tracer != nullptr) tracer->after(call, result);
    return result;
  }
}

inline void append_numbers(std::vector<SymInt>& all, const SymInt& number) {
  all.push_back(number);
}
template <class Int>
void append_numbers(std::vector<SymInt>& all, const BasicDims<Int>& numbers) {
  for (const Int& number : numbers) all.push_back(number);
}

// An operation on one tensor, with these attributes.
template <class Run, class... Numbers>
auto tensor_operation(Op op, const TensorImpl& tensor, Run run, const Numbers&... numbers) {
  return operation(
      [&] {
        OpCall call{op, {intrusive_ptr<TensorImpl>::retain(const_cast<TensorImpl*>(&tensor))}};
        (append_numbers(call.numbers, numbers), ...);
        return call;
      },
      run);
}

}  // namespace slotcore
