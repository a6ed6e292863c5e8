"""Each function of this folder asks many states of an object many questions, and knows the answers.

The answers are from plain Python, a copy, a fresh cache, or differences of values. States and
questions stand in texts of expressions, so that a message can name them.
"""

#: expressions_of [slotcore]: a function of the arguments for each line of a text, which names it
def expressions_of(arguments, text):
    functions = []
    for line in map(str.strip, text.strip().splitlines()):
        function = eval(f"lambda {arguments}: {line}", globals())
        function.__name__ = line
        functions.append(function)
    return functions

#: expression_rows [slotcore]: for each line the functions of its parts, which arrows divide
def expression_rows(arguments, text):
    columns = zip(*(line.split(" -> ") for line in text.strip().splitlines()))
    return [*zip(*(expressions_of(arguments, "\n".join(column)) for column in columns))]

#: check_tensor_pairs [slotcore]: states of tensors, and questions (P2-P5, P8, P9, H1)
#> check_tensor_pairs: checks collects finalizes in_hermetic swaps
tensor_pairs = {
    "broadcasts": pairs_of_broadcasts,
    "cycles": pairs_of_cycles,
    "edge_numbers": pairs_of_edge_numbers,
    "ends_within": pairs_of_ends_within,
    "exports": pairs_of_exports,
    "finalizers": pairs_of_finalizers,
    "grown_storages": pairs_of_grown_storages,
    "huge_numbers": pairs_of_huge_numbers,
    "kept_memory": pairs_of_kept_memory,
    "left_aliases": pairs_of_left_aliases,
    "odd_arguments": pairs_of_odd_arguments,
    "odd_reads": pairs_of_odd_reads,
    "odd_writes": pairs_of_odd_writes,
    "overrides": pairs_of_overrides,
    "own_aliases": pairs_of_own_aliases,
    "read_as": pairs_of_read_as,
    "refetched": pairs_of_refetched,
    "refusals": pairs_of_refusals,
    "regrouped": pairs_of_regrouped,
    "result_layouts": pairs_of_result_layouts,
    "share_orders": pairs_of_share_orders,
    "shrunk_reach": pairs_of_shrunk_reach,
    "storage_model": pairs_of_storage_model,
    "swapped_after": pairs_of_swapped_after,
    "swapped_amid": pairs_of_swapped_amid,
    "wrapped_in_modes": pairs_of_wrapped_in_modes,
}
def check_tensor_pairs(name):
    ask_pairs(tensor_pairs[name])

#: check_life_pairs [slotcore]: ends of objects, and orders of owners (P1-P5, P7, P9, T6)
#> check_life_pairs: checks collects finalizes in_hermetic locks starts_thread swaps
life_pairs = {
    "class_shapes": pairs_of_class_shapes,
    "deferred_ends": pairs_of_deferred_ends,
    "ends_amid_errors": pairs_of_ends_amid_errors,
    "lives_after_swaps": pairs_of_lives_after_swaps,
    "made_parameters": pairs_of_made_parameters,
    "owner_steps": pairs_of_owner_steps,
    "second_ends": pairs_of_second_ends,
    "self_changes": pairs_of_self_changes,
    "watched_ends": pairs_of_watched_ends,
}
def check_life_pairs(name):
    ask_pairs(life_pairs[name])

#: check_graph_pairs [slotcore]: leaves, Functions, graphs, scopes (A1b, A2, A3, A5, A7-A9, H4)
#> check_graph_pairs: checks finalizes in_hermetic swaps
graph_pairs = {
    "after_errors": pairs_of_after_errors,
    "changed_leaves": pairs_of_changed_leaves,
    "converted_gradients": pairs_of_converted_gradients,
    "exact_sums": pairs_of_exact_sums,
    "failed_calls": pairs_of_failed_calls,
    "failed_functions": pairs_of_failed_functions,
    "function_arguments": pairs_of_function_arguments,
    "function_marks": pairs_of_function_marks,
    "handed_on": pairs_of_handed_on,
    "hook_orders": pairs_of_hook_orders,
    "hook_scopes": pairs_of_hook_scopes,
    "hooks_amid_writes": pairs_of_hooks_amid_writes,
    "iterators": pairs_of_iterators,
    "layouts_of_bases": pairs_of_layouts_of_bases,
    "leaf_states": pairs_of_leaf_states,
    "left_modes": pairs_of_left_modes,
    "packed_derivatives": pairs_of_packed_derivatives,
    "replaced_values": pairs_of_replaced_values,
    "saved_places": pairs_of_saved_places,
    "scopes": pairs_of_scopes,
    "stale_saved": pairs_of_stale_saved,
    "two_runs": pairs_of_two_runs,
    "unrecorded_views": pairs_of_unrecorded_views,
    "written_differences": pairs_of_written_differences,
}
def check_graph_pairs(name):
    ask_pairs(graph_pairs[name])

#: check_meta_pairs [slotcore]: states of fakes (M1, M2, M5, M9, M11, M12, M14, M15)
#> check_meta_pairs: checks swaps
meta_pairs = {
    "asked_descriptions": pairs_of_asked_descriptions,
    "cold_cache": pairs_of_cold_cache,
    "converted_again": pairs_of_converted_again,
    "decided_alike": pairs_of_decided_alike,
    "failed_steps": pairs_of_failed_steps,
    "families": pairs_of_families,
    "graph_twins": pairs_of_graph_twins,
    "huge_sizes": pairs_of_huge_sizes,
    "odd_fields": pairs_of_odd_fields,
    "ranges": pairs_of_ranges,
    "related_inputs": pairs_of_related_inputs,
    "symbols_again": pairs_of_symbols_again,
    "tables_follow": pairs_of_tables_follow,
    "text_forms": pairs_of_text_forms,
    "traced_reads": pairs_of_traced_reads,
    "warm_cache": pairs_of_warm_cache,
}
def check_meta_pairs(name):
    ask_pairs(meta_pairs[name])

#: ask_pairs [slotcore]: PAIRS asks all its pairs, unless this thread is in hermetic mode
def ask_pairs(pairs):
    if not in_hermetic():  # there each look at an object gives another wrapper
        with T.enable_grad():
            pairs()
