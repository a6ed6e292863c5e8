s0 = Sub(4)
t0 = T.empty(0, dtype=T.uint8).set_(s0)
s0.tag = 0
del s0
s0 = t0.untyped_storage()
s1 = Slotted(4)
s1.tag = 7
t1 = T.empty(1)
t1.set_(s1)
del s1
s1 = t1.untyped_storage()
