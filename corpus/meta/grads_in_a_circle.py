t0 = T.ones(1)
t1 = T.ones(1)
t0.grad = t1
t1.grad = t0
v0 = MetaConverter()
t2 = fake_of(v0, t0)
check_exact(v0, t1)
check_shared(v0, t0, t1)
check_text(t0, t2)
t1.grad = None
