t0 = T.ones(1)
t1 = TensorSub(1)
t0.grad = t1
with hermetic(): t2 = t0.grad
with hermetic(): del t1
t1 = t0.grad
