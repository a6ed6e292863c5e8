// Sums and products in order. A division by a constant takes out the terms that it divides, so that
// (4*s0 + s1) // 2 is 2*s0 + (s1 // 2), however it was written.

#include "core/meta/sizes/size_expr.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace slotcore::meta {
namespace {

using Atom = SizeExpr::Atom;
using Term = SizeExpr::Term;

[[noreturn]] void throw_overflow() { throw std::overflow_error("a size overflows 64 bits"); }

std::strong_ordering compare(const std::vector<Atom>& a, const std::vector<Atom>& b) noexcept {
  // Longer products first, and the constant last.
  if (a.size() != b.size()) return b.size() <=> a.size();
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

Term product(const Term& a, const Term& b) {
  Term term{a.atoms, multiply_sizes(a.coefficient, b.coefficient)};
  term.atoms.insert(term.atoms.end(), b.atoms.begin(), b.atoms.end());
  if (term.atoms.size() > SizeExpr::kDegreeMax)
    throw std::length_error("a product of too many sizes");
  std::sort(term.atoms.begin(), term.atoms.end());
  return term;
}

}  // namespace

int64_t add_sizes(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) throw_overflow();
  return result;
}

int64_t multiply_sizes(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) throw_overflow();
  return result;
}

int64_t floor_div_sizes(int64_t a, int64_t b) {
  if (b == 0) throw std::domain_error("a size is divided by 0");
  if (b == -1) return multiply_sizes(a, -1);
  int64_t quotient = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t mod_sizes(int64_t a, int64_t b) {
  if (b == 0) throw std::domain_error("a size is divided by 0");
  if (b == -1) return 0;
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::strong_ordering Atom::operator<=>(const Atom& other) const noexcept {
  if (kind != other.kind) return kind <=> other.kind;
  if (is_symbol()) return symbol <=> other.symbol;
  auto order = *left <=> *other.left;
  return order != 0 ? order : *right <=> *other.right;
}

SizeExpr::SizeExpr(int64_t constant) {
  if (constant != 0) terms_.push_back({{}, constant});
}

SizeExpr SizeExpr::symbol(uint32_t number) {
  return of_atom({Atom::Kind::kSymbol, number, nullptr, nullptr});
}

SizeExpr SizeExpr::unbacked(uint32_t number) {
  return of_atom({Atom::Kind::kUnbacked, number, nullptr, nullptr});
}

SizeExpr SizeExpr::of_atom(Atom atom) {
  SizeExpr result;
  result.terms_.push_back({{std::move(atom)}, 1});
  if (result.depth() > kDepthMax)
    throw std::length_error("operations on sizes are nested too deep");
  return result;
}

void SizeExpr::add(const Term& term) {
  auto place =
      std::lower_bound(terms_.begin(), terms_.end(), term,
                       [](const Term& a, const Term& b) { return compare(a.atoms, b.atoms) < 0; });
  if (place == terms_.end() || compare(place->atoms, term.atoms) != 0) {
    if (terms_.size() == kTermsMax) throw std::length_error("a sum of too many sizes");
    if (term.coefficient != 0) terms_.insert(place, term);
    return;
  }
  place->coefficient = add_sizes(place->coefficient, term.coefficient);
  if (place->coefficient == 0) terms_.erase(place);
}

SizeExpr SizeExpr::operator+(const SizeExpr& other) const {
  SizeExpr sum = *this;
  for (const Term& term : other.terms_) sum.add(term);
  return sum;
}

SizeExpr SizeExpr::operator-(const SizeExpr& other) const { return *this + SizeExpr(-1) * other; }

SizeExpr SizeExpr::operator*(const SizeExpr& other) const {
  SizeExpr result;
  for (const Term& a : terms_) {
    for (const Term& b : other.terms_) result.add(product(a, b));
  }
  return result;
}

SizeExpr SizeExpr::divided(const SizeExpr& dividend, const SizeExpr& divisor, bool is_mod) {
  int64_t number = divisor.is_constant() ? divisor.constant() : 0;
  if (divisor.is_constant() && number == 0) throw std::domain_error("a size is divided by 0");
  SizeExpr quotient, rest = dividend;
  if (number != 0) {
    rest = SizeExpr();
    for (const Term& term : dividend.terms_) {
      int64_t part = floor_div_sizes(term.coefficient, number);
      bool splits = term.atoms.empty() || mod_sizes(term.coefficient, number) == 0;
      if (splits) {
        quotient.add({term.atoms, part});
        rest.add({term.atoms, mod_sizes(term.coefficient, number)});
      } else {
        rest.add(term);
      }
    }
    // A constant rest is in [0, number): nothing is left of the quotient.
    if (rest.is_constant()) return is_mod ? rest : quotient;
  }
  Atom atom{is_mod ? Atom::Kind::kMod : Atom::Kind::kFloorDiv, 0, std::make_shared<SizeExpr>(rest),
            std::make_shared<SizeExpr>(divisor)};
  SizeExpr made = of_atom(std::move(atom));
  return is_mod ? made : quotient + made;
}

SizeExpr SizeExpr::floor_div(const SizeExpr& divisor) const {
  return divided(*this, divisor, /*is_mod=*/false);
}

SizeExpr SizeExpr::mod(const SizeExpr& divisor) const {
  return divided(*this, divisor, /*is_mod=*/true);
}

SizeExpr SizeExpr::max(const SizeExpr& other) const {
  SizeExpr difference = *this - other;
  if (difference.is_constant()) return difference.constant() >= 0 ? *this : other;
  bool is_first = (*this <=> other) < 0;
  return of_atom({Atom::Kind::kMax, 0, std::make_shared<SizeExpr>(is_first ? *this : other),
                  std::make_shared<SizeExpr>(is_first ? other : *this)});
}

SizeExpr SizeExpr::min(const SizeExpr& other) const {
  SizeExpr minus(-1);
  return minus * (minus * *this).max(minus * other);
}

int64_t SizeExpr::evaluate(std::span<const int64_t> values) const {
  int64_t sum = 0;
  for (const Term& term : terms_) {
    int64_t value = term.coefficient;
    for (const Atom& atom : term.atoms) {
      if (atom.is_symbol()) {
        value = multiply_sizes(value, values[atom.symbol]);
        continue;
      }
      int64_t left = atom.left->evaluate(values), right = atom.right->evaluate(values);
      int64_t factor = atom.kind == Atom::Kind::kFloorDiv ? floor_div_sizes(left, right)
                       : atom.kind == Atom::Kind::kMod    ? mod_sizes(left, right)
                                                          : std::max(left, right);
      value = multiply_sizes(value, factor);
    }
    sum = add_sizes(sum, value);
  }
  return sum;
}

SizeExpr SizeExpr::substitute(uint32_t symbol, const SizeExpr& by) const {
  if (!has_symbol(symbol)) return *this;
  SizeExpr sum;
  for (const Term& term : terms_) {
    SizeExpr value(term.coefficient);
    for (const Atom& atom : term.atoms) {
      if (atom.is_symbol()) {
        value = value * (atom.symbol == symbol ? by : of_atom(atom));
        continue;
      }
      SizeExpr left = atom.left->substitute(symbol, by);
      SizeExpr right = atom.right->substitute(symbol, by);
      value = value * (atom.kind == Atom::Kind::kFloorDiv ? left.floor_div(right)
                       : atom.kind == Atom::Kind::kMod    ? left.mod(right)
                                                          : left.max(right));
    }
    for (const Term& part : value.terms_) sum.add(part);
  }
  return sum;
}

bool SizeExpr::is_constant() const noexcept {
  return terms_.empty() || (terms_.size() == 1 && terms_[0].atoms.empty());
}

int64_t SizeExpr::constant() const noexcept {
  return !terms_.empty() && terms_.back().atoms.empty() ? terms_.back().coefficient : 0;
}

uint32_t SizeExpr::symbol_count() const noexcept {
  uint32_t count = 0;
  (void)any_symbol([&](const Atom& atom) {
    count = std::max(count, atom.symbol + 1);
    return false;
  });
  return count;
}

bool SizeExpr::has_symbol(uint32_t number) const noexcept {
  return any_symbol([&](const Atom& atom) { return atom.symbol == number; });
}

bool SizeExpr::has_unbacked() const noexcept {
  return any_symbol([](const Atom& atom) { return atom.kind == Atom::Kind::kUnbacked; });
}

size_t SizeExpr::depth() const noexcept {
  size_t depth = 0;
  for (const Term& term : terms_) {
    for (const Atom& atom : term.atoms) {
      if (!atom.is_symbol())
        depth = std::max(depth, 1 + std::max(atom.left->depth(), atom.right->depth()));
    }
  }
  return depth;
}

std::strong_ordering SizeExpr::operator<=>(const SizeExpr& other) const noexcept {
  return std::lexicographical_compare_three_way(
      terms_.begin(), terms_.end(), other.terms_.begin(), other.terms_.end(),
      [](const Term& a, const Term& b) {
        auto order = compare(a.atoms, b.atoms);
        return order != 0 ? order : a.coefficient <=> b.coefficient;
      });
}

}  // namespace slotcore::meta
