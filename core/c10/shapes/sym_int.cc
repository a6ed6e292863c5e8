// Numbers without symbols are computed here, as Python computes them; a node computes all others.

#include "core/c10/shapes/sym_int.h"

namespace slotcore {
namespace {

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) throw std::domain_error("a size is divided by 0");
  if (b == -1) return checked_multiply(a, -1);
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t compute_plain(SymNode::Operation operation, int64_t a, int64_t b) {
  switch (operation) {
    case SymNode::Operation::kAdd: return checked_add(a, b);
    case SymNode::Operation::kSubtract: {
      int64_t difference;
      if (__builtin_sub_overflow(a, b, &difference)) throw std::overflow_error("a size overflows");
      return difference;
    }
    case SymNode::Operation::kMultiply: return checked_multiply(a, b);
    case SymNode::Operation::kFloorDivide: return floor_divide(a, b);
    case SymNode::Operation::kRemainder: return b == -1 ? 0 : a - floor_divide(a, b) * b;
    case SymNode::Operation::kMaximum: return std::max(a, b);
    case SymNode::Operation::kMinimum: return std::min(a, b);
  }
  __builtin_unreachable();
}

}  // namespace

SymInt SymInt::compute(SymNode::Operation operation, const SymInt& a, const SymInt& b) {
  if (a.is_symbolic()) return a.node_->compute(operation, a, b);
  if (b.is_symbolic()) return b.node_->compute(operation, a, b);
  return compute_plain(operation, a.value_, b.value_);
}

bool SymInt::decide(SymNode::Comparison comparison, const SymInt& a, const SymInt& b) {
  if (a.is_symbolic()) return a.node_->decide(comparison, a, b);
  if (b.is_symbolic()) return b.node_->decide(comparison, a, b);
  return comparison == SymNode::Comparison::kEqual ? a.value_ == b.value_ : a.value_ < b.value_;
}

std::string text(const SymInt& value) {
  return value.is_symbolic() ? value.node()->text() : std::to_string(value.value());
}

bool has_symbols(const SymDims& dims) noexcept {
  return std::any_of(dims.begin(), dims.end(),
                     [](const SymInt& value) { return value.is_symbolic(); });
}

bool has_symbols(const SymLayout& layout) noexcept {
  return has_symbols(layout.sizes) || has_symbols(layout.strides) || layout.offset.is_symbolic();
}

SymDims symbolic(const Dims& dims) {
  SymDims result;
  for (int64_t value : dims) result.push_back(value);
  return result;
}

SymLayout symbolic(const Layout& layout) {
  return {symbolic(layout.sizes), symbolic(layout.strides), layout.offset};
}

Dims specialized(const SymDims& dims) {
  Dims result;
  for (const SymInt& value : dims) result.push_back(value.specialize());
  return result;
}

Layout specialized(const SymLayout& layout) {
  return {specialized(layout.sizes), specialized(layout.strides), layout.offset.specialize()};
}

}  // namespace slotcore
