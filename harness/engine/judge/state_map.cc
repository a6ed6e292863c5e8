// Numbers the states.
#include "harness/engine/judge/state_map.h"

#include <algorithm>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

// The parts of a wrapper's state besides its kind, and how many values each has.
constexpr std::size_t kHermetics = 2, kModes = 3, kOwners = 4, kReferences = 3, kTypes = 2;
constexpr std::size_t kStatesOfKind = kHermetics * kModes * kOwners * kReferences * kTypes;

}  // namespace

StateMap::StateMap(const OpTable& table, const Layout& layout,
                   std::span<std::uint8_t, kStateCounters> states)
    : table_(table),
      layout_(layout),
      states_(states),
      // C++ owners have no kind, but have states too.
      first_of_ops_((layout.kinds().size() + 1) * kStatesOfKind) {
  CHECK(first_of_ops_ < kStateCounters, layout.kinds().size() << " kinds of impls");
}

void StateMap::mark(const Line& line, const Tracker& tracker) {
  std::size_t owners_most = 0;
  bool crosses = false;
  const bool in_hermetic = tracker.seen().in_hermetic;
  tracker.for_each_variable(line, [&](int variable) {
    const Binding& binding = tracker.binding(variable);
    if (!binding.impl) return;
    const ImplKind& kind = binding.owned ? *binding.owned : *binding.kind;
    const std::size_t owners =
        std::min<std::uint32_t>(layout_.use_count_of(binding.impl, kind).value_or(0), kOwners - 1);
    std::size_t state = binding.kind ? binding.kind->number + 1 : 0;
    state = state * kHermetics + in_hermetic;
    state = state * kModes + static_cast<std::size_t>(binding.mode);
    state = state * kOwners + owners;
    state = state * kReferences + std::min<Py_ssize_t>(Py_REFCNT(binding.object), kReferences) - 1;
    state = state * kTypes + (Py_TYPE(binding.object) != kind.type);
    states_[state] = 1;
    owners_most = std::max(owners_most, owners);
    crosses |= binding.lane != line.lane;
  });
  const std::size_t op_of_lane = crosses * table_.ops().size() + line.op;
  const std::size_t effect = (op_of_lane * kHermetics + in_hermetic) * kOwners + owners_most;
  states_[first_of_ops_ + effect % (kStateCounters - first_of_ops_)] = 1;
}

}  // namespace slotfuzz
