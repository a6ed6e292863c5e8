// The names by which lines about PyTorch call what they are about: rows of kinds.h.
//
// A name that a release has not raises there, which is no finding, so that nothing is masked by it.
#pragma once

#define SLOTFUZZ_TORCH_KINDS(VALUES, NAMES)                                                      \
  NAMES('E', "strange tensor",                                                                   \
        "T.empty(1, device='meta')|T.ones(1).to_sparse()|T.ones(1).to_mkldnn()"                  \
        "|T.quantize_per_tensor(T.ones(1), 1.0, 0, T.quint8)"                                    \
        "|T.nested.nested_tensor([T.ones(1)])|T._efficientzerotensor((1,))"                      \
        "|T._to_functional_tensor(T.ones(1))|T.ones(1, 1).to_sparse_csr()"                       \
        "|T.empty(1, dtype=T.quint8)|T.Tensor._make_wrapper_subclass(TensorDispatching, (1,))"   \
        "|T._C._functorch._add_batch_dim(T.ones(1), 0, 1)"                                       \
        "|T._C._functorch._wrap_for_grad(T.ones(1), 1)|T.tensor(1)|T.empty(1, names=('n',))"     \
        "|T._lazy_clone(T.ones(1))|T.sparse_coo_tensor(size=(1,))|T.Tensor()|T.Tensor([1])"      \
        "|T.empty((0, 1))|T.empty_strided((1,), (0,))|in_inference()"                            \
        "|T.ones(1, requires_grad=True)|T.tensor([1]).share_memory_()"                           \
        "|T.nn.parameter.UninitializedParameter()|T.nn.parameter.Buffer(T.ones(1))"              \
        "|T.ones(1, 1).to_sparse_bsr((1,1))"                                                     \
        "|T.quantize_per_channel(T.ones(1, 1), T.ones(1), T.zeros(1), 0, T.quint8)"              \
        "|of_own_sizes()"                                                                        \
        "|T._C._functorch._wrap_functional_tensor(T.ones(1), 1)"                                 \
        "|escaped(T.vmap)|escaped(T.func.grad)|escaped(T.func.functionalize)"                    \
        "|escaped_dual(T.ones(1))"                                                               \
        "|T.masked.masked_tensor(T.ones(1), T.tensor([True]))")                                  \
  NAMES('S', "strange storage",                                                                  \
        "T.UntypedStorage(1, device='meta')|T.UntypedStorage([1, 2])"                            \
        "|T.UntypedStorage._new_shared(1)"                                                       \
        "|T.UntypedStorage.from_buffer(bytearray(8), byte_order='native', dtype=T.uint8)"        \
        "|T.empty(1, device='meta').untyped_storage()"                                           \
        "|T._efficientzerotensor((1,)).untyped_storage()"                                        \
        "|T._to_functional_tensor(T.ones(1)).untyped_storage()"                                  \
        "|T._lazy_clone(T.ones(1)).untyped_storage()"                                            \
        "|T.frombuffer(bytearray(8), dtype=T.uint8).untyped_storage()"                           \
        "|T.Tensor._make_wrapper_subclass(TensorDispatching, (1,)).untyped_storage()")           \
  NAMES('G', "mode of recording",                                                                \
        "T.no_grad()|T.enable_grad()|T.inference_mode()|T.inference_mode(False)"                 \
        "|T.autograd.forward_ad.dual_level()|T._C._AutoDispatchBelowAutograd()"                  \
        "|T.autograd._force_original_view_tracking(True)|T._C._DisableTorchDispatch()"           \
        "|T._C.DisableTorchFunction()|T.autograd.graph.allow_mutation_on_saved_tensors()"        \
        "|T.autograd.graph.saved_tensors_hooks(abs, abs)|T.autograd.graph.save_on_cpu()"         \
        "|T._C._DisableFuncTorch()")                                                             \
  NAMES('j', "view",                                                                             \
        "unsqueeze(0)|squeeze()|flatten()|reshape(-1)|diagonal()|unfold(0, 1, 1)|permute(-1)"    \
        "|swapaxes(0, -1)|T|H|mT|real|imag|unbind()[0]|chunk(2)[0]|split(1)[0]"                  \
        "|unflatten(0, (-1, 1))|broadcast_to((2, 1))|contiguous()|cpu()|_values()|_indices()"    \
        "|values()|alias()|as_strided((), ())|view(T.ones(1).dtype)|to_dense()|dequantize()"     \
        "|int_repr()|rename('n')|rename(None)|type(T.float64)|new_empty((2,))|new_tensor(1)")    \
  NAMES('V', "use of a tensor",                                                                  \
        "tolist()|item()|numpy()|__array__()|data_ptr()|__repr__()|__len__()|__bool__()"         \
        "|__index__()|__hash__()|__iter__()|__reduce_ex__(2)|__setstate__(7)"                    \
        "|is_shared()|is_contiguous()|is_inference()|storage_offset()|stride()|nonzero()"        \
        "|unique()|max()|sort()|isfinite()|coalesce()|_nnz()|is_coalesced()|q_scale()"           \
        "|q_zero_point()|grad_fn|output_nr|names|zero_()|fill_(1)|add_(1)"                       \
        "|copy_(T.ones(1))|t_()"                                                                 \
        "|squeeze_()|unsqueeze_(0)|transpose_(0, -1)|resize_(0)|resize_(2, 2)|set_()|detach_()"  \
        "|requires_grad_()|requires_grad_(False)|rename_('n')|rename_(None)|conj_physical_()"    \
        "|neg_()|as_strided_((1,), (1,))|as_strided_((2,), (0,))|sparse_resize_((1,), 1, 0)"     \
        "|_coalesced_(True)|share_memory_()|cumsum_(0)|data.zero_()|data.set_()"                 \
        "|index_fill_(0, T.tensor([0]), 1)|masked_fill_(T.tensor(True), 1)|__setitem__(0, 1)"    \
        "|__setitem__(T.tensor([True]), 1)|untyped_storage().resize_(64)"                        \
        "|untyped_storage().fill_(1)|untyped_storage().tolist()"                                 \
        "|backward()|sum().backward()|_is_zerotensor()|_to_dense()|_neg_view().zero_()"          \
        "|view(T.uint8).zero_()|to('meta')|is_set_to(T.ones(1))|dim_order()|_version|nbytes"     \
        "|__deepcopy__(dict())|bernoulli_()|set_(T.ones(1).view(T.int32))|register_hook(None)"   \
        "|_backward_hooks|map_(T.ones(1), max)|apply_(abs)|_conj()|__delitem__(0)")              \
  NAMES('Q', "use of a storage",                                                                 \
        "tolist()|fill_(1)|__iter__()|__len__()|__sizeof__()|__reduce__()|__setitem__(0, 1)"     \
        "|__getitem__(0)|clone()|float()|type()|is_shared()|is_pinned()|cpu()"                   \
        "|byteswap(T.int16)"                                                                     \
        "|new()|share_memory_()|__deepcopy__(dict())|hex()|filename|device"                      \
        "|_cdata|copy_(T.UntypedStorage(64))|__setitem__(slice(0, 1), 1)"                        \
        "|__getitem__(slice(0, 0))|to(device='meta')|mps|element_size()|is_cuda|resizable()"     \
        "|data_ptr()|__delitem__(0)")                                                            \
  NAMES('F', "use of a node",                                                                    \
        "name()|next_functions|metadata|_sequence_nr()|_set_sequence_nr(-1)|_input_metadata"     \
        "|_register_hook_dict(T.ones(1))|_register_hook_dict(dict())|register_hook(hook_of(1))"  \
        "|register_hook(None)|register_prehook(hook_of(1))|register_prehook(None)"               \
        "|_raw_saved_self|_saved_self|_raw_saved_other|_saved_result|variable|variable.grad_fn"  \
        "|__call__()|__call__(None)|__call__(T.ones(1))|next_functions[0][0].variable"           \
        "|_saved_self_sym_sizes|_saved_dim|_raw_saved_self.register_hooks(abs, abs)"             \
        "|_raw_saved_self.register_hooks(None, None)")                                           \
  NAMES('a', "attribute",                                                                        \
        "grad|data|requires_grad|_backward_hooks|is_leaf|_base|_version|_cdata|_grad|grad_fn"    \
        "|_grad_fn|names|output_nr|retains_grad|_post_accumulate_grad_hooks|real|imag|shape"     \
        "|device|dtype|layout|volatile|itemsize|_python_dispatch|grad_dtype|T|H|mT|mH|name"      \
        "|ndim|is_meta|nbytes|_has_symbolic_sizes_strides")                                      \
  NAMES('u', "method",                                                                           \
        "set_|as_strided|as_strided_|view|view_as|expand|narrow|select|unfold"                   \
        "|requires_grad_|register_hook|as_subclass|__setstate__|copy_|to|type|new|new_tensor"    \
        "|new_empty|map_|apply_|resize_as_|resize_as_sparse_|sparse_resize_|sparse_mask"         \
        "|is_set_to|align_to|rename_|refine_names|_make_subclass|_make_wrapper_subclass"         \
        "|__dlpack__|__array__|_coalesced_|index_put_|masked_fill_|__getitem__|__contains__"     \
        "|__deepcopy__|__torch_function__|permute|split|chunk|unbind"                            \
        "|register_post_accumulate_grad_hook|_view_func|_view_func_unsafe"                       \
        "|_rev_view_func_unsafe"                                                                 \
        "|_update_names|__reduce_ex__|dim_order|index_select|take|put_|where|storage_offset"     \
        "|stride|size|_sparse_mask_projection|backward|fill_|add_|mul_|item|_fix_weakref"        \
        "|module_load|unflatten|squeeze|unsqueeze|transpose|flip|roll|diagonal|t|real"           \
        "|_typed_storage|_reduce_ex_internal")                                                   \
  NAMES('q', "method of storages",                                                               \
        "copy_|resize_|fill_|__getitem__|__contains__|__deepcopy__"                              \
        "|from_buffer|new|type|byteswap|to|is_pinned|pin_memory|tolist"                          \
        "|share_memory_|_new_shared|_fix_weakref|_weak_ref|_new_shared_fd_cpu"                   \
        "|_new_shared_filename_cpu|__new__")                                                     \
  NAMES('Z', "method of pointers",                                                               \
        "_new_with_weak_ptr|_expired|_free_weak_ref|_set_from_file|_set_cdata")                  \
  NAMES('z', "function",                                                                         \
        "T.as_tensor|T.asarray|T.tensor|T.Tensor|T.from_numpy|T.from_dlpack"                     \
        "|T._to_functional_tensor|T._from_functional_tensor|T._sync"                             \
        "|T._is_functional_tensor|T._lazy_clone|T._C._WeakTensorRef|T._C._storage_address"       \
        "|T._C._data_address|T._C._is_cow_tensor|T.nn.Parameter|T.nested.nested_tensor"          \
        "|T.view_as_complex|T._neg_view|T._conj|T._fw_primal|T._C._functorch.get_unwrapped"      \
        "|T._C._functorch.is_batchedtensor|T._C._functorch._unwrap_batched"                      \
        "|T._C._functorch.maybe_get_level|T._C._functorch.maybe_get_bdim|T._coalesce"            \
        "|T.is_storage|T.is_tensor|T.Tensor._make_subclass|T.UntypedStorage"                     \
        "|T.sparse_coo_tensor"                                                                   \
        "|T.detach|T.clone|T.empty_like|T.Size"                                                  \
        "|T._C._add_cached_tensor|T._C._remove_cached_tensor|T._C._is_cached_tensor"             \
        "|T._C._get_tensor_metadata|T._C._tensor_impl_raw_handle|T._C._wrap_tensor_impl"         \
        "|T._C._has_torch_function|T._is_zerotensor"                                             \
        "|T._efficientzerotensor|T._C._is_alias_of|T.autograd.forward_ad.unpack_dual"            \
        "|T._C._set_throw_on_mutable_data_ptr|T._C._functions.DelayedError('x', 1)"              \
        "|T._C._functions.UndefinedGrad()|T._functionalize_commit_update"                        \
        "|T._functionalize_unsafe_set"                                                           \
        "|T._functionalize_has_data_mutation|T._functionalize_apply_view_metas"                  \
        "|T._functionalize_mark_mutation_hidden_from_autograd|T._disable_functionalization"      \
        "|T._freeze_functional_tensor|T._C._get_dispatch_key_set"                                \
        "|T.autograd.graph.get_gradient_edge"                                                    \
        "|T._shape_as_tensor|T.nn.Buffer")                                                       \
  NAMES('Y', "function of two",                                                                  \
        "T._make_dual|T._functionalize_replace|T._mirror_autograd_meta_to"                       \
        "|T._functionalize_unsafe_set|T.sparse_coo_tensor|T.where|T.equal|T.cat|T.stack"         \
        "|T.Tensor.__setstate__|T.Tensor.map_|T.Tensor.put_|T.Tensor.index_put_|T.Tensor.new"    \
        "|T.Tensor.sparse_mask|T.Tensor.set_|T.Tensor.resize_as_sparse_|T.Tensor.__setitem__"    \
        "|T.Tensor.copy_|T.Tensor.is_set_to|T.Tensor.index_select|T.Tensor.take|T.Tensor.where"  \
        "|T._C._autograd._unsafe_set_version_counter|T._nested_view_from_buffer"                 \
        "|T.Tensor.module_load|T._C._functorch._propagate_functional_input_mutation"             \
        "|T._C._is_alias_of|T.Tensor.copysign_|T.Tensor.masked_fill_|T.Tensor.__deepcopy__"      \
        "|T.Tensor._is_view|T._has_compatible_shallow_copy_type|T.result_type|T.Tensor.type_as"  \
        "|T.Tensor.expand_as|T.Tensor.view_as|T.Tensor.reshape_as|T.Tensor.to"                   \
        "|T.Tensor.backward"                                                                     \
        "|T.Tensor.register_hook|T._copy_from|T._copy_from_and_resize")                          \
  VALUES('w', "odd value",                                                                       \
         "None|7|-1|(1 << 63) - 1|'x'|[]|{}|1.5|T|T.Tensor|object()|T.empty(0)|T.ones(1, "       \
         "dtype=T.complex64)")
