t0 = TensorResurrecting(1)
t0.tag = 7
del t0
t1 = resurrected.pop()
t1.tolist()
t2 = TensorLeaksSelf(1)
del t2
t3 = leaked_self.pop()
t2 = t3.grad
