enter_hermetic()
lane(1, "t0 = TensorLeaksSelf(1)")
t1 = t0.conj()
t1.me = t1
