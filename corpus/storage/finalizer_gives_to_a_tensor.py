s0 = Giver(4)
s0.tag = 7
del s0
t0 = given.pop()
s0 = t0.untyped_storage()
