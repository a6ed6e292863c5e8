// Tensors and backwards for the tests of this folder.
#pragma once

#include <vector>

#include "core/autograd/engine/engine.h"
#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/functions/in_place.h"
#include "core/autograd/functions/relu.h"
#include "core/autograd/functions/view.h"
#include "core/autograd/history.h"
#include "core/c10/tensor/elements.h"
#include "core/c10/tensor/tensor_views.h"

namespace slotcore::autograd {

inline TensorPtr tensor_of(const std::vector<double>& values,
                           ScalarType type = ScalarType::float32) {
  auto tensor = make_intrusive<TensorImpl>(Dims{static_cast<int64_t>(values.size())}, type);
  Elements written(*tensor);
  for (size_t i = 0; i < values.size(); i++) written.write(static_cast<int64_t>(i), values[i]);
  return tensor;
}

inline TensorPtr leaf_of(const std::vector<double>& values, ScalarType type = ScalarType::float32) {
  TensorPtr leaf = tensor_of(values, type);
  set_requires_grad(*leaf, true);
  return leaf;
}

// All elements in row-major order; nothing for null.
inline std::vector<double> values_of(const TensorPtr& tensor) {
  if (!tensor) return {};
  std::vector<double> values;
  Elements read(*tensor);
  for_each_element(
      tensor->sizes(), std::array{tensor->strides()},
      [&](const std::array<int64_t, 1>& at) { values.push_back(read.read<double>(at[0])); });
  return values;
}

inline Operand number(double value) { return Operand(arithmetic::Scalar(value)); }
inline TensorPtr operator*(const TensorPtr& a, const TensorPtr& b) {
  return multiply(Operand(*a), Operand(*b));
}
inline TensorPtr operator+(const TensorPtr& a, const TensorPtr& b) {
  return add(Operand(*a), Operand(*b));
}
inline TensorPtr operator*(const TensorPtr& a, double b) {
  return multiply(Operand(*a), number(b));
}

inline TensorPtr part(const TensorPtr& tensor, int64_t start, int64_t length) {
  return record_view(*tensor, "SliceBackward0",
                     [&](TensorImpl& one) { return views::narrow(one, 0, start, length); });
}

inline void backward(const TensorPtr& tensor, BackwardOptions options = {}) {
  TensorPtr total = sum(*tensor);
  TensorPtr one = tensor_of({1}, total->type());
  run_backward({gradient_edge(*total)}, {views::select(*one, 0, 0)}, options);
}

// The gradients of the sum of `tensor` for `inputs`.
inline Gradients gradients(const TensorPtr& tensor, const std::vector<TensorPtr>& inputs,
                           BackwardOptions options = {}) {
  TensorPtr total = sum(*tensor);
  TensorPtr one = tensor_of({1}, total->type());
  std::vector<Edge> edges;
  for (const TensorPtr& input : inputs) edges.push_back(gradient_edge(*input));
  options.accumulate = false;
  return run_backward({gradient_edge(*total)}, {views::select(*one, 0, 0)}, options, edges);
}

}  // namespace slotcore::autograd
