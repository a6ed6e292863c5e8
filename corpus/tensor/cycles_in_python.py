t0 = TensorFinalized(1)
t0.me = t0
t1 = T.ones(1)
t1.other = t0
t2 = t1.other
l0 = [t0]
l0.append(t1)
t0.box = l0
t3 = l0[0]
d0 = dict(held=t1)
d0['me'] = d0
d0['held'] = t0
t1.box = d0
t2 = d0['held']
dead_cycle(t1)
d1 = weakref.WeakValueDictionary(held=t0)
gc.collect()
