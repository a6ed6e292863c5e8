// What the ledger excuses of a subject that cannot list what it owns in C++ (torch): every leak in
// which C++ owns a part, if it is gone once attributes and hooks are cleared.
#include <algorithm>

#include "harness/engine/judge/ledger.h"
#include "harness/engine/judge/tracker.h"

namespace slotfuzz {
namespace {

bool has(const std::vector<const void*>& impls, const void* impl) {
  return std::find(impls.begin(), impls.end(), impl) != impls.end();
}

Ref attribute_of(PyObject* object, std::string_view name) {
  return Ref(PyObject_GetAttrString(object, std::string(name).c_str()));
}

// Appends all impls that an impl owns, directly or through others.
void add_owned(const Layout& layout, const void* impl, const ImplKind& kind,
               std::vector<const void*>& owned) {
  struct Link {
    const void* impl;
    const ImplKind* kind;
  };
  std::vector<Link> links = {{impl, &kind}};
  // Impls without a wrapper own others too.
  for (std::size_t at = 0; at < links.size() && links.size() < kLinksMax; ++at) {
    const Link link = links[at];
    for (std::size_t edge = 0; edge < link.kind->edge_count; ++edge) {
      const void* next = layout.owned(link.impl, *link.kind, edge);
      owned.push_back(next);
      const bool is_met = std::any_of(links.begin(), links.end(),
                                      [&](const Link& one) { return one.impl == next; });
      if (next && !is_met && link.kind->targets[edge]->edge_count > 0) {
        links.push_back({next, link.kind->targets[edge]});
      }
    }
  }
}

}  // namespace

bool Ledger::is_shared(const std::vector<Ref>& left) const {
  std::vector<const void*> impls, owned;
  for (const Ref& object : left) {
    const ImplKind& kind = *layout_.kind_of(object.get());
    const void* impl = layout_.impl_of(object.get(), kind);
    // An autograd graph owns tensors as well, and a slice owns its storage; the judge sees neither.
    // If the extra count is a lost reference and not an owner, the cycle is not broken below, and
    // the ledger reports what it keeps.
    if (!capabilities_.counts_objects && (layout_.use_count_of(impl, kind).value_or(0) > 1 ||
                                          layout_.is_borrowing(object.get(), kind))) {
      return true;
    }
    // Of two wrappers one is hermetic, and owns the impl as another interpreter would.
    if (has(impls, impl)) owned.push_back(impl);
    impls.push_back(impl);
    add_owned(layout_, impl, kind, owned);
  }
  return std::any_of(impls.begin(), impls.end(),
                     [&](const void* impl) { return impl && has(owned, impl); });
}

bool Ledger::has_cpp_owner() const {
  // A subject that counts its objects has no hooks that it does not name.
  return is_shared(tracked_wrappers()) ||
         (!capabilities_.counts_objects && !hooks_of_cpp().empty());
}

// Whether a C++ graph may own an impl that lives on, or what that impl owns: the graph owns what a
// line used, and a tensor used in place may own itself. A damaged graph raises when asked for. So
// does a wrapper that the collector has cleared, which has no graph.
bool Ledger::is_graph_left() const {
  const auto has_graph = [this](PyObject* object) {
    const ImplKind* kind = layout_.kind_of(object);
    if (!kind || kind->row->graph.empty() || !layout_.impl_of(object, *kind)) return false;
    const Ref node = attribute_of(object, kind->row->graph);
    const bool is_damaged = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError);
    PyErr_Clear();
    return is_damaged || (node && node.get() != Py_None);
  };
  for (const Ref& left : tracked_wrappers()) {
    if (has_graph(left.get())) return true;
    const ImplKind& kind = *layout_.kind_of(left.get());
    for (const ImplEdge& edge : kind.row->edges) {
      if (edge.attribute.empty()) continue;
      const Ref owned = attribute_of(left.get(), edge.attribute);
      PyErr_Clear();
      if (owned && has_graph(owned.get())) return true;
    }
  }
  return false;
}

}  // namespace slotfuzz
