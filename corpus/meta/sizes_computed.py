z0 = ShapeEnv()
i0 = size_of(z0, 4, 'dynamic')
i1 = size_of(z0, 1, 'dynamic')
i2 = i0 - i1
i2 = i0 * i1
i2 = i0 // i1
i2 = i0 % i1
int(i2)
