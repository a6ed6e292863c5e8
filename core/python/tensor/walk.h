// Walk: what a wrapper reports to the collector of what its impl owns, and a ctx of what it has
// saved.
#pragma once

#include <Python.h>

#include <unordered_map>
#include <vector>

#include "core/autograd/saved/saved_variable.h"
#include "core/python/preserve/wrapper.h"

namespace slotcore::python {

// Note [Owned by this wrapper alone]
// A wrapper that alone owns its impl reports what Python alone owns through that impl: storages,
// grads, bases, graph nodes with what these have saved, and what all of them own (P5, A4). An impl
// may have two owners on the way: a view and its base both own the storage. So the walk counts
// owners, and enters an impl when it has met all of its owners. The walk continues through a
// wrapper that only its impl refers to, and stops at any other (visit_sole_owned). The walk does
// not enter impls that own each other in a cycle: no owner outside owns all of them.
//
// Note [What a walk follows]
// Only the first pass of the collector counts; see Note [Two passes of the collector]. It gives
// each impl that it follows the number of the walk, and the wrapper keeps that number. A later pass
// follows the impls with this number, even if they are shared by then. So it reads no impl that
// other threads used all the time; and if n tensors of one graph have wrappers, n walks take time
// in proportion to n and not to n * n.
class Walk final : private autograd::OwnedVisitor {
 public:
  // `number` belongs to the wrapper or the ctx.
  Walk(const Interpreter* interpreter, uint64_t* number, visitproc visit, void* arg);

  // Begins with what this tensor or node owns: it is the impl of the wrapper.
  void from(TensorImpl* tensor) { tensors_.push_back(tensor); }
  void from(autograd::Node* node) { nodes_.push_back(node); }
  // Begins with what the ctx `owner` has saved.
  void from(const void* owner, const autograd::SavedVariable& saved) {
    owner_ = owner;
    saved.visit_owned(*this);
  }
  // Visits the rest. The result is that of `visit`, for tp_traverse.
  int run();

 private:
  void tensor(const char* link, TensorImpl* tensor) override;
  void node(const char* link, autograd::Node* node) override;
  void object(const char* link, PyObject* object) override;

  void note(const char* link, const void* owned) const noexcept;
  // Reports the references of one impl.
  void enter(TensorImpl* tensor);
  // Meets one owner of `target`; whether the walk now goes on with what it owns.
  bool follows(intrusive_ptr_target* target);

  const Interpreter* interpreter_;
  visitproc visit_;
  void* arg_;
  bool asks_;  // whether this is the first pass
  const void* owner_ = nullptr;  // whose references are reported now
  uint64_t number_;
  int stop_ = 0;
  std::vector<TensorImpl*> tensors_;  // met, but not entered
  std::vector<autograd::Node*> nodes_;
  std::unordered_map<intrusive_ptr_target*, uint32_t> owners_;
};

}  // namespace slotcore::python
