// CopySlices: the grad_fn of a base after one of its views was written in place. See
// Note [Views and in-place operations] in history.h.
#pragma once

#include "core/autograd/functions/view.h"

namespace slotcore::autograd {

class CopySlices final : public Node {
 public:
  // `written` computed `view` in place; its first edge leads to what the view was before. Edge 0 of
  // this node leads to what `base` was before, and the others are those of `written`.
  CopySlices(TensorImpl& base, TensorImpl& view, intrusive_ptr<Node> written);

  std::string name() const override { return "CopySlices"; }
  Gradients apply(Gradients gradients) override;
  bool release_variables() noexcept override;
  void release_objects() noexcept override;
  void visit_owned(OwnedVisitor& visitor) const override;
  const intrusive_ptr<Node>& written() const noexcept { return written_; }

 protected:
  void release_resources() noexcept override;

 private:
  ViewInfo info_;
  intrusive_ptr<Node> written_;  // null when released
};

}  // namespace slotcore::autograd
