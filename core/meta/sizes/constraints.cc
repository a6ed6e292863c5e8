// What follows from a new constraint: the range of a symbol, and its replacement.

#include <algorithm>

#include "core/meta/sizes/shape_env.h"

namespace slotcore::meta {
namespace {

using Kind = Relation::Kind;
using Term = SizeExpr::Term;

bool is_one_symbol(const Term& term) {
  bool is_signed_once = term.coefficient == 1 || term.coefficient == -1;
  return is_signed_once && term.atoms.size() == 1 && term.atoms[0].is_symbol();
}

// The symbol of `expr` == 0 that the others can replace, and by what. An unbacked symbol goes
// first, and then the newest. What has a hint is not replaced by what has none.
std::optional<std::pair<uint32_t, SizeExpr>> solved(const SizeExpr& expr) {
  std::optional<std::pair<uint32_t, SizeExpr>> best;
  bool is_best_unbacked = false;
  for (const Term& term : expr.terms()) {
    if (!is_one_symbol(term)) continue;
    const SizeExpr::Atom& atom = term.atoms[0];
    bool is_unbacked = atom.kind == SizeExpr::Atom::Kind::kUnbacked;
    SizeExpr symbol = is_unbacked ? SizeExpr::unbacked(atom.symbol) : SizeExpr::symbol(atom.symbol);
    SizeExpr sign(term.coefficient);
    SizeExpr by = symbol - sign * expr;
    if (by.has_symbol(atom.symbol) || (by.has_unbacked() && !is_unbacked)) continue;
    if (best && std::pair(is_unbacked, atom.symbol) < std::pair(is_best_unbacked, best->first))
      continue;
    best.emplace(atom.symbol, std::move(by));
    is_best_unbacked = is_unbacked;
  }
  return best;
}

// What `make` makes; nullopt for expressions that are too large, or that would divide by 0.
template <class Make>
auto attempted(const Make& make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const std::overflow_error&) {
    return std::nullopt;
  } catch (const std::length_error&) {
    return std::nullopt;
  } catch (const std::domain_error&) {
    return std::nullopt;
  }
}

}  // namespace

SizeExpr ShapeEnv::simplify(SizeExpr expr) const {
  std::set<uint32_t> symbols;
  (void)expr.any_symbol([&](const SizeExpr::Atom& atom) {
    if (replacements_.contains(atom.symbol)) symbols.insert(atom.symbol);
    return false;
  });
  for (uint32_t symbol : symbols) expr = expr.substitute(symbol, replacements_.at(symbol));
  return expr;
}

// The replacement that this relation gives, and what becomes of the former ones that have its
// symbol. One that fails is left out: a replacement only saves guards.
std::map<uint32_t, SizeExpr> ShapeEnv::replacements_of(const Relation& relation) const {
  if (relation.kind != Kind::kEqual) return {};
  auto made = attempted([&] {
    std::map<uint32_t, SizeExpr> changed;
    auto found = solved(relation.expr);
    if (!found) return changed;
    for (const auto& [symbol, by] : replacements_) {
      if (by.has_symbol(found->first))
        changed.emplace(symbol, by.substitute(found->first, found->second));
    }
    changed.insert(std::move(*found));
    return changed;
  });
  return made ? std::move(*made) : std::map<uint32_t, SizeExpr>();
}

void ShapeEnv::add_constraint(const Relation& relation, bool is_assertion) {
  if (constraints_.size() == kConstraintsMax) throw std::length_error("too many guards");
  auto changed = replacements_of(relation);
  constraints_.push_back({relation, is_assertion});
  present_.insert(relation);
  if (!changed.empty()) replace(std::move(changed));
  refine(relation);
}

// Also in what is present: an expression that is asked again has the replacements, too.
void ShapeEnv::replace(std::map<uint32_t, SizeExpr> changed) {
  std::vector<bool> is_changed(symbols_.size());
  for (auto& [symbol, by] : changed) {
    is_changed[symbol] = true;
    replacements_.insert_or_assign(symbol, std::move(by));
  }
  std::vector<Relation> again;
  for (auto at = present_.begin(); at != present_.end();) {
    auto next = std::next(at);
    if (at->expr.any_symbol([&](const SizeExpr::Atom& atom) { return is_changed[atom.symbol]; })) {
      if (auto expr = attempted([&] { return simplify(at->expr); })) {
        again.push_back({std::move(*expr), at->kind});
        present_.erase(at);
      }
    }
    at = next;
  }
  present_.insert(again.begin(), again.end());
}

// Constraints of one symbol with the coefficient 1 or -1: c + s >= 0, c - s >= 0, c + s == 0.
void ShapeEnv::refine(const Relation& constraint) {
  const auto& terms = constraint.expr.terms();
  if (terms.empty() || terms.size() > 2 || constraint.kind == Kind::kNotEqual) return;
  if (terms.size() == 2 && !terms[1].atoms.empty()) return;
  if (!is_one_symbol(terms[0])) return;
  int64_t constant = constraint.expr.constant();
  if (constant == INT64_MIN) return;
  bool is_plus = terms[0].coefficient == 1, is_equal = constraint.kind == Kind::kEqual;
  int64_t bound = is_plus ? -constant : constant;
  Range& range = symbols_[terms[0].atoms[0].symbol].range;
  if (is_equal || is_plus) range.low = std::max(range.low, bound);
  if (is_equal || !is_plus) range.high = std::min(range.high, bound);
}

}  // namespace slotcore::meta
