// What a tensor or a node owns in C++, and by what: its storage, base and `.grad`, its graph, what
// nodes have saved, and Python objects such as hooks. An impl that owns itself is never freed: the
// program that made the cycle must break it, because neither reference counts nor the collector of
// Python can (docs/decisions/014).
#pragma once

#include <string>
#include <vector>

#include "core/autograd/saved/saved_variable.h"

namespace slotcore::autograd {

// One strong reference, to an impl or to a Python object.
struct OwnedLink {
  intrusive_ptr_target* owner;  // null: the owner that was asked for, which has no impl
  const char* link;             // what Python calls the reference
  intrusive_ptr_target* impl;   // what is owned, or null
  PyObject* object;             // borrowed, or null
  std::string name;             // of the impl: "storage", "tensor", or the name of a node
  // The impl owns itself, or is between two that do; and each such cycle has a link that only the
  // user makes: a `.grad`, or the graph of a tensor that was written in place. Any other cycle is a
  // bug of this folder, and then this is false for all.
  bool is_in_cycle = false;
};

// All links, those that are closer to the owner first. No other thread may use the graph.
std::vector<OwnedLink> owned_links(TensorImpl& tensor);
std::vector<OwnedLink> owned_links(Node& node);
// Of an owner without an impl, which has saved these, and of its NODE unless that is null.
std::vector<OwnedLink> owned_links(const std::vector<SavedVariable>& saved, Node* node);

}  // namespace slotcore::autograd
