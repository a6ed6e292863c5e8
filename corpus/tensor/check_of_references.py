t0 = T.ones(1)
check_references(t0)
