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

// As a low bound kLowest stands for no limit, as a high one kHighest. Other bounds are clamped to
// them, which is still true. Times -1 each is the other, and times more it is clamped again.
constexpr Wide kHighest = Range::kNoLimit, kLowest = -kHighest;

WideRange clamped(WideRange range) {
  return {std::clamp(range.low, kLowest, kHighest), std::clamp(range.high, kLowest, kHighest)};
}

WideRange product(WideRange a, WideRange b) {
  Wide corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return clamped({*std::min_element(std::begin(corners), std::end(corners)),
                  *std::max_element(std::begin(corners), std::end(corners))});
}

WideRange sum(WideRange a, WideRange b) {
  Wide low = a.low == kLowest || b.low == kLowest ? kLowest : a.low + b.low;
  Wide high = a.high == kHighest || b.high == kHighest ? kHighest : a.high + b.high;
  return clamped({low, high});
}

// Of bounds. By no limit it is next to 0.
int64_t quotient(int64_t bound, int64_t divisor) {
  if (divisor == kHighest) return bound < 0 ? -1 : 0;
  return floor_div_sizes(bound, divisor);
}

std::optional<WideRange> range_of_atom(const SizeExpr::Atom& atom,
                                       std::span<const ShapeEnv::Symbol> symbols) {
  using Kind = SizeExpr::Atom::Kind;
  if (atom.is_symbol()) {
    const Range& range = symbols[atom.symbol].range;
    return clamped({range.low, range.high});
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
    if (bound == (is_low ? kLowest : kHighest)) return bound;
    int64_t a = quotient(bound, right->low), b = quotient(bound, right->high);
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
