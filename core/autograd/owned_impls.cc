// A walk in breadth over owners.

#include "core/autograd/owned_impls.h"

#include <unordered_map>
#include <unordered_set>

#include "core/autograd/autograd_meta.h"

namespace slotcore::autograd {
namespace {

class Search final : private OwnedVisitor {
 public:
  // Begins with what an owner without an impl owns.
  void from(const SavedVariable& saved) { saved.visit_owned(*this); }
  void from(TensorImpl* tensor, Node* node) { pending_.push_back({tensor, node}); }

  std::vector<OwnedImpl> run() {
    // The list grows while it is read.
    for (size_t next = 0; next < pending_.size(); next++) {
      auto [tensor, node] = pending_[next];
      if (tensor != nullptr) {
        enter(*tensor);
      } else {
        owner_ = node;
        node->visit_owned(*this);
      }
    }
    mark_cycles();
    return std::move(found_);
  }

 private:
  struct Pending {
    TensorImpl* tensor;
    Node* node;
  };

  void tensor(TensorImpl* tensor) override {
    if (meet(tensor, "tensor")) pending_.push_back({tensor, nullptr});
  }
  void node(Node* node) override {
    if (meet(node, node->name())) pending_.push_back({nullptr, node});
  }
  void object(PyObject*) override {}  // the collector of Python follows those

  void enter(TensorImpl& entered) {
    owner_ = &entered;
    meet(entered.storage().get(), "storage");
    if (entered.base()) tensor(entered.base().get());
    AutogradMeta* meta = meta_of(entered);
    if (meta == nullptr) return;
    by_user_ = true;
    if (TensorImpl* grad = meta->grad_for_collector()) tensor(grad);
    by_user_ = entered.version().value() > 0;
    if (meta->grad_fn) node(meta->grad_fn.get());
    by_user_ = false;
  }

  bool meet(const intrusive_ptr_target* target, std::string name) {
    links_.push_back({owner_, target, by_user_});
    if (!met_.insert(target).second) return false;
    found_.push_back({target, std::move(name), owner_});
    return true;
  }

  using Impl = const intrusive_ptr_target*;

  struct Link {
    Impl owner;
    Impl owned;
    bool by_user;
  };

  void mark_cycles() {
    if (!impls_in_cycles(/*with_users=*/false).empty()) return;
    std::unordered_set<Impl> cyclic = impls_in_cycles(/*with_users=*/true);
    for (OwnedImpl& one : found_) one.is_in_cycle = cyclic.contains(one.impl);
  }

  // What is left when each impl that owns nothing is removed, again and again, leads to a cycle;
  // what is left of that when each impl that nothing owns is removed is in one, or between two.
  std::unordered_set<Impl> impls_in_cycles(bool with_users) const {
    std::vector<std::pair<Impl, Impl>> forwards, backwards;
    for (const Link& link : links_) {
      if (link.by_user && !with_users) continue;
      forwards.emplace_back(link.owner, link.owned);
      backwards.emplace_back(link.owned, link.owner);
    }
    std::unordered_set<Impl> left = met_;
    remove_ends(left, forwards);
    remove_ends(left, backwards);
    return left;
  }

  // Removes impls from which no edge to another one in `left` begins, until each has one.
  static void remove_ends(std::unordered_set<Impl>& left,
                          const std::vector<std::pair<Impl, Impl>>& edges) {
    std::unordered_map<Impl, size_t> count;
    std::unordered_multimap<Impl, Impl> back;
    for (auto [from, to] : edges) {
      if (!left.contains(from) || !left.contains(to)) continue;
      count[from]++;
      back.emplace(to, from);
    }
    std::vector<Impl> ends;
    for (Impl one : left) {
      if (!count.contains(one)) ends.push_back(one);
    }
    while (!ends.empty()) {
      Impl end = ends.back();
      ends.pop_back();
      left.erase(end);
      auto [first, last] = back.equal_range(end);
      for (; first != last; ++first) {
        if (--count[first->second] == 0) ends.push_back(first->second);
      }
    }
  }

  const intrusive_ptr_target* owner_ = nullptr;  // of what is met
  bool by_user_ = false;                         // whether only the user makes such a link
  std::vector<Link> links_;
  std::vector<OwnedImpl> found_;
  std::vector<Pending> pending_;
  std::unordered_set<Impl> met_;
};

}  // namespace

std::vector<OwnedImpl> owned_impls(TensorImpl& tensor) {
  Search search;
  search.from(&tensor, nullptr);
  return search.run();
}

std::vector<OwnedImpl> owned_impls(Node& node) {
  Search search;
  search.from(nullptr, &node);
  return search.run();
}

std::vector<OwnedImpl> owned_impls(const std::vector<SavedVariable>& saved) {
  Search search;
  for (const SavedVariable& one : saved) search.from(one);
  return search.run();
}

}  // namespace slotcore::autograd
