// The history of a tensor that an operation writes. The edges are taken before the write, because
// the first one leads to what the tensor was.

#include "core/autograd/functions/in_place.h"

#include <stdexcept>

#include "core/autograd/functions/arithmetic.h"

namespace slotcore::autograd {
namespace {

// The elements of the result do not depend on what they were.
class OverwriteBackward final : public Node {
 public:
  OverwriteBackward(const char* name, bool has_source) : name_(name), has_source_(has_source) {}
  std::string name() const override { return name_; }
  Gradients apply(Gradients gradients) override {
    Gradients results(has_source_ ? 2 : 1);
    if (!gradients.at(0)) return results;
    if (needs(0)) {
      results[0] = arithmetic::clone(*gradients[0]);
      arithmetic::fill(*results[0], false);
    }
    if (has_source_ && needs(1)) results[1] = gradients[0];
    return results;
  }

 private:
  const char* name_;
  bool has_source_;
};

// An operation that has no derivative.
class ErrorNode final : public Node {
 public:
  explicit ErrorNode(const char* name) : name_(name) {}
  std::string name() const override { return name_; }
  Gradients apply(Gradients) override {
    throw std::runtime_error(std::string("there is no derivative of ") + name_);
  }

 private:
  const char* name_;
};

// The tensor whose history a write of `tensor` changes.
const TensorImpl& base_or_itself(const TensorImpl& tensor) noexcept {
  return tensor.base() ? *tensor.base() : tensor;
}

// Runs `write`; records that the node which `make` returns wrote `self` from itself and `source`,
// which may be null.
template <class Write, class Make>
void written(TensorImpl& self, TensorImpl* source, Write write, Make make) {
  check_in_place(self);
  bool is_wanted = is_recorded({&self}) || (source != nullptr && is_recorded({source}));
  if (!is_wanted || !is_differentiable(self.type())) {
    write();
    return;
  }
  check_rebase(self);
  // What saves a tensor may call a hook, which may drop what the caller has.
  auto keep = TensorPtr::retain(&self);
  intrusive_ptr<Node> node = make();
  node->set_next_edges(source == nullptr ? edges_to({&self}) : edges_to({&self, source}));
  write();
  rebase_history(self, std::move(node));
}

}  // namespace

void add_in_place(TensorImpl& self, const Operand& other) {
  written(
      self, other.tensor.get(), [&] { arithmetic::compute_in_place(Op::kAddInPlace, self, other); },
      &make_add_node);
}

void multiply_in_place(TensorImpl& self, const Operand& factor) {
  Operand other = factor.beside(self);
  TensorImpl* right = other.tensor.get();
  written(
      self, right, [&] { arithmetic::compute_in_place(Op::kMultiplyInPlace, self, other); },
      [&] {
        // A copy, because the write changes the elements. It is recorded: a second derivative goes
        // through what the tensor was.
        TensorPtr former = takes_gradient(*right) ? clone(self) : nullptr;
        return make_multiply_node(former.get(), takes_gradient(self) ? right : nullptr,
                                  &base_or_itself(self) == &base_or_itself(*right));
      });
}

void fill_in_place(TensorImpl& self, const Scalar& value) {
  written(
      self, nullptr, [&] { arithmetic::fill(self, value); },
      [] { return make_intrusive<OverwriteBackward>("FillBackward0", false); });
}

void fill_in_place(TensorImpl& self, TensorImpl& value) {
  written(
      self, &value, [&] { arithmetic::copy(self, Operand(*arithmetic::clone(value))); },
      [] { return make_intrusive<OverwriteBackward>("FillBackward1", true); });
}

void copy_in_place(TensorImpl& self, const Operand& source) {
  written(
      self, source.tensor.get(), [&] { arithmetic::copy(self, source); },
      [] { return make_intrusive<OverwriteBackward>("CopyBackwards", true); });
}

intrusive_ptr<StorageImpl> set_in_place(TensorImpl& self, intrusive_ptr<StorageImpl> storage,
                                        const Layout& layout, TensorImpl* source) {
  intrusive_ptr<StorageImpl> former;
  written(
      self, source,
      [&] {
        former = self.exchange_storage(std::move(storage), layout);
        self.version().bump();
      },
      [] { return make_intrusive<ErrorNode>("SetBackward0"); });
  return former;
}

}  // namespace slotcore::autograd
