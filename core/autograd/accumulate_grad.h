// AccumulateGrad: the last node of each path, which adds gradients to the `.grad` of a leaf.
#pragma once

#include "core/autograd/node.h"

namespace slotcore::autograd {

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(TensorPtr leaf);

  std::string name() const override { return "AccumulateGrad"; }
  // Takes over a gradient that nothing else owns if it has the strides of a dense leaf, or else
  // contiguous ones, and copies any other. Adds in place to an existing `.grad` unless the sum is
  // recorded too. Throws runtime_error if the leaf has other sizes or another dtype than it had
  // when this node was made (A3d).
  Gradients apply(Gradients gradients) override;
  NodeHooks hooks() const override;
  void visit_owned(OwnedVisitor& visitor) const override;

  const TensorPtr& leaf() const noexcept { return leaf_; }

 protected:
  void release_resources() noexcept override;

 private:
  TensorPtr leaf_;
};

}  // namespace slotcore::autograd
