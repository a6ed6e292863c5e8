t0 = T.ones(1)
t1 = T.ones(1)
t0.grad = t1
p0 = Keeper(t1)
t2 = p0.held
p0.me = p0
t1.keeper = p0
del p0
p0 = Resurrector(t1)
del p0
p1 = Dropper(t0)
del p1
s0 = T.UntypedStorage(1)
p1 = Keeper(s0)
del p1
t3 = kept_by_finalizer.pop()
gc.collect()
