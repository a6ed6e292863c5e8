t0 = TensorFinalized(1)
t0.tag = 7
t1 = copied(t0)
t2 = deep_copied(t0)
t3 = pickled(t2)
s0 = Finalized(4)
s1 = copied(s0)
s2 = deep_copied(s0)
