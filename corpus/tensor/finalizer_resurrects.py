t0 = TensorPhoenix(1)
t0.tag = 7
del t0
t1 = risen.pop()
t1.tolist()
t2 = TensorGiver(1)
del t2
t3 = given.pop()
t2 = t3.grad
