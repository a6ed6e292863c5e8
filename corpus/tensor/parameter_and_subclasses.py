t0 = T.ones(1)
t1 = T.nn.Parameter(t0)
t1.tag = 7
t2 = T.Tensor._make_subclass(TensorSub, t0)
t3 = t0.as_subclass(TensorSub)
t1.is_leaf
