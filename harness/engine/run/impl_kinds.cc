// The rows of impl_kinds.h.
#include "harness/engine/run/impl_kinds.h"

namespace slotfuzz {
namespace {

// PyTorch before 2.0 has no untyped_storage().
#define STORAGE_OF(tensor) \
  "getattr(" tensor ", 'untyped_storage', getattr(" tensor ", '_storage', None))()"

const std::vector<ImplKindRow>& rows() {
  static const std::vector<LedgerCount> counts = {{"impls", "T._live_impls", true},
                                                  {"wrappers", "T._live_wrappers"},
                                                  {"blocks of memory", "T._live_blocks"},
                                                  {"ctxs", "T._live_contexts"},
                                                  {"saved tensors", "T._live_saved_tensors"},
                                                  {"backwards", "T._live_backwards"},
                                                  {"tasks", "T._queued_tasks"},
                                                  {"table entries", "T._live_table_entries"},
                                                  {"modes", "T._live_modes"}};
  static const std::vector<ImplKindRow> rows = {
      {.name = "storage",
       .check_prefix = "",
       .key = "s",
       .type = "T.UntypedStorage",
       .example = "(lambda one: " STORAGE_OF("one") ")(T.ones(1))",
       .counted = "(lambda one: (" STORAGE_OF("one") ", lambda: one.view(-1)))(T.ones(1))",
       // PyTorch before 2.0 declares that it makes a new storage wrapper for each access.
       .preserved_if = "T.Tensor.untyped_storage",
       .edges = {},
       .graph = "",
       .owned = "_owned_by_cpp",
       .other_owners = {},
       .clear = "",
       .released = {},
       .wrap_again = "",
       .empty = "",
       .counts = counts},
      {.name = "tensor",
       .check_prefix = "tensor ",
       .key = "t",
       .type = "T.Tensor",
       .example = "T.ones(1)",
       .counted = "(lambda one: (one, lambda: (lambda owner: (setattr(owner, 'grad', one), owner))"
                  "(T.ones(1))))(T.ones(1))",
       .preserved_if = "",
       .edges = {{.name = "storage",
                  .kind = "storage",
                  .attribute = "",
                  .link = "lambda one: (one, " STORAGE_OF("one") ")",
                  .unlink = "",
                  .lookalike = ""},
                 {.name = "grad",
                  .kind = "tensor",
                  .attribute = "grad",
                  .link = "lambda one: (setattr(one, 'grad', T.ones(1)), (one, one.grad))[1]",
                  .unlink = "lambda one: setattr(one, 'grad', None)",
                  .lookalike = ""},
                 // A view without a base, as torch's detach() makes it, has the same block.
                 {.name = "base",
                  .kind = "tensor",
                  .attribute = "_base",
                  .link = "lambda one: (lambda view: (view, view._base))(one.view(-1))",
                  .unlink = "",
                  .lookalike = "lambda one: one.detach()"}},
       .graph = "grad_fn",
       .owned = "_owned_by_cpp",
       .other_owners = {{.type = "T.autograd.Node", .clear = "_release_objects", .released = {}},
                        {.type = "T.autograd._FunctionBase",
                         .clear = "_release_objects",
                         .released = {"to_save", "dirty_tensors", "non_differentiable",
                                      "saved_for_forward", "needs_input_grad"}}},
       .clear = "_release_objects",
       .released = {"grad", "_backward_hooks"},
       .wrap_again = "lambda one: one.type_as(one)",
       .empty = "lambda one: one.set_()",
       .counts = counts},
  };
  return rows;
}

#undef STORAGE_OF

}  // namespace

std::span<const ImplKindRow> impl_kind_rows() { return rows(); }

}  // namespace slotfuzz
