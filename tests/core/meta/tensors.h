// Tensors, and documents of them, for the tests of core/meta.
#pragma once

#include <gtest/gtest.h>

#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/functions/in_place.h"
#include "core/autograd/functions/view.h"
#include "core/autograd/grad_mode.h"
#include "core/autograd/history.h"
#include "core/c10/tensor/tensor_arithmetic.h"
#include "core/c10/tensor/tensor_views.h"
#include "core/meta/desc_check.h"
#include "core/meta/text/desc_read.h"
#include "core/meta/text/desc_write.h"
#include "core/meta/describer.h"
#include "core/meta/meta_converter.h"

namespace slotcore::meta {

inline TensorPtr make(const Dims& sizes, ScalarType type = ScalarType::float32) {
  return make_intrusive<TensorImpl>(sizes, type);
}

inline TensorPtr view(const TensorPtr& tensor, const Dims& sizes) {
  return autograd::record_view(*tensor, "ViewBackward0",
                               [&](TensorImpl& one) { return views::view(one, sizes); });
}

inline void set_grad(const TensorPtr& tensor, const TensorPtr& grad) {
  auto former = autograd::exchange_grad(*tensor, grad);
}

inline std::shared_ptr<const Document> described(MetaTensorDescriber& describer,
                                                 const std::vector<TensorPtr>& tensors) {
  return describer.describe(tensors, {});
}

inline std::string text_of(const std::vector<TensorPtr>& tensors) {
  MetaTensorDescriber describer;
  return dumps(*described(describer, tensors));
}

}  // namespace slotcore::meta
