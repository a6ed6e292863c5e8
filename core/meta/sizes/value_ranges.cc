// Bounds of expressions by interval arithmetic. An unknown bound gives no range at all, so what is
// decided by a range needs no guard.

#include <algorithm>

#include "core/meta/sizes/shape_env.h"

namespace slotcore::meta {
namespace {

// Wide enough for a product of two bounds.
using Wide = __int128;

struct WideRange {
  Wide low, high;
};

constexpr Wide kLowest = INT64_MIN, kHighest = INT64_MAX;

// A bound beyond 64 bits stands for no limit.
WideRange clamped(WideRange range) {
  return {std::clamp(range.low, kLowest, kHighest), std::clamp(range.high, kLowest, kHighest)};
}

bool is_open(Wide bound) { return bound == kLowest || bound == kHighest; }

WideRange product(WideRange a, WideRange b) {
  Wide corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return clamped({*std::min_element(std::begin(corners), std::end(corners)),
                  *std::max_element(std::begin(corners), std::end(corners))});
}

WideRange sum(WideRange a, WideRange b) {
  Wide low = is_open(a.low) || is_open(b.low) ? kLowest : a.low + b.low;
  Wide high = is_open(a.high) || is_open(b.high) ? kHighest : a.high + b.high;
  return clamped({low, high});
}

std::optional<WideRange> range_of_atom(const SizeExpr::Atom& atom,
                                       std::span<const ShapeEnv::Symbol> symbols) {
  using Kind = SizeExpr::Atom::Kind;
  if (atom.is_symbol()) {
    const Range& range = symbols[atom.symbol].range;
    return WideRange{range.low, range.high};
  }
  auto left = range_of(*atom.left, symbols), right = range_of(*atom.right, symbols);
  if (!left || !right) return std::nullopt;
  if (atom.kind == Kind::kMax)
    return WideRange{std::max(left->low, right->low), std::max(left->high, right->high)};
  if (right->low <= 0) return std::nullopt;
  if (atom.kind == Kind::kMod) {
    bool is_open_above = right->high == Range::kNoLimit;
    return WideRange{0, is_open_above ? kHighest : Wide{right->high} - 1};
  }
  // Both divisors for each end: a negative dividend grows with the divisor.
  auto end = [&](int64_t bound, bool is_low) -> Wide {
    if (is_open(bound)) return bound;
    int64_t a = floor_div_sizes(bound, right->low), b = floor_div_sizes(bound, right->high);
    return is_low ? std::min(a, b) : std::max(a, b);
  };
  return WideRange{end(left->low, true), end(left->high, false)};
}

}  // namespace

std::optional<Range> range_of(const SizeExpr& expr, std::span<const ShapeEnv::Symbol> symbols) {
  WideRange total{0, 0};
  for (const SizeExpr::Term& term : expr.terms()) {
    WideRange value{1, 1};
    for (const SizeExpr::Atom& atom : term.atoms) {
      auto factor = range_of_atom(atom, symbols);
      if (!factor) return std::nullopt;
      value = product(value, *factor);
    }
    total = sum(total, product(value, {term.coefficient, term.coefficient}));
  }
  return Range{static_cast<int64_t>(total.low), static_cast<int64_t>(total.high)};
}

}  // namespace slotcore::meta
