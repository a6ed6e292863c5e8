// nonzero(), the only operation whose result has a size that the elements decide. Of a fake in a
// mode with an environment, this size is an unbacked symbol, the same while nothing writes the fake
// (M15). Other fakes have no answer: NoDataError.
#pragma once

#include <functional>

#include "core/meta/fake_mode.h"

namespace slotcore::meta {

// The indices of the elements that are not zero: of int64, a row for each, in row-major order. Of a
// fake, `use` gets them before the environment keeps their symbol: if it throws, none stays (M14).
autograd::TensorPtr nonzero(TensorImpl& self,
                            const std::function<void(const autograd::TensorPtr&)>& use = {});
// The same of a fake, for whose number of rows the environment has this symbol already.
autograd::TensorPtr nonzero(TensorImpl& fake, const EnvPtr& env, uint32_t symbol);

}  // namespace slotcore::meta
