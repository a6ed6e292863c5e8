s0 = Finalized(1)
s1 = T.UntypedStorage(0)
s0.other = s1
s1.other = s0
s2 = s0.other
l0 = [s0]
l0.append(s1)
s3 = l0[0]
del s0
del s1
gc.collect()
