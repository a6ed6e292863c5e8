s0 = LeaksSelf(4)
s0.tag = 7
del s0
t0 = leaked_self.pop()
s0 = t0.untyped_storage()
