t0 = T.ones(1)
m0 = t0.numpy()
t0.fill_(7)
del t0
