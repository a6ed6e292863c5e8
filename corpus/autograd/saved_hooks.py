t0 = T.ones(1).requires_grad_()
with T.autograd.graph.saved_tensors_hooks(*pair('lists')): t1 = t0 * t0
with T.autograd.graph.saved_tensors_hooks(*pair('collects')): t2 = t1.relu()
with T.autograd.graph.saved_tensors_hooks(*pair('leaves')): t2 = t1 * t1
with T.autograd.graph.saved_tensors_hooks(*pair('clones')): t1.relu_()
with T.autograd.graph.saved_tensors_hooks(*pair('stashes')): t3 = fn('save_both').apply(t1)
t2 = stash.pop()[0]
n0 = t3.grad_fn
n0.saved_tensors
t3.sum().backward()
check_packs(t2)
check_packed_leaf(t2)
check_unpacked_version(4)
check_refused_writes()
check_detached()
check_moved_leaf()
check_view_of_detached()
check_integer_gradients()
