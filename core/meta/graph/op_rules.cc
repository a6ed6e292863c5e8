// A row for each operation.

#include "core/meta/graph/op_rules.h"

#include <iterator>

#include "core/autograd/functions/arithmetic.h"
#include "core/autograd/functions/in_place.h"
#include "core/autograd/functions/relu.h"
#include "core/autograd/functions/view.h"
#include "core/c10/check.h"
#include "core/c10/tensor/tensor_views.h"
#include "core/meta/nonzero.h"

namespace slotcore::meta {
namespace {

using arithmetic::Operand, autograd::TensorPtr;
using Arguments = OpArguments;
using Form = OpRule::Form;

SymDims dims_of(const Arguments& all) { return SymDims(std::span(all.numbers)); }

Dims ints_of(const Arguments& all, size_t begin, size_t end) {
  Dims dims;
  for (size_t i = begin; i < end; i++) dims.push_back(all.numbers[i].specialize());
  return dims;
}

int64_t int_of(const Arguments& all, size_t place) { return all.numbers[place].specialize(); }

// A graph runs where nothing is recorded, so the node needs no name.
template <class Make>
TensorPtr view_of(const Arguments& all, Make make) {
  return autograd::record_view(all.tensor(), "", make);
}

template <TensorPtr (*make)(TensorImpl&)>
TensorPtr plain_view(const Arguments& all) {
  return view_of(all, make);
}

TensorPtr strided(const Arguments& all) {
  size_t rank = all.numbers.size() / 2;
  return autograd::as_strided(
      all.tensor(), {ints_of(all, 0, rank), ints_of(all, rank, 2 * rank), int_of(all, 2 * rank)});
}

template <Op op>
TensorPtr compared(const Arguments& all) {
  return arithmetic::compute(op, all.operands[0], all.operands[1]);
}

template <void (*write)(TensorImpl&, const Operand&)>
TensorPtr written(const Arguments& all) {
  write(all.tensor(), all.operands[1]);
  return nullptr;
}

constexpr bool kWrites = true;

// clang-format off
const OpRule kRules[] = {
    {Op::kAlias, "", Form::kAll, false, &plain_view<&views::alias>},
    {Op::kView, "view", Form::kMethod, false, [](const Arguments& all) {
       return view_of(all, [&](TensorImpl& one) { return views::view(one, dims_of(all)); }); }},
    {Op::kViewAsType, "view", Form::kMethod, false, [](const Arguments& all) {
       return views::view_as_type(all.tensor(), *all.type); }},
    {Op::kViewAsReal, "view_as_real", Form::kFunction, false, &plain_view<&views::view_as_real>},
    {Op::kNarrow, "narrow", Form::kMethod, false, [](const Arguments& all) {
       return view_of(all, [&](TensorImpl& one) {
         return views::narrow(one, int_of(all, 0), all.numbers[1], all.numbers[2]); }); }},
    {Op::kSlice, "", Form::kSlice, false, [](const Arguments& all) {
       return view_of(all, [&](TensorImpl& one) {
         return views::slice(one, int_of(all, 0), int_of(all, 1), int_of(all, 2)); }); }},
    {Op::kSelect, "select", Form::kMethod, false, [](const Arguments& all) {
       return view_of(all, [&](TensorImpl& one) {
         return views::select(one, int_of(all, 0), int_of(all, 1)); }); }},
    {Op::kAsStrided, "as_strided", Form::kStrided, false, &strided},
    {Op::kTranspose, "transpose", Form::kMethod, false, [](const Arguments& all) {
       return view_of(all, [&](TensorImpl& one) {
         return views::transpose(one, int_of(all, 0), int_of(all, 1)); }); }},
    {Op::kT, "t", Form::kMethod, false, &plain_view<&views::t>},
    {Op::kExpand, "expand", Form::kMethod, false, [](const Arguments& all) {
       return view_of(all, [&](TensorImpl& one) { return views::expand(one, dims_of(all)); }); }},
    {Op::kConj, "conj", Form::kMethod, false, &plain_view<&views::conj>},
    {Op::kNegView, "_neg_view", Form::kMethod, false, &plain_view<&views::neg_view>},
    {Op::kDetach, "detach", Form::kMethod, false, [](const Arguments& all) {
       return all.tensor().detach(); }},
    {Op::kData, "data", Form::kAttribute, false, [](const Arguments& all) {
       return all.tensor().alias_data(); }},
    {Op::kAdd, "add", Form::kArithmetic, false, [](const Arguments& all) {
       return autograd::add(all.operands[0], all.operands[1]); }, "+"},
    {Op::kMultiply, "mul", Form::kArithmetic, false, [](const Arguments& all) {
       return autograd::multiply(all.operands[0], all.operands[1]); }, "*"},
    {Op::kEqual, "", Form::kOperator, false, &compared<Op::kEqual>, "=="},
    {Op::kNotEqual, "", Form::kOperator, false, &compared<Op::kNotEqual>, "!="},
    {Op::kAddInPlace, "add_", Form::kMethod, kWrites, &written<&autograd::add_in_place>},
    {Op::kMultiplyInPlace, "mul_", Form::kMethod, kWrites, &written<&autograd::multiply_in_place>},
    {Op::kFill, "fill_", Form::kMethod, kWrites, [](const Arguments& all) -> TensorPtr {
       autograd::fill_in_place(all.tensor(), all.operands[1].number);
       return nullptr; }},
    {Op::kCopy, "copy_", Form::kMethod, kWrites, &written<&autograd::copy_in_place>},
    {Op::kClone, "clone", Form::kMethod, false, [](const Arguments& all) {
       return autograd::clone(all.tensor()); }},
    {Op::kSum, "sum", Form::kMethod, false, [](const Arguments& all) {
       return autograd::sum(all.tensor()); }},
    {Op::kRelu, "relu", Form::kMethod, false, [](const Arguments& all) {
       return autograd::relu(all.tensor()); }},
    {Op::kReluInPlace, "relu_", Form::kMethod, kWrites, [](const Arguments& all) -> TensorPtr {
       autograd::relu_in_place(all.tensor());
       return nullptr; }},
    {Op::kOnes, "ones", Form::kFactory, false, [](const Arguments& all) {
       return arithmetic::ones(ints_of(all, 0, all.numbers.size()), *all.type); }},
    {Op::kZeros, "zeros", Form::kFactory, false, [](const Arguments& all) {
       return arithmetic::zeros(ints_of(all, 0, all.numbers.size()), *all.type); }},
    {Op::kItem, "item", Form::kMethod, false, nullptr},
    {Op::kNonzero, "nonzero", Form::kMethod, false, [](const Arguments& all) {
       return slotcore::meta::nonzero(all.tensor()); }},
};
// clang-format on

}  // namespace

const OpRule& rule_of(Op op) {
  auto place = static_cast<size_t>(op);
  SLOTCORE_CHECK(place < std::size(kRules) && kRules[place].op == op);
  return kRules[place];
}

}  // namespace slotcore::meta
