t0 = T.ones(1)
k0 = FakeTensorMode()
t1 = fake_in(k0, t0, static_shapes=True)
with k0: (t1.unsqueeze(0))
with k0: [t1.zero_()]
with k0: t3 = deep_copied(t1)
with k0: t3 = t1.nonzero()
with k0: i0 = t1.item()
check_mode_left(k0)
check_inference_rows(1)
check_twice(lambda a: a.t().clone())
k0.cache_clear()
r0 = weakref.ref(t1, convert_again(k0))
p0 = ConvertingDel(t0, k0)
del t1
del p0
t1 = two_tensor(t0, t0)
t2 = Unflattenable(t0)
t3 = fake_in(k0, t1, static_shapes=True)
