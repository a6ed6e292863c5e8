// What a tensor or a node owns in C++: through its storage, base and `.grad`, its graph, and what
// nodes have saved. An impl that owns itself is never freed: the program that made the cycle must
// break it, because neither reference counts nor the collector of Python can (docs/decisions/014).
#pragma once

#include <string>
#include <vector>

#include "core/autograd/saved/saved_variable.h"

namespace slotcore::autograd {

struct OwnedImpl {
  const intrusive_ptr_target* impl;
  std::string name;                   // "storage", "tensor", or that of a node
  const intrusive_ptr_target* owner;  // one of those that are closest to the tensor
  // It owns itself, or is between two that do; and each such cycle has a link that only the user
  // makes: a `.grad`, or the graph of a tensor that was written in place. Any other cycle is a bug
  // of this folder, and then this is false for all.
  bool is_in_cycle = false;
};

// Each impl once, those that are closer first; the owner itself is among them if it owns itself.
// No other thread may use the graph.
std::vector<OwnedImpl> owned_impls(TensorImpl& tensor);
std::vector<OwnedImpl> owned_impls(Node& node);
// Of an owner without an impl, which has saved these; their tensors are among the result.
std::vector<OwnedImpl> owned_impls(const std::vector<SavedVariable>& saved);

}  // namespace slotcore::autograd
