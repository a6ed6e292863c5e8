t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
n0 = t1.grad_fn
n0.metadata['held'] = t0
t2 = n0.metadata['held']
l0 = [n0]
t1.node = n0
n1 = n0.next_functions[0][0]
t2 = n1.variable
h0 = n0.register_hook(doing('nothing'))
h1 = n0.register_prehook(doing('doubles'))
t1.register_hook(removing(h0))
h0 = t1.register_hook(hook_of(n1))
h1 = n0.register_hook(node_hook_of(t0))
t1.sum().backward(inputs=[t0])
t1 = t0.relu()
T.autograd.backward([t0.sum(), t1.sum()])
t1 = t0 * t0
t1.sum().backward(create_graph=True)
t1 = t0 * t0
t2 = T.ones(1)
t1.backward(t2)
t1 = t0 * t0
t2 = T.autograd.grad(t1.sum(), t0, allow_unused=True)[0]
