// Cycles in the graph of owners, judged by what an ideal collector frees.
#include "harness/engine/owners/kept.h"

#include <algorithm>
#include <array>

#include "harness/engine/owners/components.h"
#include "harness/engine/owners/naming.h"

namespace slotfuzz {
namespace {

using By = References::By;

constexpr std::size_t kCyclesMax = 4, kOwnersMax = 4;

constexpr std::array<std::string_view, 6> kWords = {"shared",      "owns itself", "hidden",
                                                    "collectable", "C++ alone",   "unlisted"};

class Search {
 public:
  Search(const References& references, bool resurrects, const KeptNames& names)
      : references_(references),
        things_(references.things()),
        ideal_(references, resurrects),
        open_(references, false),
        naming_(references, names),
        graph_(things_.size()),
        cpp_(things_.size()),
        owners_(things_.size()) {
    for (std::size_t from = 0; from < things_.size(); ++from) {
      for (const std::size_t to : ideal_.in_python(from)) add(from, to);
      for (const References::Edge& edge : references.edges(from)) {
        if (edge.by == By::kPython) continue;
        add(from, edge.to);
        if (edge.by == By::kCpp && !things_[edge.to].object) cpp_[from].push_back(edge.to);
      }
    }
    owns_itself_ = in_cycles(cpp_);
    mark_concerned();
  }

  std::vector<KeptCycle> run(const std::unordered_set<const void*>& unseen) {
    std::vector<KeptCycle> leaks, excused;
    for (std::size_t i = 0; i < things_.size(); ++i) {
      if (!concerned_[i] || is_unseen(i, unseen)) continue;
      if (ideal_.unexplained(i) > 0) {
        leaks.push_back({Kept::kUnlisted, naming_.with_owned(i, graph_[pair_of(i)]),
                         names_of_owners(i), {}});
      }
      if (leaks.size() == kCyclesMax) return leaks;
    }
    for (const std::vector<std::size_t>& component : source_components(graph_)) {
      // What a cycle that nobody can list owns, is kept by that one.
      const bool is_owned = std::any_of(component.begin(), component.end(), [&](std::size_t i) {
        const auto wrapper = references_.wrapper_of(i).value_or(i);
        return is_unseen(i, unseen) || is_unseen(wrapper, unseen);
      });
      if (!concerned_[component[0]] || is_owned) continue;
      KeptCycle cycle = kept_by(component);
      (is_excused(cycle.kept) ? excused : leaks).push_back(std::move(cycle));
    }
    leaks.insert(leaks.end(), excused.begin(), excused.end());
    if (leaks.size() > kCyclesMax) leaks.resize(kCyclesMax);
    return leaks;
  }

 private:
  // Whether a thing has owners that nobody can list.
  bool is_unseen(std::size_t thing, const std::unordered_set<const void*>& unseen) const {
    return ideal_.unexplained(thing) > 0 && unseen.contains(things_[thing].address);
  }
  // In the graph an impl also stands for its wrapper.
  std::size_t pair_of(std::size_t thing) const {
    return references_.slot_of(thing).value_or(thing);
  }
  void add(std::size_t from, std::size_t to) {
    owners_[to].push_back(from);
    const bool is_pair = references_.wrapper_of(from) == to || references_.wrapper_of(to) == from;
    if (!is_pair) graph_[pair_of(from)].push_back(pair_of(to));
  }

  // Marks what owns an object of the subject, directly or through others.
  void mark_concerned() {
    concerned_.resize(things_.size());
    std::vector<std::size_t> queue;
    const auto mark = [&](std::size_t one) {
      if (!concerned_[one]) queue.push_back(one);
      concerned_[one] = true;
    };
    for (std::size_t i = 0; i < things_.size(); ++i) {
      if (!things_[i].object || things_[i].owns_in_cpp) mark(i);
    }
    while (!queue.empty()) {
      const std::size_t one = queue.back();
      queue.pop_back();
      for (const std::size_t owner : owners_[one]) mark(owner);
    }
  }

  KeptCycle kept_by(const std::vector<std::size_t>& component) const {
    const auto first = [&](auto is_meant) -> std::optional<std::size_t> {
      const auto at = std::find_if(component.begin(), component.end(), is_meant);
      return at == component.end() ? std::nullopt : std::optional(*at);
    };
    const auto is_freed = [&](std::size_t i) {
      const auto wrapper = references_.wrapper_of(i).value_or(i);
      return things_[wrapper].object && ideal_.frees(wrapper);
    };
    const auto is_hidden = [&](std::size_t i) {
      const auto wrapper = references_.wrapper_of(i).value_or(i);
      return ideal_.is_hidden(wrapper) && open_.frees(wrapper);
    };
    const auto owns_itself = [&](std::size_t i) { return owns_itself_[i]; };
    const auto is_shared = [&](std::size_t i) {
      return !things_[i].object && !ideal_.is_reported(i) && distinct_owners(i).size() > 1;
    };
    const auto has_two_wrappers = [&](std::size_t i) {
      return !things_[i].object && references_.wrapper_of(i) && has_hermetic_owner(i);
    };
    if (const auto freed = first(is_freed)) return cycle_through(*freed, Kept::kCollectable);
    if (const auto impl = first(owns_itself)) {
      const bool is_users = things_[*impl].is_in_cycle;
      return {is_users ? Kept::kOwnsItself : Kept::kOfCppAlone, naming_.name(*impl),
              names_of_owners(*impl), naming_.steps(shortest_cycle(cpp_, *impl))};
    }
    if (const auto hidden = first(is_hidden)) return cycle_through(*hidden, Kept::kHidden);
    if (const auto shared = first(is_shared)) return cycle_through(*shared, Kept::kShared);
    if (const auto shared = first(has_two_wrappers)) {
      KeptCycle kept = cycle_through(*shared, Kept::kShared);
      kept.owners.push_back("its wrapper");  // under resurrection it owns nothing now
      return kept;
    }
    return cycle_through(component[0], Kept::kOfCppAlone);
  }

  bool has_hermetic_owner(std::size_t impl) const {
    return std::any_of(owners_[impl].begin(), owners_[impl].end(), [&](std::size_t owner) {
      return things_[owner].object && references_.impl_of(owner) == impl &&
             references_.slot_of(owner) != impl;
    });
  }

  KeptCycle cycle_through(std::size_t part, Kept kept) const {
    return {kept, naming_.name(part), names_of_owners(part),
            naming_.steps(shortest_cycle(graph_, part))};
  }

  std::vector<std::size_t> distinct_owners(std::size_t of) const {
    std::vector<std::size_t> owners = owners_[of];
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    return owners;
  }

  std::vector<std::string> names_of_owners(std::size_t of) const {
    std::vector<std::string> names;
    for (const std::size_t owner : distinct_owners(of)) {
      if (names.size() == kOwnersMax) break;
      names.push_back(naming_.owner(owner, of));
    }
    return names;
  }

  const References& references_;
  const std::vector<References::Thing>& things_;
  // The second one knows no hiding.
  const IdealCollector ideal_, open_;
  const Naming naming_;
  // Who owns what: all of it, and between impls only.
  Graph graph_, cpp_;
  std::vector<std::vector<std::size_t>> owners_;
  std::vector<bool> concerned_, owns_itself_;
};

}  // namespace

std::optional<KeptCycle> cycle_in_cpp(const std::vector<Layout::CppReference>& owned,
                                      const void* impl, const std::string& name) {
  if (std::none_of(owned.begin(), owned.end(), [](const auto& one) { return one.is_in_cycle; })) {
    return std::nullopt;
  }
  std::unordered_map<const void*, std::size_t> at;
  std::vector<std::string> names;
  Graph graph;
  const auto met = [&](const void* address, const std::string& called) {
    const auto [found, is_new] = at.emplace(address, names.size());
    if (is_new) {
      names.push_back(address == impl ? name : called);
      graph.emplace_back();
    }
    return found->second;
  };
  std::optional<std::size_t> part;
  for (const Layout::CppReference& one : owned) {
    const std::size_t from = met(one.owner, "?"), to = met(one.owned, one.name);
    if (one.references > 0) graph[from].push_back(to);
    if (one.is_in_cycle && (!part || one.owned == impl)) part = to;
  }
  KeptCycle kept = {Kept::kOwnsItself, names[*part], {}, {}};
  const std::vector<std::size_t> cycle = shortest_cycle(graph, *part);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto link = std::find_if(owned.begin(), owned.end(), [&](const auto& one) {
      return at[one.owner] == cycle[i] && at[one.owned] == cycle[(i + 1) % cycle.size()];
    });
    kept.cycle.push_back({names[cycle[i]], link->link});
  }
  return kept;
}

bool is_excused(Kept kept) {
  return kept == Kept::kShared || kept == Kept::kOwnsItself || kept == Kept::kHidden;
}

std::string_view word_of(Kept kept) { return kWords[static_cast<std::size_t>(kept)]; }

std::vector<KeptCycle> kept_cycles(const References& references, bool resurrects,
                                   const std::unordered_set<const void*>& unseen,
                                   const KeptNames& names) {
  return Search(references, resurrects, names).run(unseen);
}

}  // namespace slotfuzz
