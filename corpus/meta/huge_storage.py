s0 = T.UntypedStorage(1, device='meta')
s0.resize_(1 << 40)
