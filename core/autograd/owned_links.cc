// A walk in breadth over owners.

#include "core/autograd/owned_links.h"

#include <unordered_map>
#include <unordered_set>

#include "core/autograd/autograd_meta.h"

namespace slotcore::autograd {
namespace {

class Search final : private OwnedVisitor {
 public:
  // Begins with what an owner without an impl owns.
  void from(const SavedVariable& saved) { saved.visit_owned(*this); }
  void from(TensorImpl* tensor, Node* node) {
    bool is_new = met_.insert(tensor != nullptr ? static_cast<Impl>(tensor) : node).second;
    if (is_new) pending_.push_back({tensor, node});
  }

  std::vector<OwnedLink> run() {
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
  using Impl = intrusive_ptr_target*;

  struct Pending {
    TensorImpl* tensor;
    Node* node;
  };

  void tensor(const char* link, TensorImpl* tensor) override {
    if (meet(link, tensor, "tensor")) pending_.push_back({tensor, nullptr});
  }
  void node(const char* link, Node* node) override {
    if (meet(link, node, node->name())) pending_.push_back({nullptr, node});
  }
  void object(const char* link, PyObject* object) override {
    if (object != nullptr) found_.push_back({owner_, link, nullptr, object, ""});
  }

  void enter(TensorImpl& entered) {
    owner_ = &entered;
    meet("storage", entered.storage().get(), "storage");
    if (entered.base()) tensor("._base", entered.base().get());
    AutogradMeta* meta = meta_of(entered);
    if (meta == nullptr) return;
    by_user_ = true;
    if (TensorImpl* grad = meta->grad_for_collector()) tensor(".grad", grad);
    by_user_ = entered.version().value() > 0;
    if (meta->grad_fn) node(".grad_fn", meta->grad_fn.get());
    by_user_ = false;
    for (const auto& hook : meta->leaf_hooks) object("._backward_hooks", hook->python_object());
  }

  bool meet(const char* link, Impl target, std::string name) {
    found_.push_back({owner_, link, target, nullptr, std::move(name)});
    if (by_user_) by_users_.insert(found_.size() - 1);
    return met_.insert(target).second;
  }

  void mark_cycles() {
    if (!impls_in_cycles(/*with_users=*/false).empty()) return;
    std::unordered_set<Impl> cyclic = impls_in_cycles(/*with_users=*/true);
    for (OwnedLink& one : found_) one.is_in_cycle = cyclic.contains(one.impl);
  }

  // What is left when each impl that owns nothing is removed, again and again, leads to a cycle;
  // what is left of that when each impl that nothing owns is removed is in one, or between two.
  std::unordered_set<Impl> impls_in_cycles(bool with_users) const {
    std::vector<std::pair<Impl, Impl>> forwards, backwards;
    for (size_t i = 0; i < found_.size(); i++) {
      const OwnedLink& link = found_[i];
      if (link.impl == nullptr || (by_users_.contains(i) && !with_users)) continue;
      forwards.emplace_back(link.owner, link.impl);
      backwards.emplace_back(link.impl, link.owner);
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

  Impl owner_ = nullptr;  // of what is met
  bool by_user_ = false;  // whether only the user makes such a link
  std::vector<OwnedLink> found_;
  std::unordered_set<size_t> by_users_;  // the places of such links in `found_`
  std::vector<Pending> pending_;
  std::unordered_set<Impl> met_;
};

}  // namespace

std::vector<OwnedLink> owned_links(TensorImpl& tensor) {
  Search search;
  search.from(&tensor, nullptr);
  return search.run();
}

std::vector<OwnedLink> owned_links(Node& node) {
  Search search;
  search.from(nullptr, &node);
  return search.run();
}

std::vector<OwnedLink> owned_links(const std::vector<SavedVariable>& saved, Node* node) {
  Search search;
  for (const SavedVariable& one : saved) search.from(one);
  if (node != nullptr) search.from(nullptr, node);
  return search.run();
}

}  // namespace slotcore::autograd
