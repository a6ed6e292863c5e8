// The algorithm of CPython: subtract what the objects own of each other, then mark what is left.
#include "harness/engine/owners/ideal_collector.h"

#include <algorithm>

namespace slotfuzz {
namespace {

using By = References::By;

// What the core calls the hooks of a leaf. The wrapper that owns the leaf reports them, also if the
// impl is shared: the wrapper lives as long as the impl (P2).
constexpr std::string_view kLeafHooks = "._backward_hooks";

bool holds_wrapper(const References& references, std::size_t impl) {
  const auto& edges = references.edges(impl);
  return std::any_of(edges.begin(), edges.end(),
                     [](const References::Edge& edge) { return edge.by == By::kImpl; });
}

}  // namespace

IdealCollector::IdealCollector(const References& references, bool hides)
    : references_(references),
      lives_(references.things().size()),
      hidden_(references.things().size()),
      reported_(references.things().size()),
      unexplained_(references.things().size()),
      python_(references.things().size()) {
  const auto& things = references.things();
  std::vector<std::vector<std::size_t>> reports(things.size());
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (!things[i].object) continue;
    for (const References::Edge& edge : references.edges(i)) {
      if (edge.by == By::kPython) python_[i].push_back(edge.to);
    }
    if (!things[i].owns_in_cpp) {
      reports[i] = python_[i];
      continue;
    }
    const auto impl = references.impl_of(i);
    const bool is_held = impl && holds_wrapper(references, *impl);
    const bool is_normal = impl && references.wrapper_of(*impl) == i;
    hidden_[i] = hides && is_normal && !is_held && things[*impl].count > 1;
    reports[i] = reported_by(i);
    reports[i].insert(reports[i].end(), python_[i].begin(), python_[i].end());
  }
  note_explained();
  mark_living(reports);
}

std::vector<std::size_t> IdealCollector::reported_by(std::size_t owner) {
  std::vector<std::size_t> objects, entered;
  if (hidden_[owner]) return objects;
  std::unordered_map<std::size_t, std::uint32_t> met;
  const auto impl = references_.impl_of(owner);
  if (impl && references_.wrapper_of(*impl) == owner) {
    for (const References::Edge& edge : references_.edges(*impl)) {
      if (edge.link == kLeafHooks) objects.push_back(edge.to);
    }
  }
  if (!impl) {
    enter(owner, objects, entered, met);
  } else if (references_.things()[*impl].count == 1) {
    entered.push_back(*impl);
  }
  while (!entered.empty()) {
    const std::size_t next = entered.back();
    entered.pop_back();
    reported_[next] = true;
    enter(next, objects, entered, met);
  }
  return objects;
}

// Meets what an impl, or a ctx, owns in C++.
void IdealCollector::enter(std::size_t from, std::vector<std::size_t>& objects,
                           std::vector<std::size_t>& next,
                           std::unordered_map<std::size_t, std::uint32_t>& met) {
  const auto wrapper = references_.wrapper_of(from);
  const bool has_owner = wrapper && references_.impl_of(*wrapper) == from;
  for (const References::Edge& edge : references_.edges(from)) {
    if (edge.by != By::kCpp) continue;
    if (references_.things()[edge.to].object) {
      if (!has_owner || edge.link != kLeafHooks) objects.push_back(edge.to);
    } else if (meet(edge.to, ++met[edge.to], objects)) {
      next.push_back(edge.to);
    }
  }
}

// Whether the walk goes on with what an impl owns, of which it has met OWNERS owners: all of them
// but the wrapper, to which only the impl refers.
bool IdealCollector::meet(std::size_t impl, std::uint32_t owners,
                          std::vector<std::size_t>& objects) const {
  const auto wrapper = references_.wrapper_of(impl);
  const bool owns = wrapper && references_.impl_of(*wrapper) == impl;
  if (references_.things()[impl].count != owners + (owns ? 1 : 0)) return false;
  if (!wrapper) return true;
  if (!holds_wrapper(references_, impl)) return false;
  objects.push_back(*wrapper);
  return references_.things()[*wrapper].count == 1;
}

void IdealCollector::note_explained() {
  const auto& things = references_.things();
  std::vector<std::uint32_t> explained(things.size());
  for (std::size_t i = 0; i < things.size(); ++i) {
    for (const std::size_t to : python_[i]) ++explained[to];
    for (const References::Edge& edge : references_.edges(i)) {
      if (edge.by != By::kPython) ++explained[edge.to];
    }
  }
  for (std::size_t i = 0; i < things.size(); ++i) {
    unexplained_[i] = things[i].count > explained[i] ? things[i].count - explained[i] : 0;
  }
}

void IdealCollector::mark_living(const std::vector<std::vector<std::size_t>>& reports) {
  const auto& things = references_.things();
  std::vector<std::uint32_t> inside(things.size());
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (hidden_[i]) continue;
    for (const std::size_t to : reports[i]) ++inside[to];
  }
  std::vector<std::size_t> living;
  const auto mark = [&](std::size_t object) {
    if (lives_[object]) return;
    lives_[object] = true;
    living.push_back(object);
  };
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (!things[i].object) lives_[i] = true;  // impls are no objects of the collector
    if (things[i].object && things[i].count > inside[i]) mark(i);
  }
  while (!living.empty()) {
    const std::size_t object = living.back();
    living.pop_back();
    for (const std::size_t to : reports[object]) mark(to);
  }
}

}  // namespace slotfuzz
