// GradsDropped: breaks the circles that fakes make by their gradients.
#pragma once

#include <span>
#include <vector>

#include "core/autograd/autograd_meta.h"

namespace slotfuzz {

// At its end, no tensor that these lead to by bases and gradients has a gradient. A fake owns its
// gradient, and nothing else breaks a circle of them, since there is no collector here.
class GradsDropped {
 public:
  explicit GradsDropped(std::span<const slotcore::autograd::TensorPtr> tensors)
      : found_(tensors.begin(), tensors.end()) {}
  GradsDropped(const GradsDropped&) = delete;
  GradsDropped& operator=(const GradsDropped&) = delete;
  ~GradsDropped() {
    while (!found_.empty()) {
      slotcore::autograd::TensorPtr one = std::move(found_.back());
      found_.pop_back();
      if (one->base()) found_.push_back(one->base());
      if (auto* data = slotcore::autograd::meta_of(*one); data != nullptr) {
        if (auto grad = data->gradient.exchange(nullptr)) found_.push_back(std::move(grad));
      }
    }
  }

 private:
  std::vector<slotcore::autograd::TensorPtr> found_;
};

}  // namespace slotfuzz
