// What a tensor stores for autograd, as far as this layer must know. core/autograd implements it,
// so that this layer does not depend on graphs.
#pragma once

#include "core/c10/intrusive_ptr.h"

namespace slotcore {

class TensorImpl;

class AutogradMetaInterface {
 public:
  virtual ~AutogradMetaInterface() = default;
  // Whether the tensor was marked by the user, or computed from one that requires a gradient.
  virtual bool requires_grad() const noexcept = 0;
  virtual intrusive_ptr<TensorImpl> grad() const noexcept = 0;
  // Releases what it owns. Called once, when the tensor has expired.
  virtual void release() noexcept = 0;
};

}  // namespace slotcore
